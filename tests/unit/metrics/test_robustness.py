"""Refusals, noise and counterfactuals."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.scoring import aggregate, score_case
from pytest_auepora.core.types import Document, EvaluationSample, MetricResult, Response, SystemOutputs
from pytest_auepora.metrics.additional import MeanLatency
from pytest_auepora.metrics.retrieval_basic import HitRateAtK, RecallAtK
from pytest_auepora.metrics.robustness import (
    CounterfactualConsistency,
    NegativeRejectionRate,
    NoiseRobustness,
    OverRefusal,
    RefusalCorrectness,
)

from .rankings import got, score, wants
from .samples import REFUSAL, is_na, reason, said


@pytest.mark.parametrize("metric", [RefusalCorrectness(), NegativeRejectionRate()])
def test_cases_that_call_for_a_refusal(metric: RefusalCorrectness) -> None:
    samples = [wants(), wants(), wants("a", labels={"scenario": "unanswerable"}), wants("a"), wants()]
    outputs = [said("I don’t know"), said("42"), said("Not enough information."), said("I don't know"), said("")]  # noqa: RUF001
    result = metric.compute(samples, outputs)
    assert (result.value, result.details["num_samples"], result.details["num_skipped"]) == (2 / 3, 3, 2)
    assert is_na(metric, wants("a"), said("x"))
    assert reason(metric, wants(), said("")) == "no answer"
    assert is_na(metric, wants(labels={"expect": "clarify"}), said("x"))


def test_no_refusal_at_all_says_what_was_looked_for() -> None:
    metric, sample, answers = RefusalCorrectness(), wants(), [said("Ask the boss."), said("In May.")]
    seen = metric.compute([sample] * 2, answers)
    assert (seen.value, "refusal_patterns" in seen.details["note"]) == (0.0, True)
    measured = metric.measure(sample, answers[0])
    assert isinstance(measured, Measurement)
    assert measured.details["note"] == seen.details["note"]
    assert metric.compute([sample], answers[:1]).details["note"] == seen.details["note"]
    assert "note" not in metric.compute([sample] * 2, [answers[0], said(REFUSAL)]).details


def test_refusing_too_much() -> None:
    metric = OverRefusal()
    assert score(metric, wants("a"), said("I cannot answer that")) == 1.0
    assert score(metric, wants("a"), said("30 days")) == 0.0
    assert is_na(metric, wants(), said("x"))
    assert metric.direction == "lower"


def test_the_system_may_say_whether_it_refused() -> None:
    assert score(RefusalCorrectness(), wants(), said("Hm.", refused=True)) == 1.0
    assert score(RefusalCorrectness(), wants(), said(f"{REFUSAL} But 42", refused=False)) == 0.0


def test_people_decide_about_the_answers_they_saw(tmp_path: Path) -> None:
    told = wants(labels={"answer_labels": {"answer": "Ask the desk.", "refused": True}})
    assert score(RefusalCorrectness(), told, said("Ask  the desk.", refused=False)) == 1.0
    assert score(RefusalCorrectness(), told, said("Ask the boss.")) == 0.0, "a label is for one answer only"
    file = tmp_path / "answers.jsonl"
    file.write_text('{"case": "case", "answer": "I cannot answer that, but 42.", "refused": false}', encoding="utf-8")
    outputs = said("I cannot answer that, but 42.")
    assert score(OverRefusal(), wants("a"), outputs) == 1.0
    assert score(OverRefusal(labels=str(file)), wants("a"), outputs) == 0.0


def test_own_patterns() -> None:
    assert score(NegativeRejectionRate(["Keine Ahnung"]), wants(), said("keine  ahnung!")) == 1.0
    assert score("negative_rejection[refusal_patterns=no idea|keine ahnung]", wants(), said("No idea")) == 1.0


def case(name: str, found: bool, of: str | None = None, scenario: str = "typo", **labels: Any) -> Any:
    """A case, and outputs that hit its one document or not."""
    given = {"variant_of": of, "scenario": scenario} if of else {}
    sample = EvaluationSample(name, "q", [Document("a")], labels={**given, **labels})
    return sample, got("a" if found else "x")


def noise(*cases: Any, **options: Any) -> MetricResult:
    return NoiseRobustness(HitRateAtK(1), **options).compute([s for s, _ in cases], [o for _, o in cases])


CASES = [
    case("one", True), case("one-1", True, "one"), case("one-2", False, "one", "paraphrase"),
    case("two", True), case("two-1", False, "two"),
    case("three", False),
    case("one-x", False, "one", "counterfactual"),
]  # fmt: skip


def test_share_of_the_score_that_is_kept() -> None:
    result = noise(*CASES)
    assert result.value == pytest.approx(1 / 3)
    assert result.details == {
        "num_samples": 3, "num_base": 3, "num_noisy": 3, "num_unpaired": 0, "num_skipped": 1,
        "base_score": 1.0, "noisy_score": pytest.approx(1 / 3), "drop": pytest.approx(2 / 3),
    }  # fmt: skip


def test_unpaired_sets() -> None:
    result = noise(*CASES, pairing="all")
    assert result.details["base_score"] == pytest.approx(2 / 3)
    assert result.value == pytest.approx((1 / 3) / (2 / 3))


def test_a_base_with_many_variants_weighs_on_both_sides() -> None:
    easy = [case("easy", True), *(case(f"easy-{i}", True, "easy") for i in range(10))]
    hard = [case("hard", False), case("hard-1", False, "hard")]
    assert noise(*easy, *hard).value == 1.0


def test_which_scenarios_are_noise() -> None:
    assert noise(*CASES, scenarios="paraphrase").details["num_noisy"] == 1
    assert noise(*CASES, scenarios=["counterfactual"]).value == 0.0


def test_a_variant_of_a_variant_belongs_to_the_first() -> None:
    assert noise(case("a", True), case("b", True, "a"), case("c", False, "b")).value == 0.5


def test_a_variant_without_its_base_is_counted_apart() -> None:
    details = noise(case("a", True), case("b", True, "a"), case("c", False, "gone")).details
    assert (details["num_noisy"], details["num_unpaired"]) == (1, 1)


def test_variants_of_each_other_end_somewhere() -> None:
    assert noise(case("a", True, "b"), case("b", True, "a")).details["num_samples"] == 0


@pytest.mark.parametrize(
    ("cases", "why"),
    [
        ([], "no pair was measured"),
        ([case("a", True)], "no pair was measured"),
        ([case("a", False), case("b", True, "a")], "hit@1 of the base cases is 0: there is nothing to divide by"),
    ],
)
def test_no_ratio(cases: list[Any], why: str) -> None:
    result = noise(*cases)
    assert (result.value, result.details["num_samples"], result.details["reason"]) == (0.0, 0, why)


def test_where_lower_is_better_the_ratio_is_turned_round() -> None:
    base, variant = case("a", True)[0], case("b", True, "a")[0]
    outputs = [SystemOutputs([], Response(""), {"end_to_end": seconds}) for seconds in (1.0, 4.0)]
    metric = NoiseRobustness(MeanLatency())
    assert metric.compute([base, variant], outputs).value == 1 / 4
    assert (metric.direction, metric.baselined, metric.deterministic) == ("higher", False, False)


def test_a_base_metric_that_says_nothing_stays_silent() -> None:
    metric = NoiseRobustness(RecallAtK(5))
    assert is_na(metric, EvaluationSample("s", "q"), got("a"))
    assert metric.required_fields() == ["relevant_docs"]
    assert is_na(metric, *CASES[-1])


def test_measurements_travel_as_json() -> None:
    """Cases are measured in other processes; the aggregate sees what JSON kept."""
    metric = NoiseRobustness("bleu")
    pairs = [("one", None, "the cat sat on the mat"), ("two", "one", "the cat sat on a mat")]
    samples = [
        EvaluationSample(n, "q", reference_answer=Response("the cat sat on the mat"), labels=_variant(of))
        for n, of, _ in pairs
    ]
    outputs = [said(text) for _, _, text in pairs]
    seen = [metric.measure(s, o) for s, o in zip(samples, outputs, strict=True)]
    back = [Measurement(None, json.loads(json.dumps(m.data))) for m in seen if isinstance(m, Measurement)]
    assert metric.aggregate(back).value == metric.compute(samples, outputs).value
    assert 0 < metric.aggregate(back).value < 1


def _variant(of: str | None) -> dict[str, Any]:
    return {"variant_of": of, "scenario": "typo"} if of else {}


def test_in_a_run_cases_have_no_score_of_their_own() -> None:
    metric = NoiseRobustness(HitRateAtK(1))
    scores = [score_case([metric], *c)[metric.name] for c in CASES]
    assert {s.state for s in scores} == {"aggregate", "n/a"}
    assert aggregate(metric, scores).value == pytest.approx(1 / 3)
    lonely = aggregate(metric, scores[:1])
    assert lonely.value is None


def answers(*given: tuple[str, str | None, str], change: bool = False) -> tuple[list[Any], list[SystemOutputs]]:
    about = {"scenario": "counterfactual", "expect_change": change}
    samples = [EvaluationSample(name, "q", labels={**about, "variant_of": of} if of else {}) for name, of, _ in given]
    return samples, [said(text) for _, _, text in given]


def test_answers_that_stay_the_same() -> None:
    given = [("a", None, "the red cat"), ("b", "a", "the red cat"), ("c", "a", "a blue cat"), ("d", "a", "")]
    result = CounterfactualConsistency().compute(*answers(*given))
    assert result.value == pytest.approx((1.0 + 0.5) / 2)
    assert result.details == {"num_samples": 2, "num_skipped": 1}


def test_answers_that_should_change() -> None:
    given = [("a", None, "Paris"), ("b", "a", "Paris"), ("c", "a", "Rome"), ("d", "a", "Oslo")]
    assert CounterfactualConsistency().compute(*answers(*given, change=True)).value == pytest.approx(2 / 3)
    samples, outputs = answers(*given, change=True)
    samples[3].labels["expect_change"] = False
    assert CounterfactualConsistency().compute(samples, outputs).value == pytest.approx(1 / 3)


def test_similarity_by_a_function() -> None:
    def same_length(one: str, other: str) -> float:
        return float(len(one) == len(other))

    metric = CounterfactualConsistency(same_length)
    assert metric.name == "counterfactual_consistency[same_length]"
    assert metric.compute(*answers(("a", None, "abc"), ("b", "a", "xyz"))).value == 1.0
    json.dumps(metric.params())


def test_no_pairs() -> None:
    result = CounterfactualConsistency().compute(*answers(("a", None, "x"), ("b", "gone", "y")))
    assert (result.value, result.details["num_samples"]) == (0.0, 0)
    typo = EvaluationSample("s", "q", labels={"variant_of": "a", "scenario": "typo"})
    assert is_na(CounterfactualConsistency(), typo, said("x"))


def test_ranges() -> None:
    assert NoiseRobustness("mrr").range == (0.0, math.inf)
    assert CounterfactualConsistency().range == (0.0, 1.0)
