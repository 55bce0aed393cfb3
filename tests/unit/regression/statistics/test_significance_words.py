"""What a verdict says about one metric: how it moved, how often chance alone does so, what would decide it."""

from __future__ import annotations

import math

import pytest

from pytest_auepora.regression.statistics.significance import PairedMetric, judge_family

from .families import binary, judge_one


def test_a_clear_drop_fails_and_says_its_size_and_p() -> None:
    verdict = judge_one(binary(50, 6))
    assert verdict.outcome == "worse"
    assert verdict.estimate.mean == pytest.approx(-0.12)
    assert verdict.p_adjusted == verdict.p_raw == pytest.approx(1 / 128)
    assert verdict.cases_needed is None
    assert verdict.reason == "worse by 0.12 (50 cases: 6 worse, 0 better), p 0.0078 <= 0.05"


def test_inconclusive_says_what_would_decide_it() -> None:
    verdict = judge_one(binary(50, 3))
    assert verdict.outcome == "inconclusive"
    assert verdict.mde is not None
    assert verdict.cases_needed == math.ceil(50 * (verdict.mde / 0.06) ** 2)
    assert verdict.reason.endswith(f"about {verdict.cases_needed} cases like these would decide it")
    assert "p 0.0625 > 0.05, and the true mean may be worse by up to" in verdict.reason


def test_a_detectable_effect_above_the_margin_is_warned_about() -> None:
    for losses, wins in ((6, 0), (3, 0), (1, 1)):
        verdict = judge_one(binary(50, losses, wins))
        assert verdict.mde is not None
        assert verdict.estimate.se is not None
        assert verdict.critical_value is not None
        assert verdict.mde == pytest.approx((verdict.critical_value + 0.84) * verdict.estimate.se)
        assert (verdict.mde > 0.05) == bool(verdict.warning)
    assert "above the margin 0.05" in judge_one(binary(50, 3)).warning
    assert judge_one(binary(1000, 3, 3)).warning == ""


def test_a_clear_drop_below_min_effect_does_not_fail() -> None:
    slight = {f"c{i}": -0.005 for i in range(60)} | {"other": 0.001}
    verdict = judge_one(slight)
    assert verdict.p_adjusted < 0.001
    assert verdict.outcome == "same"
    assert "clear (p < 0.0001) but below min_effect 0.01" in verdict.reason
    assert judge_one(slight, min_effect=0.004).outcome == "worse"


def test_a_drop_below_min_effect_is_not_decided_by_more_cases() -> None:
    verdict = judge_one(binary(100, 10, 2), min_effect=0.2)
    assert verdict.outcome == "inconclusive"
    assert verdict.cases_needed is None
    assert "more cases would not decide it" in verdict.reason


def test_a_gain_is_no_drop() -> None:
    verdict = judge_one(binary(100, 0, 20))
    assert verdict.outcome == "better"
    assert verdict.p_gain < 0.001
    assert verdict.p_raw > 0.99
    assert verdict.reason.startswith("better by 0.2 (100 cases: 0 worse, 20 better)")


@pytest.mark.parametrize(("losses", "wins", "how"), [(3, 4, "better by 0.05"), (3, 3, "unchanged on average")])
def test_a_mean_that_did_not_drop_says_how_much_worse(losses: int, wins: int, how: str) -> None:
    verdict = judge_one(binary(20, losses, wins))
    assert verdict.outcome == "inconclusive"
    bound = f"{-(verdict.lower_bound or 0):.4f}"
    assert verdict.reason == (
        f"{how} (20 cases: {losses} worse, {wins} better), but the true mean may be worse by up to {bound} "
        f"(95 % confidence; the margin is 0.05): about {verdict.cases_needed} cases like these would decide it"
    )


def test_nothing_differs() -> None:
    verdict = judge_one(binary(44, 0))
    assert verdict.outcome == "same"
    assert (verdict.estimate.mean, verdict.estimate.se, verdict.mde) == (0.0, 0.0, None)
    assert "no case differs (44 cases)" in verdict.reason
    assert "a drop of 0.133" in verdict.reason, "what 44 cases could have shown is told even so"


def test_no_pair_is_never_green() -> None:
    verdict = judge_one({})
    assert verdict.outcome == "inconclusive"
    assert (verdict.estimate.mean, verdict.estimate.se, verdict.lower_bound, verdict.mde) == (None, None, None, None)
    assert verdict.cases_needed is None
    assert "nothing to judge" in verdict.reason
    assert judge_family([], {}) == []


@pytest.mark.parametrize("cases", [1, 6])
def test_one_cluster_alone_decides_nothing(cases: int) -> None:
    differences = {f"c{i}": -1.0 for i in range(cases)}
    (verdict,) = judge_family([PairedMetric("hit@5", differences)], dict.fromkeys(differences, "all"))
    assert (verdict.outcome, verdict.estimate.n_cases, verdict.estimate.n_clusters) == ("inconclusive", cases, 1)
    assert (verdict.estimate.se, verdict.lower_bound, verdict.p_raw) == (None, None, 0.25)
    assert verdict.cases_needed is not None
    assert verdict.cases_needed >= 4 * cases
    assert "a single cluster has no spread" in verdict.reason
    alone = judge_one({"c0": 1.0}).reason
    assert alone.startswith("better by 1 (1 case: 0 worse, 1 better), but a single cluster has no spread")
