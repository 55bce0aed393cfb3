"""The file of a baseline: its bytes, where it lies, and that only one run changes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.files import locked
from pytest_auepora.errors import BaselineError, NotWrittenError
from pytest_auepora.regression.accept import accept, merge
from pytest_auepora.regression.baseline.file import baseline_path, changing, load_baseline, parse_baseline

from ..runs import case, run


@given(st.dictionaries(st.text(max_size=6), st.one_of(st.none(), st.floats(0, 1)), max_size=6))
def test_the_text_reads_back_the_same_and_is_stable(values: dict[str, float | None]) -> None:
    found, _ = merge(None, run(*(case(name, mrr=v) for name, v in values.items())), {"all"})
    again = parse_baseline(found.dumps(), "b.json")
    assert again == found
    assert again.dumps() == found.dumps()


def test_where_it_lies() -> None:
    golden = Path("golden/x.golden.yaml")
    assert baseline_path(golden, "x", "") == Path("golden/__baselines__/x.json")
    assert baseline_path(golden, "x", "bm25").name == "x@bm25.json"
    assert "/" not in baseline_path(golden, "x", "a/b:c").name.replace("x@", "")
    assert baseline_path(golden, "x", "", Path("d")) == Path("d/x.json")
    assert baseline_path(golden, "x", "v", Path("f.json")) == Path("f.json")
    long = [baseline_path(golden, "x", "parameter-" * 60 + end).name for end in "ab"]
    assert long[0] != long[1]
    assert max(map(len, long)) < 120


def test_another_suite_under_the_same_path_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    accept(path, run(case("a", mrr=1.0)), {"all"})
    with pytest.raises(BaselineError, match="wanted is 'other'"):
        load_baseline(path, "other")


def test_an_unwritable_baseline_is_a_baseline_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BaselineError, match=r"suite\.json: cannot be written: "):
        accept(tmp_path / "file" / "suite.json", run(case("a", mrr=1.0)), {"all"})

    path = tmp_path / "suite.json"
    monkeypatch.setattr("pytest_auepora.core.files.locked", lambda p: locked(p, 0))
    with changing(path), pytest.raises(BaselineError, match="another run has been writing it") as caught:
        accept(path, run(case("a", mrr=1.0)), {"all"})
    assert isinstance(caught.value.__cause__, NotWrittenError)
    assert not path.exists()
