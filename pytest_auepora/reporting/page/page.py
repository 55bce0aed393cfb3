"""The text of the page: a file that makes no network requests and runs only its own script, or what a server shows."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import partial
from importlib.resources import files
from typing import Any, NamedTuple

from ...core.run import Run
from ...regression.verdict import Verdict
from ..report import Report, Trend
from ..wording.metric_rows import state_symbol
from ..wording.verdict import mistakes_text
from .case_data import case_details, safe_text
from .case_rows import FIRST, CaseRows
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
    suites, later = [], []
    for run, verdict in report.pairs:
        trend = report.trends.get((run.path, run.variant), Trend())
        rows, details = CaseRows(run, verdict), partial(_details, run, verdict, trend)
        labels = slice_labels(rows) if len(rows) <= _MOST_SLICED else []
        suites.append({
            **run_data(rows, details),
            "history": history_data(run, verdict, trend.runs),
            "bySlice": {label: slice_rows(rows, label) for label in labels},
        })  # fmt: skip
        later.append(Later(rows.all if len(rows) > FIRST else [], details([*run.cases])))
    data = {
        "outcome": report.outcome,
        "mark": state_symbol(report.outcome),
        "headline": safe_text(report.headline),
        "mistakes": [[safe_text(mistake.place), safe_text(mistake.message)] for mistake in report.mistakes],
        "mistakesTitle": mistakes_text(report.mistakes) if report.mistakes else "",
        "suites": suites,
        "sideBySide": [side_by_side_view(compared, titles) for compared in report.comparisons()],
    }
    alone = len(suites) == 1 and not report.mistakes
    title = f"{data['mark']} {report.outcome.capitalize()}" + (f": {suites[0]['title']}" if alone else "")
    return page_text(data, later, title=title).text


def _details(run: Run, verdict: Verdict, trend: Trend, ids: Sequence[str]) -> list[dict[str, Any]]:
    previous = trend.previous.cases if trend.previous is not None else {}
    out = []
    for case_id in ids:
        case, before = run.cases[case_id], previous.get(case_id)
        is_same = before is not None and before.content_hash == case.content_hash and bool(before.outputs)
        out.append(case_details(case, run, verdict, before if is_same else None, trend.previous_name))
    return out


class Later(NamedTuple):
    """What the page reads of a suite after it is shown."""

    rows: list[dict[str, Any]]
    """Those of all cases, unless they are there from the beginning."""
    details: list[dict[str, Any]]
    """Of each case."""


def page_text(
    data: dict[str, Any] | None = None,
    later: Sequence[Later] = (),
    *,
    title: str = "",
    connect: str = "'none'",
) -> PageText:
    """Return the page with its *data* inside, or, without any, the page that asks its server for them.

    What is *later* stands behind the script, so that the page shows before all of a large file is read: the rows of
    each suite, and a line of JSON for the details of each case, read when it is opened.  *connect* is what it may ask.
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
        rows=[suite.rows and embedded_json(suite.rows) for suite in later],
        details=["\n".join(map(embedded_json, suite.details)) for suite in later],
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
