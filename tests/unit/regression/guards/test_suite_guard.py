"""The suite guard: net flips, few clusters, better, and how often an unchanged system is called worse."""

from __future__ import annotations

import random
from itertools import product

import pytest

from pytest_auepora.core.run import Run
from pytest_auepora.regression.accept import merge
from pytest_auepora.regression.compare import compare
from pytest_auepora.regression.guards.gates import GateOutcome
from pytest_auepora.regression.guards.suite_guard import NET_FLIPS, judge_comparison, net_flips
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.statistics.significance import PairedMetric, judge_family

from ..runs import case, run, steady


def scored(*scores: float) -> Run:
    return run(*(case(f"c{i:03}", mrr=score) for i, score in enumerate(scores)), names=("mrr",))


def judged(before: Run, now: Run, *, is_steady: bool = False) -> dict[str, GateOutcome]:
    found = compare(now, steady(merge(None, before, {"all"})[0], always=is_steady))
    return {gate.metric: gate for gate in judge_comparison(now, found, RegressionPolicy(), {})}


def test_net_flips_count_cases_beyond_the_limit() -> None:
    before, now = scored(1, 1, 0, 0.5, 1), scored(0, 0.4, 1, 0.6, 0.6)
    comparison = compare(now, merge(None, before, {"all"})[0])
    for names, is_steady in (((), False), (("mrr",), True)):
        comparison.steady = names
        flips = net_flips(now, comparison, RegressionPolicy())
        assert flips is not None
        assert [change.gain for change in flips.changes.values()] == [-1, -1, 1, 0, 0]
        assert flips.steady is is_steady, "mrr alone flips"


def test_a_case_that_rose_and_fell_counts_nothing() -> None:
    before, now = run(case("a", mrr=1.0, recall_at_1=0.0)), run(case("a", mrr=0.0, recall_at_1=1.0))
    assert net_flips(now, compare(now, merge(None, before, {"all"})[0]), RegressionPolicy()) is None


def test_net_flips_fail_a_run_whose_means_hide_them() -> None:
    before = scored(*[0.9] * 8, *[0.1] * 32)
    now = scored(*[0.0] * 8, *[0.33] * 32)
    found = judged(before, now)
    assert (found["mrr"].state, found[NET_FLIPS].state) == ("inconclusive", "failed")
    assert found[NET_FLIPS].value == pytest.approx(-0.2)


@pytest.mark.parametrize(("is_steady", "word"), [(True, "worse"), (False, "inconclusive")])
def test_few_cases_fail_at_once_only_in_a_steady_metric(is_steady: bool, word: str) -> None:
    found = judged(scored(1, 1, 1, 1), scored(0.9, 1, 1, 1), is_steady=is_steady)
    assert found["mrr"].word == word


def test_five_cases_that_all_fell_are_enough_and_four_are_not() -> None:
    words = [judged(scored(*[0.9] * n), scored(*[0.7 - i / 50 for i in range(n)]))["mrr"].word for n in (4, 5)]
    assert words == ["inconclusive", "worse"]


def test_a_metric_of_few_cases_is_judged_by_its_own_clusters() -> None:
    """Two cases have answers to compare, sixty have rankings: the two alone decide nothing."""
    cases = [case(f"c{i:02}", recall_at_1=1.0, mrr=1.0 if i < 2 else None) for i in range(60)]
    now = [case(f"c{i:02}", recall_at_1=1.0, mrr=0.8 if i < 2 else None) for i in range(60)]
    found = judged(run(*cases), run(*now))
    assert (found["mrr"].word, found["mrr"].state, found["recall@1"].word) == ("inconclusive", "inconclusive", "same")


def test_better_takes_the_same_evidence_as_worse() -> None:
    low, high = scored(*[0.2] * 40), scored(*[0.9 if i < 12 else 0.2 for i in range(40)])
    assert {gate.word for gate in judged(low, high).values()} == {"better"}
    assert {gate.state for gate in judged(low, high).values()} == {"passed"}
    assert {gate.word for gate in judged(high, low).values()} == {"worse"}


@pytest.mark.parametrize("n", [5, 6, 7, 9])
def test_the_test_of_few_clusters_is_exact(n: int) -> None:
    rng = random.Random(n)
    differences = [rng.gauss(-0.3, 0.3) for _ in range(n)]
    found = judge_family([PairedMetric("m", {f"c{i}": d for i, d in enumerate(differences)})], {})[0]
    sums = [sum(s * d for s, d in zip(signs, differences, strict=True)) for signs in product((1, -1), repeat=n)]
    assert found.p_adjusted == pytest.approx(sum(s <= sum(differences) + 1e-9 for s in sums) / 2**n)
    assert found.p_gain == pytest.approx(sum(s >= sum(differences) - 1e-9 for s in sums) / 2**n)
    assert found.hall is None


def test_gains_and_losses_of_mean_zero_stay_green() -> None:
    """Sign flips alone would call far more than a twentieth of these worse."""
    rng, red, flips_alone, runs = random.Random(5), 0, 0, 300
    for _ in range(runs):
        drawn = {f"c{i:02}": 0.5 if rng.random() < 0.1 else -0.5 / 9 for i in range(30)}
        (found,) = judge_family([PairedMetric("m", drawn)], {})
        red += found.outcome == "worse"
        flips_alone += found.p_adjusted <= 0.05
    assert flips_alone > 0.1 * runs
    assert red <= 0.08 * runs


def test_an_unchanged_sampling_system_is_seldom_worse() -> None:
    rng, red, runs = random.Random(1), 0, 200
    for _ in range(runs):
        n = rng.choice((6, 10, 20))
        levels = [rng.random() for _ in range(n)]
        before, now = (scored(*(float(rng.random() < p) for p in levels)) for _ in range(2))
        red += any(gate.state == "failed" for gate in judged(before, now).values())
    assert red <= 0.05 * runs + 2 * (0.05 * 0.95 * runs) ** 0.5
