"""Results whose texts lie in a file read like those that have them."""

from __future__ import annotations

import gc
import io
import json
import pickle
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from pytest_auepora.base.records import read_record
from pytest_auepora.core.case_texts import CaseTexts, ResultFile, StoredTexts
from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.errors import NotWrittenError


def result(n: int) -> CaseResult:
    expected, outputs = {"relevant": [{"id": f"d{n}"}]}, {"answer": "words " * n, "retrieved": []}
    return CaseResult(f"c{n}", texts=CaseTexts(f"what is {n}? null ⟨é⟩", expected, outputs), ranks={"d": None})


def put_away(*results: CaseResult) -> ResultFile:
    file = ResultFile()
    for one in results:
        one.texts = file.store(one.texts.read())
    return file


def test_a_result_reads_the_same_with_its_texts_put_away() -> None:
    away, here = result(3), result(3)
    put_away(away)
    assert isinstance(away.texts, StoredTexts)
    assert (away.query, away.expected, away.outputs) == (here.query, here.expected, here.outputs)
    assert away.to_dict() == here.to_dict()
    assert read_record(CaseResult, json.dumps(away.to_dict())) == here
    assert Run.from_dict(Run("s", cases={"c3": away}).to_dict()) == Run("s", cases={"c3": here})


@pytest.mark.parametrize("copied", [deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_for_elsewhere_has_its_texts(copied: Any) -> None:
    away = result(3)
    put_away(away)
    assert copied(away) == result(3)


def test_texts_are_read_in_any_order_and_of_any_length() -> None:
    results = [result(n * 5000 if n % 3 == 0 else n) for n in range(9)]
    file = put_away(*results)
    for order in (results, results[::-1], results[::2] * 2):
        assert [one.outputs["answer"].count("words") for one in order] == [int(one.case_id[1:]) for one in order]
    late = file.store(result(7).texts.read())  # writing goes on behind what was read
    assert (late.read().query, results[0].query) == (result(7).query, result(0).query)


@pytest.mark.parametrize("name", ["query", "expected", "outputs"])
def test_a_text_that_is_set_afterwards_counts(name: str) -> None:
    away = result(3)
    put_away(away)
    other = replace(away)
    setattr(away, name, getattr(result(4), name))
    assert getattr(away, name) == getattr(result(4), name)
    assert replace(away, texts=other.texts).to_dict() == result(3).to_dict()
    assert {n for n in ("query", "expected", "outputs") if getattr(away, n) != getattr(other, n)} == {name}


def test_a_result_can_be_put_away_twice() -> None:
    away = result(3)
    put_away(away)
    away.query = "another"
    put_away(away)
    assert (away.query, away.outputs) == ("another", result(3).outputs)


def test_the_file_goes_with_the_last_result() -> None:
    raw = io.BytesIO()
    away = result(1)
    away.texts = ResultFile(raw).store(away.texts.read())
    gc.collect()
    assert away.query == result(1).query
    del away
    gc.collect()
    assert raw.closed


@pytest.mark.parametrize("error", [OSError(28, "the disk is full"), None])
def test_a_full_disk_names_the_temporary_folder(error: OSError | None, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            if error is not None:
                raise error
            return len(data) // 2  # as it is where a part fits

    monkeypatch.setattr("pytest_auepora.core.case_texts.gettempdir", lambda: "folder")
    with pytest.raises(NotWrittenError, match=r"^folder: texts of results cannot be kept there: the disk is full$"):
        ResultFile(Full()).store(CaseTexts("why?"))
