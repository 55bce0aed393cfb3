"""What every report is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..core.run import Run
from ..errors import Problem
from ..regression.verdict import Verdict
from .side_by_side import SideBySide, side_by_sides
from .trend import Trend


@dataclass(frozen=True, slots=True)
class Report:
    """Judged runs, and what some formats show beside them.

    Attributes:
        mistakes: those in golden files that could not be read.
        trends: the earlier runs by path and variant of a run.
        prefix: leads from the root of the repository to the directory that paths are relative to.
        known_comparisons: `comparisons`, where they exist already.
    """

    runs: Sequence[Run] = ()
    verdicts: Sequence[Verdict] = ()
    mistakes: Sequence[Problem] = ()
    trends: Mapping[tuple[str, str], Trend] = field(default_factory=dict)
    prefix: str = ""
    known_comparisons: Sequence[SideBySide] | None = None

    @property
    def pairs(self) -> list[tuple[Run, Verdict]]:
        """Each run with its verdict."""
        return list(zip(self.runs, self.verdicts, strict=True))

    def comparisons(self) -> Sequence[SideBySide]:
        """Compare the systems that ran one suite, by default with the metrics of this package alone."""
        return side_by_sides(self.runs) if self.known_comparisons is None else self.known_comparisons
