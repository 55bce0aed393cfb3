"""``auepora new``: what it writes is collected, passes at once, and fails when the system gets worse."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pytest_auepora.cli.main import main
from pytest_auepora.cli.new import FORMS, starter_files
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.golden.schema import golden_schema

from .conftest import Project, gates

WITHOUT_A_PACKAGE = [form for form, (module, _) in FORMS.items() if not module]


@pytest.fixture
def empty(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project without a file of its own but its settings."""
    for name in ("shop.py", "conftest.py", "shop.golden.yaml"):
        (project.path / name).unlink()
    monkeypatch.delitem(sys.modules, "starter_rag", raising=False)
    return project


@pytest.mark.parametrize("form", WITHOUT_A_PACKAGE)
def test_it_is_green_at_once_and_red_when_it_breaks(
    empty: Project, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "--rag", form]) == 0
    said = capsys.readouterr().out
    assert "1. Run it:  pytest --auepora\n" in said
    assert "--auepora-update" in said
    result = empty.run()
    assert result.ret == 0, str(result.stdout)
    result.assert_outcomes(passed=8)
    empty.edit("2.2 / (counts", "0 / (counts", "starter_rag.py")
    sys.modules.pop("starter_rag", None)
    result = empty.run()
    assert result.ret == 1
    assert "recall@3" in gates(result)


def test_it_writes_over_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "project"
    assert main(["new", str(folder)]) == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    (folder / "starter_rag.py").unlink()
    assert main(["new", str(folder), "--rag", "async"]) == 2
    assert "nothing was written: already there: " in capsys.readouterr().err
    assert not (folder / "starter_rag.py").exists()
    assert all(path.read_bytes() == before[path] for path in folder.rglob("*") if path.is_file())
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["new", str(tmp_path / "file")]) == 2
    assert main(["new", str(tmp_path), "--rag", "functoin"]) == 2


def test_a_package_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pytest_auepora.cli.new.find_spec", lambda _: None)
    assert main(["new", str(tmp_path), "--rag", "haystack"]) == 0
    assert "pip install haystack-ai && pytest --auepora" in capsys.readouterr().out


def test_editors_find_the_schema(tmp_path: Path) -> None:
    assert main(["new", str(tmp_path)]) == 0
    golden = tmp_path / "golden" / "starter.golden.yaml"
    first = golden.read_text(encoding="utf-8").splitlines()[0]
    name = first.removeprefix("# yaml-language-server: $schema=")
    assert json.loads((golden.parent / name).read_text(encoding="utf-8")) == golden_schema()
    assert {m for c in load_golden(golden).cases for m in (d.doc_id for d in c.sample.relevant_docs or ())} <= {
        path.name for path in (tmp_path / "documents").iterdir()
    }


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_python(form: str) -> None:
    made = starter_files(form)
    for name in ("conftest.py", "starter_rag.py"):
        compile(made[name], name, "exec")
