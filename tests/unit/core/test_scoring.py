"""Scores are numbers or say why not; aggregates have honest denominators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.metrics_base import Measurement, Metric, NotApplicable
from pytest_auepora.core.scoring import REPEAT_DATA, Score, aggregate, failed_scores, score_case, score_cases
from pytest_auepora.core.types import Document, EvaluationSample, MetricResult, Response, SystemOutputs, TargetCategory
from pytest_auepora.metrics.registry import Registry


class Const(Metric):
    target = TargetCategory.GENERATION_CORRECTNESS

    def __init__(self, name: str, seen: Measurement | NotApplicable | Exception) -> None:
        self.name = name
        self.seen = seen

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        if isinstance(self.seen, Exception):
            raise self.seen
        return self.seen


class Lower(Const):
    direction = "lower"
    range = (0.0, math.inf)


scores = st.one_of(
    st.floats(0, 1).map(lambda v: Score("number", v)),
    st.text(max_size=5).map(lambda r: Score("n/a", reason=r)),
    st.text(max_size=5).map(Score.failed),
)


def test_a_metric_that_raises_does_not_take_the_others_along() -> None:
    metrics = [
        Const("good", Measurement(0.5)),
        Const("bad", ZeroDivisionError("oops")),
        Const("na", NotApplicable("no reference_answer")),
        Const("nan", Measurement(math.nan)),
        Doubled("part", Measurement(None, [1, 2])),
    ]
    found = score_case(metrics, EvaluationSample("1", "q"), SystemOutputs([], Response("")))
    assert [(s.state, s.value) for s in found.values()] == [
        ("number", 0.5), ("error", None), ("n/a", None), ("error", None), ("aggregate", None),
    ]  # fmt: skip
    assert found["bad"].reason == "ZeroDivisionError: oops"


class Seconds(float):
    """A number that is no plain float, as numpy's are not."""


@pytest.mark.parametrize("value", [0.5, 0.0, 1, True, 1 + 1e-12, Seconds(0.25)])
def test_a_score_is_that_of_its_measurement_whatever_the_number(value: Any) -> None:
    seen = Measurement(value, [1], {"note": "x"})
    (found,) = score_case([Const("m", seen)], EvaluationSample("1", "q"), SystemOutputs([], Response(""))).values()
    assert found == Score("number", float(value), "", [1], {"note": "x"})
    assert type(found.value) is float


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (Measurement(None), "measure() returned Measurement(None), which no mean counts: return a number, or"),
        (Measurement(None, [1]), "measure() returned Measurement(None), which no mean counts"),  # of a mean
        (Measurement(cast("float", "1")), "measure() returned Measurement('1'): return a number, as Measurement(0.5)"),
        (Measurement(cast("float", [0.5])), "measure() returned Measurement([0.5]): return a number"),
        (Measurement(cast("float", 1j)), "measure() returned Measurement(1j): return a number"),
        (Measurement(2.0), "measure() returned 2, outside the metric's range from 0 to 1: return a value within, or"),
        (Measurement(-5), "measure() returned -5, outside the metric's range from 0 to 1"),
        (Measurement(1.001), "measure() returned 1.001, outside the metric's range"),
        (Measurement(math.nan), "the metric returned NaN"),
        (Measurement(math.inf), "the metric returned inf"),
        (0.5, "measure() returned 0.5: return Measurement(0.5), or NotApplicable with the reason"),
        (None, "measure() returned None: return a Measurement, or NotApplicable with the reason"),
        ("0.5", "measure() returned '0.5': return a Measurement"),
        (MetricResult("m", TargetCategory.LATENCY, 0.5), "measure() returned MetricResult("),
        (NotApplicable(cast("str", None)), "measure() returned NotApplicable(None): give the reason as a text"),
        (NotApplicable(cast("str", 5)), "measure() returned NotApplicable(5): give the reason"),
        (NotApplicable, "measure() returned <class"),
    ],
)
def test_what_is_no_score_is_an_error_that_says_what_to_return(returned: Any, said: str) -> None:
    sample, outputs = EvaluationSample("1", "q"), SystemOutputs([], Response(""))
    metric = Const("m", returned)
    one, (many, _) = score_case([metric], sample, outputs), score_cases([metric], [sample] * 2, [outputs] * 2)
    assert one == many
    assert one["m"].state == "error"
    assert one["m"].reason.startswith(f"MetricError: {said}")


class Computed(Metric):
    name = "computed"
    target = TargetCategory.LATENCY

    def __init__(self, result: Any) -> None:
        self.result = result

    def compute(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> MetricResult:
        return cast("MetricResult", self.result)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (0.5, "TypeError: compute() returned 0.5: return a MetricResult"),
        (MetricResult("m", TargetCategory.LATENCY, 2.0), "MetricError: measure() returned 2, outside the metric's"),
        (MetricResult("m", TargetCategory.LATENCY, cast("float", None)), "MetricError: measure() returned Measurem"),
    ],
)
def test_a_metric_that_only_computes_is_told_the_same(result: Any, said: str) -> None:
    (found,) = score_case([Computed(result)], EvaluationSample("1", "q"), SystemOutputs([], Response(""))).values()
    assert found.state == "error"
    assert found.reason.startswith(said)


