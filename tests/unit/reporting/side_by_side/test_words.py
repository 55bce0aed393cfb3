"""What stands in the cells: values, differences and cases, with the marks of the terminal."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.run import CaseState
from pytest_auepora.regression.statistics.intervals import Difference
from pytest_auepora.reporting.side_by_side.table import CaseRow, Figure, Mark, Row, side_by_side
from pytest_auepora.reporting.side_by_side.words import case_cell, difference_text, key_metric, legend, value_text
from pytest_auepora.reporting.text import ASCII, UNICODE

from ..builders import Case, infos_of, run_of

INFOS = infos_of()
NEAR: Mark = "not distinguishable from the best"


def row(*figures: Figure, name: str = "recall@5") -> Row:
    return Row(name, INFOS.get(name), 9, figures)


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
        (Figure(0.9, difference(0.12, 0.04, 0.2), "better"), "+0.120 [+0.040, +0.200] ✓"),
        (Figure(0.1, difference(-0.12, -0.2, -0.04), "worse"), "-0.120 [-0.200, -0.040] ✗"),
        (Figure(0.9, difference(0.12, -0.04, 0.2), "not distinguishable"), "+0.120 [-0.040, +0.200] ?"),
        (Figure(0.9, difference(0.12), "not distinguishable"), "+0.120 ?"),
        (Figure(0.9, difference(0.0, 0.0, 0.0), "equal"), "="),
        (Figure(0.9, difference(None), note="nothing in common"), "nothing in common"),
        (Figure(0.9, note="chunker_version 1 → 2"), "chunker_version 1 → 2"),
        (Figure(0.9), ""),
    ],
)
def test_differences(figure: Figure, text: str) -> None:
    assert difference_text(row(Figure(0.5), figure), figure, UNICODE) == text


def test_differences_of_times_in_ascii() -> None:
    figure = Figure(0.1, difference(-0.3, -0.4, -0.2), "better")
    assert difference_text(row(figure, name="mean_latency"), figure, ASCII) == "-300 ms [-400 ms, -200 ms] +"


def test_the_legend_names_the_first_system_and_the_confidence() -> None:
    compared = side_by_side([run_of([Case("a")], variant=name) for name in ("bm25", "dense")])
    marks, differences = legend(compared, ASCII)
    assert marks == "* best   ~ cannot be told from the best"
    assert differences == (
        "differences are from bm25, paired by case, with 95 % intervals: + better, x worse, ? not distinguishable"
    )


def test_the_first_metric_with_values_stands_for_a_case() -> None:
    names = ["mean_latency", "bleu", "assertion_pass", "recall@5", "mrr@10"]
    compared = side_by_side([run_of([Case("a")], names, variant=name) for name in ("x", "y")])
    key = key_metric(compared)
    assert key is not None
    assert key.name == "recall@5"  # no time, no aggregate of all cases, nothing that was not measured
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
    case = CaseRow("a", "?", "", ("passed", state), ({}, scores))
    assert case_cell(case, 1, row(), UNICODE) == text


def test_a_case_where_no_metric_stands_for_it() -> None:
    assert case_cell(CaseRow("a", "?", "", ("failed",), ({"recall@5": 0.5},)), 0, None, ASCII) == "x"
    own = Row("own", None, 1, ())
    assert case_cell(CaseRow("a", "?", "", ("passed",), ({"own": 2.0},)), 0, own, ASCII) == "+ 2.000"
