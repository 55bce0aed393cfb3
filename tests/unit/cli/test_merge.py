"""``auepora merge`` as git calls it, and a baseline that a merge left in conflict."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_auepora.base.git import git
from pytest_auepora.cli.main import main
from pytest_auepora.errors import AueporaError
from pytest_auepora.regression.baseline import Baseline, BaselineCase, BaselineMetric
from pytest_auepora.regression.baseline_file import read_baseline

FILE = "shop.json"


def baseline(**scores: float) -> Baseline:
    cases = {case_id: BaselineCase("h", scores={"mrr": value}) for case_id, value in scores.items()}
    return Baseline("shop", "", {"mrr": BaselineMetric(1)}, {}, cases)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose baselines are merged by the command."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    try:
        git(tmp_path, "init", "-q", "-b", "main")
    except AueporaError as exc:
        pytest.skip(str(exc))
    driver = tmp_path / ".git" / "driver.py"
    driver.write_text("import sys\nfrom pytest_auepora.cli.main import main\nsys.exit(main())\n", encoding="utf-8")
    git(tmp_path, "config", "user.name", "x")
    git(tmp_path, "config", "user.email", "x@example.org")
    git(tmp_path, "config", "merge.auepora.driver", f"'{sys.executable}' '{driver}' merge %O %A %B %P")
    (tmp_path / ".gitattributes").write_text("*.json merge=auepora\n", encoding="utf-8")
    commit(tmp_path, a=1.0, b=1.0, c=1.0)
    return tmp_path


def commit(repository: Path, **scores: float) -> None:
    (repository / FILE).write_text(baseline(**scores).dumps(), encoding="utf-8")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "accepted")


def branches(repository: Path, ours: dict[str, float], theirs: dict[str, float]) -> None:
    git(repository, "checkout", "-q", "-b", "other")
    commit(repository, **theirs)
    git(repository, "checkout", "-q", "main")
    commit(repository, **ours)


def test_git_merges_baselines_of_two_branches(repository: Path) -> None:
    branches(repository, {"a": 0.5, "b": 1.0, "c": 1.0}, {"a": 1.0, "b": 0.5, "c": 1.0, "d": 0.75})
    git(repository, "merge", "-q", "other")
    merged = read_baseline(repository / FILE)
    assert merged is not None
    assert {i: case.scores["mrr"] for i, case in merged.cases.items()} == {"a": 0.5, "b": 0.5, "c": 1.0, "d": 0.75}


@pytest.mark.slow
def test_a_case_that_both_changed_stops_the_merge_and_is_new(repository: Path) -> None:
    branches(repository, {"a": 0.5, "b": 1.0, "c": 1.0}, {"a": 0.25, "b": 0.5, "c": 1.0})
    with pytest.raises(AueporaError, match="git: "):
        git(repository, "merge", "-q", "other")
    assert "shop.json" in git(repository, "diff", "--name-only", "--diff-filter=U")
    merged = read_baseline(repository / FILE)
    assert merged is not None, "without markers"
    assert sorted(merged.cases) == ["b", "c"]


def test_it_says_what_is_to_be_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / name for name in ("base", "ours", "theirs")]
    for path, scores in zip(files, ({"a": 1.0}, {"a": 0.5}, {"a": 0.25, "b": 1.0}), strict=True):
        path.write_text(baseline(**scores).dumps(), encoding="utf-8")
    assert main(["merge", *map(str, files), "golden/__baselines__/shop.json"]) == 1
    taken, anew = capsys.readouterr().err.split(";")
    assert taken.startswith("golden/__baselines__/shop.json: 1 case ")
    assert anew.startswith(" 1 case ")
    assert "(a)" in anew
    assert "--auepora-update=new" in anew


def test_no_baseline_is_refused_and_nothing_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / name for name in ("base", "ours", "theirs")]
    for path, text in zip(files, ("", baseline(a=1.0).dumps(), "{"), strict=True):
        path.write_text(text, encoding="utf-8")
    before = files[1].read_text(encoding="utf-8")
    assert main(["merge", *map(str, files), "shop.json"]) == 3
    assert "shop.json:1:2: not JSON" in capsys.readouterr().err
    assert files[1].read_text(encoding="utf-8") == before
    files[2].write_bytes(b"\xff{}")
    assert main(["merge", *map(str, files), "shop.json"]) == 3
    assert "UTF-8" in capsys.readouterr().err
