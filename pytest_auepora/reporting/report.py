"""What every report is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..core.run import Run
from ..errors import Problem
from ..regression.verdict import Outcome, Verdict
from .side_by_side import SideBySide, side_by_sides
from .tally import gravest, headline, mistakes_note
from .trend import Trend


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
        parts += [mistakes_note(self.mistakes)] if self.mistakes else []
        return "; ".join(parts)

    def comparisons(self) -> Sequence[SideBySide]:
        """Compare the systems that ran one suite, by default with the metrics of this package alone."""
        return side_by_sides(self.runs) if self.known_comparisons is None else self.known_comparisons
