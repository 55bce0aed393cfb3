"""Pairing a run with a baseline: flips, gains, what is lost and what does not compare."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.findings import Finding
from pytest_auepora.core.run import CaseResult
from pytest_auepora.regression.baseline import Baseline
from pytest_auepora.regression.compare import Change, Incomparable, compare

from . import runs
from .runs import case, run


def accepted(*cases: CaseResult, **more: Any) -> Baseline:
    return runs.accepted(run(*cases, **more))


def failing(result: CaseResult, **found: Any) -> CaseResult:
    result.findings, result.state = [Finding("assertion", "must_contain", **found)], "failed"
    if not result.failures:
        result.state = "passed"
    return result


@pytest.mark.parametrize(
    ("held", "now", "flip"),
    [
        (True, case("a", asserted=True, mrr=1.0), "unchanged"),
        (True, failing(case("a", asserted=False, mrr=1.0), held=5, accepted=5), "newly failing"),
        (True, failing(case("a", asserted=False, mrr=1.0), held=5, accepted=5, status="varies"), "unchanged"),
        (False, case("a", asserted=True, mrr=1.0), "fixed"),
        (False, failing(case("a", asserted=False, mrr=1.0), status="still failing", accepted=5), "still failing"),
        (True, case("a", state="error", mrr="boom"), "errored"),
        (True, case("a", state="skipped"), "skipped"),
    ],
)
def test_flips(held: bool, now: CaseResult, flip: str) -> None:
    assert compare(run(now), accepted(case("a", asserted=held, mrr=1.0))).cases["a"].flip == flip


def test_a_threshold_that_no_accepted_answer_met_is_fixed_once() -> None:
    now = case("a", mrr=0.9)
    now.thresholds = {"mrr": [("min", 0.8)]}
    assert compare(run(now), accepted(case("a", mrr=[0.1, 0.7]))).cases["a"].flip == "fixed"
    assert compare(run(now), accepted(case("a", mrr=[0.1, 0.8]))).cases["a"].flip == "unchanged"


def test_a_score_is_compared_with_the_mean_of_the_accepted() -> None:
    before = accepted(case("a", mrr=[1.0, 0.5, None, "error", 0.5]))
    change = compare(run(case("a", mrr=0.25)), before).cases["a"].changes["mrr"]
    assert (change.before, change.gain) == (0.5, -0.25), "an accepted error is the worst value, n/a is left out"


def test_a_score_that_was_na_in_some_accepted_answers_is_not() -> None:
    found = compare(run(case("a", mrr=None)), accepted(case("a", mrr=[1.0, None]))).cases["a"]
    assert (found.changes, found.lost) == ({}, {})


def test_new_edited_vanished_and_renamed_cases() -> None:
    baseline = accepted(case("a", mrr=1.0), case("b", mrr=1.0, content="same"), case("c", mrr=1.0))
    now = run(case("a", mrr=0.0, content="edited"), case("d", mrr=1.0, content="same"), expected=("a", "d"))
    found = compare(now, baseline)
    assert {i: c.flip for i, c in found.cases.items()} == {"a": "changed", "d": "new"}
    assert found.vanished == {"b": "d", "c": None}
    assert found.metric("mrr") is None  # nothing pairs, so nothing is compared


def test_a_case_that_was_not_selected_is_not_vanished() -> None:
    found = compare(run(case("a", mrr=1.0), expected=("a", "b")), accepted(case("a", mrr=1.0), case("b", mrr=1.0)))
    assert found.vanished == {}


def test_scores_become_gains_signed_by_direction() -> None:
    baseline = accepted(case("a", mrr=1.0, empty_result_rate=0.0), names=("mrr", "empty_result_rate"))
    found = compare(run(case("a", mrr=0.25, empty_result_rate=1.0), names=("mrr", "empty_result_rate")), baseline)
    assert found.cases["a"].changes["mrr"].gain == pytest.approx(-0.75)
    assert found.cases["a"].changes["empty_result_rate"].gain == pytest.approx(-1.0)
    assert found.cases["a"].worst == pytest.approx(-1.0)


def test_an_error_is_the_worst_value_and_na_is_lost() -> None:
    baseline = accepted(case("a", mrr=0.5, recall_at_1=1.0))
    found = compare(run(case("a", state="error", mrr="boom", recall_at_1=None)), baseline).cases["a"]
    assert found.changes["mrr"].after == 0.0
    assert found.changes["mrr"].errored
    assert found.lost == {"recall@1": "no relevant_docs"}


@given(st.floats(0, 1))
def test_the_rounding_of_the_file_is_never_a_change(value: float) -> None:
    found = compare(run(case("a", mrr=value)), accepted(case("a", mrr=value)))
    assert found.cases["a"].changes["mrr"].gain == 0.0


def test_versions_and_parameters_make_a_metric_incomparable() -> None:
    baseline = accepted(case("a", mrr=1.0, recall_at_1=1.0))
    baseline.metrics["mrr"] = replace(baseline.metrics["mrr"], version=9)
    baseline.metrics["recall@1"] = replace(baseline.metrics["recall@1"], params={"k": 2})
    found = compare(run(case("a", mrr=0.0, recall_at_1=0.0)), baseline)
    (version,), params = found.incomparable["mrr"].changes, found.incomparable["recall@1"].changes
    assert version[:2] == ("metric version", 9)
    assert ("k", 2, 1) in params
    assert found.cases["a"].changes == {}


def test_a_new_chunker_leaves_generation_comparable() -> None:
    names = ("recall@1", "token_f1")
    before = accepted(case("a", recall_at_1=1.0, token_f1=1.0), names=names, provenance={"chunker_version": 3})
    now = run(case("a", recall_at_1=0.0, token_f1=1.0), names=names, provenance={"chunker_version": 4, "model": "m"})
    found = compare(now, before)
    assert found.incomparable == {"recall@1": Incomparable(changes=(Change("chunker_version", 3, 4),))}
    assert found.provenance == {"chunker_version": (3, 4), "model": (None, "m")}
    assert set(found.cases["a"].changes) == {"token_f1"}


def test_a_metric_nobody_computes_any_more_is_lost() -> None:
    found = compare(run(case("a", mrr=1.0), names=("mrr",)), accepted(case("a", mrr=1.0, recall_at_1=1.0)))
    assert found.lost_metrics == ("recall@1",)
