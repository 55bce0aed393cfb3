from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest

from pytest_auepora.core.metrics_base import Measurement, Metric
from pytest_auepora.core.run import MetricInfo, Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.core.types import EvaluationSample, MetricResult, SystemOutputs, TargetCategory
from pytest_auepora.errors import NotComparableError
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.reporting.formats.side_by_side_formats import (
    side_by_side_json,
    side_by_side_lines,
    side_by_side_markdown,
)
from pytest_auepora.reporting.side_by_side import Row, SideBySide, side_by_side, side_by_sides
from pytest_auepora.reporting.terminal.layout import render

from .builders import METRICS, Case, run_of, system

THREE = [system("bm25", 0.5), system("dense", 0.75), system("hybrid", 0.8)]


@cache
def three() -> SideBySide:
    return side_by_side(THREE)


def row_of(compared: SideBySide, name: str) -> Row | None:
    return next((row for row in compared.rows if row.metric == name), None)


def marks(compared: SideBySide, name: str) -> list[str]:
    row = row_of(compared, name)
    assert row is not None
    return [{"best": "*", "": ""}.get(figure.mark, "~") for figure in row.figures]


def standings(compared: SideBySide, name: str) -> list[str | None]:
    row = row_of(compared, name)
    assert row is not None
    return [figure.standing for figure in row.figures]


def test_the_best_and_what_cannot_be_told_from_it() -> None:
    compared = three()
    assert [column.name for column in compared.columns] == ["bm25", "dense", "hybrid"]
    assert marks(compared, "recall@5") == ["", "~", "*"]
    assert standings(compared, "recall@5") == [None, "better", "better"]
    assert compared.shared == 60


def test_of_a_time_the_lowest_is_best() -> None:
    compared = side_by_side([system("slow", 0.7, seconds=0.4), system("quick", 0.7, seconds=0.1)])
    for name in ("mean_latency", "p95_latency"):
        assert marks(compared, name) == ["", "*"]
        assert standings(compared, name) == [None, "better"]
    row = row_of(compared, "p95_latency")
    assert row is not None
    assert row.figures[1].difference is not None
    assert row.figures[1].difference.value == pytest.approx(-0.59, abs=0.05)


def test_ties_are_all_best_and_not_marked_in_text() -> None:
    compared = side_by_side([system("a", 0.7), system("b", 0.7)])
    assert marks(compared, "recall@5") == ["*", "*"]
    assert standings(compared, "recall@5") == [None, "equal"]
    row = row_of(compared, "recall@5")
    assert row is not None
    assert row.is_tied
    assert "- a" not in render(side_by_side_lines(compared)), "there is no table of differences"


def test_the_pass_rate_stands_first() -> None:
    compared = three()
    assert compared.rows[0].metric == "pass_rate"
    assert [f.value for f in compared.rows[0].figures] == pytest.approx([0.55, 0.7333, 0.8], abs=1e-3)


def test_only_cases_that_all_ran_in_the_same_wording_count() -> None:
    cases = [Case(f"c{i}") for i in range(6)]
    a = run_of(cases, variant="a")
    b = run_of([cases[0].with_(skipped=True), *cases[1:5], Case("only-b", got=["x"])], variant="b")
    b.cases["c1"] = replace(b.cases["c1"], content_hash="edited")
    compared = side_by_side([a, b])
    assert compared.shared == 3
    assert [note.partition(" ")[0] for note in compared.notes] == ["1", "1", "2"]  # skipped, edited, not in both
    assert [case.case_id for case in compared.cases] == ["c0", "c1", "c2", "c3", "c4", "c5", "only-b"]
    nowhere, somewhere = compared.cases[-1].systems
    assert nowhere is None
    assert somewhere is not None
    assert somewhere.state == "passed"


