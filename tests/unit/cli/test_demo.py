"""``auepora demo``: the example, green and then red, from what the package carries."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.base.files import shipped_folder
from pytest_auepora.cli.main import main

from .conftest import Shell


def test_the_example_is_there_and_has_its_baseline() -> None:
    folder = shipped_folder("example_suite", "example_suite")
    assert (folder / "python_reference.golden.yaml").is_file()
    assert (folder / "__baselines__" / "python_reference.json").is_file()


def test_a_folder_that_exists_is_left_alone(shell: Shell) -> None:
    said = shell("demo", str(shell.path))
    assert (said.code, str(shell.path) in said.err) == (2, True)
    assert [path.name for path in shell.path.iterdir() if path.is_dir()] == []


@pytest.mark.slow
def test_the_example_is_green_then_red(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_ADDOPTS", "--nonsense")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    assert main(["demo", "shown"]) == 0
    told = capfd.readouterr().out
    green, _, red = told.partition("Now somebody breaks its retriever")
    assert "90 passed" in green
    assert "worse: 29 newly failing" in red
    assert red.rstrip().endswith("auepora new")
    assert Path("shown", "report.html").exists() == ("report.html" in red.splitlines()[-2])
    assert [path.name for path in tmp_path.iterdir()] == ["shown"]
