"""How the answers to one case become one result."""

from __future__ import annotations

import pytest

from pytest_auepora.core.metrics_base import Metric
from pytest_auepora.core.run import CaseResult, MetricInfo
from pytest_auepora.core.scoring import Score, aggregate, score_case
from pytest_auepora.core.types import EvaluationSample, Response, SystemOutputs
from pytest_auepora.evaluation.case_flow import merge_repeats
from pytest_auepora.metrics.registry import Registry

REGISTRY = Registry()


def answered(*texts: str, metrics: dict[str, Metric], seconds: tuple[float, ...] = ()) -> CaseResult:
    """The merged result of a case that was answered with *texts*."""
    sample = EvaluationSample("a", "how long?", reference_answer=Response("thirty days from the day of purchase"))
    results = []
    for text, took in zip(texts, seconds or (0.1,) * len(texts), strict=True):
        outputs = SystemOutputs([], Response(text), {"end_to_end": took})
        scores = score_case(metrics.values(), sample, outputs)
        results.append(CaseResult("a", scores=scores, seconds=took))
    return merge_repeats(results, {name: MetricInfo.of(m) for name, m in metrics.items()})


def some(*names: str) -> dict[str, Metric]:
    return {name: REGISTRY.get(name) for name in names}


def test_quality_is_a_mean_and_latency_a_median() -> None:
    metrics = some("token_f1", "mean_latency[end_to_end]")
    right = "thirty days from the day of purchase"
    merged = answered(right, "no", right, right, metrics=metrics, seconds=(0.1, 9.0, 0.2, 0.3))
    assert merged.scores["token_f1"].value == 0.75
    assert merged.scores["mean_latency[end_to_end]"].value == pytest.approx(0.25)
    assert merged.seconds == pytest.approx(0.25)
    assert merged.repeats == 4


@pytest.mark.parametrize("name", ["bleu", "distinct_2"])
def test_metrics_of_counts_are_the_mean_over_repeats(name: str) -> None:
    metrics = some(name)
    texts = ("thirty days from the day of purchase", "thirty days from the day and the day", "a day is a day is a day")
    merged = answered(*texts, metrics=metrics)
    alone = [aggregate(metrics[name], [answered(t, metrics=metrics).scores[name]]).value or 0.0 for t in texts]
    found = aggregate(metrics[name], [merged.scores[name]])
    assert len(set(alone)) == 3
    assert found.value == pytest.approx(sum(alone) / 3)
    assert found.n == 1
    same = answered(texts[0], texts[0], metrics=metrics)
    assert aggregate(metrics[name], [same.scores[name]]).value == pytest.approx(alone[0])


def test_a_case_repeated_less_often_counts_in_every_round() -> None:
    metrics = some("distinct_2")
    often = answered("one two three", "one two one two", metrics=metrics).scores["distinct_2"]
    once = answered("one two four", metrics=metrics).scores["distinct_2"]
    # rounds: {12, 23, 12, 24} → 3 of 4; {12, 21, 12, 12, 24} → 3 of 5
    assert aggregate(metrics["distinct_2"], [often, once]).value == pytest.approx((3 / 4 + 3 / 5) / 2)


def test_what_is_merged_is_left_as_it_was() -> None:
    good, bad = CaseResult("a", scores={"m": Score("number", 1.0)}), CaseResult("a", "error", error="down\n  where")
    merged = merge_repeats([good, bad, good], {})
    assert (merged.error, merged.errored, merged.repeats) == ("down\n  where", 1, 3)
    assert (bad.errored, bad.repeats) == (0, 1)
    assert merge_repeats([good, good], {}).repeats == 2
    assert good.repeats == 1


def test_an_answer_of_which_nothing_can_be_said_leaves_a_gap() -> None:
    na, seen = Score("n/a", reason="why"), Score("number", 0.5)
    merged = merge_repeats([CaseResult("a", scores={"m": s}) for s in (na, seen, na)], {})
    assert merged.scores["m"].value == 0.5
    nothing = merge_repeats([CaseResult("a", scores={"m": na})] * 2, {})
    assert (nothing.scores["m"].state, nothing.values("m"), nothing.repeats) == ("n/a", [], 2)
