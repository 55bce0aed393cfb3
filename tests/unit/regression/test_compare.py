"""Pairing a run with a baseline: flips, gains, what is lost and what does not compare."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.run import CaseResult
from pytest_auepora.regression.accept import merge
from pytest_auepora.regression.baseline import Baseline
from pytest_auepora.regression.compare import compare

from .runs import case, run


def accepted(*cases: CaseResult, **more: Any) -> Baseline:
    return merge(None, run(*cases, **more), {"all"})[0]


@pytest.mark.parametrize(
    ("before", "after", "flip"),
    [
        ("passed", "passed", "unchanged"),
        ("passed", "failed", "newly failing"),
        ("failed", "passed", "fixed"),
        ("failed", "failed", "still failing"),
        ("passed", "error", "errored"),
        ("failed", "skipped", "skipped"),
    ],
)
def test_flips(before: str, after: str, flip: str) -> None:
    found = compare(run(case("a", state=after, mrr=1.0)), accepted(case("a", state=before, mrr=1.0)))
    assert found.cases["a"].flip == flip


def test_what_failed_before_and_fell_since_is_newly_failing() -> None:
    before = accepted(case("a", state="failed", mrr=1.0))
    now = case("a", state="failed", mrr=0.2)
    now.extra["still_failing"] = ["assertion_pass: the answer misses '30 days'"]
    assert compare(run(now), before).cases["a"].flip == "still failing"
    now.problems = ["mrr fell from 1.00 to 0.20 since the baseline, limit 0.5"]
    assert compare(run(now), before).cases["a"].flip == "newly failing"
    now.problems = ["assertion_pass: the answer says 'for ever'"]
    assert compare(run(now), before).cases["a"].flip == "newly failing"


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
    baseline.metrics["mrr"] = {"version": 0, "params": baseline.metrics["mrr"]["params"]}
    baseline.metrics["recall@1"] = {**baseline.metrics["recall@1"], "params": {"k": 2}}
    found = compare(run(case("a", mrr=0.0, recall_at_1=0.0)), baseline)
    assert found.incomparable["mrr"].startswith("metric version 0 → ")
    assert "k 2 → " in found.incomparable["recall@1"]
    assert found.cases["a"].changes == {}


def test_a_new_chunker_leaves_generation_comparable() -> None:
    names = ("recall@1", "token_f1")
    before = accepted(case("a", recall_at_1=1.0, token_f1=1.0), names=names, provenance={"chunker_version": 3})
    now = run(case("a", recall_at_1=0.0, token_f1=1.0), names=names, provenance={"chunker_version": 4, "model": "m"})
    found = compare(now, before)
    assert found.incomparable == {"recall@1": "chunker_version 3 → 4"}
    assert found.provenance == {"chunker_version": (3, 4), "model": (None, "m")}
    assert set(found.cases["a"].changes) == {"token_f1"}


def test_a_metric_nobody_computes_any_more_is_lost() -> None:
    found = compare(run(case("a", mrr=1.0), names=("mrr",)), accepted(case("a", mrr=1.0, recall_at_1=1.0)))
    assert found.lost_metrics == ("recall@1",)
