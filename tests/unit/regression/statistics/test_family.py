"""The test of a family: when a member is worse, better, the same or inconclusive, at one look."""

from __future__ import annotations

import dataclasses
import json
import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_auepora.regression.statistics.family import Member, MemberVerdict, judge_family
from pytest_auepora.regression.statistics.precision import t_quantile

from .families import binary, judge_member

DIFFERENCES = st.dictionaries(
    st.sampled_from([f"c{i}" for i in range(30)]), st.sampled_from([-1.0, -0.5, -0.1, 0.0, 0.0, 0.0, 0.2, 1.0])
)


def p_values(verdict: MemberVerdict) -> tuple[float, float, float]:
    """Return the raw p, and those of a drop and of a gain."""
    assert verdict.test is not None
    return verdict.test.p_raw, verdict.test.p_drop, verdict.test.p_gain


@pytest.mark.parametrize(("wins", "losses"), [(0, 4), (1, 6), (2, 8)])
def test_how_many_losses_one_binary_metric_needs(wins: int, losses: int) -> None:
    assert judge_member(binary(50, losses, wins)).outcome == "worse"
    assert judge_member(binary(50, losses - 1, wins)).outcome == "inconclusive"


def test_a_clear_drop_is_worse_at_every_level_above_its_p() -> None:
    verdict = judge_member(binary(50, 6))
    assert (verdict.outcome, verdict.n_worse, verdict.n_better) == ("worse", 6, 0)
    assert (verdict.drop, *p_values(verdict)[:2]) == pytest.approx((0.12, 1 / 128, 1 / 128))
    assert verdict.is_worse(0.02)
    assert not verdict.is_worse(0.005)


def test_a_gain_is_judged_by_the_same_test() -> None:
    verdict = judge_member(binary(50, 0, 6))
    assert verdict.outcome == "better"
    assert (verdict.drop, p_values(verdict)[2]) == pytest.approx((-0.12, 1 / 128))
    assert judge_member(binary(50, 0, 3)).outcome == "same"
    assert judge_member({f"c{i}": 0.005 for i in range(60)}).outcome == "same"


def test_same_when_the_bound_clears_the_margin() -> None:
    verdict = judge_member(binary(200, 3, 1))
    bound = 0.01 + t_quantile(0.95, 199) * math.sqrt((4 - 200 * 0.01**2) / 199 / 200)
    assert verdict.outcome == "same"
    assert verdict.lower_bound == pytest.approx(-bound)
    assert judge_member(binary(200, 3, 1), margin=bound + 1e-6).outcome == "same"
    assert judge_member(binary(200, 3, 1), margin=bound - 1e-6).outcome == "inconclusive"


def test_nothing_differs() -> None:
    verdict = judge_member(binary(44, 0))
    assert (verdict.outcome, verdict.estimate.mean, verdict.estimate.se) == ("same", 0.0, 0.0)
    assert (verdict.detectable_shift, verdict.detectable_losses) == (None, None)


def test_no_pair_is_never_green() -> None:
    verdict = judge_member({})
    assert (verdict.outcome, verdict.estimate.mean, verdict.lower_bound) == ("inconclusive", None, None)
    assert (verdict.detectable_shift, verdict.detectable_losses, verdict.cost_of_one) == (None, None, None)
    assert judge_member({}, steady=True).outcome == "inconclusive"
    assert judge_family([], {}) == []


def test_a_clear_drop_below_min_effect_is_not_worse() -> None:
    slight = {f"c{i}": -0.005 for i in range(60)} | {"other": 0.001}
    assert judge_member(slight).outcome == "same"
    assert judge_member(slight, min_effect=0.004).outcome == "worse"
    assert judge_member({f"c{i}": -0.01 for i in range(20)}).outcome == "worse", "exactly min_effect is enough"
    assert judge_member({f"c{i}": 0.0 for i in range(20)}, min_effect=0.0).outcome == "same"


