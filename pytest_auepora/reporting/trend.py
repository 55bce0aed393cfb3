"""The earlier runs of a suite as plain data, for trends and differences in reports."""

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
"""Prefixes of figures that count chunks."""

MOST_RUNS = 30  # in a trend


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """One earlier run.

    ``started`` is ISO 8601 in UTC; ``figures`` has the values of `AggregateMetrics.flat`, in [0, 1], None where nothing
    was measured; ``metrics`` has the suite's own metrics, as far as they are defined as in the reported run.
    """

    run_id: str
    started: str
    figures: Mapping[str, float | None] = field(default_factory=dict)
    metrics: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trend:
    """The earlier full runs of one golden file under one configuration, oldest first, and the last of them in full."""

    runs: tuple[EarlierRun, ...] = ()
    previous: Run | None = None


def trend_of(store: HistoryStore, run: Run, before: str = "") -> Trend:
    """Read the earlier runs of the golden file and configuration of *run*, with *before* only those before that run id.

    Raises:
        HistoryError: the history cannot be read.
    """
    earlier = [record for record in store.runs(None, run.suite, run.variant, run.path) if record.complete]
    earlier = [record for record in earlier if not before or record.run_id < before]
    previous = store.load(earlier[0].run_id) if earlier else None
    earlier = earlier[:MOST_RUNS][::-1]
    measured = store.measured([record.run_id for record in earlier])
    provenance = store.provenance(list(measured))
    labels = (label for case in run.cases.values() for label in case.expected.get("relevant", ()))
    # passages and documents outlast their chunks
    chunk_keys = {*CHUNK_KEYS} if any("match" not in label for label in labels) else set()
    out = []
    for record in earlier:
        # the chunker differed in that run, while the labels are those of today's chunks
        changed_keys = chunk_keys.intersection(provenance_changes(provenance.get(record.run_id, {}), run.provenance))
        flat = AggregateMetrics.from_dict(record.aggregate).flat()
        figures = {n: None if changed_keys and n.startswith(_BY_CHUNK) else value for n, value in flat.items()}
        metrics = {
            n: value
            for n, (info, value) in measured.get(record.run_id, {}).items()
            if _is_same_metric(info, run, n) and changed_keys.isdisjoint(run.metrics[n].provenance_keys)
        }
        out.append(EarlierRun(record.run_id, record.started, figures, metrics))
    return Trend(tuple(out), previous)


def _is_same_metric(earlier: Mapping[str, Any], run: Run, name: str) -> bool:
    info = run.metrics.get(name)
    return info is not None and metric_key(info) == {key: earlier.get(key) for key in ("version", "params")}
