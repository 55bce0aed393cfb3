"""Systems side by side on a page: their metrics, and the cases that only some pass, where these can be opened."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_auepora.core.run import Run
from pytest_auepora.reporting.html.report import MOST_CASES, html_report
from pytest_auepora.reporting.report import Report
from pytest_auepora.reporting.side_by_side import side_by_sides

from ..builders import Case, run_of, system, verdict_of
from .pages import Element, read

pytest.importorskip("jinja2", reason="the html extra")

pytestmark = pytest.mark.usefixtures("undrawn")

NAMES = ["recall@5", "empty_result_rate"]
GOOD, BAD = ["refunds.md"], ["index.md"]
CASE = Case("apart", got=GOOD, thresholds={"recall@5": 0.5})


def section(runs: Sequence[Run], *, alone: bool = True) -> Element:
    """What a page has of *runs* side by side; *alone*, the page has nothing else, which is quickly made."""
    shown = [] if alone else runs
    page = read(html_report(Report(shown, [verdict_of(run) for run in shown], known_comparisons=side_by_sides(runs))))
    return page.one("section", class_="beside-each")


def tables(runs: Sequence[Run], *, alone: bool = True) -> list[Element]:
    """The tables of it: of metrics, and of cases where there are any."""
    return section(runs, alone=alone).all("table")


def rows(table: Element) -> list[list[Element]]:
    return [[one for one in row.inside if one.tag] for row in table.one("tbody").all("tr")]


def test_the_best_value_and_clear_differences_are_marked() -> None:
    metrics = rows(tables([system("bm25", 0.3, names=NAMES), system("dense", 0.9, names=NAMES)])[0])
    assert [row[0].words for row in metrics] == ["pass_rate", "recall@5"]  # no row for empty results that never were
    _, n, first, second, difference = metrics[1]
    assert n.words == "60"
    assert first.given["class"] == "number"
    assert second.given["class"] == "number best"
    assert second.words.endswith(" *")
    assert difference.given["class"].split() == ["number", "better"]
    assert difference.words.endswith(" ✓")


def test_a_tie_has_no_best_and_no_table_of_cases() -> None:
    (metrics,) = tables([system(name, 0.5, names=NAMES) for name in ("a", "b")])
    assert metrics.all("td", class_="best") == []
    assert [row[-1].words for row in rows(metrics)] == ["=", "="]


def test_a_case_leads_to_its_row_in_the_table_of_its_system() -> None:
    one = run_of([CASE.with_(id="same"), CASE], NAMES, variant="a")
    two = run_of([CASE.with_(got=BAD), CASE.with_(id="same")], NAMES, variant="b")
    ((name, *cells),) = rows(tables([run_of([Case("x")], suite="travel"), one, two], alone=False)[1])
    assert name.words == "apart"
    assert [(cell.words, cell.one("a").given["href"]) for cell in cells] == [
        ("passed ✓ 1.000", "#case-1-1"),
        ("failed ✗ 0.000", "#case-2-0"),
    ]


def test_two_runs_of_one_configuration_have_no_links() -> None:
    """Which of them is meant cannot be told from their title."""
    ((_, *cells),) = rows(tables([run_of([CASE.with_(got=got)], NAMES) for got in (GOOD, BAD)], alone=False)[1])
    assert [(cell.words, cell.all("a")) for cell in cells] == [("✓ 1.000", []), ("✗ 0.000", [])]


def test_a_system_that_did_not_run_the_case_has_an_empty_cell() -> None:
    runs = [run_of([CASE.with_(got=got)], NAMES, variant=f"v{n}") for n, got in enumerate((GOOD, BAD, GOOD))]
    runs[2].cases.clear()
    ((_, *cells),) = rows(tables(runs)[1])
    assert (cells[2].words, cells[2].all("a")) == ("", [])


def test_more_cases_than_a_page_should_have_are_counted() -> None:
    cases = [CASE.with_(id=f"c{i}") for i in range(MOST_CASES + 7)]
    runs = [run_of([c.with_(got=got) for c in cases], NAMES, variant=got[0]) for got in (GOOD, BAD)]
    beside = section(runs)
    assert beside.one("h3").words == "207 cases that only some of them pass"
    assert len(rows(beside.all("table")[1])) == MOST_CASES
    assert beside.all("p")[-1].words == "… and 7 more"
