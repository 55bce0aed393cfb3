from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
from markdown_it import MarkdownIt

from pytest_auepora.core.metrics_base import Measurement, Metric
from pytest_auepora.core.run import MetricInfo, Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.core.types import EvaluationSample, MetricResult, SystemOutputs, TargetCategory
from pytest_auepora.errors import NotComparableError
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.reporting.json.report import json_report
from pytest_auepora.reporting.json.schema import report_schema, side_by_side_schema
from pytest_auepora.reporting.markdown.report import COMMENT_LIMIT, markdown_report
from pytest_auepora.reporting.markdown.side_by_side import side_by_side_markdown
from pytest_auepora.reporting.side_by_side.data import side_by_side_csv, side_by_side_json
from pytest_auepora.reporting.side_by_side.table import SideBySide, side_by_side, side_by_sides
from pytest_auepora.reporting.side_by_side.text import side_by_side_lines
from pytest_auepora.reporting.terminal.layout import render
from pytest_auepora.reporting.text import text_width

from ..builders import METRICS, Case, run_of, verdict_of
from ..systems import system

THREE = [system("bm25", 0.5), system("dense", 0.75), system("hybrid", 0.8)]


@cache
def three() -> SideBySide:
    return side_by_side(THREE)


@cache
def five() -> SideBySide:
    return side_by_side([*THREE, system("with a long name of its own", 0.6), system("e5-large-v2/int8", 0.9)])


def marks(compared: SideBySide, name: str) -> list[str]:
    row = compared.row(name)
    assert row is not None
    return [{"best": "*", "": ""}.get(figure.mark, "~") for figure in row.figures]


def standings(compared: SideBySide, name: str) -> list[str | None]:
    row = compared.row(name)
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
    row = compared.row("p95_latency")
    assert row is not None
    assert row.figures[1].difference is not None
    assert row.figures[1].difference.value == pytest.approx(-0.59, abs=0.05)


def test_ties_are_all_best_and_not_marked_in_text() -> None:
    compared = side_by_side([system("a", 0.7), system("b", 0.7)])
    assert marks(compared, "recall@5") == ["*", "*"]
    assert standings(compared, "recall@5") == [None, "equal"]
    row = compared.row("recall@5")
    assert row is not None
    assert row.is_tied
    assert "no case differs in any metric" in render(side_by_side_lines(compared))


def test_the_pass_rate_stands_first() -> None:
    compared = three()
    assert compared.rows[0].name == "pass_rate"
    assert [f.value for f in compared.rows[0].figures] == pytest.approx([0.55, 0.7333, 0.8], abs=1e-3)


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


def test_only_cases_that_all_ran_in_the_same_wording_count() -> None:
    cases = [Case(f"c{i}") for i in range(6)]
    a = run_of(cases, variant="a")
    b = run_of([cases[0].with_(skipped=True), *cases[1:5], Case("only-b", got=["x"])], variant="b")
    b.cases["c1"] = replace(b.cases["c1"], content_hash="edited")
    compared = side_by_side([a, b])
    assert compared.shared == 3
    assert [note.split(" case", 1)[1] for note in compared.notes] == [
        " skipped: left out of the figures",
        " edited between the runs: left out of the figures",
        "s not run by all: left out of the figures",
    ]
    assert [case.case_id for case in compared.cases] == ["c0", "c1", "c2", "c3", "c4", "c5", "only-b"]
    assert compared.cases[-1].states == (None, "passed")
    assert compared.cases[-1].scores[0] == {}


def test_other_chunks_are_not_comparable_by_chunk_id() -> None:
    a, b = system("a", 0.5), system("b", 0.9)
    a.provenance, b.provenance = {"chunker_version": 1}, {"chunker_version": 2}
    compared = side_by_side([a, b])
    assert marks(compared, "recall@5") == ["", ""]
    assert marks(compared, "token_f1") == ["", "*"]
    row = compared.row("recall@5")
    assert row is not None
    assert row.figures[1].note == "chunker_version 1 → 2"
    assert row.figures[1].value == pytest.approx(0.9, abs=0.1)
    assert row.figures[1].difference is None
    assert any("recall@5" in note and "chunker_version 1 → 2" in note for note in compared.notes)


def test_a_metric_only_one_system_was_asked_for() -> None:
    compared = side_by_side([system("a", 0.5), system("b", 0.5, names=[*METRICS, "bleu"])])
    row = compared.row("bleu")
    assert row is not None
    assert row.figures[0].note == "not asked for"
    assert marks(compared, "bleu") == ["", ""]


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


def test_what_does_not_stand_side_by_side() -> None:
    with pytest.raises(NotComparableError, match="1 run cannot stand side by side"):
        side_by_side(THREE[:1])
    with pytest.raises(NotComparableError, match="different suites do not compare: billing, travel"):
        side_by_side([THREE[0], run_of([Case("a")], suite="travel")])
    assert side_by_sides([THREE[0], run_of([Case("a")], suite="travel")]) == []


def test_nothing_shared() -> None:
    compared = side_by_side([run_of([Case("a")], variant="x"), run_of([Case("b")], variant="y")])
    assert (compared.shared, compared.rows) == (0, ())
    assert "2 cases not run by all" in render(side_by_side_lines(compared))
    assert "2 cases not run by all" in side_by_side_markdown(compared)
    assert json.loads(side_by_side_json(compared))["rows"] == []


