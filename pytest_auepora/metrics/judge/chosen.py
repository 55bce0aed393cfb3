"""Which judge this process uses, where a metric was given none: set once, before any metric asks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .client import OpenAICompatibleCritic


class Chosen:
    """One critic for all metrics, so that its limits and its budget hold for the run; ``made`` by what was set."""

    file: Path | None = None
    concurrency: int | None = None
    processes: int = 1
    made: tuple[str, OpenAICompatibleCritic] | None = None


CHOSEN = Chosen()


def use_judge(file: Path | None = None, *, concurrency: int | None = None, processes: int = 1) -> None:
    """Let metrics without a critic of their own ask the judge of *file*; forgets what was spent so far.

    Args:
        file: the settings; None leaves them to the environment.
        concurrency: requests at once, where the file does not say.
        processes: how many processes share the budget.
    """
    CHOSEN.file, CHOSEN.concurrency, CHOSEN.processes, CHOSEN.made = file, concurrency, processes, None
