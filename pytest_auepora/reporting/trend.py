"""What is known of earlier runs of a suite, as plain data: what a report needs to show a trend and a difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..core.metrics_base import CHUNK_KEYS
from ..core.run import Run
from ..history.aggregates import AggregateMetrics
from ..regression.baseline import metric_key
from ..regression.compare import provenance_changes

if TYPE_CHECKING:
    from ..history.store import HistoryStore

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
    earlier = [r for r in store.runs(None, run.suite, run.variant) if r.complete and (not before or r.run_id < before)]
    previous = store.load(earlier[0].run_id) if earlier else None
    earlier = earlier[:most][::-1]
    measured = store.measured([one.run_id for one in earlier])
    provenance = store.provenance(list(measured)) if measured else {}
    kept = {*CHUNK_KEYS} if _names_chunks(run) else set()
    out = []
    for one in earlier:
        # what says that documents were cut otherwise then, and that labels are of chunks of today
        recut = kept.intersection(provenance_changes(provenance.get(one.run_id, {}), run.provenance))
        flat = AggregateMetrics.from_dict(one.aggregate).flat()
        figures = {n: None if recut and n.startswith(_BY_CHUNK) else value for n, value in flat.items()}
        metrics = {
            n: value
            for n, (info, value) in measured.get(one.run_id, {}).items()
            if _is_the_same(info, run, n) and recut.isdisjoint(run.metrics[n].ruler)
        }
        out.append(EarlierRun(one.run_id, one.started, figures, metrics))
    return Trend(tuple(out), previous)


def _names_chunks(run: Run) -> bool:
    """Whether a label of *run* is that of a chunk, not a passage or document that outlasts its chunk."""
    return any("match" not in label for case in run.cases.values() for label in case.expected.get("relevant", ()))


def _is_the_same(then: Mapping[str, Any], run: Run, name: str) -> bool:
    now = run.metrics.get(name)
    return now is not None and metric_key(now) == {key: then.get(key) for key in ("version", "params")}
