"""What it costs: the answers that ours asks for, counted, and its time beside that of others."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import median

from ..measuring import Row
from ..table import rows as timed_rows
from ..verdict.score_sources import real_answers
from ..verdict.simulated_suite import SimulatedSuite
from ..verdict.verdict_scenarios import Scenario, lost, one_document, sampling

__all__ = ["calls", "times"]

TIMED = ("ROUGE-1", "token F1", "six retrieval metrics")
"""Words of the titles of rows of the table of speed that take processor time within one process."""


def calls(data: Path, n: int = 60, baselines: int = 40) -> Iterator[str]:
    """Yield the lines of a table of answers that a suite of *n* cases asks for, the mean over baselines."""
    model = sampling(real_answers(data / "llm-noise-dev", steady=False))
    yield f"| answers, {n} cases | to accept | a run, nothing changed | a run, one case broken |"
    yield "|---|--:|--:|--:|"
    for name, scenario in (("deterministic system", one_document), ("model that samples", model)):
        counted = [_counted(scenario, n, f"0 {n} {b}") for b in range(baselines)]
        means = [sum(one[i] for one in counted) / baselines for i in range(3)]
        yield f"| {name} | {' | '.join(f'{mean:.0f}' for mean in means)} |"
    yield f"| one answer a case, as the other gates above | {n} | {n} | {n} |"


def _counted(scenario: Scenario, n: int, seed: str) -> tuple[int, int, int]:
    rng = Random(seed)
    suite = SimulatedSuite(scenario(n, rng))
    systems, asked = suite.systems, suite.calls
    unchanged = [one._replace(after=one.before) for one in systems]
    broken = lost()(unchanged, rng)
    return asked, n + suite.run(unchanged).calls, n + suite.run(broken).calls


def times(repeat: int = 3) -> Iterator[str]:
    """Yield the lines of a table of times, each as a ratio, of which a busy machine changes little."""
    yield "| what is computed | beside | times as fast |"
    yield "|---|---|--:|"
    left_out = []
    with tempfile.TemporaryDirectory() as name:
        for make in timed_rows(Path(name), quick=True):
            if not any(word in (make.__doc__ or "") for word in TIMED):
                continue
            try:
                row = make()
                yield f"| {row.title} | {row.against} | {_times_as_fast(row, repeat):.1f} |"
            except ImportError as exc:
                left_out.append(f"{make.__doc__} ({exc.name})")
    if left_out:
        yield ""
        yield f"Left out, not being installed: {'; '.join(left_out)}."


def _times_as_fast(row: Row, repeat: int) -> float:
    row.ours(), row.other()
    pairs = [(row.ours(), row.other()) for _ in range(repeat)]
    return median(other for _, other in pairs) / median(ours for ours, _ in pairs)
