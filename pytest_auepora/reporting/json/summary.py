"""The totals of a run in the shape of the evaluation-metrics specification: quality, operational, privacy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ...core.run import Run
from ...core.scoring import Aggregate
from ...regression.verdict import Verdict
from ..csv_report import spelled

VERSION = "v0"
"""The version of the shape."""

_NO_QUALITY = ("LATENCY", "OPERATIONAL", "PRIVACY")


def summary_json(runs: Sequence[Run], verdicts: Sequence[Verdict]) -> str:
    """Return the summary as JSON: ``{"version", "quality", "operational", "privacy"}``, four decimals.

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
    ran = [c for c in run.cases.values() if c.state != "skipped"]
    owners = {_short(name): info.owner for name, info in run.metrics.items() if info.owner}
    return {
        "quality": {name: _value(found) for name, found in quality.items()},
        "operational": {
            "p50_ms": _milliseconds(run, verdict, "p50_latency"),
            "p95_ms": _milliseconds(run, verdict, "p95_latency"),
            "error_rate": round(sum(c.state == "error" for c in ran) / len(ran), 4) if ran else None,
        },
        "privacy": {"leak_rate": _leak(run, verdict)},
        "n": {"cases": len(ran), **{name: found.n for name, found in quality.items()}},
        **({"owners": owners} if owners else {}),
    }


def _short(name: str) -> str:
    return f"p@{name.removeprefix('precision@')}" if name.startswith("precision@") else name


def _value(found: Aggregate | None) -> float | None:
    return None if found is None or found.value is None else round(found.value, 4) + 0.0


def _milliseconds(run: Run, verdict: Verdict, name: str) -> float | None:
    spelling = spelled(run.metrics, name)
    found = verdict.aggregates.get(spelling) if spelling is not None else None
    return None if found is None or found.value is None else round(found.value * 1000, 1)


def _leak(run: Run, verdict: Verdict) -> float | None:
    name = spelled(run.metrics, "redaction_efficacy")
    kept = _value(verdict.aggregates.get(name)) if name is not None else None
    return None if kept is None else round(1 - kept, 4)
