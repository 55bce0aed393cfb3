"""The HTML report: one file that needs nothing else, asks nothing of any network, and runs no script but its own."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.run import Run
from ...errors import MissingExtraError, Problem
from ...regression.verdict import Verdict
from ..numbers import plural
from ..side_by_side import CaseRow, Figure, Row, SideBySide, side_by_sides
from ..side_by_side_formats import case_cell, difference_text, key_metric, legend, value_text
from ..tally import headline, mistakes_note, overall_outcome
from ..text import UNICODE
from ..trend import Trend
from .cases import shown
from .page import OUTCOMES, suite_views

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_CASES = 200
"""Cases listed of those that only some of several systems pass."""

_STYLES = ("base.css", "parts.css", "cases.css", "print.css")
_SCRIPTS = ("elements.js", "theme.js", "details.js", "table.js", "page.js")


def html_report(
    runs: Sequence[Run],
    verdicts: Sequence[Verdict],
    trends: Mapping[str, Trend] | None = None,
    compared: Sequence[SideBySide] | None = None,
    mistakes: Sequence[Problem] = (),
) -> str:
    """Return the report as the text of an HTML file; the same runs give the same bytes.

    Args:
        runs: what was measured.
        verdicts: what each run amounts to.
        trends: title of a run → what is known of the runs before it; without it there is no trend, and answers are held
            against the reference alone.
        compared: `side_by_sides` of the runs, where that has been worked out.
        mistakes: those in golden files that could not be read.

    Raises:
        MissingExtraError: jinja2 or matplotlib is not installed.
    """
    env = _environment()
    style = "".join(_source(env, name) for name in _STYLES)
    script = f'(() => {{\n"use strict";\n{"".join(_source(env, name) for name in _SCRIPTS)}}})();\n'
    outcome = overall_outcome(verdicts, mistakes)
    word, mark = OUTCOMES[outcome]
    return env.get_template("report.html.j2").render(
        beside=_side_views(runs, compared),
        suites=suite_views(runs, verdicts, trends or {}),
        outcome=outcome,
        word=word,
        mark=mark,
        headline=headline(verdicts, runs, mistakes),
        mistakes=mistakes,
        mistakes_title=mistakes_note(mistakes),
        style=style,
        script=script,
        policy=_policy(style, script),
    )


def _environment() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("the HTML report", "html") from None
    return Environment(
        loader=PackageLoader(__package__ or "", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _harmless(value: object) -> object:
    """Take controls out of everything the templates write; what is markup already stays as it is."""
    return shown(value) if type(value) is str else value


def _source(env: Environment, name: str) -> str:
    assert env.loader is not None
    return env.loader.get_source(env, name)[0]


def _policy(style: str, script: str) -> str:
    """Return a content security policy under which nothing is loaded and nothing runs but the report's own."""
    return "; ".join([
        "default-src 'none'",
        f"script-src {hash_source(script)}",
        f"style-src {hash_source(style)}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ])  # fmt: skip


def hash_source(text: str) -> str:
    """Return the source expression by which a content security policy admits an inline script or style of *text*."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@dataclass(frozen=True, slots=True)
class _CaseCell:
    """A case in one system: its text, its state, and where on the page it can be opened (empty: nowhere)."""

    text: str
    state: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class _SideView:
    """Several systems on one suite.

    ``rows`` have a metric, its n, the values and whether they are best, the differences and what they amount to.
    """

    suite: str
    over: str
    names: list[str]
    rows: list[tuple[str, str, list[tuple[str, bool]], list[tuple[str, str]]]]
    notes: list[str]
    key: str
    cases: list[tuple[str, list[_CaseCell]]]
    left: int


def _side_views(runs: Sequence[Run], compared: Sequence[SideBySide] | None = None) -> list[_SideView]:
    """Return one for each suite that several of *runs* are of; *compared* saves working it out."""
    titles = [run.title for run in runs]
    links = {
        run.title: {case_id: f"#case-{i}-{n}" for n, case_id in enumerate(run.cases)}
        for i, run in enumerate(runs)
        if titles.count(run.title) == 1
    }
    return [_side_view(one, links) for one in (side_by_sides(runs) if compared is None else compared)]


def _side_view(compared: SideBySide, links: Mapping[str, Mapping[str, str]]) -> _SideView:
    key = key_metric(compared)
    differing = [case for case in compared.cases if case.differs]
    return _SideView(
        compared.suite,
        f"over {plural(compared.shared, 'case')} that all ran",
        [column.name for column in compared.columns],
        [_metric(row) for row in compared.rows if not row.is_idle],
        [*legend(compared, UNICODE), *compared.notes],
        key.name if key is not None else "",
        [(case.case_id, _cells(compared, case, key, links)) for case in differing[:MOST_CASES]],
        len(differing) - MOST_CASES,
    )


def _metric(row: Row) -> tuple[str, str, list[tuple[str, bool]], list[tuple[str, str]]]:
    values = [(value_text(row, figure), not row.is_tied and figure.mark == "best") for figure in row.figures]
    return row.name, f"{row.n}", values, [_difference(row, figure) for figure in row.figures[1:]]


def _difference(row: Row, figure: Figure) -> tuple[str, str]:
    return difference_text(row, figure, UNICODE), figure.standing if figure.standing in ("better", "worse") else ""


def _cells(
    compared: SideBySide, case: CaseRow, key: Row | None, links: Mapping[str, Mapping[str, str]]
) -> list[_CaseCell]:
    out = []
    for i, column in enumerate(compared.columns):
        link = links.get(column.title, {}).get(case.case_id, "")
        system = case.systems[i]
        out.append(_CaseCell(case_cell(case, i, key, UNICODE), system.state if system else "", link))
    return out
