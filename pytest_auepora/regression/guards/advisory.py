"""What judges say that may not fail the run: gates made advisory, and the sentences that tell of them."""

from __future__ import annotations

from collections.abc import Iterable

from ...core.run import Run
from ..policy import RegressionPolicy
from .calibration import Standing
from .gates import GateOutcome, cases_words, why_nothing

__all__ = ["advisory_notes", "broken_outcomes", "hold_back", "silent_judges"]


def hold_back(gates: Iterable[GateOutcome], standing: Standing) -> None:
    """Make the outcomes of advisory metrics ``advisory``; what they would have been stays beside it."""
    for gate in gates:
        why = standing.advisory.get(gate.metric)
        if why is None or gate.state not in ("passed", "failed", "inconclusive"):
            continue
        gate.would_be, gate.state = gate.state, "advisory"
        if gate.would_be == "failed":
            gate.message = f"would fail: {gate.message}"
        gate.message = f"advisory: {gate.message}; {why}"


def broken_outcomes(run: Run, standing: Standing) -> list[GateOutcome]:
    """Return one failure for each calibration that is there and cannot be read."""
    return [
        GateOutcome(f"calibration: {name}", "calibration", "failed", why, metric=name, owner=run.owner)
        for name, why in standing.broken.items()
    ]


def silent_judges(run: Run, gates: Iterable[GateOutcome], policy: RegressionPolicy) -> list[GateOutcome]:
    """Return one failure for each judge of which every reply failed, calibrated or not, unless a gate tells it."""
    told = {gate.metric for gate in gates if gate.state == "failed"}
    out = []
    for name, info in run.metrics.items():
        if not info.judge or name in told or policy.for_metric(name).judge == "advisory":
            continue
        scores = run.scores_of(name, lambda case: case.state != "error" or bool(case.outputs))
        failed = [i for i, score in zip(scores.ids, scores, strict=True) if score.state == "error"]
        if failed and not scores.measured:
            why = f"every reply of the judge failed, in {cases_words(len(failed))}: {why_nothing(scores)}"
            owner = run.owner_of(name)
            out.append(GateOutcome(f"judge: {name}", "calibration", "failed", why, metric=name, owner=owner))
    return out


def advisory_notes(run: Run, gates: Iterable[GateOutcome], standing: Standing) -> list[str]:
    """Say which metrics are advisory and why, and what they would have failed."""
    by: dict[str, list[str]] = {}
    for name, why in standing.advisory.items():
        by.setdefault(why, []).append(name)
    notes = [
        gate.message.removesuffix(f"; {standing.advisory[gate.metric]}") for gate in gates if gate.would_be == "failed"
    ]
    told = [f"{c.case_id}: {line}" for c in run.having("advisory") for line in c.extra["advisory"]]
    if told:
        more = f" and {len(told) - 3} more" if len(told) > 3 else ""
        notes.append(f"advisory: would fail cases: {'; '.join(told[:3])}{more}")
    return notes + [f"advisory: cannot fail the run: {', '.join(names)} ({why})" for why, names in by.items()]