def test_two_runs_of_one_configuration_have_different_names() -> None:
    assert [c.name for c in side_by_side([THREE[0], THREE[0]]).columns] == ["bm25", "bm25 (2)"]
    assert [c.name for c in side_by_side(THREE[:2], names=["monday", "tuesday"]).columns] == ["monday", "tuesday"]


@pytest.mark.parametrize("width", [60, 80, 140])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_no_line_is_wider_than_the_terminal(width: int, ascii_only: bool) -> None:
    text = render(side_by_side_lines(five(), width=width, ascii_only=ascii_only))
    assert max(map(text_width, text.splitlines())) <= width
    assert text.count("recall@5 ") >= 2
    assert not ascii_only or text.isascii()
    for name in ("bm25", "dense", "hybrid", "int8"):
        assert name in text


def test_the_terminal_names_the_cases_on_which_they_disagree() -> None:
    text = render(side_by_side_lines(three(), width=100))
    assert re.search(r"15 cases that only some of them pass \(recall@5 beside\)", text), text
    assert re.search(r"^case-\d+ +✗ 0.000 +✓ 1.000", text, re.MULTILINE)
    assert "… and 5 more" in text


def test_markdown_shows_the_same_and_nothing_a_name_could_do() -> None:
    runs = [system("a|b <script>", 0.5), system("@team `x`", 0.9)]
    text = side_by_side_markdown(side_by_side(runs))
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert "<script" not in html
    assert "a|b &lt;script&gt;" in html
    assert "@\u200bteam `x`" in html
    assert html.count("<table>") == 3
    cells = re.findall(r"<td[^>]*>(.*?)</td>", html)
    assert "1.000 *" not in cells
    assert any(re.fullmatch(r"\+0\.\d+ \[\+0\.\d+, \+0\.\d+\] ✓", cell) for cell in cells), cells


def test_a_quantile_of_too_few_cases_is_no_reason_to_choose() -> None:
    """Eight times say nothing of a 95th percentile, however far apart they are."""
    compared = side_by_side([system("slow", 0.5, 8, seconds=1.0), system("fast", 0.5, 8, seconds=0.1)])
    assert standings(compared, "p95_latency") == [None, "not distinguishable"]
    assert standings(compared, "mean_latency") == [None, "better"]
    row = compared.row("p95_latency")
    assert row is not None
    assert row.figures[1].difference is not None
    assert row.figures[1].difference.low is None


def test_it_is_part_of_the_reports_and_fits() -> None:
    verdicts = [verdict_of(run) for run in THREE]
    text = markdown_report(THREE, verdicts)
    assert text.index("billing side by side") < text.index("billing\\[bm25\\]", text.index("side by side"))
    big = [system(name, p, 1000) for name, p in (("bm25", 0.3), ("dense", 0.6))]
    text = markdown_report(big, [verdict_of(run) for run in big])
    assert len(text) <= COMMENT_LIMIT
    assert "side by side" in text
    assert "recall@5" in text


def test_json_keeps_to_its_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is in the test group")
    raw = json.loads(side_by_side_json(three()))
    jsonschema.validate(raw, side_by_side_schema())
    report = json.loads(json_report(THREE, [verdict_of(run) for run in THREE]))
    jsonschema.validate(report, report_schema())
    assert report["side_by_side"] == [{k: v for k, v in raw.items() if k != "format"}]
    del raw["rows"][0]["figures"][0]["mark"]
    assert not jsonschema.Draft202012Validator(side_by_side_schema()).is_valid(raw)
    assert "side_by_side" not in json.loads(json_report(THREE[:1], [verdict_of(THREE[0])]))


def test_csv_has_a_row_per_case_and_metric() -> None:
    a, b = (run_of([Case("=cmd"), Case("two", got=[])], variant=v) for v in ("a", "b"))
    b.cases.pop("two")
    other = [run_of([Case("x")], suite="travel", variant=v) for v in ("b", "c")]
    rows = list(csv.DictReader(io.StringIO(side_by_side_csv(side_by_sides([a, b, *other])))))
    assert list(rows[0]) == ["suite", "owner", "id", "metric", "a", "b", "c"]
    assert {
        "suite": "billing",
        "owner": "search-team",
        "id": "'=cmd",
        "metric": "state",
        "a": "passed",
        "b": "passed",
        "c": "",
    } in rows
    assert {
        "suite": "billing",
        "owner": "search-team",
        "id": "two",
        "metric": "recall@5",
        "a": "0.0000",
        "b": "",
        "c": "",
    } in rows
    assert {
        "suite": "travel",
        "owner": "search-team",
        "id": "x",
        "metric": "recall@5",
        "a": "",
        "b": "1.0000",
        "c": "1.0000",
    } in rows


def test_the_order_of_cases_does_not_change_the_numbers() -> None:
    turned = [
        Run(**{**{f: getattr(r, f) for f in r.__slots__}, "cases": dict(reversed([*r.cases.items()]))}) for r in THREE
    ]
    for a, b in zip(three().rows, side_by_side(turned).rows, strict=True):
        assert a == b
