"""Coverage: what the baseline measured must still be measured."""

from __future__ import annotations

from ..core.run import Run
from .compare import Comparison
from .gates import GateOutcome

__all__ = ["coverage_outcomes"]

_PRUNE = "accept with --auepora-prune"


def coverage_outcomes(run: Run, comparison: Comparison | None, *, accepting: bool, pruning: bool) -> list[GateOutcome]:
    """Return a failed outcome for each kind of loss: vanished cases, lost metrics, scores that became n/a."""
    out: list[GateOutcome] = []
    if told := [i for i, c in run.cases.items() if c.state == "skipped" and "must_pass" in c.extra]:
        out.append(_lost(run, "must_pass", f"{_list(told)}: must pass, and was skipped", told))
    if comparison is None:
        return out
    if comparison.vanished and not pruning:
        told = [f"{old} (renamed to {new}?)" if new else old for old, new in comparison.vanished.items()]
        out.append(_lost(run, "cases", f"{_list(told)} in the baseline, no longer in the golden file; {_PRUNE}", told))
    if comparison.lost_metrics and not pruning and not accepting:
        metrics = list(comparison.lost_metrics)
        out.append(_lost(run, "metrics", f"{_list(metrics)} in the baseline, no longer computed; {_PRUNE}", []))
    lost = {i: c.lost for i, c in comparison.cases.items() if c.lost}
    if lost and not accepting:
        case_id, reasons = next(iter(lost.items()))
        name, why = next(iter(reasons.items()))
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        message = f"{case_id}{more} had a score in the baseline and has none now ({name}: {why})"
        out.append(_lost(run, "scores", f"{message}; accept with --auepora-update", list(lost)))
    return out


def _lost(run: Run, what: str, message: str, culprits: list[str]) -> GateOutcome:
    return GateOutcome(
        f"coverage: {what}", "coverage", "failed", message, owner=run.owner, culprits=tuple(culprits[:5])
    )


def _list(names: list[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
