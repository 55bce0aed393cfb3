"""What leaves a history: runs beyond those that are kept, and their recordings before that."""

from __future__ import annotations

from collections.abc import Iterable

from .database import Statements
from .recordings import RECORDINGS
from .verdicts import COMPARED

__all__ = ["delete_runs", "prune_recordings", "prune_runs"]


def prune_runs(open_: Statements, suite: str, variant: str, keep: int) -> int:
    """Keep the latest *keep* runs of one suite and configuration; return how many went."""
    rows = open_.rows(
        "SELECT run_id FROM eval_runs WHERE suite = :suite AND variant = :variant ORDER BY run_id DESC",
        {"suite": suite, "variant": variant},
    )
    gone = [row[0] for row in rows[keep:]]
    delete_runs(open_, gone)
    return len(gone)


def prune_recordings(open_: Statements, suite: str, variant: str, keep: int) -> None:
    """Keep the recordings of the latest *keep* runs that have any."""
    of = "SELECT run_id FROM eval_runs WHERE suite = :suite AND variant = :variant"
    params = {"suite": suite, "variant": variant}
    any_of = " OR ".join(f"EXISTS (SELECT 1 FROM {t} AS r WHERE r.run_id = eval_runs.run_id)" for t in RECORDINGS)
    rows = open_.rows(f"{of} AND ({any_of}) ORDER BY run_id DESC", params)
    _delete(open_, RECORDINGS, [row[0] for row in rows[keep:]])


def delete_runs(open_: Statements, run_ids: list[str]) -> None:
    """Delete runs and all that belongs to them."""
    _delete(open_, (*RECORDINGS, COMPARED, "eval_query_results", "eval_runs"), run_ids)


def _delete(open_: Statements, tables: Iterable[str], run_ids: Iterable[str]) -> None:
    for table in tables:
        open_.run_many(f"DELETE FROM {table} WHERE run_id = :id", [{"id": run_id} for run_id in run_ids])
