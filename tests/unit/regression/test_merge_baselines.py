"""Two branches that both accepted: a case changed on one side is taken, on both sides asked anew."""

from __future__ import annotations

from typing import Any

from pytest_auepora.regression.baseline import Baseline, BaselineCase, BaselineMetric
from pytest_auepora.regression.merge_baselines import merge_baselines


def baseline(scores: dict[str, float], falls: int = 0, version: int = 1, **provenance: Any) -> Baseline:
    metrics = {"mrr": BaselineMetric(version, {}, falls, 1.0 if falls else None)}
    cases = {case_id: BaselineCase("h", scores={"mrr": value}) for case_id, value in scores.items()}
    return Baseline("shop", "", metrics, provenance, cases)


def scores(merged: Baseline) -> dict[str, Any]:
    return {case_id: case.scores["mrr"] for case_id, case in merged.cases.items()}


BASE = baseline({"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}, git_commit="1")


def test_what_one_side_changed_is_taken() -> None:
    ours = baseline({"a": 0.5, "b": 1.0, "c": 1.0, "d": 1.0}, git_commit="2")
    theirs = baseline({"a": 1.0, "b": 0.25, "d": 1.0, "e": 0.75}, git_commit="3")
    merged = merge_baselines(BASE, ours, theirs)
    assert scores(merged.baseline) == {"a": 0.5, "b": 0.25, "d": 1.0, "e": 0.75}
    assert (merged.taken, merged.anew, merged.differing) == (["b", "e"], [], [])
    assert merged.baseline.provenance == {"git_commit": "2"}


def test_what_both_sides_changed_is_asked_anew() -> None:
    ours, theirs = (baseline({"a": value, "b": 0.5, "c": 1.0, "d": 1.0}) for value in (0.5, 0.25))
    merged = merge_baselines(BASE, ours, theirs)
    assert scores(merged.baseline) == {"b": 0.5, "c": 1.0, "d": 1.0}, "b is alike on both sides"
    assert merged.anew == ["a"]


def test_a_case_dropped_here_and_changed_there_is_gone() -> None:
    ours, theirs = baseline({"a": 1.0}), baseline({"a": 1.0, "b": 0.5, "c": 1.0, "d": 1.0})
    for merged in (merge_baselines(BASE, ours, theirs), merge_baselines(BASE, theirs, ours)):
        assert "c" not in merged.baseline.cases
        assert "d" not in merged.baseline.cases


def test_without_an_ancestor_every_difference_is_asked_anew() -> None:
    merged = merge_baselines(None, baseline({"a": 1.0, "b": 0.5}), baseline({"a": 1.0, "b": 0.25, "c": 1.0}))
    assert (scores(merged.baseline), merged.anew) == ({"a": 1.0, "c": 1.0}, ["b"])


def test_the_side_that_measures_differently_counts() -> None:
    """It measured every case again; what the other side accepted was measured as before."""
    ours = baseline({"a": 0.5, "b": 1.0, "c": 1.0, "d": 1.0})
    theirs = baseline({"a": 1.0, "b": 0.9, "c": 0.9, "d": 0.9}, version=2)
    for merged in (merge_baselines(BASE, ours, theirs), merge_baselines(BASE, theirs, ours)):
        assert scores(merged.baseline) == {"b": 0.9, "c": 0.9, "d": 0.9}
        assert merged.baseline.metrics["mrr"].version == 2
        assert (merged.anew, merged.differing) == (["a"], ["mrr"])


def test_another_corpus_measures_differently_another_commit_not() -> None:
    ours = baseline({**dict.fromkeys("abcd", 1.0), "a": 0.5}, git_commit="2")
    theirs = baseline({**dict.fromkeys("abcd", 1.0), "b": 0.5}, git_commit="3", corpus="autumn")
    merged = merge_baselines(BASE, ours, theirs)
    assert (merged.differing, merged.anew) == (["corpus"], ["a"])
    assert merged.baseline.provenance["corpus"] == "autumn"


def test_accepted_falls_of_both_sides_add_up() -> None:
    base, ours, theirs = (baseline({"a": 1.0}, falls) for falls in (1, 2, 3))
    assert merge_baselines(base, ours, theirs).baseline.metrics["mrr"].falls == 4
    assert merge_baselines(base, base, theirs).baseline.metrics["mrr"].falls == 3


def test_a_merge_of_equal_sides_is_byte_identical() -> None:
    assert merge_baselines(BASE, BASE, BASE).baseline.dumps() == BASE.dumps()
