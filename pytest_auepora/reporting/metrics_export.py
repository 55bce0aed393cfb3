"""Scores in the shape of the evaluation-metrics specification: one row per query as CSV, the totals as JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TextIO

from ..core.metrics_base import Measurement
from ..core.run import CaseResult, MetricInfo, Run
from ..core.scoring import Aggregate
from ..metrics.additional import PercentileLatency
from ..metrics.ranking.matching import Ranking
from ..metrics.retrieval_basic import PrecisionAtK
from ..metrics.retrieval_ranking import MRRAtK, NDCGAtK
from ..regression.verdict import Verdict
from .numbers import number
from .relevant_docs import relevant_docs
from .text import spreadsheet_text

COLUMNS = (
    "id", "p_at_5", "p_at_10", "ndcg_10", "mrr_10", "cov_entities", "p50_ms", "p95_ms", "errors", "retries",
    "privacy_leak",
)  # fmt: skip
"""The specified columns; ``suite``, ``variant``, ``state``, ``owner`` and a column per metric follow."""

VERSION = "v0"
"""The version of the shape of the totals."""

_METRIC_OF = {
    "p_at_5": "precision@5",
    "p_at_10": "precision@10",
    "ndcg_10": "ndcg@10",
    "mrr_10": "mrr@10",
    "cov_entities": "coverage_entities",
    "retries": "retries",
}
_RANKED = {"p_at_5": PrecisionAtK(5), "p_at_10": PrecisionAtK(10), "ndcg_10": NDCGAtK(10), "mrr_10": MRRAtK(10)}
_NO_QUALITY = ("LATENCY", "OPERATIONAL", "PRIVACY")


def csv_report(runs: Sequence[Run], verdicts: Sequence[Verdict]) -> str:  # noqa: ARG001 - as all reports
    """Return the rows of all cases of *runs* as CSV with a header.

    An empty cell is a number that was not measured; it is never 0.  ``errors`` is 1 for a case that errored.
    ``p50_ms`` and ``p95_ms`` are quantiles over the answers to one query, so of a query that ran once both its latency.
    The columns of rankings are known though no such metric is listed, ``retries`` so of a query that ran once.
    ``privacy_leak`` is the share of what is sensitive that came through.
    Ids that a spreadsheet would take for a formula get an apostrophe in front.  *verdicts* add nothing here.
    """
    out = io.StringIO()
    write_csv(out, runs)
    return out.getvalue()


def write_csv(file: TextIO, runs: Sequence[Run]) -> None:
    """Write the same to *file*, row by row."""
    names = list(dict.fromkeys(n for run in runs for n in run.metrics))
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*COLUMNS, "suite", "variant", "state", "owner", *names])
    for run in runs:
        called = {column: spelled(run.metrics, name) for column, name in _METRIC_OF.items()}
        called["privacy_leak"] = spelled(run.metrics, "redaction_efficacy") or spelled(run.metrics, "block_efficacy")
        suite, variant, owner = map(spreadsheet_text, (run.suite, run.variant, run.owner))
        for case in run.cases.values():
            values = [spreadsheet_text(case.case_id), *(_cell(case, called, column) for column in COLUMNS[1:])]
            writer.writerow([*values, suite, variant, case.state, owner, *(_value(case, name) for name in names)])


def spelled(metrics: Mapping[str, MetricInfo], name: str) -> str | None:
    """Return the metric called *name*, with or without options in brackets; the plain one first."""
    if name in metrics:
        return name
    return next((n for n in metrics if n.startswith(f"{name}[")), None)


def _cell(case: CaseResult, called: Mapping[str, str | None], column: str) -> str:
    if column in ("p50_ms", "p95_ms"):
        return _milliseconds(case, int(column[1:3]))
    if column == "errors":
        return "" if case.state == "skipped" else str(int(case.state == "error"))
    if (name := called[column]) is None:
        return _known(case, column)
    return _value(case, name, leaked=column == "privacy_leak")


def _value(case: CaseResult, name: str, *, leaked: bool = False) -> str:
    score = case.scores.get(name)
    if score is None or score.value is None:
        return ""
    return number(1 - score.value if leaked else score.value, 4)


def _milliseconds(case: CaseResult, percent: int) -> str:
    repeats = case.extra.get("repeats", {}).get(f"p{percent}_latency", ())
    if seen := [Measurement(seconds) for seconds in repeats if seconds is not None]:
        return number(PercentileLatency(percent).aggregate(seen).value * 1000, 1)
    seconds = (case.outputs.get("timings") or {}).get("end_to_end")
    return "" if seconds is None else number(seconds * 1000, 1)


def _known(case: CaseResult, column: str) -> str:
    """Return what the stored rankings say though their metric was not asked for: the mean over the answers."""
    if column == "retries":
        again = None if "repeats" in case.extra else case.outputs.get("retries")
        return "" if again is None else number(again, 4)
    if column not in _RANKED or "retrieved" not in case.outputs:
        return ""
    answers = [replace(case, ranks=ranks) for ranks in case.extra.get("ranks", ())] or [case]
    held = [_ranking(one) for one in answers]
    values = [float(_RANKED[column].value(one)) for one in held if one is not None]
    return number(sum(values) / len(values), 4) if len(values) == len(held) else ""


def _ranking(case: CaseResult) -> Ranking | None:
    """Return the ranking of *case*; None where there is none, or one chunk covers several labels."""
    docs = relevant_docs(case)
    found = sorted((doc.rank - 1, doc.grade) for doc in docs if doc.rank is not None)
    slots = [slot for slot, _ in found]
    if not case.ranks or len(slots) != len(set(slots)):
        return None
    place = {name: rank - 1 for name, rank in case.ranks.items() if rank is not None}
    ideal = sorted((doc.grade for doc in docs), reverse=True)
    return Ranking(list(case.ranks), ideal, slots, [grade for _, grade in found], slots, place, len(slots))


def summary_json(runs: Sequence[Run], verdicts: Sequence[Verdict]) -> str:
    """Return the totals as JSON: ``{"version", "quality", "operational", "privacy"}``, four decimals.

    With several runs there is such an object for each under ``suites``, by title.  ``null`` is a number that was not
    measured.  Errored cases are not in the values of quality; ``error_rate`` counts them, and ``n`` has the number
    of cases behind each value, ``owners`` those of single metrics, where there are any.  Precision is called ``p@5``,
    as specified; ``leak_rate`` is 1 - redaction_efficacy.
    """
    totals = {run.title: _totals(run, verdict) for run, verdict in zip(runs, verdicts, strict=True)}
    body = next(iter(totals.values())) if len(totals) == 1 else {"suites": totals}
    return json.dumps({"version": VERSION, **body}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _totals(run: Run, verdict: Verdict) -> dict[str, Any]:
    quality = {
        _short(name): found
        for name, found in verdict.aggregates.items()
        if name in run.metrics and run.metrics[name].target not in _NO_QUALITY
    }
    p50, p95, redacted = (
        verdict.aggregates.get(spelled(run.metrics, name) or "")
        for name in ("p50_latency", "p95_latency", "redaction_efficacy")
    )
    kept = _rounded(redacted)
    ran = [c for c in run.cases.values() if c.state != "skipped"]
    owners = {_short(name): info.owner for name, info in run.metrics.items() if info.owner}
    return {
        "quality": {name: _rounded(found) for name, found in quality.items()},
        "operational": {
            "p50_ms": _rounded(p50, 1, 1000),
            "p95_ms": _rounded(p95, 1, 1000),
            "error_rate": round(sum(c.state == "error" for c in ran) / len(ran), 4) if ran else None,
        },
        "privacy": {"leak_rate": None if kept is None else round(1 - kept, 4)},
        "n": {"cases": len(ran), **{name: found.n for name, found in quality.items()}},
        **({"owners": owners} if owners else {}),
    }


def _short(name: str) -> str:
    return f"p@{name.removeprefix('precision@')}" if name.startswith("precision@") else name


def _rounded(found: Aggregate | None, places: int = 4, scale: int = 1) -> float | None:
    return None if found is None or found.value is None else round(found.value * scale, places) + 0.0
