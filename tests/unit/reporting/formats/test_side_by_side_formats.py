"""What stands in the cells: values, differences and cases, with the marks of the terminal."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from markdown_it import MarkdownIt

from pytest_auepora.core.run import CaseState
from pytest_auepora.regression.statistics.intervals import Difference
from pytest_auepora.reporting.formats.json_report import report_schema, side_by_side_schema
from pytest_auepora.reporting.formats.markdown_report import COMMENT_LIMIT, markdown_report
from pytest_auepora.reporting.formats.registry import report_text
from pytest_auepora.reporting.formats.side_by_side_formats import (
    BEST,
    case_cell,
    difference_text,
    key_metric,
    legend,
    side_by_side_json,
    side_by_side_lines,
    side_by_side_markdown,
    value_text,
)
from pytest_auepora.reporting.formats.side_by_side_formats import NEAR as NEAR_BEST
from pytest_auepora.reporting.report import Report
from pytest_auepora.reporting.side_by_side import (
    CaseRow,
    Figure,
    Mark,
    Row,
    SideBySide,
    SystemCase,
    side_by_side,
)
from pytest_auepora.reporting.terminal.layout import render
from pytest_auepora.reporting.text import BAD, GOOD, UNSURE, text_width

from ..builders import Case, infos_of, run_of, system, verdict_of
from ..test_side_by_side import THREE, three

INFOS = infos_of()
NEAR: Mark = "not distinguishable from the best"


def row(*figures: Figure, name: str = "recall@5") -> Row:
    target = INFOS[name].target if name in INFOS else ""
    return Row(name, "higher", "", 9, figures, target)


def difference(value: float | None, low: float | None = None, high: float | None = None) -> Difference:
    return Difference(value, low, high, n_cases=9, n_clusters=9, n_differing=9, alpha=0.05)


@pytest.mark.parametrize(
    ("name", "figure", "text"),
    [
        ("recall@5", Figure(0.8333, mark="best"), "0.833 *"),
        ("recall@5", Figure(0.8333, mark=NEAR), "0.833 ~"),
        ("recall@5", Figure(0.8333), "0.833"),
        ("recall@5", Figure(None, note="not asked for"), "n/a"),
        ("mean_latency", Figure(0.25, mark="best"), "250 ms *"),
        ("pass_rate", Figure(1.0, mark="best"), "1.000 *"),
    ],
)  # fmt: skip
def test_values(name: str, figure: Figure, text: str) -> None:
    assert value_text(row(figure, Figure(0.1), name=name), figure) == text


def test_where_all_are_best_none_is_marked() -> None:
    best = Figure(0.5, mark="best")
    assert value_text(row(best, best), best) == "0.500"


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (Figure(0.9, difference=difference(0.12, 0.04, 0.2), standing="better"), "+0.120 [+0.040, +0.200] ✓"),
        (Figure(0.1, difference=difference(-0.12, -0.2, -0.04), standing="worse"), "-0.120 [-0.200, -0.040] ✗"),
        (
            Figure(0.9, difference=difference(0.12, -0.04, 0.2), standing="not distinguishable"),
            "+0.120 [-0.040, +0.200] ?",
        ),
        (Figure(0.9, difference=difference(0.12), standing="not distinguishable"), "+0.120 ?"),
        (Figure(0.9, difference=difference(0.0, 0.0, 0.0), standing="equal"), "="),
        (Figure(0.9, difference=difference(None), note="nothing in common"), "nothing in common"),
        (Figure(0.9, note="chunker_version 1 → 2"), "chunker_version 1 → 2"),
        (Figure(0.9), ""),
    ],
)
def test_differences(figure: Figure, text: str) -> None:
    assert difference_text(row(Figure(0.5), figure), figure) == text


def test_differences_of_times() -> None:
    figure = Figure(0.1, difference=difference(-0.3, -0.4, -0.2), standing="better")
    assert difference_text(row(figure, name="mean_latency"), figure) == "-300 ms [-400 ms, -200 ms] ✓"


def test_the_legend_names_the_first_system_and_the_confidence() -> None:
    compared = side_by_side([run_of([Case("a")], variant=name) for name in ("bm25", "dense")])
    marks, differences = legend(compared)
    assert {BEST, NEAR_BEST} <= {*marks}
    assert {GOOD, BAD, UNSURE} <= {*differences}
    assert "bm25" in differences
    assert "dense" not in differences
    assert "95 %" in differences


def test_the_first_metric_with_values_stands_for_a_case() -> None:
    names = ["mean_latency", "bleu", "assertion_pass", "recall@5", "mrr@10"]
    compared = side_by_side([run_of([Case("a")], names, variant=name) for name in ("x", "y")])
    key = key_metric(compared)
    assert key is not None
    assert key.metric == "recall@5"  # no time, no aggregate of all cases, nothing that was not measured
    only_times = side_by_side([run_of([Case("a")], ["mean_latency"], variant=name) for name in ("x", "y")])
    assert key_metric(only_times) is None


@pytest.mark.parametrize(
    ("state", "scores", "text"),
    [
        ("passed", {"recall@5": 0.5}, "✓ 0.500"),
        ("failed", {"recall@5": 0.0}, "✗ 0.000"),
        ("failed", {"recall@5": None}, "✗"),
        ("passed", {}, "✓"),
        ("error", {"recall@5": 0.0}, "error 0.000"),
        ("skipped", {"recall@5": 0.5}, "skipped"),
        (None, {}, ""),
    ],
)
def test_cases(state: CaseState | None, scores: dict[str, Any], text: str) -> None:
    system = SystemCase(state, scores) if state is not None else None
    case = CaseRow("a", "", False, (SystemCase("passed", {}), system))
    assert case_cell(case, 1, row()) == text


def test_a_case_where_no_metric_stands_for_it() -> None:
    assert case_cell(CaseRow("a", "", False, (SystemCase("failed", {"recall@5": 0.5}),)), 0, None) == "✗"
    own = Row("own", "higher", "", 1, ())
    assert case_cell(CaseRow("a", "", False, (SystemCase("passed", {"own": 2.0}),)), 0, own) == "✓ 2.000"


@cache
def five() -> SideBySide:
    return side_by_side([*THREE, system("with a long name of its own", 0.6), system("e5-large-v2/int8", 0.9)])


@pytest.mark.parametrize("width", [60, 80, 140])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    text = render(side_by_side_lines(five(), width=width))
    assert max(map(text_width, text.splitlines())) <= width
    assert text.count("recall@5 ") >= 2
    for name in ("bm25", "dense", "hybrid", "int8"):
        assert name in text


def test_the_terminal_names_the_cases_on_which_they_disagree() -> None:
    text = render(side_by_side_lines(three(), width=100))
    assert sum(case.differs for case in three().cases) == 15
    assert re.search(r"^15 cases .*recall@5", text, re.MULTILINE), text
    assert re.search(r"^case-\d+ +✗ 0.000 +✓ 1.000", text, re.MULTILINE)
    assert "… and 5 more" in text


@pytest.mark.slow
def test_it_is_part_of_the_reports_and_fits() -> None:
    verdicts = [verdict_of(run) for run in THREE]
    text = markdown_report(Report(THREE, verdicts))
    assert text.index("| hybrid - bm25 |") < text.index("billing\\[bm25\\]", text.index("| hybrid - bm25 |"))
    big = [system(name, p, 500) for name, p in (("bm25", 0.3), ("dense", 0.6))]
    text = markdown_report(Report(big, [verdict_of(run) for run in big]))
    assert len(text) <= COMMENT_LIMIT
    assert "| dense - bm25 |" in text
    assert "recall@5" in text


@pytest.mark.slow
def test_json_keeps_to_its_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is in the test group")
    raw = json.loads(side_by_side_json(three()))
    jsonschema.validate(raw, side_by_side_schema())
    report = json.loads(report_text("json", Report(THREE, [verdict_of(run) for run in THREE])))
    jsonschema.validate(report, report_schema())
    assert report["side_by_side"] == [{k: v for k, v in raw.items() if k != "format"}]
    del raw["rows"][0]["figures"][0]["value"]
    assert not jsonschema.Draft202012Validator(side_by_side_schema()).is_valid(raw)
    assert "side_by_side" not in json.loads(report_text("json", Report(THREE[:1], [verdict_of(THREE[0])])))


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
