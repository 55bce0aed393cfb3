"""Repeats: the variance split recovers what was put in, the two-stage rule holds its level, flaky is as defined."""

from __future__ import annotations

import math
import random

import pytest

from pytest_auepora.regression.repeats import RepeatPlan, VarianceSplit, classify_flaky, confirm, split_variance
from pytest_auepora.regression.significance import FamilyVerdict, PairedMetric, judge_family

Repeats = dict[str, list[float]]


def noisy_sides(
    n: int, rng: random.Random, *, between: float, within: float, repeats: tuple[int, int]
) -> tuple[Repeats, Repeats]:
    """n cases whose difference spreads by *between*, each asked again with a noise of *within*."""
    base: Repeats = {}
    cand: Repeats = {}
    for i in range(n):
        level, shift = rng.random(), rng.gauss(0, between)
        base[f"c{i}"] = [level + rng.gauss(0, within) for _ in range(repeats[0])]
        cand[f"c{i}"] = [level + shift + rng.gauss(0, within) for _ in range(repeats[1])]
    return base, cand


@pytest.mark.parametrize(("between", "within"), [(0.3, 0.2), (0.1, 0.3), (0.3, 0.0)])
def test_the_split_recovers_what_was_put_in(between: float, within: float) -> None:
    split = split_variance(*noisy_sides(3000, random.Random(0), between=between, within=within, repeats=(5, 3)))
    assert split.within_baseline == pytest.approx(within**2, abs=0.005)
    assert split.within_candidate == pytest.approx(within**2, abs=0.005)
    assert split.between == pytest.approx(between**2, abs=0.008)
    assert split.total == pytest.approx(between**2 + within**2 * (1 / 5 + 1 / 3), abs=0.008)
    assert split.repeats_baseline == pytest.approx(5)
    assert split.repeats_candidate == pytest.approx(3)


def test_the_split_by_hand() -> None:
    # differences of means 0.1, -0.5, 0.0; s_d² = 0.31/3; within: (0.02 + 0 + 0.08) / 3 and 0 / 3
    base = {"a": [0.4, 0.6], "b": [1.0, 1.0], "c": [0.3, 0.7]}
    cand = {"a": [0.6, 0.6], "b": [0.5, 0.5], "c": [0.5, 0.5]}
    split = split_variance(base, cand)
    mean = (0.1 - 0.5) / 3
    total = ((0.1 - mean) ** 2 + (-0.5 - mean) ** 2 + mean**2) / 2
    assert split.total == pytest.approx(total)
    assert split.within_baseline == pytest.approx(0.1 / 3)
    assert split.within_candidate == pytest.approx(0.0)
    assert split.between == pytest.approx(total - 0.1 / 3 / 2)
    assert split.most_shrink == pytest.approx(1 - math.sqrt(1 - 0.1 / 6 / total))


def test_uneven_repeats_weigh_by_their_harmonic_mean() -> None:
    base = {"a": [0.4, 0.6], "b": [1.0, 0.0, 1.0, 0.0], "c": [0.5]}
    split = split_variance(base, {"a": [0.5], "b": [0.5], "c": [0.2]})
    assert split.repeats_baseline == pytest.approx(3 / (1 / 2 + 1 / 4 + 1))
    assert split.repeats_candidate == 1
    assert split.within_baseline == pytest.approx((0.02 + 1.0) / 4)
    assert split.within_candidate == split.within_baseline, "a side never repeated is as noisy as the other"


def test_noise_larger_than_the_spread_leaves_nothing_between() -> None:
    split = split_variance({"a": [0.0, 1.0], "b": [1.0, 0.0]}, {"a": [0.5, 0.6], "b": [0.5, 0.5]})
    assert split.between == 0.0
    assert split.most_shrink == 1.0
    assert split.repeats_instead_of(4) is not None


def test_differences_that_are_all_the_same_have_nothing_to_shrink() -> None:
    split = split_variance({"a": [0.0, 1.0], "b": [1.0, 0.0]}, {"a": [0.5, 0.5], "b": [0.5, 0.5]})
    assert (split.total, split.between, split.most_shrink) == (0.0, 0.0, 0.0)


def test_without_repeats_there_is_no_split() -> None:
    split = split_variance({"a": [0.0], "b": [1.0]}, {"a": [0.5], "b": [0.5]})
    assert (split.between, split.within_baseline, split.most_shrink) == (None, None, None)
    assert split.repeats_instead_of(500) is None
    assert "cannot be told apart" in str(split)


@pytest.mark.parametrize("candidate", [{}, {"a": [1.0]}, {"a": [1.0], "b": []}])
def test_the_split_needs_two_cases(candidate: Repeats) -> None:
    with pytest.raises(ValueError, match="two cases"):
        split_variance({"a": [0.0], "b": [1.0]}, candidate)


def test_the_split_in_words() -> None:
    split = VarianceSplit(40, 0.10, 0.04, 0.15, 0.15, 5, 5)
    assert split.most_shrink == pytest.approx(1 - math.sqrt(0.4))
    assert str(split) == (
        "variance between cases 0.0400, within cases 0.0600; more repeats can shrink the standard error by at most 37%"
    )


