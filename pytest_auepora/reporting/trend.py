"""What is known of earlier runs of a suite, as plain data: what a report needs to show a trend and a difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..core.metrics_base import CHUNK_KEYS
from ..core.run import Run

if TYPE_CHECKING:
    from ..history.store import HistoryStore
    from ..history.tables import StoredRun

_BY_CHUNK = ("hit@", "mrr@", "recall@")
"""Figures that are told by chunks."""

MOST_RUNS = 30
"""Earlier runs that a trend goes back."""


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """One earlier run.

    ``started`` is ISO 8601 in UTC; ``figures`` has the values of `AggregateMetrics.flat`, in [0, 1], None where nothing
    was measured; ``metrics`` those of the suite's own metrics, as far as they are defined as in the run that is told.
    """

    run_id: str
    started: str
    outcome: str
    figures: Mapping[str, float | None] = field(default_factory=dict)
    metrics: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trend:
    """The earlier full runs of one suite under one configuration, oldest first, and the last of them in full."""

    runs: tuple[EarlierRun, ...] = ()
    previous: Run | None = None


def trend_of(store: HistoryStore, run: Run, before: str = "", most: int = MOST_RUNS) -> Trend:
    """Read what *store* has of the suite of *run*.

    Args:
        store: the history.
        run: says which suite and configuration.
        before: a run id; only runs before it count.  All by default.
        most: how many runs to go back.

    Raises:
        HistoryError: the history cannot be read.
    """
    from ..history.aggregates import AggregateMetrics
    from ..regression.compare import provenance_changes

    listed = [r for r in store.runs(None, run.suite, run.variant) if r.complete and (not before or r.run_id < before)]
    measured = store.measured([r.run_id for r in listed[:most]])

    provenance = store.provenance(list(measured)) if measured else {}
    kept = {*CHUNK_KEYS} if _names_chunks(run) else set()

    def recut(run_id: str) -> set[str]:
        """Return what says that documents were cut otherwise then, and that labels are of chunks of today."""
        return kept.intersection(provenance_changes(provenance.get(run_id, {}), run.provenance))

    def own(run_id: str) -> dict[str, float | None]:
        told = measured.get(run_id, {})
        moved = recut(run_id)
        return {
            n: v
            for n, (info, v) in told.items()
            if _is_the_same(info, run, n) and moved.isdisjoint(run.metrics[n].ruler)
        }

    def figures(one: StoredRun) -> dict[str, float | None]:
        flat = AggregateMetrics.from_dict(one.aggregate).flat()
        return {n: None if n.startswith(_BY_CHUNK) and recut(one.run_id) else v for n, v in flat.items()}

    runs = tuple(
        EarlierRun(
            r.run_id,
            r.started,
            r.outcome,
            figures(r),
            own(r.run_id),
        )
        for r in reversed(listed[:most])
    )
    return Trend(runs, store.load(listed[0].run_id) if listed else None)


def _names_chunks(run: Run) -> bool:
    """Whether a label of *run* is that of a chunk, not a passage or document that outlasts its chunk."""
    return any("match" not in label for case in run.cases.values() for label in case.expected.get("relevant", ()))


def _is_the_same(then: Mapping[str, Any], run: Run, name: str) -> bool:
    from ..regression.baseline import metric_key

    now = run.metrics.get(name)
    return now is not None and metric_key(now) == {key: then.get(key) for key in ("version", "params")}
