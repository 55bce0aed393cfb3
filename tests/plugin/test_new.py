"""``auepora new``: what it writes is collected, passes at once, and fails when the system gets worse."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pytest_auepora.cli.main import main
from pytest_auepora.cli.new import FORMS, name_of, starter_files
from pytest_auepora.io.golden.fields import golden_schema
from pytest_auepora.io.golden.load import load_golden

from .conftest import Example, gates

WITHOUT_A_PACKAGE = [form for form, (module, _) in FORMS.items() if not module]


@pytest.fixture
def empty(project: Example, monkeypatch: pytest.MonkeyPatch) -> Example:
    """A project without a file of its own but its settings."""
    for name in ("shop.py", "conftest.py", "shop.golden.yaml"):
        (project.path / name).unlink()
    for name in [name for name in sys.modules if name.endswith("_rag")]:
        monkeypatch.delitem(sys.modules, name)
    return project


@pytest.mark.parametrize("form", WITHOUT_A_PACKAGE)
def test_it_is_green_at_once_and_red_when_it_breaks(
    empty: Example, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "--rag", form]) == 0
    said = capsys.readouterr().out
    assert "1. Run it:  pytest --auepora\n" in said
    assert f"into golden/{name_of(empty.path)}.golden.yaml" in said
    assert "--auepora-update" in said
    result = empty.run("-rf")
    assert result.ret == 0, str(result.stdout)
    result.assert_outcomes(passed=8)
    name = name_of(empty.path)
    empty.edit("2.2 / (counts", "0 / (counts", f"{name}_rag.py")
    sys.modules.pop(f"{name}_rag", None)
    result = empty.run("-rf")
    assert result.ret == 1
    assert "recall@3" in gates(result)


def test_a_wrong_fact_makes_the_untouched_starter_red(empty: Example) -> None:
    assert main(["new"]) == 0
    empty.run("--auepora-update")
    golden = f"golden/{name_of(empty.path)}.golden.yaml"
    text = empty.read(golden)
    empty.write(golden, text.replace('must_contain: ["30 days"]', 'must_contain: ["90 days"]', 1))
    result = empty.run()
    assert result.ret == 1
    said = str(result.stdout)
    assert "generation: the document was found, the answer misses '90 days'" in said
    assert f"FAILED {golden}::return-window" in said


def test_it_writes_over_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "project"
    assert main(["new", str(folder)]) == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    (folder / "project_rag.py").unlink()
    assert main(["new", str(folder), "--rag", "async"]) == 2
    assert "nothing was written: already there: " in capsys.readouterr().err
    assert not (folder / "project_rag.py").exists()
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
    golden = tmp_path / "golden" / f"{name_of(tmp_path)}.golden.yaml"
    first = golden.read_text(encoding="utf-8").splitlines()[0]
    name = first.removeprefix("# yaml-language-server: $schema=")
    assert json.loads((golden.parent / name).read_text(encoding="utf-8")) == golden_schema()
    assert {m for c in load_golden(golden).cases for m in (d.doc_id for d in c.sample.relevant_docs or ())} <= {
        path.name for path in (tmp_path / "documents").iterdir()
    }


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_python(form: str) -> None:
    made = starter_files(form, "shop")
    for name in ("conftest.py", "shop_rag.py"):
        compile(made[name], name, "exec")


@pytest.mark.parametrize(
    ("folder", "name"),
    [("shop", "shop"), ("services/shop/rag", "services_shop_rag"), ("2nd try", "rag_2nd_try"), ("Ä-Ö", "rag")],
)
def test_a_name_says_where_in_the_repository(tmp_path: Path, folder: str, name: str) -> None:
    (tmp_path / ".git").mkdir()
    assert name_of(tmp_path / folder) == name


def test_two_suites_of_one_repository_are_two_systems(empty: Example) -> None:
    (empty.path / ".git").mkdir()
    for service in ("cars", "boats"):
        assert main(["new", f"{service}/eval"]) == 0
    empty.run().assert_outcomes(passed=16)
    empty.edit("2.2 / (counts", "0 / (counts", "boats/eval/boats_eval_rag.py")
    for name in ("cars_eval_rag", "boats_eval_rag"):
        sys.modules.pop(name, None)
    result = empty.run("-rf")
    assert {line.split("::")[0] for line in result.outlines if line.startswith("FAILED")} == {
        "FAILED boats/eval/golden/boats_eval.golden.yaml"
    }
