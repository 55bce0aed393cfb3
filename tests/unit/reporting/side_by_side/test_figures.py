"""Figures of systems beside each other: intervals, aggregates that are no means, metrics of a project's own."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_auepora.core.metrics_base import Measurement, Metric
from pytest_auepora.core.run import MetricInfo
from pytest_auepora.core.scoring import Score
from pytest_auepora.core.types import EvaluationSample, MetricResult, SystemOutputs, TargetCategory
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.reporting.side_by_side.table import side_by_side

from ..builders import Case, run_of
from ..systems import system
from .test_table import THREE, marks, three


def test_intervals_are_wider_where_more_systems_are_compared() -> None:
    widths = []
    for compared in (side_by_side(THREE[:2]), three()):
        row = compared.row("recall@5")
        assert row is not None
        found = row.figures[1].difference
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        widths.append(found.high - found.low)
    assert widths[0] < widths[1]


def test_an_error_counts_as_the_worst_value_and_has_no_latency() -> None:
    good = [Case(f"c{i}", seconds=0.1) for i in range(8)]
    bad = [case.with_(error="E: down") if i < 6 else case for i, case in enumerate(good)]
    compared = side_by_side([run_of(good, variant="up"), run_of(bad, variant="down")])
    recall, latency = compared.row("recall@5"), compared.row("mean_latency")
    assert recall is not None
    assert latency is not None
    assert [f.value for f in recall.figures] == [1.0, 0.25]
    assert recall.figures[1].standing == "worse"
    assert (recall.n, latency.n) == (8, 2)
    assert any("6 cases not measured by all" in note and "mean_latency" in note for note in compared.notes)


def test_an_aggregate_over_the_corpus_is_resampled() -> None:
    compared = side_by_side([system("a", 0.3, names=["bleu", "distinct_2"]), system("b", 0.9, names=["bleu"])])
    row = compared.row("bleu")
    assert row is not None
    found = row.figures[1].difference
    assert found is not None
    assert found.low is not None
    assert found.low > 0
    assert marks(compared, "bleu") == ["", "*"]


class Total(Metric):
    """A metric of a project's own: the lengths of all answers together."""

    name = "total"
    target = TargetCategory.DIVERSITY

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement:
        return Measurement(None, len(outputs.response.text))

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        return MetricResult("total", self.target, float(sum(m.data for m in measurements)), {})


def test_a_metric_of_the_projects_own() -> None:
    """It is aggregated in its way where it is known, and told, not guessed at, where it is not."""
    runs = [system("a", 0.3, 10), system("b", 0.9, 10)]
    for i, run in enumerate(runs):
        run.metrics["total"] = MetricInfo.of(Total())
        for case in run.cases.values():
            case.scores["total"] = Score("aggregate", data=10 * (i + 1))
    registry = Registry()
    registry.add("total", Total)
    row = side_by_side(runs, registry=registry).row("total")
    assert row is not None
    assert [figure.value for figure in row.figures] == [100.0, 200.0]
    unknown = side_by_side(runs)
    assert unknown.row("total") is None
    assert "total: the metric is not known here, nor how to aggregate it" in unknown.notes