def test_many_small_drops_beside_large_gains_are_not_worse() -> None:
    verdict = judge_member({f"c{i:02}": 0.5 if i < 2 else -0.1 for i in range(40)})
    assert (verdict.outcome, verdict.is_skewed_only) == ("inconclusive", True)
    assert p_values(verdict)[1] <= 0.05


@pytest.mark.parametrize("clusters", [1, 4, 9])
def test_few_steady_clusters_are_judged_by_the_mean(clusters: int) -> None:
    drop = {f"c{i}": -0.1 * (not i) for i in range(clusters)}
    for kind in ({"steady": True}, {"method": "tolerance"}):
        verdict = judge_member(drop, **kind)
        assert (verdict.outcome, verdict.test) == ("worse", None)
        assert judge_member({c: -d for c, d in drop.items()}, **kind).outcome == "better"
        assert judge_member(drop, min_effect=0.1, **kind).outcome == "same"


def test_few_clusters_that_vary_are_tested_exactly() -> None:
    assert judge_member(dict.fromkeys("abcd", -1.0)).outcome == "inconclusive"
    assert judge_member(dict.fromkeys("abcde", -1.0)).outcome == "worse"
    assert judge_member(dict.fromkeys("abcde", 1.0)).outcome == "better"
    assert judge_member({**dict.fromkeys("abcde", -1.0), "f": 0.1}).outcome == "worse"
    assert judge_member({**dict.fromkeys("abcd", -1.0), "e": 0.1}).outcome == "inconclusive"


def test_ties_count_fully_below_ten_clusters() -> None:
    nine, ten = (judge_member(binary(n, 4)) for n in (9, 10))
    assert (p_values(nine)[1], p_values(ten)[1]) == pytest.approx((1 / 16, 1 / 32))
    assert nine.test is not None
    assert nine.test.hall is None


def test_a_steady_member_of_ten_clusters_is_tested() -> None:
    one_lost = binary(10, 1)
    assert judge_member(one_lost, steady=True).outcome == "inconclusive"
    assert judge_member(one_lost, method="tolerance").outcome == "worse"


@pytest.mark.parametrize(("n", "kind", "at_once"), [
    (10, {"steady": True}, True), (9, {"steady": True}, False), (9, {"method": "tolerance"}, True),
    (9, {"steady": True, "method": "tolerance"}, True), (10, {}, False), (9, {}, False),
    (9, {"steady": True, "method": "statistical"}, True),
])  # fmt: skip
def test_what_decides_at_once(n: int, kind: dict[str, Any], *, at_once: bool) -> None:
    assert judge_member(binary(n, 1), **kind).decides_at_once is at_once


def test_members_judged_by_the_mean_cost_the_others_nothing() -> None:
    alone = Member("varies", binary(50, 4))
    rng = random.Random(1)
    others = [
        Member(f"m{m}", {f"c{i:04}": rng.choice([-1.0, 0.0, 1.0]) for i in range(50)}, method="tolerance")
        for m in range(9)
    ]
    assert p_values(judge_family([*others, alone], {})[-1]) == p_values(judge_family([alone], {})[0])


@given(st.lists(st.dictionaries(st.sampled_from([f"c{i}" for i in range(20)]), st.just(0.0)), max_size=4))
def test_where_nothing_differs_the_short_way_equals_the_test(tables: list[dict[str, float]]) -> None:
    clusters = {f"c{i}": f"g{i % 7}" for i in range(12)}
    dusty = [{**table, **dict.fromkeys(list(table)[:1], 1e-12)} for table in tables]  # goes the whole way
    short, whole = (judge_family([Member(f"m{i}", t) for i, t in enumerate(x)], clusters) for x in (tables, dusty))
    for a, b in zip(short, whole, strict=True):
        assert (a.test, a.outcome, a.differs) == (b.test, b.outcome, b.differs)


def test_rounding_dust_is_no_difference() -> None:
    assert judge_member({f"c{i}": (0.1 + 0.2 - 0.3) * (-1) ** i for i in range(20)}).outcome == "same"


