"""Metrics from a module, a file, an installed package; and what is said where there is none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.registry import GROUP, Registry, add_from, add_installed

MODULE = """
from pytest_auepora import Measurement, Metric, TargetCategory

class AnswerWords(Metric):
    name = "answer_words"
    target = TargetCategory.DIVERSITY
    def __init__(self, most=100):
        self.most = most
    def measure(self, sample, outputs):
        return Measurement(min(1.0, len(outputs.response.text.split()) / self.most))

made = AnswerWords()
number = 3

def pytest_auepora_metrics(registry, config):
    assert config is None
    registry.add("words_of_hook", AnswerWords)

def broken(registry):
    raise RuntimeError("boom")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "own_metrics.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "bad_metrics.py").write_text("import not_there_at_all", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    yield tmp_path
    sys.path[:] = before
    for name in ("own_metrics", "bad_metrics"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("own_metrics:AnswerWords", "answer_words[most=5]"),
        ("own_metrics:made", "answer_words"),
        ("own_metrics:pytest_auepora_metrics", "words_of_hook[most=5]"),
        ("own_metrics.py:AnswerWords", "answer_words"),
        ("{folder}/own_metrics.py:pytest_auepora_metrics", "words_of_hook"),
    ],
)
def test_what_may_be_named(folder: Path, spelling: str, name: str) -> None:
    registry = Registry()
    add_from(registry, spelling.format(folder=folder))
    assert registry.get(name).name == name


@pytest.mark.parametrize(
    ("spelling", "said"),
    [
        ("own_metrics", "module:object or file.py:object"),
        ("own_metrics:AnswerWord", "own_metrics has no 'AnswerWord' (did you mean 'AnswerWords'?)"),
        ("own_metrics:number", "expected a metric or a function that takes the registry, got 3"),
        ("own_metrics:broken", "own_metrics:broken: RuntimeError: boom"),
        ("not_there:x", "cannot be imported: ModuleNotFoundError"),
        ("not/there.py:x", "there is no not/there.py"),
        ("bad_metrics:x", "No module named 'not_there_at_all'"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_is_none_is_said(spelling: str, said: str) -> None:
    with pytest.raises(MetricError) as caught:
        add_from(Registry(), spelling)
    assert said in str(caught.value)


@pytest.mark.usefixtures("folder")
def test_installed_packages_offer_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        metadata.EntryPoint("their_words", "own_metrics:AnswerWords", GROUP),
        metadata.EntryPoint("several", "own_metrics:pytest_auepora_metrics", GROUP),
    ]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: points if group == GROUP else [])
    monkeypatch.syspath_prepend(".")
    registry = Registry()
    add_installed(registry)
    assert registry.get("their_words[most=7]").params() == {}
    assert registry.get("words_of_hook").name == "words_of_hook"
    points[:] = [metadata.EntryPoint("gone", "not_there:x", GROUP)]
    with pytest.raises(MetricError, match=r"entry point gone = not_there:x of auepora\.metrics"):
        add_installed(Registry())


@pytest.mark.usefixtures("folder")
def test_installed_metrics_are_searched_for_unknown_names(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    points = [metadata.EntryPoint("their_words", "own_metrics:AnswerWords", GROUP)]

    def entry_points(*, group: str) -> list[metadata.EntryPoint]:
        asked.append(group)
        return points

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    monkeypatch.syspath_prepend(".")
    registry = Registry()
    registry.defer(add_installed)
    assert registry.get("recall@5").name == "recall@5"
    assert not asked
    assert registry.get("their_words").name == "their_words"
    assert asked == [GROUP]
    with pytest.raises(MetricError, match="already is a metric called 'their_words'"):
        registry.add("their_words", registry.get("recall@5"))
    assert "their_words" in registry.spellings()
    assert asked == [GROUP]


@pytest.mark.usefixtures("folder")
def test_deferred_metrics_add_all_or_nothing_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        metadata.EntryPoint("their_words", "own_metrics:AnswerWords", GROUP),
        metadata.EntryPoint("gone", "not_there:x", GROUP),
    ]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: points)
    monkeypatch.syspath_prepend(".")
    registry = Registry()
    registry.defer(add_installed)
    for _ in range(2):
        with pytest.raises(MetricError, match="entry point gone"):
            registry.get("their_words")
    points.pop()
    assert registry.get("their_words").name == "their_words"