def test_other_chunks_are_not_comparable_by_chunk_id() -> None:
    a, b = system("a", 0.5), system("b", 0.9)
    a.provenance, b.provenance = {"chunker_version": 1}, {"chunker_version": 2}
    compared = side_by_side([a, b])
    assert marks(compared, "recall@5") == ["", ""]
    assert marks(compared, "token_f1") == ["", "*"]
    row = row_of(compared, "recall@5")
    assert row is not None
    assert row.figures[1].note == "chunker_version 1 → 2"
    assert row.figures[1].value == pytest.approx(0.9, abs=0.1)
    assert row.figures[1].difference is None
    assert any("recall@5" in note and "chunker_version 1 → 2" in note for note in compared.notes)


def test_a_metric_only_one_system_was_asked_for() -> None:
    compared = side_by_side([system("a", 0.5), system("b", 0.5, names=[*METRICS, "bleu"])])
    row = row_of(compared, "bleu")
    assert row is not None
    assert row.figures[0].note
    assert not row.figures[1].note
    assert marks(compared, "bleu") == ["", ""]


def test_what_does_not_stand_side_by_side() -> None:
    with pytest.raises(NotComparableError, match="1 run cannot stand side by side"):
        side_by_side(THREE[:1])
    with pytest.raises(NotComparableError, match="different suites do not compare: billing, travel"):
        side_by_side([THREE[0], run_of([Case("a")], suite="travel")])
    assert side_by_sides([THREE[0], run_of([Case("a")], suite="travel")]) == []


def test_nothing_shared() -> None:
    compared = side_by_side([run_of([Case("a")], variant="x"), run_of([Case("b")], variant="y")])
    assert (compared.shared, compared.rows) == (0, ())
    (note,) = compared.notes
    assert note in render(side_by_side_lines(compared))
    assert note in side_by_side_markdown(compared)
    assert json.loads(side_by_side_json(compared))["rows"] == []


def test_two_runs_of_one_configuration_have_different_names() -> None:
    assert [c.name for c in side_by_side([THREE[0], THREE[0]]).columns] == ["bm25", "bm25 (2)"]
    assert [c.name for c in side_by_side(THREE[:2], names=["monday", "tuesday"]).columns] == ["monday", "tuesday"]


def test_a_quantile_of_too_few_cases_is_no_reason_to_choose() -> None:
    """Eight times say nothing of a 95th percentile, however far apart they are."""
    compared = side_by_side([system("slow", 0.5, 8, seconds=1.0), system("fast", 0.5, 8, seconds=0.1)])
    assert standings(compared, "p95_latency") == [None, "not distinguishable"]
    assert standings(compared, "mean_latency") == [None, "better"]
    row = row_of(compared, "p95_latency")
    assert row is not None
    assert row.figures[1].difference is not None
    assert row.figures[1].difference.low is None


def test_the_order_of_cases_does_not_change_the_numbers() -> None:
    turned = [
        Run(**{**{f: getattr(r, f) for f in r.__slots__}, "cases": dict(reversed([*r.cases.items()]))}) for r in THREE
    ]
    for a, b in zip(three().rows, side_by_side(turned).rows, strict=True):
        assert a == b


def test_intervals_are_wider_where_more_systems_are_compared() -> None:
    widths = []
    for compared in (side_by_side(THREE[:2]), three()):
        row = row_of(compared, "recall@5")
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
    recall, latency = row_of(compared, "recall@5"), row_of(compared, "mean_latency")
    assert recall is not None
    assert latency is not None
    assert [f.value for f in recall.figures] == [1.0, 0.25]
    assert recall.figures[1].standing == "worse"
    assert (recall.n, latency.n) == (8, 2)
    assert any("6 cases" in note and "mean_latency" in note for note in compared.notes)


def test_an_aggregate_over_the_corpus_is_resampled() -> None:
    compared = side_by_side([system("a", 0.3, names=["bleu", "distinct_2"]), system("b", 0.9, names=["bleu"])])
    row = row_of(compared, "bleu")
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
    range = (0.0, math.inf)

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
    row = row_of(side_by_side(runs, registry=registry), "total")
    assert row is not None
    assert [figure.value for figure in row.figures] == [100.0, 200.0]
    unknown = side_by_side(runs)
    assert row_of(unknown, "total") is None
    assert [note for note in unknown.notes if note.startswith("total: ")]
