"""What every report is made of: judged runs, and the earlier runs of their suites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

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
    from ..history.tables import StoredRun

MOST_RUNS = 30  # in a trend, before a run and after it


@dataclass(frozen=True, slots=True)
class OtherRun:
    """One other full run of the same golden file under the same configuration.

    ``started`` is ISO 8601 in UTC; ``metrics`` has the suite's own metrics, None where nothing was measured, as far as
    they are defined as in the reported run; ``provenance`` is what the project said of its system.
    """

    run_id: str
    started: str
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trend:
    """The earlier full runs of one golden file under one configuration, oldest first.

    ``previous`` is the one whose answers stand beside those of now, in full, and ``previous_name`` what to call it.
    """

    runs: tuple[OtherRun, ...] = ()
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
    before, _ = runs_beside(store, run, run_id)
    return Trend(other_runs(store, run, before), store.load(before[0].run_id) if before else None)


def runs_beside(store: HistoryStore, run: Run, run_id: str) -> tuple[list[StoredRun], list[StoredRun]]:
    """Return the full runs of the golden file and configuration of *run* before *run_id* and after it, latest first."""
    runs = [one for one in store.runs(None, run.suite, run.variant, run.path) if one.complete]
    return [one for one in runs if one.run_id < run_id], [one for one in runs if one.run_id > run_id]


def other_runs(store: HistoryStore, run: Run, runs: Sequence[StoredRun]) -> tuple[OtherRun, ...]:
    """Read the latest of *runs*, oldest first, with the metrics that compare with those of *run*."""
    runs = runs[:MOST_RUNS][::-1]
    measured = store.measured([one.run_id for one in runs])
    provenance = store.provenance([*measured])
    chunked = {i: {*CHUNK_KEYS}.intersection(provenance_changes(was, run.provenance)) for i, was in provenance.items()}
    if any(chunked.values()) and not _names_chunks(run):
        chunked = {}  # passages and documents outlast their chunks
    out = []
    for one in runs:
        metrics = {
            name: value
            for name, (info, value) in measured.get(one.run_id, {}).items()
            if (now := run.metrics.get(name)) is not None
            and metric_key(now) == metric_key(info)
            and chunked.get(one.run_id, set()).isdisjoint(now.provenance_keys)
        }
        out.append(OtherRun(one.run_id, one.started, metrics, provenance.get(one.run_id, {})))
    return tuple(out)


def _names_chunks(run: Run) -> bool:
    return any("match" not in label for case in run.cases.values() for label in case.expected.get("relevant", ()))
