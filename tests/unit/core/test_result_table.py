"""Results in columns: what goes in comes out, whatever of it lies in the file."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from pytest_auepora.core import score_codes
from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.result_table import ResultTable
from pytest_auepora.core.run import CaseResult, CaseState, Run
from pytest_auepora.core.scores import Score

DETAILS = {"precision": 0.5}
IDS = ("a", "b", "c", "d", "e")
RESULTS = {
    "d": CaseResult(
        "d", "failed", {"f1": Score("number", -0.0), "bleu": Score("number", 0.5, "", [1, 2])}, ["f1 is low"],
        query="q?", where="x:3", content_hash="h", cluster="b", labels={"level": 1}, expected={"expect": "answer"},
        outputs={"answer": "no"}, ranks={"doc": None}, seconds=0.5, concurrency=3, extra={"thresholds": {}},
    ),
    "a": CaseResult(
        "a", "passed", {"f1": Score("number", 1), "bleu": Score("aggregate", None, "", [3, 4])},
        labels={"level": True}, ranks={"doc": 1},
    ),
    "b": CaseResult("b", "error", {n: Score.failed("TimeoutError") for n in ("f1", "bleu")}, error="TimeoutError\n  x"),
    "e": CaseResult(
        "e", "passed", {"f1": Score("n/a", reason="no reference"), "bleu": Score("number", 0.25, details=DETAILS)},
    ),
    "c": CaseResult("c", "skipped", error="not now"),
}  # fmt: skip


def filled() -> ResultTable:
    table = ResultTable(IDS, {case_id: row for row, case_id in enumerate(IDS)})
    table.update(RESULTS)
    return table


@pytest.mark.parametrize("alike", [1000, 1])
@pytest.mark.parametrize("said", [251, 1])
def test_what_goes_in_comes_out_in_order(monkeypatch: pytest.MonkeyPatch, alike: int, said: int) -> None:
    monkeypatch.setattr(score_codes, "_MOST_ALIKE", alike)
    monkeypatch.setattr(score_codes, "_MOST_SAID", said)
    table = filled()
    assert list(table) == list(IDS)
    for case_id, result in table.items():
        assert repr(result.to_dict()) == repr(RESULTS[case_id].to_dict())  # 1, 1.0 and True are equal
        assert result == RESULTS[case_id]
        for name in ("f1", "bleu", "other"):
            seen, held = result.score_of(name), RESULTS[case_id].score_of(name)
            assert (seen and (seen.state, seen.value, seen.reason)) == (held and (held.state, held.value, held.reason))
        assert pickle.loads(pickle.dumps(result)) == RESULTS[case_id]
        assert replace(RESULTS[case_id], concurrency=9) != result
    assert (
        Run("s", cases=table, expected_ids=IDS).to_dict()
        == Run("s", cases={i: RESULTS[i] for i in IDS}, expected_ids=IDS).to_dict()
    )
    for key in ("thresholds", "labels"):
        assert (
            [r.case_id for r in Run("s", cases=table).having(key)]
            == [r.case_id for r in Run("s", cases=RESULTS).having(key)]
            == (["d"] if key == "thresholds" else [])
        )
    assert Run("s", cases=table).clusters == Run("s", cases=RESULTS).clusters == {"d": "b"}


@pytest.mark.parametrize("states", [("failed", "error"), ("skipped",), ("passed", "error"), ()])
def test_results_in_some_states_are_those_of_the_results(states: tuple[CaseState, ...]) -> None:
    table = filled()
    del table["e"]
    plain = {i: RESULTS[i] for i in IDS if i != "e"}
    assert list(Run("s", cases=table).in_state(*states)) == list(Run("s", cases=plain).in_state(*states))
    assert len(list(Run("s", cases=table).in_state(*states))) == len(states)


def test_scores_of_a_metric_are_those_of_the_results() -> None:
    run, plain = Run("s", cases=filled()), Run("s", cases={i: RESULTS[i] for i in IDS})
    for name in ("f1", "bleu", "other"):
        for wanted in (None, lambda case: case.case_id != "d"):
            found, held = run.scores_of(name, wanted), plain.scores_of(name, wanted)
            assert (list(found), list(found.ids), len(found)) == (list(held), list(held.ids), len(held))
            assert list(found.measured) == list(held.measured)
            assert list(found.measurements) == list(held.measurements)
            assert list(found.values) == list(held.values)
            for key in ("precision", "other"):
                assert list(found.details(key)) == list(held.details(key))
            assert bool(found.measured) == bool(held.measured)
    assert run.scores_of("bleu").measurements[-1] == Measurement(0.25, None, DETAILS)
    assert run.scores_of("f1").measured[0:1] == [Score("number", 1.0)]


def test_a_later_result_replaces_the_earlier_and_one_can_be_taken_out() -> None:
    table = filled()
    table["d"] = CaseResult("d", "passed", {"f1": Score("number", 0.5)}, labels={"level": 2})
    assert table["d"].scores == {"f1": Score("number", 0.5)}
    assert (table["d"].state, table["d"].labels, table["d"].problems, len(table)) == ("passed", {"level": 2}, [], 5)
    del table["d"]
    assert ("d" in table, "x" in table, len(table), list(table)) == (False, False, 4, ["a", "b", "c", "e"])
    for lost in ("d", "x"):
        with pytest.raises(KeyError):
            table[lost]
