"""The text of the page: a file that makes no network requests and runs only its own script, or what a server shows."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from ..report import Report, Trend
from ..text import UNICODE
from ..wording.metric_rows import state_symbol
from ..wording.verdict import mistakes_text
from .case_data import case_details, case_rows, safe_text
from .run_data import history_data, run_data, side_by_side_view, slice_labels, slice_rows

_STYLES = ("base.css", "run.css", "case.css", "print.css")
_SCRIPTS = (
    "elements.js", "source.js", "theme.js", "charts.js", "cases.js", "runs.js", "run.js", "judge.js",
    "case.js", "main.js",
)  # fmt: skip
_SPECIAL = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
_MOST_SLICED = 2000
"""Cases of a run up to which a file holds the metrics of its slices; of a larger one they take long to compute."""


class PageText(NamedTuple):
    """The page, and the content security policy that allows its own script and style."""

    text: str
    policy: str


def html_report(report: Report) -> str:
    """Return the report as the text of an HTML file; the same runs give the same bytes.

    Without the trend of a run, its answers are compared with the reference alone.
    """
    titles = [run.title for run in report.runs]
    suites, details = [], []
    for run, verdict in report.pairs:
        trend = report.trends.get((run.path, run.variant), Trend())
        rows = case_rows(run, verdict)
        labels = slice_labels(rows) if len(run.cases) <= _MOST_SLICED else []
        suites.append({
            **run_data(run, verdict, rows),
            "history": history_data(run, verdict, trend),
            "slices": {label: slice_rows(run, verdict, rows, label) for label in labels},
        })  # fmt: skip
        details.append([_details(run.cases[i], run, verdict, trend) for i in run.cases])
    data = {
        "outcome": report.outcome,
        "mark": state_symbol(report.outcome, UNICODE),
        "headline": safe_text(report.headline),
        "mistakes": [[safe_text(mistake.place), safe_text(mistake.message)] for mistake in report.mistakes],
        "mistakesTitle": mistakes_text(report.mistakes) if report.mistakes else "",
        "suites": suites,
        "sideBySide": [side_by_side_view(compared, titles) for compared in report.comparisons()],
    }
    alone = len(suites) == 1 and not report.mistakes
    title = f"{data['mark']} {report.outcome.capitalize()}" + (f": {suites[0]['title']}" if alone else "")
    return page_text(data, details, title=title).text


def _details(case: Any, run: Any, verdict: Any, trend: Trend) -> dict[str, Any]:
    before = trend.previous.cases.get(case.case_id) if trend.previous is not None else None
    is_same = before is not None and before.content_hash == case.content_hash and bool(before.outputs)
    return case_details(case, run, verdict, before if is_same else None, trend.previous_name)


def page_text(
    data: dict[str, Any] | None = None,
    details: Sequence[Sequence[Any]] = (),
    *,
    title: str = "",
    connect: str = "'none'",
) -> PageText:
    """Return the page with its *data* inside, or, without any, the page that asks its server for them.

    *details* are those of the cases of each suite: a line of JSON for each case, read when it is opened.  *connect* is
    what it may ask.
    """
    from jinja2 import Environment, StrictUndefined

    sources = files(__package__)
    style, scripts = (
        "".join((sources / folder / name).read_text("utf-8") for name in names)
        for folder, names in (("style", _STYLES), ("script", _SCRIPTS))
    )
    script = f'(() => {{\n"use strict";\n{scripts}}})();\n'
    own = f"script-src {_hash_source(script)}; style-src {_hash_source(style)}; connect-src {connect}"
    policy = f"default-src 'none'; {own}; img-src data:; base-uri 'none'; form-action 'none'"
    env = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    text = env.from_string((sources / "page.html.j2").read_text("utf-8")).render(
        title=title, policy=policy, style=style, script=script, live=data is None, data=embedded_json(data),
        headline=f"{data['mark']} {data['outcome']}: {data['headline']}" if data is not None else "",
        details=["\n".join(map(embedded_json, of_suite)) for of_suite in details],
    )  # fmt: skip
    return PageText(text, policy)


def _hash_source(text: str) -> str:
    """Return the source expression that allows an inline script or style of *text* in a content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def embedded_json(value: Any) -> str:
    """Return *value* as JSON in one line that is safe inside a ``<script>`` element.

    Characters with a meaning in HTML or JavaScript (``<``, ``>``, ``&``, line separators) and lone surrogates are
    written as escapes, which JSON reads back as the same text.

    Raises:
        ValueError: a number is infinite or NaN.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _SPECIAL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