class Doubled(Const):
    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        assert all(type(m) is Measurement for m in measurements)
        return super().aggregate(measurements)


@given(st.lists(scores, max_size=12), st.lists(st.floats(0, 1), max_size=2))
def test_a_mean_is_the_same_over_scores_and_over_measurements(found: list[Score], more: list[float]) -> None:
    for score in found:
        if score.state == "number" and more:
            score.details = {REPEAT_DATA: more}
    one, other = (aggregate(kind("m", NotApplicable("")), found) for kind in (Const, Doubled))
    assert one == other


@given(st.lists(scores, max_size=12))
def test_an_error_never_raises_what_gates_see(found: list[Score]) -> None:
    metric = Const("m", Measurement(0.0))
    total = aggregate(metric, found)
    assert total.n + total.n_error + total.n_na == total.total == len(found)
    if total.value is not None:
        assert total.gated is not None
        assert total.gated <= total.value + 1e-12
        values = [s.value if s.value is not None else 0.0 for s in found if s.state != "n/a"]
        assert total.gated == pytest.approx(sum(values) / len(values))


class OwnAggregate(Const):
    """Its aggregate is what it was made with, or raises it."""

    total: float | Exception = 0.0

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        if isinstance(self.total, Exception):
            raise self.total
        return MetricResult(self.name, self.target, self.total)


@pytest.mark.parametrize(
    ("total", "problem"),
    [
        (math.nan, "its aggregate returned nan"),
        (math.inf, "its aggregate returned inf"),
        (2.0, "its aggregate returned 2, outside the metric's range from 0 to 1: return a value within, or declare"),
        ("1", "its aggregate returned '1'"),
        (ZeroDivisionError("by zero"), "its aggregate raised ZeroDivisionError: by zero"),
    ],
)
def test_an_aggregate_that_is_no_number_says_so(total: Any, problem: str) -> None:
    metric = OwnAggregate("m", Measurement(0.5))
    metric.total = total
    found = aggregate(metric, [Score("number", 0.5), Score.failed("x")])
    assert (found.value, found.gated) == (None, None)
    assert found.problem.startswith(problem)


def test_without_a_bound_an_error_leaves_nothing_to_gate() -> None:
    found = aggregate(Lower("latency", Measurement(0.0)), [Score("number", 2.0), Score.failed("x")])
    assert (found.value, found.gated) == (2.0, None)


def test_nothing_measured_is_none_and_not_zero() -> None:
    found = aggregate(Const("m", Measurement(0.0)), [Score("n/a", reason="x")])
    assert found.value is None
    assert found.gated is None
    only_errors = aggregate(Const("m", Measurement(0.0)), [Score.failed("x")])
    assert (only_errors.value, only_errors.gated) == (None, 0.0)


class ForRefusals(Const):
    required = ("relevant_docs",)

    def not_applicable(self, sample: EvaluationSample) -> NotApplicable | None:
        if sample.query == "?":
            raise ValueError("labels")
        return super().not_applicable(sample) or NotApplicable("nothing to refuse")


def test_a_failed_call_is_an_error_where_the_metric_applies() -> None:
    metrics = [Const("m", Measurement(0.0)), ForRefusals("na", Measurement(0.0))]
    found = failed_scores(metrics, EvaluationSample("1", "q"), "timeout")
    assert found == {"m": Score.failed("timeout"), "na": Score("n/a", reason="no relevant_docs")}
    labelled = EvaluationSample("1", "q", relevant_docs=[])
    assert failed_scores(metrics, labelled, "timeout")["na"] == Score("n/a", reason="nothing to refuse")


def test_labels_that_cannot_be_read_do_not_excuse_a_failed_call() -> None:
    metric = ForRefusals("na", Measurement(0.0))
    assert failed_scores([metric], EvaluationSample("1", "?"), "timeout")["na"] == Score.failed("timeout")


@pytest.mark.parametrize(
    "name",
    [
        "distinct_2", "distinct_10", "evidence_overlap[n=4]", "unsupported_numbers", "intra_list_diversity@5",
        "response_diversity", "response_diversity[of=embedding]", "judged@5", "citation_coverage", "over_refusal",
        "mean_latency[retrieval]", "memory_mb",
    ],
)  # fmt: skip
def test_a_missing_answer_is_no_excuse_for_a_failed_call(name: str) -> None:
    metric = Registry().get(name)
    sample = EvaluationSample("1", "q", relevant_docs=[Document("d")])
    assert failed_scores([metric], sample, "timeout")[name] == Score.failed("timeout")
