"""The history is where pytest's settings put it, for whoever asks without pytest."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.history.settings import Keep, project_keep, project_place, project_root, read_keep
from pytest_auepora.pytest_plugin.options import KEEP

INI = "[pytest]\nauepora_history = kept/runs.sqlite\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.ini", INI),
        (".pytest.ini", INI),
        ("tox.ini", INI),
        ("setup.cfg", INI.replace("[pytest]", "[tool:pytest]")),
        ("pyproject.toml", '[tool.pytest.ini_options]\nauepora_history = "kept/runs.sqlite"\n'),
        ("pyproject.toml", '[tool.pytest]\nauepora_history = "kept/runs.sqlite"\n'),
        ("pytest.toml", '[pytest]\nauepora_history = "kept/runs.sqlite"\n'),
    ],
)
def test_settings_say_where_runs_are_kept(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    inside = tmp_path / "src" / "deep"
    inside.mkdir(parents=True)
    assert project_place(inside) == tmp_path / "kept" / "runs.sqlite"
    assert project_root(inside) == tmp_path


def test_a_file_without_such_a_table_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(INI)
    inside = tmp_path / "package"
    inside.mkdir()
    (inside / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (inside / "setup.cfg").write_text("[metadata]\n")
    (inside / "tox.ini").write_text("no ini at all")
    assert project_place(inside) == tmp_path / "kept" / "runs.sqlite"
    (inside / "pytest.ini").write_text("")  # a root of its own, as for pytest
    assert project_place(inside) == inside / ".auepora" / "history.sqlite"


def test_the_environment_counts_where_settings_say_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUEPORA_HISTORY", "elsewhere.sqlite")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    assert project_place(tmp_path) == tmp_path / "elsewhere.sqlite"
    (tmp_path / "pytest.ini").write_text("[pytest]\nauepora_history = off\n")
    assert project_place(tmp_path) is None


def test_a_history_makes_a_root_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history = tmp_path / ".auepora" / "history.sqlite"
    history.parent.mkdir()
    history.touch()
    inside = tmp_path / "src"
    inside.mkdir()
    monkeypatch.chdir(inside)
    assert project_place(Path.cwd()) == history


def keeps_runs(folder: Path) -> Path:
    (folder / ".auepora").mkdir(parents=True)
    (folder / ".auepora" / "history.sqlite").touch()
    return folder


@pytest.mark.parametrize("mark", ["pytest.ini", ".git", "home"])
def test_a_history_of_a_folder_above_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    keeps_runs(tmp_path)
    project = tmp_path / "project"
    inside = project / "src" / "deep"
    inside.mkdir(parents=True)
    if mark == "pytest.ini":
        (project / mark).write_text("")
    elif mark == ".git":
        (project / mark).write_text("gitdir: elsewhere")  # as in a work tree; usually a folder
    else:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
    root = project if mark == "pytest.ini" else inside
    assert project_root(inside) == root
    assert project_place(inside) == root / ".auepora" / "history.sqlite"
    assert project_root(tmp_path) == tmp_path


def test_settings_of_a_folder_above_the_repository_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(INI)
    inside = tmp_path / "repository" / "src"
    inside.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    assert project_place(inside) == inside / ".auepora" / "history.sqlite"


def test_the_history_of_the_repository_is_that_of_its_folders(tmp_path: Path) -> None:
    keeps_runs(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    assert project_root(tmp_path / "src") == tmp_path


def test_a_stray_history_below_the_root_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("")
    assert project_root(keeps_runs(tmp_path / "src")) == tmp_path


def test_how_much_is_kept(tmp_path: Path) -> None:
    assert read_keep(KEEP) == Keep() == project_keep(tmp_path)
    (tmp_path / "pytest.toml").write_text("[pytest]\nauepora_keep = ['runs=all', 'answers=none']\n")
    assert project_keep(tmp_path) == Keep(runs=None, answers=0)
    (tmp_path / "pytest.toml").write_text("[pytest]\nauepora_keep = 'characters=7 runs=3'\n")
    assert project_keep(tmp_path) == Keep(3, 20, 7)
