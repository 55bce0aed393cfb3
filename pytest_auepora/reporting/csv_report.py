"""One row per query for spreadsheets: the columns of the evaluation-metrics specification, then everything else."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TextIO

from ..core.metrics_base import Measurement
from ..core.run import CaseResult, MetricInfo, Run
from ..core.scoring import Score
from ..metrics.additional import PercentileLatency
from ..metrics.ranking.held import Ranking
from ..metrics.retrieval_basic import PrecisionAtK
from ..metrics.retrieval_ranking import MRRAtK, NDCGAtK
from ..regression.verdict import Verdict
from .numbers import number
from .relevant_docs import relevant_docs
from .text import harmless

COLUMNS = (
    "id", "p_at_5", "p_at_10", "ndcg_10", "mrr_10", "cov_entities", "p50_ms", "p95_ms", "errors", "retries",
    "privacy_leak",
)  # fmt: skip
"""The specified columns; ``suite``, ``variant``, ``state``, ``owner`` and a column per metric follow."""

_METRIC_OF = {
    "p_at_5": "precision@5",
    "p_at_10": "precision@10",
    "ndcg_10": "ndcg@10",
    "mrr_10": "mrr@10",
    "cov_entities": "coverage_entities",
    "retries": "retries",
}
_RANKED = {"p_at_5": PrecisionAtK(5), "p_at_10": PrecisionAtK(10), "ndcg_10": NDCGAtK(10), "mrr_10": MRRAtK(10)}
_FORMULA = ("=", "+", "-", "@")


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
        for case in run.cases.values():
            scores = case.scores  # of a large run they are made when they are asked for
            values = [spreadsheet_text(case.case_id), *(_cell(case, scores, called, c) for c in COLUMNS[1:])]
            values += [
                spreadsheet_text(run.suite),
                spreadsheet_text(run.variant),
                case.state,
                spreadsheet_text(run.owner),
            ]
            writer.writerow([*values, *(_value(scores, n) for n in names)])


def spreadsheet_text(text: str) -> str:
    """Return *text* as a spreadsheet will show it: what it would take for a formula gets an apostrophe in front."""
    shown = harmless(text)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown


def _value(scores: Mapping[str, Score], name: str) -> str:
    score = scores.get(name)
    return "" if score is None or score.value is None else number(score.value, 4)


def _cell(case: CaseResult, scores: Mapping[str, Score], called: Mapping[str, str | None], column: str) -> str:
    if column in ("p50_ms", "p95_ms"):
        return _milliseconds(case, int(column[1:3]))
    if column == "errors":
        return "" if case.state == "skipped" else str(int(case.state == "error"))
    name = called[column]
    if name is None:
        return _known(case, column)
    return _leak(scores, name) if column == "privacy_leak" else _value(scores, name)


def spelled(metrics: Mapping[str, MetricInfo], name: str) -> str | None:
    """Return the metric called *name*, with or without options in brackets; the plain one first."""
    if name in metrics:
        return name
    return next((n for n in metrics if n.startswith(f"{name}[")), None)


def _milliseconds(case: CaseResult, percent: int) -> str:
    name = f"p{percent}_latency"
    repeats = case.extra.get("repeats", {}).get(name, ())
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
    values = [_RANKED[column].score(one).value or 0.0 for one in held if one is not None]
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


def _leak(scores: Mapping[str, Score], name: str) -> str:
    score = scores.get(name)
    return "" if score is None or score.value is None else number(1 - score.value, 4)
