"""The tables of runs and of their results: a row for each run, and one for each of its cases."""

from __future__ import annotations

from typing import Any

from ..core.json import dumps
from ..core.run import Run
from ..regression.verdict import Verdict
from .aggregates import AggregateMetrics
from .codec import result_data, run_text
from .database import Statements
from .run_ids import new_run_id
from .verdicts import verdict_text

__all__ = ["keep_results", "keep_run", "results_of", "row_of"]


def row_of(run: Run, verdict: Verdict, figures: AggregateMetrics) -> dict[str, Any]:
    """Return the columns of *run* that say what it is and what it amounted to."""
    return {
        "suite": run.suite,
        "variant": run.variant,
        "path": run.path,
        "complete": int(run.is_full),
        "outcome": verdict.outcome,
        "cases": len(run.cases),
        "failed": sum(1 for _ in run.in_state("failed", "error")),
        "aggregate_json": dumps(figures.to_dict()),
        "provenance": dumps(run.provenance),
        "metrics": dumps(run.metrics),
        "run_json": run_text(run),
        "verdict_json": verdict_text(verdict),
        "origin": f"{run.origin['kind']} {run.origin['run']}" if run.origin else "",
    }


def keep_run(open_: Statements, row: dict[str, Any]) -> str:
    """Write down the *row* of a run, and return the id it gets."""
    while open_.rows("SELECT 1 FROM eval_runs WHERE run_id = :id", {"id": (run_id := new_run_id())}):
        pass
    row = {**row, "run_id": run_id}
    open_.run(f"INSERT INTO eval_runs ({', '.join(row)}) VALUES ({', '.join(f':{c}' for c in row)})", row)
    return run_id


def keep_results(open_: Statements, run_id: str, run: Run) -> None:
    """Write down the results of *run*, in order."""
    open_.run_many(
        "INSERT INTO eval_query_results (run_id, case_id, repeat_index, place, state, result) "
        "VALUES (:run_id, :case_id, 0, :place, :state, :result)",
        (  # each text is made when it is written: all of them together are as large as the history grows
            {"run_id": run_id, "case_id": c.case_id, "place": i, "state": c.state, "result": result_data(c)}
            for i, c in enumerate(run.cases.values())
        ),
        utf8=("result",),
    )


def results_of(open_: Statements, run_id: str) -> list[str]:
    """Return the texts of a run's results, in order."""
    sql = "SELECT result FROM eval_query_results WHERE run_id = :id AND repeat_index = 0 ORDER BY place"
    return [row[0] for row in open_.rows(sql, {"id": run_id})]