def test_variants_of_one_question_are_one_piece_of_evidence() -> None:
    differences = binary(50, 5)
    (together,) = judge_family([Member("hit@5", differences)], dict.fromkeys(list(differences)[:5], "c0000"))
    assert (judge_member(differences).outcome, together.outcome) == ("worse", "inconclusive")
    assert (together.estimate.n_clusters, together.estimate.n_cases) == (46, 50)
    (rooted,) = judge_family([Member("m", {"root": -1.0, "typo": -1.0, "b": 0.0})], {"typo": "root"})
    assert rooted.estimate.n_clusters == 2


def test_a_larger_family_asks_for_more() -> None:
    rng, hit = random.Random(0), Member("hit@5", binary(50, 4))
    others = [Member(f"m{m}", {f"c{i:04}": rng.choice([-1.0, 0.0, 0.0, 1.0]) for i in range(50)}) for m in range(6)]
    among = judge_family([hit, *others], {})[0]
    assert (judge_family([hit], {})[0].outcome, among.outcome) == ("worse", "inconclusive")
    assert p_values(among)[1] > p_values(among)[0]


def test_members_count_their_own_cases_and_clusters() -> None:
    few, many = {f"c{i:04}": -1.0 for i in range(5)}, {f"r{i}": 0.0 for i in range(20)} | {"r0": -0.5}
    recall, refusal = judge_family([Member("recall@5", few), Member("refusal", many)], {})
    assert [v.estimate.mean for v in (recall, refusal)] == [-1.0, pytest.approx(-0.025)]
    assert [v.test is not None and v.test.hall is None for v in (recall, refusal)] == [True, False]


@given(st.lists(DIFFERENCES, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_cases_and_members_does_not_matter(tables: list[dict[str, float]], rng: random.Random) -> None:
    members = [Member(f"m{i}", table) for i, table in enumerate(tables)]
    clusters = {f"c{i}": f"k{i // 2}" for i in range(30)}
    shuffled = [
        dataclasses.replace(m, differences=dict(rng.sample(list(m.differences.items()), len(m.differences))))
        for m in rng.sample(members, len(members))
    ]
    before = judge_family(members, clusters)
    after = judge_family(shuffled, dict(rng.sample(list(clusters.items()), 30)))
    assert {v.member.name: v for v in before} == {v.member.name: v for v in after}


@given(st.lists(DIFFERENCES, min_size=1, max_size=4), st.floats(0.0, 0.3), st.floats(0.0, 0.3))
@settings(max_examples=3 * settings().max_examples)
def test_every_verdict_keeps_its_promises(tables: list[dict[str, float]], min_effect: float, margin: float) -> None:
    members = [Member(f"m{i}", t, min_effect, margin, steady=i == 2, lost=1.0) for i, t in enumerate(tables)]
    family = judge_family(members, {})
    for v in family:
        assert v.test is None or v.test.p_raw <= v.test.p_drop <= 1
        if v.outcome == "worse":
            assert v.test is None or v.test.p_drop <= 0.05
            assert v.drop >= min_effect - 1e-9
            assert v.is_worse(0.1), "at a wider level too"
        if v.outcome == "same" and v.differs and v.test:
            assert v.lower_bound is not None
            assert v.lower_bound > -margin
        if not v.estimate.n_cases:
            assert v.outcome == "inconclusive"
        json.dumps(dataclasses.asdict(v))  # exact builtins: a numpy float would not travel between test processes


def test_the_detectable_drop_in_both_forms() -> None:
    rng = random.Random(5)
    differences = {f"c{i:02}": rng.gauss(0, 0.2) for i in range(50)}
    verdict = judge_member(differences, lost=0.9)
    assert verdict.test is not None
    assert verdict.test.critical_value is not None
    assert verdict.estimate.se is not None
    assert verdict.detectable_shift == pytest.approx((verdict.test.critical_value + 0.84) * verdict.estimate.se)
    assert verdict.detectable_losses in (6, 7)
    assert judge_member(differences).detectable_losses is None, "what a lost answer costs is not known"
    assert judge_member(binary(60, 1), steady=True, lost=0.9).cost_of_one == pytest.approx(0.015)