def test_repeats_that_are_worth_as_much_as_more_cases() -> None:
    split = VarianceSplit(40, 0.10, 0.04, 0.15, 0.15, 5, 5)
    needed = split.repeats_instead_of(60)
    assert needed is not None
    for repeats, enough in ((needed, True), (needed - 1, False)):
        assert ((0.04 + 0.30 / repeats) / 40 <= 0.10 / 60 + 1e-12) is enough
    assert split.repeats_instead_of(100) is None, "0.04 / 40 is as much as 0.10 / 100, whatever the repeats"


def family(*metrics: PairedMetric) -> FamilyVerdict:
    return judge_family(metrics, {}, draws=199)


def drops(losses: int, wins: int = 0) -> PairedMetric:
    return PairedMetric("m", {f"c{i}": -1.0 if i < losses else 1.0 if i < losses + wins else 0.0 for i in range(40)})


def test_the_second_stage_starts_when_any_metric_looks_bad() -> None:
    plan = RepeatPlan()
    assert (plan.baseline, plan.first, plan.total, plan.extra) == (5, 3, 5, 2)
    assert plan.wants_second_stage(family(drops(3)))
    assert not plan.wants_second_stage(family(drops(1)))  # p = 0.25
    assert not plan.wants_second_stage(family(drops(0, 4)))
    assert not plan.wants_second_stage(family(drops(0)))
    assert not plan.wants_second_stage(family())
    assert RepeatPlan(trigger=0.3).wants_second_stage(family(drops(1)))


@pytest.mark.parametrize("wrong", [{"baseline": 0}, {"first": 0}, {"first": 6}, {"trigger": 0.0}, {"trigger": 0.5}])
def test_a_plan_that_cannot_work_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"must lie|needs"):
        RepeatPlan(**wrong)


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        (drops(6), drops(6), "fail"),
        (drops(2), drops(6), "fail"),  # looked bad (p 0.125), then failed
        (drops(1), drops(6), "inconclusive"),  # did not look bad at first
        (drops(6), drops(2), "inconclusive"),  # not confirmed
        (drops(6), drops(0), "same"),
        (drops(0, 9), drops(0, 9), "pass"),
    ],
)
def test_failing_needs_both_stages(first: PairedMetric, second: PairedMetric, outcome: str) -> None:
    verdict = confirm(family(first), family(second))
    assert verdict.outcome == verdict.metrics[0].outcome == outcome


def test_one_stage_alone_does_not_fail() -> None:
    alone = family(drops(6))
    verdict = confirm(alone, None)
    assert (alone.outcome, verdict.outcome) == ("fail", "inconclusive")
    assert verdict.metrics[0].reason.endswith("not failed, as more repeats are needed to confirm it")
    assert "in the first repeats" in confirm(family(drops(0)), alone).metrics[0].reason
    assert confirm(family(drops(0)), None) == family(drops(0))


def test_two_stages_raise_fewer_false_alarms_than_one_and_see_nearly_as_much() -> None:
    rng = random.Random(5)

    def verdicts(shift: float) -> tuple[bool, bool]:
        level = [rng.random() for _ in range(40)]
        base = [sum(rng.gauss(x, 0.3) for _ in range(5)) / 5 for x in level]
        cand = [[rng.gauss(x + shift, 0.3) for _ in range(5)] for x in level]

        def over(repeats: int) -> FamilyVerdict:
            pairs = enumerate(zip(base, cand, strict=True))
            return family(PairedMetric("m", {str(i): sum(c[:repeats]) / repeats - b for i, (b, c) in pairs}))

        first, second = over(3), over(5)
        return confirm(first, second).outcome == "fail", second.outcome == "fail"

    null = [verdicts(0.0) for _ in range(200)]
    worse = [verdicts(-0.1) for _ in range(100)]
    two_stage, one_stage = (sum(side) for side in zip(*null, strict=True))
    assert two_stage <= one_stage
    assert two_stage <= 20, "5 % of 200 are 10, and three standard deviations more are 19"
    assert sum(w[0] for w in worse) >= 0.9 * sum(w[1] for w in worse)
    assert sum(w[0] for w in worse) >= 40


@pytest.mark.parametrize(
    ("passes", "flaky"), [(0, False), (1, False), (2, True), (5, True), (8, True), (9, False), (10, False)]
)
def test_flaky_is_a_pass_rate_strictly_between_ten_and_ninety_percent(passes: int, flaky: bool) -> None:
    found = classify_flaky([True] * passes + [False] * (10 - passes), {})
    assert found.flaky is flaky
    assert found.pass_rate == passes / 10
    assert found.reason == (f"passes in {passes} of 10 repeats" if flaky else "")


def test_flaky_is_a_score_that_varies() -> None:
    calm = classify_flaky([True] * 3, {"f1": [0.5, 0.5, 0.7]})
    noisy = classify_flaky([True] * 3, {"f1": [0.5, 0.5, 0.7], "rougeL": [0.2, 0.6, 0.4]})
    assert (calm.flaky, noisy.flaky) == (False, True)
    assert calm.sd == pytest.approx(math.sqrt(0.04 / 3))
    assert noisy.reason == "rougeL varies by 0.20 (standard deviation) between repeats"
    both = classify_flaky([True, False], {"f1": [0.0, 1.0]})
    assert " and " in both.reason


def test_one_repeat_is_never_flaky() -> None:
    found = classify_flaky([False], {"f1": [0.3]})
    assert (found.flaky, found.pass_rate, found.sd) == (False, None, None)
    assert not classify_flaky([], {}).flaky
