"""What earlier runs answered: accepted answers, runs that are sent to another host, what chunks said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.cli.compare import policy_of
from pytest_auepora.core.case_texts import CaseTexts
from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.errors import NotRecordedError, UnknownRunError
from pytest_auepora.evaluation.replay import RecordedRun
from pytest_auepora.history.accepted import find_accepted
from pytest_auepora.history.aggregates import restore_case
from pytest_auepora.history.answers import (
    choose_runs,
    decode_recorded,
    encode_recorded,
    history_recall,
)
from pytest_auepora.history.compare import compare
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.io.golden.model import GoldenCase
from pytest_auepora.labels.corpus import Chunk
from pytest_auepora.regression.baseline import baseline_path
from pytest_auepora.regression.verdict import Verdict

from ..reporting.builders import Case, run_of
from .recordings import failed, said


def test_what_is_sent_answers_alike() -> None:
    run = run_of(
        [Case("one"), Case("down", error="E: refused\n  at line 3"), Case("left", skipped=True)],
        expected=["one", "down", "left", "later"],
    )
    here = RecordedRun("run-1", run, {"one": [said("first", "a"), said("second \u2028 line")], "down": [failed("E")]})
    there = decode_recorded("run-1", encode_recorded(here))
    assert dict(there.recordings) == dict(here.recordings)
    assert there.keys == here.keys
    assert there.run.provenance == run.provenance
    assert {i: (c.state, c.error) for i, c in there.run.cases.items()} == {
        i: (c.state, c.error) for i, c in run.cases.items()
    }
    assert not any(case.outputs for case in there.run.cases.values())  # answers are sent once
    for name in ("left", "later", "nobody"):
        told = []
        for recorded in (here, there):
            with pytest.raises(NotRecordedError) as caught:
                recorded.answer(GoldenCase(EvaluationSample(name, "q")), 0)
            told.append(str(caught.value))
        assert told[0] == told[1]


def run_with(text: str, content_hash: str = "h", *, cut: bool = False, **label: Any) -> Run:
    hit = {"id": "p#1", "score": 1.0, "grade": 1, "text": text, "doc": "p", "span": [3, 9], "cut": cut}
    expected = {"relevant": [{"id": "p#1", "grade": 1, **label}]}
    case = CaseResult(
        "c", content_hash=content_hash, texts=CaseTexts("", expected, {"answer": "a", "retrieved": [hit]})
    )
    return Run("s", cases={"c": case}, expected_ids=("c",))


def recalled(tmp_path: Path, *runs: Run) -> list[Chunk]:
    store = HistoryStore(tmp_path / "history.sqlite")
    for run in runs:
        store.add(run, Verdict("s"))
    return list(history_recall(store, "s", "", {"c": "h"})("c", "p#1"))


def test_texts_come_back_oldest_first_each_once_with_its_source(tmp_path: Path) -> None:
    found = recalled(tmp_path, run_with("one"), run_with("one"), run_with("two"))
    assert [(p.text, p.source, p.span) for p in found] == [("one", "p", (3, 9)), ("two", "p", (3, 9))]
    assert all(p.origin.startswith("run ") for p in found)


def test_edited_cases_cut_texts_and_moved_labels_tell_nothing(tmp_path: Path) -> None:
    found = recalled(
        tmp_path, run_with("one", "other"), run_with("tw…", cut=True), run_with("x", match="moved", ids=["n"])
    )
    assert [(p.text, p.source) for p in found] == [("", "p")]
    (whole,) = recalled(tmp_path / "own", run_with("and so on…"))
    assert whole.text == "and so on…"
    assert recalled(tmp_path / "none") == []


def test_a_history_that_cannot_be_read_knows_nothing(tmp_path: Path) -> None:
    (tmp_path / "history.sqlite").write_bytes(b"no database at all" * 100)
    assert list(history_recall(HistoryStore(tmp_path / "history.sqlite"), "s", "", {"c": "h"})("c", "p#1")) == []


@pytest.mark.parametrize("path", ["y" * 5000, "a\x00b", "gone/s.golden.yaml"])
def test_a_path_that_no_system_takes_is_that_of_no_file(tmp_path: Path, path: str) -> None:
    store = HistoryStore(tmp_path / "history.sqlite")
    run = Run("s", path, cases={"c": CaseResult("c")}, expected_ids=("c",))
    of_file, other = store.add(run, Verdict("s")), store.add(replace(run, path="other"), Verdict("s"))
    runs = store.runs()
    assert [kept.run_id for kept in store.runs_of_file(runs, "other")] == [other, of_file]
    with pytest.raises(UnknownRunError, match="has the answers of no runs"):
        choose_runs(store, "last")
    assert policy_of(tmp_path, run) is None
    assert find_accepted(baseline_path(tmp_path / path, "s", ""), path, None, tmp_path) is None


def moved(ids: list[str], hits: list[str]) -> Run:
    label = {"id": "p#1", "grade": 1, "match": "moved", "ids": ids, "doc": "p"}
    outputs = {"answer": "a", "retrieved": [{"id": i, "doc": "p", "grade": 0, "text": ""} for i in hits]}
    ranks: dict[str, int | None] = {"p#1": hits.index(ids[0]) + 1 if ids else 1}
    told: dict[str, Any] = {"match": "span" if ids else "fallback_doc", "labels": {}}
    case = CaseResult("c", content_hash="h", texts=CaseTexts("", {"relevant": [label]}, outputs), ranks=ranks,
                      moved=told)  # fmt: skip
    return Run("s", cases={"c": case}, expected_ids=("c",))


def test_runs_are_matched_as_their_moved_labels_were() -> None:
    a = run_with("one")
    a.cases["c"].ranks = {"p#1": 1}
    by_span = compare(a, moved(["n2"], ["n1", "n2"]))
    assert by_span.deltas["chunker_version_match"] == "span"
    assert (by_span.per_query[0].a_hit_rank, by_span.per_query[0].b_hit_rank) == (1, 2)
    by_doc = compare(a, moved([], ["n1"]))
    assert by_doc.deltas["chunker_version_match"] == "fallback_doc"
    assert by_doc.per_query[0].b_hit_rank == 1


def test_a_restored_case_has_the_chunks_of_its_moved_labels() -> None:
    held = restore_case(moved(["n2"], ["n2"]).cases["c"])
    assert held is not None
    gold = held[0].relevant_docs
    assert gold is not None
    assert (gold[0].doc_id, gold[0].metadata["match"], gold[0].metadata["ids"]) == ("p#1", "moved", ("n2",))
