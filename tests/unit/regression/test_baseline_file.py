"""The file of a baseline: only one run changes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.base.files import locked
from pytest_auepora.errors import BaselineError, NotWrittenError
from pytest_auepora.regression.accept import Acceptance, accept
from pytest_auepora.regression.baseline_file import load_anchor, load_baseline, lock_baseline

from .runs import case, run


def test_another_suite_under_the_same_path_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    accept(path, run(case("a", mrr=1.0)), Acceptance({"all"}))
    with pytest.raises(BaselineError, match="wanted is 'other'"):
        load_baseline(path, "other")


def test_an_unwritable_baseline_is_a_baseline_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BaselineError, match=r"suite\.json: cannot be written: "):
        accept(tmp_path / "file" / "suite.json", run(case("a", mrr=1.0)), Acceptance({"all"}))
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(BaselineError, match=r"folder\.json: cannot be written: "):
        accept(tmp_path / "folder.json", run(case("a", mrr=1.0)), Acceptance({"all"}))

    path = tmp_path / "suite.json"
    monkeypatch.setattr("pytest_auepora.regression.baseline_file.locked", lambda p: locked(p, 0))
    with lock_baseline(path), pytest.raises(BaselineError, match="another run has been writing it") as caught:
        accept(path, run(case("a", mrr=1.0)), Acceptance({"all"}))
    assert isinstance(caught.value.__cause__, NotWrittenError)
    assert not path.exists()


@pytest.mark.parametrize(
    "text", ["[]", '{"format": 9, "cases": {}}', '{"format": 2, "suite": "other", "cases": {}}', None]
)
def test_messages_name_the_file_from_where_one_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "suites" / "shop.json"
    path.parent.mkdir()
    if text is None:
        path.mkdir()
    else:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(BaselineError, match=r"^suites/shop\.json: "):
        load_baseline(path, "shop")


def test_a_damaged_anchor_says_how_to_write_an_anchor(tmp_path: Path) -> None:
    (tmp_path / "shop.anchor.json").write_text("[]", encoding="utf-8")
    problem = load_anchor(tmp_path / "shop.json", "shop").problem
    assert problem.endswith(" --auepora-update=anchor")
