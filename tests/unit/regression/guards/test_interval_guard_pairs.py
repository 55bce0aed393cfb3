"""What single cases cannot tell: aggregates that are no means, and variants beside their base."""

from __future__ import annotations

import pytest

from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.core.scoring import REPEAT_DATA, Score
from pytest_auepora.regression.compare import Change, Incomparable, compare
from pytest_auepora.regression.guards.calibration import make_advisory
from pytest_auepora.regression.guards.interval_guard import compare_pairs, score_pairs
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.verdict import judge

from .. import runs
from ..measured import LATENCY, accepted, answers, gate, noisy, of, timed, verdict
from ..runs import metrics, run, steady


def test_times_at_another_concurrency_do_not_compare() -> None:
    found = verdict(timed(0.1, 0.9, concurrency=8), timed(0.1, 0.1), metrics=LATENCY)
    assert found.comparison is not None
    why = Incomparable(changes=(Change("concurrency", 1, 8),))
    assert found.comparison.incomparable == {"p95_latency": why}
    assert not [g for g in found.gates if g.kind == "regression" and g.metric == "p95_latency"]
    assert found.comparison.metric("p95_latency") is None, "no change of single cases in its place"
    assert all(not case.gains for case in found.comparison.cases.values())
    same = timed(0.1, 0.9, concurrency=8)
    assert '"concurrency": 8' in runs.accepted(same).dumps()
    assert gate(same, timed(0.1, 0.1, concurrency=8), metrics=LATENCY).state == "failed"


def test_a_case_timed_at_another_concurrency_is_left_out() -> None:
    before, now = timed(0.1, 0.1, 0.1), timed(0.1, 0.1, 0.9)
    for case in (*before.cases.values(), *list(now.cases.values())[:2]):
        case.concurrency = 8
    found = verdict(now, before, metrics=LATENCY)
    assert found.comparison is not None
    change = found.comparison.metric("p95_latency")
    assert change is not None
    assert (change.n, change.after) == (2, 0.1)
    assert "p95_latency" not in found.comparison.cases["c2"].changes


def test_a_case_that_errored_has_no_data_to_compare() -> None:
    """BLEU counts n-grams over all cases: what could not be measured has no worst value that they could be."""
    texts = ("the cat sat", "a cat sat on the mat", "the mat today")
    before, now = answers(of("bleu"), *texts), answers(of("bleu"), *texts)
    now.cases["c1"].scores["bleu"] = Score.failed("boom")
    found = gate(now, before)
    assert (found.n, found.word) == (2, "same")


def test_what_the_baseline_has_too_little_of_is_said() -> None:
    now = answers(of("distinct_2"), "one two three", "three four five")
    old = accepted(now)
    for case in old.cases.values():
        case.data.clear()
    found = judge(now, [], RegressionPolicy(), {"distinct_2": of("distinct_2")}, baseline=old)
    assert found.comparison is not None
    assert found.comparison.incomparable == {"distinct_2": Incomparable("not stored")}
    assert not [g for g in found.gates if g.metric == "distinct_2"]


@pytest.mark.parametrize(("name", "kept", "told"), [("distinct_2", "x", "c0"), ("bleu", [1], "its aggregate raised")])
def test_damaged_data_of_the_baseline_fail_its_metric(name: str, kept: object, told: str) -> None:
    now = answers(of(name), "one two three", "three four five")
    now.owner = "search-team"
    old = accepted(now)
    for case in old.cases.values():
        case.data[name] = kept
    found = judge(now, [], RegressionPolicy(), {name: of(name)}, baseline=old)
    (failed,) = (one for one in found.gates if one.key == f"regression: {name}")
    assert (failed.state, failed.reason) == ("failed", "damaged data")
    assert failed.incomparable[name].reason == "damaged"
    assert failed.incomparable[name].detail.startswith(told)
    assert (failed.metric, failed.total, failed.owner) == (name, 2, "search-team")
    assert failed.is_of_whole
    make_advisory([failed], {name})
    assert failed.would_be == "failed"


def test_noise_robustness_is_tested_by_pairs() -> None:
    found = gate(noisy(0.6), noisy(0.0))
    assert found.state == "failed"
    assert found.test is not None
    assert found.test.clusters == 20
    assert [found.before, found.value] == pytest.approx([1.0, 0.4], abs=0.3)
    change = verdict(noisy(0.6), noisy(0.0)).comparison
    assert change is not None
    ratio = change.metric("noise_robustness[recall@1]")
    assert ratio is not None
    assert (ratio.before, ratio.n) == (1.0, 40)
    assert ratio.after < 0.7


def test_a_system_worse_at_everything_is_no_less_robust() -> None:
    everywhere = gate(noisy(0.0, clean=0.5), noisy(0.0, clean=1.0))
    assert everywhere.state != "failed"


def test_pairs_by_case_agree_with_the_aggregate() -> None:
    run = noisy(0.4)
    metric = of("noise_robustness[recall@1]")
    seen = [m for c in run.cases.values() if (m := c.scores[metric.name].measurement)]
    told = metric.by_case(seen)
    assert set(told) == {f"c{i}typo" for i in range(20)}
    assert sum(told.values()) / 20 == pytest.approx(-metric.aggregate(seen).details["drop"])


def test_settling_twice_changes_nothing() -> None:
    now, before = noisy(0.4), noisy(0.0)
    comparison = compare(now, accepted(before))
    metrics = {name: of(name) for name in now.metrics}
    compare_pairs(now, comparison, metrics)
    first = dict(comparison.aggregates), {i: dict(c.changes) for i, c in comparison.cases.items()}
    compare_pairs(now, comparison, metrics)
    assert first == (comparison.aggregates, {i: c.changes for i, c in comparison.cases.items()})


def said(name: str, answer: str, variant_of: str | None = None) -> CaseResult:
    data = {"case": name, "variant_of": variant_of, "seen": [answer, False]}
    scores = {"counterfactual_consistency": Score("aggregate", data=data)}
    return CaseResult(name, scores=scores, content_hash=name, cluster=variant_of or name)


def answered(variants: str) -> Run:
    """Six questions with the answer "yes", and variants of them with another."""
    names = [f"c{i}" for i in range(6)]
    cases = [one for name in names for one in (said(name, "yes"), said(f"{name}-cf", variants, name))]
    return run(*cases, names=("counterfactual_consistency",))


def test_a_pair_of_answers_is_the_score_of_the_variant() -> None:
    seen, told = answered("yes"), metrics("counterfactual_consistency")
    score_pairs(seen, told)
    score_pairs(seen, told)
    values = [case.scores["counterfactual_consistency"].value for case in seen.cases.values()]
    assert values == [None, 1.0] * 6


def test_repeats_of_a_pair_are_averaged() -> None:
    seen = answered("yes")
    note = seen.cases["c0-cf"].scores["counterfactual_consistency"]
    note.details = {REPEAT_DATA: [{**note.data, "seen": ["no", False]}]}
    score_pairs(seen, metrics("counterfactual_consistency"))
    assert note.value == 0.5


@pytest.mark.parametrize("always", [True, False])
def test_counterfactual_answers_that_part_are_worse(always: bool) -> None:
    told, policy = metrics("counterfactual_consistency"), RegressionPolicy()
    before = answered("yes")
    judge(before, [], policy, told)
    baseline = runs.accepted(before)
    baseline = steady(baseline) if always else baseline
    assert "yes" not in baseline.dumps(), "a baseline holds no answers"
    assert judge(answered("no"), [], policy, told, baseline=baseline).word == "worse"
    assert judge(answered("yes"), [], policy, told, baseline=baseline).outcome == "passed"
