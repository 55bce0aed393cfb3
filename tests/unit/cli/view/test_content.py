"""A run with its reasons, metrics with intervals, history; the list of runs."""

from __future__ import annotations

from pytest_auepora.cli.view.content import run_page, runs_page
from pytest_auepora.reporting.page.run_data import slice_rows

from .histories import Stored


def test_the_verdict_comes_with_its_reasons(history: Stored) -> None:
    told = run_page(history.library, history.library.pair(history.worse))
    assert told["outcome"] == "failed"
    failed = told["gates"][0]
    assert failed["state"] == "failed"
    assert "recall@5" in [gate["title"] for gate in failed["gates"]]
    assert told["changed"] == ["index v1 → v2"]
    assert told["counts"]["failed"] == 3
    assert told["against"] == ""
    assert told["run"]["id"] == history.worse


def test_every_change_has_an_interval_in_numbers_and_words(history: Stored) -> None:
    told = run_page(history.library, history.library.pair(history.worse, history.good))
    recall = next(one for one in told["metrics"] if one["name"] == "recall@5")["interval"]
    assert recall["value"] == -0.5
    assert recall["low"] < -0.5 < recall["high"]
    assert recall["text"].startswith("-0.500 [-1.")
    assert told["changed"] == ["index v1 → v2"]
    assert history.good in told["against"]


def test_a_slice_has_an_interval_of_its_own(history: Stored) -> None:
    rows = slice_rows(history.library.pair(history.worse).rows, "scenario")
    typo = next(one for one in rows if (one["metric"], one["slice"]) == ("recall@5", "typo"))
    assert typo["n"] == 1, "the errored case has no value"
    assert typo["interval"]["n"] == 2, "and counts as the worst in the change"
    assert {one["slice"] for one in slice_rows(history.library.pair(history.worse).rows, "tag")} == {"smoke"}


def test_history_marks_changes_of_provenance(history: Stored) -> None:
    told = run_page(history.library, history.library.pair(history.worse))["history"]
    assert [one["id"] for one in told["runs"]] == [history.good, history.worse, history.other]
    assert [bool(one["started"]) for one in told["runs"]] == [True, False, True], "it is this run"
    assert [one["changed"] for one in told["runs"]] == [[], ["index v1 → v2"], ["index v2 → v3"]]
    recall = next(one for one in told["metrics"] if one["name"] == "recall@5")
    assert recall["values"][0] == recall["values"][2] == 1.0
    assert "mean_latency" not in [one["name"] for one in told["metrics"]]


def test_without_a_baseline_nothing_is_compared(history: Stored) -> None:
    told = run_page(history.library, history.library.pair(history.good))
    assert not told["compared"]
    assert "(billing.json)" in told["baseline"]
    assert [one["interval"] for one in told["metrics"]] == [None] * len(told["metrics"])


def test_a_run_in_the_list_has_its_metrics_and_how_it_compares(history: Stored) -> None:
    history.library.store.describe(history.worse, name="k1 = 2", note="tried on Monday")
    told = runs_page(history.library, {})["runs"]
    assert [(one["outcome"], one["word"]) for one in told] == [("passed", "same"), ("failed", "worse"), ("passed", "")]
    assert told[1]["metrics"][:2] == [["recall@5", "0.667"], ["mrr@10", "0.500"]]
    assert (told[1]["name"], told[1]["note"]) == ("k1 = 2", "tried on Monday")
