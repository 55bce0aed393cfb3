"""What every report is made of: judged runs, and the earlier runs of their suites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..base.complaints import Problem
from ..core.metrics_base import CHUNK_KEYS
from ..core.run import Run
from ..regression.baseline import metric_key
from ..regression.compare import provenance_changes
from ..regression.verdict import Outcome, Verdict
from .sentences import Sentences, sentences_of
from .side_by_side import SideBySide, side_by_sides
from .tally import gravest
from .wording.verdict import headline, mistakes_text

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
    """The earlier full runs of one golden file under one configuration, oldest first.

    ``previous`` is the one whose answers stand beside those of now, in full, and ``previous_name`` what to call it.
    """

    runs: tuple[EarlierRun, ...] = ()
    previous: Run | None = None
    previous_name: str = "the previous run"


@dataclass(frozen=True, slots=True)
class Report:
    """Judged runs, and what some formats show beside them.

    Attributes:
        mistakes: those in golden files that could not be read, and baselines that no run used where they are required.
        trends: the earlier runs by path and variant of a run.
        prefix: leads from the root of the repository to the directory that paths are relative to.
        known_comparisons: `comparisons`, where they exist already.
        is_stopped: the run was stopped, by Ctrl-C or ``-x``, so not everything ran.
    """

    runs: Sequence[Run] = ()
    verdicts: Sequence[Verdict] = ()
    mistakes: Sequence[Problem] = ()
    trends: Mapping[tuple[str, str], Trend] = field(default_factory=dict)
    prefix: str = ""
    known_comparisons: Sequence[SideBySide] | None = None
    is_stopped: bool = False

    @property
    def pairs(self) -> list[tuple[Run, Verdict]]:
        """Each run with its verdict."""
        return list(zip(self.runs, self.verdicts, strict=True))

    @property
    def outcome(self) -> Outcome:
        """The gravest outcome; what could not be read or came after a stop is not judged, nor is a run of no suite."""
        outcomes: set[Outcome] = {verdict.outcome for verdict in self.verdicts}
        if self.mistakes or self.is_stopped:
            outcomes.add("not judged")
        return gravest(outcomes)

    @property
    def headline(self) -> str:
        """The sentence that every report starts with."""
        parts = [headline(self.verdicts, self.runs)]
        parts += ["stopped early: not everything ran"] if self.is_stopped else []
        parts += [mistakes_text(self.mistakes)] if self.mistakes else []
        return "; ".join(parts)

    @property
    def sentences(self) -> list[Sentences]:
        """What all reports say of each run, in words."""
        return [sentences_of(run, verdict) for run, verdict in self.pairs]

    def comparisons(self) -> Sequence[SideBySide]:
        """Compare the systems that ran one suite, by default with the metrics of this package alone."""
        return side_by_sides(self.runs) if self.known_comparisons is None else self.known_comparisons


def trend_of(store: HistoryStore, run: Run, run_id: str) -> Trend:
    """Read the runs of the golden file and configuration of *run* that are earlier than *run_id*, which is its own.

    Raises:
        HistoryError: the history cannot be read.
    """
    runs = store.runs(None, run.suite, run.variant, run.path)
    earlier = [record for record in runs if record.complete and record.run_id < run_id]
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
        flat = record.aggregate.flat()
        figures = {n: None if changed_keys and n.startswith(_BY_CHUNK) else value for n, value in flat.items()}
        metrics = {
            n: value
            for n, (info, value) in measured.get(record.run_id, {}).items()
            if (now := run.metrics.get(n)) is not None
            and metric_key(now) == metric_key(info)
            and changed_keys.isdisjoint(now.provenance_keys)
        }
        out.append(EarlierRun(record.run_id, record.started, figures, metrics))
    return Trend(tuple(out), previous)
