"""The policy: when a family fails, passes or stays open, and what it then says."""

from __future__ import annotations

import dataclasses
import json
import math
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_auepora.regression.statistics.precision import t_quantile
from pytest_auepora.regression.statistics.significance import MetricVerdict, PairedMetric, judge_family

from .families import binary, judge_one

DIFFERENCES = st.dictionaries(
    st.sampled_from([f"c{i}" for i in range(30)]), st.sampled_from([-1.0, -0.5, -0.1, 0.0, 0.0, 0.0, 0.2, 1.0])
)


@pytest.mark.parametrize(("wins", "losses"), [(0, 4), (1, 6), (2, 8)])
def test_how_many_losses_one_binary_metric_needs(wins: int, losses: int) -> None:
    assert judge_one(binary(50, losses, wins)).outcome == "worse"
    assert judge_one(binary(50, losses - 1, wins)).outcome == "inconclusive"


def test_pass_when_the_bound_clears_the_margin() -> None:
    verdict = judge_one(binary(200, 3, 1))
    sd = math.sqrt((4 - 200 * 0.01**2) / 199)
    assert verdict.outcome == "same"
    assert verdict.estimate.se == pytest.approx(sd / math.sqrt(200))
    assert verdict.lower_bound == pytest.approx(-0.01 - t_quantile(0.95, 199) * sd / math.sqrt(200))
    assert "a drop of 0.05 is ruled out" in verdict.reason
    assert verdict.cases_needed is None


def test_the_bound_has_to_clear_the_margin_itself() -> None:
    bound = judge_one(binary(200, 3, 1)).lower_bound
    assert bound is not None
    assert judge_one(binary(200, 3, 1), margin=-bound + 1e-6).outcome == "same"
    assert judge_one(binary(200, 3, 1), margin=-bound).outcome == "inconclusive"


def test_so_many_cases_do_decide_it() -> None:
    for losses, wins in ((3, 0), (5, 2), (2, 2), (2, 3)):
        few = judge_one(binary(40, losses, wins))
        assert few.outcome == "inconclusive"
        assert few.cases_needed is not None
        times = math.ceil(few.cases_needed / 40)
        assert judge_one(binary(40 * times, losses * times, wins * times)).outcome in ("worse", "same")


def test_too_few_clusters_to_fail_ask_for_as_many_as_could() -> None:
    verdict = judge_one({"a": -1.0, "b": -1.0, "c": -1.0})
    assert (verdict.outcome, verdict.cases_needed) == ("inconclusive", 5)
    assert judge_one(dict.fromkeys("abcd", -1.0)).outcome == "inconclusive"
    assert judge_one(dict.fromkeys("abcde", -1.0)).outcome == "worse"
    assert judge_one(dict.fromkeys("abcde", 1.0)).outcome == "better"


def test_a_drop_of_exactly_min_effect_is_large_enough() -> None:
    assert judge_one({f"c{i}": -0.01 for i in range(20)}).outcome == "worse"


def test_margin_zero_asks_for_proof_of_a_gain() -> None:
    assert judge_one(binary(100, 2, 2), margin=0.0).outcome == "inconclusive"
    assert judge_one(binary(100, 0, 2), min_effect=0.5, margin=0.0).outcome == "inconclusive"


@given(st.lists(st.dictionaries(st.sampled_from([f"c{i}" for i in range(20)]), st.just(0.0)), max_size=4))
def test_where_nothing_differs_the_short_way_equals_the_test(tables: list[dict[str, float]]) -> None:
    clusters = {f"c{i}": f"g{i % 7}" for i in range(12)}
    dusty = [{**table, **dict.fromkeys(list(table)[:1], 1e-12)} for table in tables]  # goes the whole way
    short, whole = (
        judge_family([PairedMetric(f"m{i}", t) for i, t in enumerate(x)], clusters) for x in (tables, dusty)
    )
    for a, b in zip(short, whole, strict=True):
        assert (a.reason, a) == (b.reason, dataclasses.replace(b, metric=a.metric))


def test_rounding_dust_is_no_difference() -> None:
    assert judge_one({f"c{i}": (0.1 + 0.2 - 0.3) * (-1) ** i for i in range(20)}).outcome == "same"


