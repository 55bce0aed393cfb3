"""The history of the project at hand, by run id: aggregate, store the aggregate, compare."""

from __future__ import annotations

from pathlib import Path

from ..errors import HistoryError
from .aggregates import AggregateMetrics, aggregate_of
from .compare import CompareReport, compare
from .settings import project_place
from .store import HistoryStore

__all__ = ["compare_runs", "compute_aggregate", "default_store", "store_aggregate"]


def default_store() -> HistoryStore:
    """Return the history of the project that the working directory belongs to.

    Raises:
        HistoryError: history is switched off.
    """
    place = project_place(Path.cwd())
    if place is None:
        raise HistoryError("history is switched off by auepora_history or AUEPORA_HISTORY")
    return HistoryStore(place)


def compute_aggregate(run_id: str, store: HistoryStore | None = None) -> AggregateMetrics:
    """Compute the aggregate of a stored run with today's formulas; nothing is written.

    Raises:
        UnknownRunError: there is no such run.
    """
    return aggregate_of((store or default_store()).load(run_id))


def store_aggregate(run_id: str, aggregate: AggregateMetrics, store: HistoryStore | None = None) -> None:
    """Make *aggregate* the ``aggregate_json`` of a stored run, rounded to four decimals, and record when.

    Raises:
        UnknownRunError: there is no such run.
    """
    (store or default_store()).store_aggregate(run_id, aggregate)


def compare_runs(
    run_id_a: str, run_id_b: str, store: HistoryStore | None = None, *, strict_chunker_version: bool = False
) -> CompareReport:
    """Compare two stored runs; see `compare`.

    Raises:
        UnknownRunError: there is no such run.
        NotComparableError: they do not compare.
    """
    kept = store or default_store()
    names = kept.resolve(run_id_a), kept.resolve(run_id_b)
    a, b = map(kept.load, names)
    return compare(a, b, names=names, strict_chunker_version=strict_chunker_version)
