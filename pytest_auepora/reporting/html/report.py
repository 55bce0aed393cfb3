"""The HTML report: one self-contained file that makes no network requests and runs only its own script."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

from ...core.run import Run
from ...errors import MissingExtraError
from ..formats.side_by_side_formats import case_cell, difference_text, key_metric, legend, value_text
from ..metric_rows import state_symbol
from ..numbers import plural
from ..report import Report
from ..tally import mistakes_note
from ..text import UNICODE
from .cases import safe_text
from .page import suite_views

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_CASES = 200  # listed that only some of several systems pass
_STYLES = ("base.css", "parts.css", "cases.css", "print.css")
_SCRIPTS = ("elements.js", "theme.js", "details.js", "table.js", "page.js")
_BREAKS = re.compile(r"(?<=[_,=])|(?=[{@])")
"""Where the name of a metric may break into the next line."""


def html_report(report: Report) -> str:
    """Return the report as the text of an HTML file; the same runs give the same bytes.

    Without the trend of a run, its answers are compared with the reference alone.

    Raises:
        MissingExtraError: jinja2 or matplotlib is not installed.
    """
    env, sources = _environment(), files(__package__).joinpath("templates")
    style, scripts = ("".join((sources / name).read_text("utf-8") for name in names) for names in (_STYLES, _SCRIPTS))
    script = f'(() => {{\n"use strict";\n{scripts}}})();\n'
    own = f"script-src {hash_source(script)}; style-src {hash_source(style)}"
    return env.get_template("report.html.j2").render(
        comparisons=report.comparisons(), links=_case_links(report.runs), suites=suite_views(report),
        outcome=report.outcome, mark=state_symbol(report.outcome, UNICODE), headline=report.headline,
        mistakes=report.mistakes, mistakes_title=mistakes_note(report.mistakes), style=style, script=script,
        policy=f"default-src 'none'; {own}; img-src data:; base-uri 'none'; form-action 'none'",
    )  # fmt: skip


def _environment() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("the HTML report", "html") from None
    env = Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: safe_text(value) if type(value) is str else value,  # markup has a type of its own
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    env.filters["pieces"] = _BREAKS.split
    env.globals |= {
        "MOST_CASES": MOST_CASES, "SYMBOLS": UNICODE, "plural": plural, "legend": legend, "key_metric": key_metric,
        "value_text": value_text, "difference_text": difference_text, "case_cell": case_cell,
    }  # fmt: skip
    return env


def hash_source(text: str) -> str:
    """Return the source expression that allows an inline script or style of *text* in a content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _case_links(runs: Sequence[Run]) -> dict[tuple[str, str], str]:
    """Return the links to cases in the table of their system, by its title, which only one run has, and case."""
    titles = [run.title for run in runs]
    return {
        (run.title, case_id): f"#case-{i}-{n}"
        for i, run in enumerate(runs)
        if titles.count(run.title) == 1
        for n, case_id in enumerate(run.cases)
    }
