"""The specified functions over stored runs: their figures, and the comparison of two, by the ids of the runs.

The history is that of the project in the working directory, unless *history* names another, a file or a URL.  Ids are
read as everywhere: whole, their beginning, ``last``, ``last~2``.
"""

from __future__ import annotations

from pathlib import Path

from ..errors import HistoryError
from .aggregates import AggregateMetrics
from .aggregates import compute_aggregate as aggregate_of
from .compare import CompareReport, compare
from .settings import find_place, project_place, project_root
from .store import HistoryStore

__all__ = ["compare_runs", "compute_aggregate", "store_aggregate"]


def compute_aggregate(run_id: str, *, history: str = "") -> AggregateMetrics:
    """Compute the figures of a stored run anew, by the present formulas.

    Raises:
        HistoryError: there is no history, no such run (`UnknownRunError`), or it cannot be read.
    """
    return aggregate_of(_open(history).load(run_id))


def store_aggregate(run_id: str, aggregate: AggregateMetrics, *, history: str = "") -> None:
    """Replace the stored figures of a run; raises as `compute_aggregate`."""
    _open(history).store_aggregate(run_id, aggregate)


def compare_runs(
    run_id_a: str, run_id_b: str, *, history: str = "", strict_chunker_version: bool = False
) -> CompareReport:
    """Compare a stored run with an earlier one, *run_id_a*; see `history.compare.compare`.

    Raises:
        HistoryError: as `compute_aggregate`.
        NotComparableError: they are of different suites, share no case, or are refused.
    """
    store = _open(history)
    names = store.resolve(run_id_a), store.resolve(run_id_b)
    a, b = map(store.load, names)
    return compare(a, b, names=names, strict_chunker_version=strict_chunker_version)


def _open(history: str) -> HistoryStore:
    here = Path.cwd()
    place = find_place(history, here) if history else project_place(here)
    if place is None:
        raise HistoryError("history is switched off in this project; name a file or a URL")
    return HistoryStore(place, project_root(here))
