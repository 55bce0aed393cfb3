"""``auepora new``: the files of a starter, their names, and what to do next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_auepora.cli.main import main
from pytest_auepora.cli.new import FORMS, starter_files, suite_name
from pytest_auepora.io.golden.fields import golden_schema
from pytest_auepora.io.golden.load import load_golden

from .conftest import Shell


def test_it_writes_over_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "project"
    assert main(["new", str(folder)]) == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    (folder / "project_rag.py").unlink()
    assert main(["new", str(folder), "--rag", "async"]) == 2
    assert "already there: " in capsys.readouterr().err
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
    golden = tmp_path / "golden" / f"{suite_name(tmp_path)}.golden.yaml"
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
    assert suite_name(tmp_path / folder) == name


@pytest.mark.parametrize("folder", ["class", "2024", "a.b-c d", "___", "rag", "返金/2"])
def test_a_name_can_be_that_of_a_module(tmp_path: Path, folder: str) -> None:
    (tmp_path / ".git").mkdir()
    name = suite_name(tmp_path / folder)
    assert f"{name}_rag".isidentifier()
    assert name.isascii()


def test_a_name_without_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if any((parent / ".git").exists() for parent in tmp_path.parents):
        pytest.skip("temporary files lie in a repository here")
    shop = tmp_path / "services" / "shop"
    shop.mkdir(parents=True)
    monkeypatch.chdir(shop)
    assert suite_name(Path()) == "shop"
    monkeypatch.chdir(tmp_path)
    assert suite_name(Path("services/shop")) == suite_name(shop) == "services_shop"
    assert suite_name(Path("services/../other")) == "other"
    assert suite_name(Path("/")) == "rag"


def test_the_name_stands_wherever_the_suite_is_named() -> None:
    made = starter_files("function", "cars")
    assert {path for path in made if "cars" in path} == {"cars_rag.py", "golden/cars.golden.yaml"}
    assert "cars_rag" in made["conftest.py"]
    assert "suite: cars" in made["golden/cars.golden.yaml"]
    assert not any("NAME" in text for text in made.values())


def test_what_to_do_next(shell: Shell) -> None:
    said = shell("new", "shop/rag")
    assert said.code == 0
    assert [line.removeprefix("wrote ") for line in said.out.splitlines() if line.startswith("wrote ")] == [
        str(Path("shop/rag", path)) for path in starter_files("function", "shop_rag")
    ]
    assert " cd shop/rag && pytest --auepora\n" in said.out
    assert "golden/shop_rag.golden.yaml" in said.out
    shell.path.joinpath("empty").mkdir()
    assert "cd " not in shell("new", ".").out
