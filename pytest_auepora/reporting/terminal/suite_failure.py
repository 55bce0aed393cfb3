"""The gates of a suite as the one text of its test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..wording.gates import gate_sentence, gate_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...core.run import Run
    from ...regression.outcomes import GateOutcome, Note


def suite_failure(run: Run, failed: Sequence[GateOutcome], notes: Sequence[Note]) -> list[str]:
    """Return why the test of a suite failed, in lines: the gates that *failed*, each with the cases that cost most."""
    lines = []
    if len(failed) > 1:
        lines.append(f"{len(failed)} gates failed: {', '.join(map(gate_title, failed))}")
    for gate in failed:
        place = f"{run.path}:{gate.line}" if gate.line else run.path
        lines.append(f"{place}: {gate_sentence(gate, run, notes)}{_owner(gate)}")
        if gate.costliest:
            lines.append(f"cases that cost most: {', '.join(gate.costliest)}")
    return lines


def gate_line(gate: GateOutcome, run: Run, notes: Sequence[Note]) -> str:
    """Return the state of *gate* with its reason, in one line."""
    return f"{gate.state}: {gate_sentence(gate, run, notes)}{_owner(gate)}"


def unjudged(gates: Sequence[GateOutcome], run: Run) -> str:
    """Return why none of *gates* could be judged."""
    return "; ".join(dict.fromkeys(gate_sentence(gate, run) for gate in gates))


def _owner(gate: GateOutcome) -> str:
    return f" (owner: {gate.owner})" if gate.owner else ""