def test_variants_of_one_question_are_one_piece_of_evidence() -> None:
    differences = binary(50, 5)
    (together,) = judge_family([PairedMetric("hit@5", differences)], dict.fromkeys(list(differences)[:5], "c0000"))
    assert judge_one(differences).outcome == "worse"
    assert together.outcome == "inconclusive"
    assert (together.estimate.n_clusters, together.estimate.n_cases) == (46, 50)
    assert "50 cases in 46 clusters" in together.reason


def test_a_variant_joins_the_cluster_of_its_root() -> None:
    (verdict,) = judge_family([PairedMetric("m", {"root": -1.0, "typo": -1.0, "b": 0.0})], {"typo": "root"})
    assert verdict.estimate.n_clusters == 2


def test_a_larger_family_asks_for_more() -> None:
    hit = PairedMetric("hit@5", binary(50, 4))
    rng = random.Random(0)
    others = [
        PairedMetric(f"other{m}", {f"c{i:04}": rng.choice([-1.0, 0.0, 0.0, 1.0]) for i in range(50)}) for m in range(6)
    ]
    assert judge_family([hit], {})[0].outcome == "worse"
    among = judge_family([hit, *others], {})[0]
    assert among.outcome == "inconclusive"
    assert among.p_adjusted > among.p_raw
    assert "corrected for 7 metrics" in among.reason


def test_metrics_may_cover_different_cases() -> None:
    answered = {f"c{i:04}": -1.0 for i in range(5)}
    refused = {f"r{i}": 0.0 for i in range(20)} | {"r0": -0.5}
    recall, refusal = judge_family([PairedMetric("recall@5", answered), PairedMetric("refusal", refused)], {})
    assert (recall.estimate.n_cases, refusal.estimate.n_cases) == (5, 20)
    assert recall.estimate.mean == -1.0
    assert refusal.estimate.mean == pytest.approx(-0.025)


@given(st.lists(DIFFERENCES, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_cases_and_metrics_does_not_matter(tables: list[dict[str, float]], rng: random.Random) -> None:
    metrics = [PairedMetric(f"m{i}", table) for i, table in enumerate(tables)]
    clusters = {f"c{i}": f"k{i // 2}" for i in range(30)}
    shuffled = [
        dataclasses.replace(m, differences=dict(rng.sample(list(m.differences.items()), len(m.differences))))
        for m in rng.sample(metrics, len(metrics))
    ]
    before = judge_family(metrics, clusters)
    after = judge_family(shuffled, dict(rng.sample(list(clusters.items()), 30)))
    assert {m.metric.name: m for m in before} == {m.metric.name: m for m in after}


@given(st.lists(DIFFERENCES, min_size=1, max_size=4), st.floats(0.0, 0.3), st.floats(0.0, 0.3))
@settings(max_examples=3 * settings().max_examples)
def test_every_verdict_keeps_its_promises(tables: list[dict[str, float]], min_effect: float, margin: float) -> None:
    family = judge_family([PairedMetric(f"m{i}", t, min_effect, margin) for i, t in enumerate(tables)], {})
    for m in family:
        assert m.p_raw <= m.p_adjusted <= 1
        if m.outcome == "worse":
            assert m.p_adjusted <= 0.05
            assert m.drop >= min_effect - 1e-9
        if m.outcome == "same" and m.differs:
            assert m.lower_bound is not None
            assert m.lower_bound > -margin
        if m.cases_needed is not None:
            assert m.outcome == "inconclusive"
            assert m.cases_needed > m.estimate.n_cases
        assert m.reason
        assert not re.search(r"nan|inf\b|None|-0(?![.\d])", f"{m.reason} {m.warning}"), m.reason
        assert_plain(m)


def assert_plain(verdict: MetricVerdict) -> None:
    """Exact builtins only: a numpy float would not travel between test processes."""
    json.dumps(dataclasses.asdict(verdict), allow_nan=False)
    values = [getattr(verdict, f.name) for f in dataclasses.fields(verdict) if f.name not in ("metric", "estimate")]
    values += dataclasses.astuple(verdict.estimate)
    assert {type(v) for v in values} <= {str, int, float, type(None)}


def test_the_same_data_give_the_same_verdict() -> None:
    rng = random.Random(4)
    metrics = [
        PairedMetric(f"m{m}", {f"c{i}": rng.choice([-1.0, -0.3, 0.0, 0.0, 0.5]) for i in range(60)}) for m in range(3)
    ]
    assert judge_family(metrics, {}) == judge_family(metrics, {})
