"""The verdict and its reasons, metrics with intervals, history."""

from __future__ import annotations

from pytest_auepora.cli.view.content import overview, slice_metrics

from .histories import Stored


def test_the_verdict_comes_with_its_reasons(history: Stored) -> None:
    told = overview(history.library, history.library.pair(history.worse))
    assert told["word"].startswith("Failed")
    first = told["reasons"][0]
    assert first["state"] == "failed"
    assert first["short"].startswith("recall@5 0.5")
    assert first["worst_cases"][0] in ("fell-out", "raises")
    assert told["changed"] == ["index v1 → v2"]
    assert told["counts"]["failed"] == 3
    assert told["byBaseline"]


def test_the_arithmetic_stands_behind_what_is_said_first(history: Stored) -> None:
    told = overview(history.library, history.library.pair(history.worse))
    fell = next(one for one in told["reasons"] if one["title"] == "regression: mrr@10")
    assert fell["n"] == 4
    assert fell["bound"]
    assert not fell["slice"]


def test_every_change_has_an_interval_in_numbers_and_words(history: Stored) -> None:
    told = overview(history.library, history.library.pair(history.worse, history.good))
    recall = next(one for one in told["metrics"] if one["name"] == "recall@5")["interval"]
    assert recall["value"] == -0.5
    assert recall["low"] < -0.5 < recall["high"]
    assert recall["text"].startswith("-0.500 [-1.")
    assert told["changed"] == ["index v1 → v2"]
    assert not told["byBaseline"]


def test_a_slice_has_an_interval_of_its_own(history: Stored) -> None:
    rows = slice_metrics(history.library.pair(history.worse), "scenario")
    typo = next(one for one in rows if (one["metric"], one["slice"]) == ("recall@5", "typo"))
    assert typo["n"] == 1, "the errored case has no value"
    assert typo["interval"]["n"] == 2, "and counts as the worst in the change"
    assert {one["slice"] for one in slice_metrics(history.library.pair(history.worse), "tag")} == {"smoke"}


def test_history_marks_changes_of_provenance(history: Stored) -> None:
    told = overview(history.library, history.library.pair(history.worse))["history"]
    assert [one["id"] for one in told["runs"]] == [history.good, history.worse, history.other]
    assert [one["changed"] for one in told["runs"]] == [[], ["index v1 → v2"], ["index v2 → v3"]]
    recall = next(one for one in told["metrics"] if one["name"] == "recall@5")
    assert recall["values"][0] == recall["values"][2] == 1.0
    assert "mean_latency" not in [one["name"] for one in told["metrics"]]


def test_without_a_baseline_nothing_is_compared(history: Stored) -> None:
    told = overview(history.library, history.library.pair(history.good))
    assert not told["compared"]
    assert told["baselineNote"] == "no baseline yet (billing.json)"
    assert [one["interval"] for one in told["metrics"]] == [None] * len(told["metrics"])
