"""The gates of a suite as the one text of its test."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...core.run import Run
    from ...regression.guards.gates import GateOutcome


def suite_failure(run: Run, failed: Sequence[GateOutcome]) -> str:
    """Return why the test of a suite failed: the gates that *failed*, each with the cases that cost most."""
    lines = []
    if len(failed) > 1:
        lines.append(f"{len(failed)} gates failed: {', '.join(gate.title for gate in failed)}")
    for gate in failed:
        place = f"{run.path}:{gate.line}" if gate.line else run.path
        owner = f" (owner: {gate.owner})" if gate.owner else ""
        lines.append(f"{place}: {gate.message}{owner}")
        if gate.costliest:
            lines.append(f"cases that cost most: {', '.join(gate.costliest)}")
    return "\n".join(lines)


def gate_line(gate: GateOutcome) -> str:
    """Return the state of *gate* with its reason, in one line."""
    owner = f" (owner: {gate.owner})" if gate.owner else ""
    return f"{gate.state}: {gate.message}{owner}"


def unjudged(gates: Sequence[GateOutcome]) -> str:
    """Return why none of *gates* could be judged."""
    return "; ".join(dict.fromkeys(gate.message for gate in gates))
