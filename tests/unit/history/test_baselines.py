"""A run as a baseline and a baseline as a run."""

from __future__ import annotations

from pytest_auepora.history.baselines import as_baseline, as_run
from pytest_auepora.history.compare import compare
from pytest_auepora.regression.baseline import parse_baseline

from ..reporting.builders import baseline_of, run_of
from .test_compare import at, pair_of_runs


def test_a_baseline_compares_like_the_run_it_was_made_of() -> None:
    a, b = pair_of_runs()
    accepted = as_run(parse_baseline(baseline_of(a).dumps(), "billing.json"))
    by_run, by_baseline = compare(a, b), compare(accepted, b)
    assert [(q.query_id, q.kind) for q in by_baseline.per_query] == [(q.query_id, q.kind) for q in by_run.per_query]
    assert by_baseline.to_dict()["deltas"]["hit_at_k"] == by_run.to_dict()["deltas"]["hit_at_k"]
    assert by_baseline.outcome == by_run.outcome
    assert as_baseline(accepted).metrics == baseline_of(a).metrics


def test_a_metric_nobody_knows_still_reads_as_a_run() -> None:
    baseline = baseline_of(run_of([at(1)]))
    baseline.metrics["my_own"] = {"version": 3, "params": {"x": 1}}
    info = as_run(baseline).metrics["my_own"]
    assert (info.version, info.params, info.direction) == (3, {"x": 1}, "higher")
