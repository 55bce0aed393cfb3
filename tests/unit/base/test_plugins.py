"""Hooks of packages and modules: found, asked, and blamed by name where they cannot be imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from pluggy import HookimplMarker, PluginManager

from pytest_auepora import hookspecs
from pytest_auepora.base import plugins
from pytest_auepora.errors import AueporaError

MODULE = """\
import pytest

def pytest_auepora_report_formats(config):
    return {"told": lambda report: str(config)}

@pytest.hookimpl(tryfirst=True)
def pytest_auepora_convert(output):
    return output if output == "mine" else None

def pytest_unrelated():
    raise RuntimeError
"""


class Implementation:
    @HookimplMarker("pytest")
    def pytest_auepora_metrics(self, registry: list[Any], config: Any) -> None:
        registry.append(config)


@pytest.fixture(autouse=True)
def _own_manager() -> Iterator[None]:
    with plugins.in_use(None):
        yield
    plugins.offer(tuple)


def entry_points(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    points = [metadata.EntryPoint(name, value, plugins.GROUP) for name, value in values.items()]
    monkeypatch.setattr(metadata, "entry_points", lambda *, group: points if group == plugins.GROUP else [])


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module with hooks, on the search path."""
    (tmp_path / "auepora_told.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "auepora_told"
    sys.modules.pop("auepora_told", None)


def test_an_installed_module_is_asked(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    assert plugins.ask("pytest_auepora_report_formats") == []
    assert not plugins.is_implemented("pytest_auepora_convert")
    entry_points(monkeypatch, told=module)
    with plugins.in_use(None):
        ((formats),) = plugins.ask("pytest_auepora_report_formats")
        assert formats["told"](None) == "None"
        assert plugins.is_implemented("pytest_auepora_convert")
        assert plugins.ask("pytest_auepora_convert", output="mine", sample=None) == "mine"
        assert plugins.ask("pytest_auepora_convert", output="theirs", sample=None) is None


@pytest.mark.parametrize("as_file", [False, True])
def test_modules_that_a_project_names_are_asked(module: str, tmp_path: Path, as_file: bool) -> None:
    plugins.offer(lambda: [str(tmp_path / "auepora_told.py") if as_file else module])
    assert [*plugins.ask("pytest_auepora_report_formats")[0]] == ["told"]


def test_one_module_is_asked_once(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    entry_points(monkeypatch, told=module, again=module)
    plugins.offer(lambda: [module])
    assert len(plugins.ask("pytest_auepora_report_formats")) == 1


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("not_there", "entry point gone = not_there of auepora: ModuleNotFoundError: No module named 'not_there'"),
        ("json:nothing", "entry point gone = json:nothing of auepora: AttributeError"),
    ],
)
def test_a_package_that_cannot_be_imported_is_named(monkeypatch: pytest.MonkeyPatch, value: str, told: str) -> None:
    entry_points(monkeypatch, gone=value)
    with pytest.raises(AueporaError, match=told):
        plugins.ask("pytest_auepora_importers")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("raise ZeroDivisionError('x')", "pytest_auepora_importers: ZeroDivisionError: x"),
        ("return 5", "pytest_auepora_importers returned 5: expected a mapping of names"),
        ("return ['csv']", r"returned \['csv'\]: expected a mapping"),
    ],
)
def test_what_is_no_offer_names_the_hook(tmp_path: Path, answer: str, told: str) -> None:
    (tmp_path / "auepora_wrong.py").write_text(f"def pytest_auepora_importers():\n    {answer}\n")
    plugins.offer(lambda: [str(tmp_path / "auepora_wrong.py")])
    with pytest.raises(AueporaError, match=told):
        plugins.offers_of("pytest_auepora_importers")
    assert plugins.offers_of("pytest_auepora_report_formats") == {}


def test_a_module_that_a_project_names_wrongly_is_named() -> None:
    plugins.offer(lambda: ["not_there.py"])
    with pytest.raises(
        AueporaError, match=r"auepora_plugins: not_there\.py: FileNotFoundError: there is no not_there\.py"
    ):
        plugins.ask("pytest_auepora_importers")


def test_a_manager_in_use_is_asked_with_its_configuration(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    manager = PluginManager("pytest")
    manager.add_hookspecs(hookspecs)
    manager.register(Implementation())
    entry_points(monkeypatch, told=module)
    asked: list[Any] = []
    with plugins.in_use(manager, "config"):
        plugins.ask("pytest_auepora_metrics", registry=asked)
        with plugins.in_use(None):
            plugins.ask("pytest_auepora_metrics", registry=asked)
        plugins.ask("pytest_auepora_metrics", registry=asked)
    assert asked == ["config", "config"]


def test_a_blocked_package_is_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    entry_points(monkeypatch, gone="not_there")
    manager = PluginManager("pytest")
    manager.set_blocked("gone")
    plugins.register_installed(manager)


def test_every_hook_is_described() -> None:
    manager = PluginManager("pytest")
    manager.add_hookspecs(hookspecs)
    described = [name for name in vars(hookspecs) if name.startswith(plugins.PREFIX)]
    assert len(described) == 8
    assert all((getattr(hookspecs, name).__doc__ or "").strip() for name in described)
    assert all("config" in getattr(manager.hook, name).spec.argnames for name in described)
