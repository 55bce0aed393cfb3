"""Scores in the format of the evaluation-metrics specification: one row per query as CSV, the totals as JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any

from ...core.metrics_base import Measurement
from ...core.run import CaseResult, MetricInfo, Run
from ...core.scoring import Aggregate
from ...core.telemetry import REQUEST
from ...metrics.additional import PercentileLatency
from ...metrics.ranking.matching import Ranking
from ...metrics.retrieval_basic import PrecisionAtK
from ...metrics.retrieval_ranking import MRRAtK, NDCGAtK
from ...regression.guards.gates import is_counted
from ...regression.verdict import Verdict
from ..numbers import number
from ..relevant_docs import relevant_docs
from ..report import Report
from ..side_by_side import distinct_names
from ..text import spreadsheet_text

COLUMNS = (
    "id", "p_at_5", "p_at_10", "ndcg_10", "mrr_10", "cov_entities", "p50_ms", "p95_ms", "errors", "retries",
    "privacy_leak",
)  # fmt: skip
"""The specified columns; ``suite``, ``variant``, ``state``, ``owner``, one per metric and those of `REQUEST` follow."""

VERSION = "v0"
"""The version of the format of the totals."""

_METRIC_OF = {
    "p_at_5": ["precision@5"], "p_at_10": ["precision@10"], "ndcg_10": ["ndcg@10"], "mrr_10": ["mrr@10"],
    "cov_entities": ["coverage_entities"], "retries": ["retries"],
    "privacy_leak": ["redaction_efficacy", "block_efficacy"],
}  # fmt: skip
_RANKED = {"p_at_5": PrecisionAtK(5), "p_at_10": PrecisionAtK(10), "ndcg_10": NDCGAtK(10), "mrr_10": MRRAtK(10)}
_NOT_QUALITY = ("LATENCY", "OPERATIONAL", "PRIVACY")


def csv_report(report: Report) -> str:
    """Return the rows of all cases as CSV with a header.

    An empty cell is a number that was not measured; it is never 0.  ``errors`` is 1 for a case that errored.
    ``p50_ms`` and ``p95_ms`` are quantiles over the answers to one query; for a query that ran once, both are its
    latency.  Ranking columns are filled even where no such metric is listed, ``retries`` as well for a query that ran
    once.  ``privacy_leak`` is the share of sensitive items that leaked.  Ids that a spreadsheet would read as a formula
    get an apostrophe in front.
    """
    runs, out = report.runs, io.StringIO()
    names = list(dict.fromkeys(n for run in runs for n in run.metrics))
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*COLUMNS, "suite", "variant", "state", "owner", *names, *REQUEST])
    for run in runs:
        metric_names = {column: find_metric(run.metrics, *wanted) for column, wanted in _METRIC_OF.items()}
        suite, variant, owner = map(spreadsheet_text, (run.suite, run.variant, run.owner))
        for case in run.cases.values():
            values = [spreadsheet_text(case.case_id), *(_cell(case, metric_names, column) for column in COLUMNS[1:])]
            scores = [_value(case, name) for name in names]
            request = [spreadsheet_text(str(case.outputs.get(key, ""))) for key in REQUEST]
            writer.writerow([*values, suite, variant, case.state, owner, *scores, *request])
    return out.getvalue()


def find_metric(metrics: Mapping[str, MetricInfo], *names: str) -> str | None:
    """Return the first metric called one of *names*, with or without options in brackets; the plain one first."""
    for name in names:
        if found := [n for n in metrics if n == name or n.startswith(f"{name}[")]:
            return name if name in found else found[0]
    return None


def _cell(case: CaseResult, metric_names: Mapping[str, str | None], column: str) -> str:
    if column in ("p50_ms", "p95_ms"):
        return _milliseconds(case, int(column[1:3]))
    if column == "errors":
        return "" if case.state == "skipped" else str(int(case.state == "error"))
    if (name := metric_names[column]) is None:
        return _unlisted_value(case, column)
    return _value(case, name, leaked=column == "privacy_leak")


def _value(case: CaseResult, name: str, *, leaked: bool = False) -> str:
    score = case.scores.get(name)
    if score is None or score.value is None:
        return ""
    return number(1 - score.value if leaked else score.value, 4)


def _milliseconds(case: CaseResult, percent: int) -> str:
    repeats = case.values(f"p{percent}_latency") if case.repeats > 1 else ()
    if measurements := [Measurement(seconds) for seconds in repeats if seconds is not None]:
        return number(PercentileLatency(percent).aggregate(measurements).value * 1000, 1)
    seconds = (case.outputs.get("timings") or {}).get("end_to_end")
    return "" if seconds is None else number(seconds * 1000, 1)


def _unlisted_value(case: CaseResult, column: str) -> str:
    """Return the value of a metric that the suite does not list."""
    if column == "retries":
        value = None if case.repeats > 1 else case.outputs.get("retries")
    else:
        value = _ranked_value(case, column)
    return "" if value is None else number(value, 4)


def _ranked_value(case: CaseResult, column: str) -> float | None:
    """Return the mean over the stored rankings of a case; None where there are none, or the column needs no ranking."""
    if column not in _RANKED or "retrieved" not in case.outputs:
        return None
    answers = [replace(case, ranks=ranks) for ranks in case.ranks_of_repeats] or [case]
    rankings = [_ranking(answer) for answer in answers]
    values = [float(_RANKED[column].value(ranking)) for ranking in rankings if ranking is not None]
    return sum(values) / len(values) if len(values) == len(rankings) else None


def _ranking(case: CaseResult) -> Ranking | None:
    """Return the ranking of *case*; None where there is none, or one chunk covers several labels."""
    docs = relevant_docs(case)
    matches = sorted((doc.rank - 1, doc.grade) for doc in docs if doc.rank is not None)
    slots = [slot for slot, _ in matches]
    if not case.ranks or len(slots) != len(set(slots)):
        return None
    positions = {name: rank - 1 for name, rank in case.ranks.items() if rank is not None}
    ideal = sorted((doc.grade for doc in docs), reverse=True)
    return Ranking(list(case.ranks), ideal, slots, [grade for _, grade in matches], slots, positions, slots)


def summary_json(report: Report) -> str:
    """Return the totals as JSON: ``{"version", "quality", "operational", "privacy"}``, four decimals.

    With several runs there is such an object for each under ``suites``, by title.  ``null`` is a number that was not
    measured.  Errored cases are not in the values of quality; ``error_rate`` counts them, and ``n`` has the number
    of cases behind each value, ``owners`` those of single metrics, where there are any.  Precision is called ``p@5``,
    as specified; it, ``ndcg@10`` and ``mrr@10`` are filled even where they are not listed.  ``leak_rate`` is 1 -
    redaction_efficacy.
    """
    titles = distinct_names([run.title for run in report.runs])
    totals = {title: _totals(*pair) for title, pair in zip(titles, report.pairs, strict=True)}
    body = totals[titles[0]] if len(totals) == 1 else {"suites": totals}
    return json.dumps({"version": VERSION, **body}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _totals(run: Run, verdict: Verdict) -> dict[str, Any]:
    wanted = {name for name, info in run.metrics.items() if info.target not in _NOT_QUALITY}
    quality = {_short_name(name): aggregate for name, aggregate in verdict.aggregates.items() if name in wanted}
    unlisted = _unlisted_quality(run, quality)
    names = [find_metric(run.metrics, name) or "" for name in ("p50_latency", "p95_latency", "redaction_efficacy")]
    p50, p95, redaction = map(verdict.aggregates.get, names)
    redacted = _rounded(redaction)
    ran = list(run.in_state("passed", "failed", "error"))
    error_rate = round(sum(is_counted(c, "error_rate") for c in ran) / len(ran), 4) if ran else None
    owners = {_short_name(name): info.owner for name, info in run.metrics.items() if info.owner} | run.owners
    return {
        "quality": {
            **{name: round(sum(values) / len(values), 4) if values else None for name, values in unlisted.items()},
            **{name: _rounded(aggregate) for name, aggregate in quality.items()},
        },
        "operational": {"p50_ms": _rounded(p50, 1, 1000), "p95_ms": _rounded(p95, 1, 1000), "error_rate": error_rate},
        "privacy": {"leak_rate": None if redacted is None else round(1 - redacted, 4)},
        "n": {
            "cases": len(ran),
            **{name: len(values) for name, values in unlisted.items()},
            **{name: aggregate.n for name, aggregate in quality.items()},
        },
        **({"owners": owners} if owners else {}),
    }


def _unlisted_quality(run: Run, listed: Container[str]) -> dict[str, list[float]]:
    """Return the values of the cases for the specified figures that the suite does not list, from their rankings."""
    ran = list(run.in_state("passed", "failed"))
    wanted = {"p_at_5": "p@5", "ndcg_10": "ndcg@10", "mrr_10": "mrr@10"}
    return {
        name: [value for case in ran if (value := _ranked_value(case, column)) is not None]
        for column, name in wanted.items()
        if name not in listed
    }


def _short_name(name: str) -> str:
    return f"p@{name.removeprefix('precision@')}" if name.startswith("precision@") else name


def _rounded(aggregate: Aggregate | None, places: int = 4, scale: int = 1) -> float | None:
    return None if aggregate is None or aggregate.value is None else round(aggregate.value * scale, places) + 0.0
