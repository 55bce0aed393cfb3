"""The HTML report: one self-contained file that makes no network requests and runs only its own script.

The data of its templates are formatted as text; only the plots are markup.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ...core.run import Run
from ...errors import MissingExtraError
from ...history.aggregates import compute_aggregate, unmapped_cases
from ...regression.outcomes import GateOutcome
from ...regression.verdict import Verdict
from ..diagnosis import group_by_cause
from ..formats.side_by_side_formats import case_cell, difference_text, key_metric, legend, value_text
from ..numbers import plural, score
from ..plots import MOST_PLOTS, metric_plots, trend_plot
from ..report import EarlierRun, Report, Trend
from ..tally import FAILING, cases_of
from ..text import UNICODE, listed
from ..wording import notes
from ..wording.metric_rows import MetricRow, metric_rows, state_symbol
from ..wording.verdict import comparison_word, headline
from ..wording.verdict import mistakes_text as mistakes_note
from .cases import safe_text, suite_data

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_CASES = 200  # listed that only some of several systems pass
_STYLES = ("base.css", "parts.css", "cases.css", "print.css")
_SCRIPTS = ("elements.js", "theme.js", "details.js", "table.js", "page.js")
_BREAKS = re.compile(r"(?<=[_,=])|(?=[{@])")
"""Where the name of a metric may break into the next line."""

_FIGURES = ("hit@1", "hit@5", "mrr@10", "recall@5_doc", "assertion_pass", "refusal_correctness", "citation_coverage")
"""Figures shown first where the suite has no metric of its own with a history; others follow where there is room."""

_MOST_FIGURES = 6
MOST_BAD_CASES = 6
_OF_METRICS = ("threshold", "regression")
_PARTS = {
    "error": "the call: it raised", "timeout": "the call: it timed out", "output": "the answer's shape",
    "metric": "the metric metric",
}  # fmt: skip
_SPECIAL = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


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


def suite_views(report: Report) -> list[dict[str, Any]]:
    """Return the template data of every run; raises `MissingExtraError` without matplotlib."""
    most_plots = max(2, min(MOST_PLOTS, 2 * MOST_PLOTS // max(1, len(report.runs))))  # they take time to draw
    return [_view(i, *pair, report, most_plots) for i, pair in enumerate(report.pairs)]


def _view(index: int, run: Run, verdict: Verdict, report: Report, most_plots: int) -> dict[str, Any]:
    rows = metric_rows(run, verdict)
    trend = report.trends.get((run.path, run.variant), Trend())
    details = [run.path, f"owner {run.owner}" if run.owner else "", plural(len(run.cases), "case")]
    return {
        "index": index,
        "title": run.title,
        "details": " \u00b7 ".join(filter(None, details)),
        "outcome": verdict.outcome,
        "word": ", ".join(filter(None, [verdict.outcome.capitalize(), comparison_word(verdict)])),
        "mark": state_symbol(verdict.outcome, UNICODE),
        "headline": headline([verdict], [run]),
        "broken": what_broke(run, verdict),
        "metrics": rows,
        "compared": any(row.baseline_text or row.change_text for row in rows),
        "notes": _notes(run, verdict, rows),
        "messages": [(group, [_message(gate, run) for gate in group.gates]) for group in notes.gate_groups(verdict)],
        "plots": metric_plots(run, verdict, f"s{index}", most_plots),
        "trend": list(_trend(run, verdict, trend.runs, f"s{index}t")),
        "n_runs": len(trend.runs) + run.is_full,
        "data": embedded_json(suite_data(run, verdict, trend.previous)),
    }


def what_broke(run: Run, verdict: Verdict) -> dict[str, Any]:
    """Return a summary of the failures of *run*, the next steps, and the cases to look at first; empty without any.

    ``parts`` counts the failing cases by the part of the system at fault, ``gates`` are the messages of failed gates
    that are about no metric, ``changed`` are the changes since the baseline.
    """
    places = {case_id: i for i, case_id in enumerate(run.cases)}
    parts, bad_cases = Counter[str](), []
    for kind, cases in cases_of(run, verdict, FAILING).items():
        failing = [case for case in cases if case.state != "passed"]  # without accepted assertions that still fail
        for why, (case, *others) in group_by_cause(failing, run, verdict.case_comparisons):
            parts[why.component if why else "system"] += 1 + len(others)
            index, reason = places[case.case_id], str(why or case.state)
            bad_cases.append({"index": index, "case_id": case.case_id, "kind": kind, "why": reason})
    failed = [gate for gate in verdict.gates if gate.state == "failed"]
    if not parts and not failed:
        return {}
    return {
        "summary": _summary(parts.most_common()),
        "parts": parts.most_common(),
        "gates": [gate.message for gate in failed if gate.kind not in _OF_METRICS],
        "changed": notes.changed_lines(verdict),
        "steps": notes.next_steps(verdict, html=""),
        "cases": bad_cases[:MOST_BAD_CASES],
        "n_cases": parts.total(),
    }


def _summary(parts: Sequence[tuple[str, int]]) -> str:
    total = sum(n for _, n in parts)
    if not parts:
        return "No case failed by itself; the suite as a whole did."
    name, n = parts[0]
    named = _PARTS.get(name, name)
    if len(parts) == 1:
        return f"{'The failing case points' if n == 1 else f'All {n} failing cases point'} to {named}."
    if n >= total / 2:
        return f"Mostly {named}: {n} of {plural(total, 'failing case')}."
    return f"No single part: {', '.join(f'{name} {n}' for name, n in parts)} of {total} failing cases."


def _notes(run: Run, verdict: Verdict, rows: Sequence[MetricRow]) -> list[str]:
    lines = [notes.latency_line(run, verdict), *notes.missing_notes(run, verdict, rows), *notes.warnings(verdict)]
    lines += notes.run_notes(run, verdict)
    if (comparison := verdict.comparison) is not None and comparison.vanished:
        vanished = [f"{old} (now {new}?)" if new else old for old, new in comparison.vanished.items()]
        lines.append(f"in the baseline, no longer in the golden file: {listed(vanished, 10)}")
    return [line for line in lines if line]


def _message(gate: GateOutcome, run: Run) -> str:
    return " \u00b7 ".join([with_title(gate.title, notes.gate_reason(gate)), *notes.owner_and_cost([gate], run)])


def _names_with_history(figures: Sequence[Mapping[str, float | None]]) -> list[str]:
    return [n for n, now in figures[-1].items() if now is not None and any(f.get(n) is not None for f in figures[:-1])]


def _trend(run: Run, verdict: Verdict, earlier: Sequence[EarlierRun], prefix: str) -> Iterator[dict[str, str]]:
    """Yield plots of the suite's own metrics in [0, 1], else of the figures of every run; none for partial runs."""
    if not earlier or not run.is_full:
        return
    own = [n for n, info in run.metrics.items() if info.range[0] >= 0 and info.range[1] <= 1]
    now = {n: verdict.aggregates[n].value for n in own if n in verdict.aggregates and n != "empty_result_rate"}
    figures = [*(record.metrics for record in earlier), now]
    if not (names := _names_with_history(figures)):
        aggregate = compute_aggregate(run, unmapped=unmapped_cases(run, verdict.comparison))
        figures = [*(record.figures for record in earlier), aggregate.flat()]
        places = {n: place for place, n in enumerate(_FIGURES)}
        names = sorted(_names_with_history(figures), key=lambda n: places.get(n, len(places)))
    days = [record.started[:10] for record in earlier]
    for i, name in enumerate(names[:_MOST_FIGURES]):
        values = [f.get(name) for f in figures]
        texts = [score(value) for value in values]
        words = ", ".join(map(" ".join, zip([*days, "this run"], texts, strict=True)))
        picture = trend_plot(values, f"{prefix}{i}", f"{name} over {len(values)} runs: {words}", days[0])
        yield {"name": name, "value": texts[-1], "svg": picture}


def embedded_json(value: Any) -> str:
    """Return *value* as JSON that is safe inside a ``<script>`` element.

    Characters with a meaning in HTML or JavaScript (``<``, ``>``, ``&``, line separators) and lone surrogates are
    written as escapes, which JSON reads back as the same text.

    Raises:
        ValueError: a number is infinite or NaN.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _SPECIAL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
