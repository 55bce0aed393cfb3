"""Systems side by side on a page: their metrics, and the cases that only some pass, where these can be opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_auepora.core.run import Run
from pytest_auepora.reporting.page.run_data import MOST_DIFFERING, side_by_side_view
from pytest_auepora.reporting.side_by_side import side_by_side

from ..builders import Case, run_of, system

NAMES = ["recall@5", "empty_result_rate"]
GOOD, BAD = ["refunds.md"], ["index.md"]
CASE = Case("apart", got=GOOD, thresholds={"recall@5": 0.5})


def view(*runs: Run, titles: Sequence[str] | None = None) -> dict[str, Any]:
    return side_by_side_view(side_by_side(runs), [run.title for run in runs] if titles is None else titles)


def test_the_best_value_and_clear_differences_are_marked() -> None:
    rows = view(system("bm25", 0.3, names=NAMES), system("dense", 0.9, names=NAMES))["rows"]
    assert [row["name"] for row in rows] == ["pass_rate", "recall@5"], "no row for empty results that never were"
    assert rows[1]["n"] == 60
    assert [best for _, best in rows[1]["values"]] == [False, True]
    ((text, standing),) = rows[1]["differences"]
    assert standing == "better"
    assert text.endswith(" ✓")


def test_a_tie_has_no_best_and_no_cases() -> None:
    told = view(*(system(name, 0.5, names=NAMES) for name in ("a", "b")))
    assert not any(best for row in told["rows"] for _, best in row["values"])
    assert [row["differences"] for row in told["rows"]] == [[["=", "equal"]], [["=", "equal"]]]
    assert told["cases"] == []


def test_a_case_leads_to_its_run_where_that_is_certain() -> None:
    one = run_of([CASE.with_(id="same"), CASE], NAMES, variant="a")
    two = run_of([CASE.with_(got=BAD), CASE.with_(id="same")], NAMES, variant="b")
    told = view(one, two, titles=["travel", one.title, two.title])
    assert told["runs"] == [1, 2]
    assert told["cases"] == [{"id": "apart", "cells": [["passed", "✓ 1.000"], ["failed", "✗ 0.000"]]}]


def test_two_runs_of_one_configuration_have_no_links() -> None:
    """Which of them is meant cannot be told from their title."""
    assert view(*(run_of([CASE.with_(got=got)], NAMES) for got in (GOOD, BAD)))["runs"] == [None, None]


def test_a_system_that_did_not_run_the_case_has_an_empty_cell() -> None:
    runs = [run_of([CASE.with_(got=got)], NAMES, variant=f"v{n}") for n, got in enumerate((GOOD, BAD, GOOD))]
    runs[2].cases.clear()
    assert view(*runs)["cases"][0]["cells"][2] == ["", ""]


def test_more_cases_than_a_page_should_have_are_counted() -> None:
    cases = [CASE.with_(id=f"c{i}") for i in range(MOST_DIFFERING + 7)]
    told = view(*(run_of([c.with_(got=got) for c in cases], NAMES, variant=got[0]) for got in (GOOD, BAD)))
    assert told["differing"] == MOST_DIFFERING + 7
    assert len(told["cases"]) == MOST_DIFFERING
