"""Results whose texts lie in a file read like those that have them."""

from __future__ import annotations

import gc
import io
import pickle
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_auepora.core.case_texts import ResultFile, TextPosition
from pytest_auepora.core.run import CaseResult


def result(n: int) -> CaseResult:
    return CaseResult(
        f"c{n}", query=f"what is {n}? null ⟨é⟩", expected={"relevant": [{"id": f"d{n}"}]},
        outputs={"answer": "words " * n, "retrieved": []}, ranks={"d": None},
    )  # fmt: skip


def offload(*results: CaseResult) -> ResultFile:
    file = ResultFile()
    for one in results:
        file.offload(one)
    return file


def test_a_result_is_the_same_with_its_texts_put_away() -> None:
    away, here = result(3), result(3)
    offload(away)
    assert away.text_position is not None
    assert here.text_position is None
    assert away == here
    assert repr(away) == repr(here)
    assert away.to_dict() == here.to_dict()
    assert CaseResult.from_dict(away.to_dict()) == here


@pytest.mark.parametrize("copied", [deepcopy, lambda one: pickle.loads(pickle.dumps(one)), replace])
def test_a_copy_has_its_texts(copied: object) -> None:
    away = result(3)
    offload(away)
    copy = copied(away)  # type: ignore[operator]
    assert copy == result(3)
    assert copy.text_position is None


def test_texts_are_read_in_any_order_and_of_any_length() -> None:
    results = [result(n * 5000 if n % 3 == 0 else n) for n in range(9)]
    file = offload(*results)
    for order in (results, results[::-1], results[::2] * 2):
        assert [one.outputs["answer"].count("words") for one in order] == [int(one.case_id[1:]) for one in order]
    file.offload(late := result(7))  # writing goes on behind what was read
    assert (late.query, results[0].query) == (result(7).query, result(0).query)


def test_a_result_can_be_put_away_twice() -> None:
    away = result(3)
    offload(away)
    away.query = "another"
    offload(away)
    assert (away.query, away.outputs) == ("another", result(3).outputs)


def test_a_text_that_is_set_afterwards_counts() -> None:
    away = result(3)
    offload(away)
    away.query = "another"
    assert (away.query, away.outputs) == ("another", result(3).outputs)
    assert away != result(3)


def test_what_a_result_has_not_is_missing() -> None:
    away = result(3)
    offload(away)
    with pytest.raises(AttributeError, match="'CaseResult' object has no attribute 'answer'"):
        _ = away.answer
    assert not hasattr(CaseResult.__new__(CaseResult), "query")


def test_the_file_goes_with_the_last_result() -> None:
    raw = io.BytesIO()
    file: ResultFile | None = ResultFile(raw)
    assert file is not None
    away = result(1)
    file.offload(away)
    del file
    gc.collect()
    assert away.query == result(1).query
    del away
    gc.collect()
    assert raw.closed


class Full(io.BytesIO):
    def write(self, data: object) -> int:
        return 0


def test_a_full_disk_leaves_the_texts_in_memory(tmp_path: Path) -> None:
    here = result(2)
    with pytest.raises(OSError, match="the disk is full"):
        ResultFile(Full()).offload(here)
    assert here == result(2)
    assert here.text_position is None


def test_where_texts_are_is_told() -> None:
    file = offload(result(1), second := result(2))
    assert isinstance(second.text_position, TextPosition)
    assert second.text_position.start + second.text_position.length == file.size
