"""Coverage: what the baseline measured must still be measured."""

from __future__ import annotations

from collections.abc import Mapping

from ...core.run import Run
from ..compare.cases import Comparison, Flip
from .gates import GateOutcome

__all__ = ["coverage_outcomes", "nothing_compares"]

_UNPAIRED: Mapping[Flip, str] = {"new": "are new", "changed": "were edited"}
_PRUNE = "accept with --auepora-update prune"


def coverage_outcomes(run: Run, comparison: Comparison | None, *, accepting: bool, pruning: bool) -> list[GateOutcome]:
    """Return a failed outcome for each kind of loss: vanished cases, lost metrics, scores that became n/a."""
    out: list[GateOutcome] = []
    if told := [c.case_id for c in run.having("must_pass") if c.state == "skipped"]:
        out.append(_lost(run, "must_pass", f"{_list(told)}: must pass, and was skipped", told))
    if comparison is None:
        return out
    if comparison.vanished and not pruning:
        told = [f"{old} (renamed to {new}?)" if new else old for old, new in comparison.vanished.items()]
        out.append(_lost(run, "cases", f"{_list(told)} in the baseline, no longer in the golden file; {_PRUNE}", told))
    if comparison.lost_metrics and not pruning and not accepting:
        metrics = list(comparison.lost_metrics)
        out.append(_lost(run, "metrics", f"{_list(metrics)} in the baseline, no longer computed; {_PRUNE}", []))
    lost = comparison.lost
    if lost and not accepting:
        case_id, reasons = next(iter(lost.items()))
        name, why = next(iter(reasons.items()))
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        message = f"{case_id}{more} had a score in the baseline and has none now ({name}: {why})"
        out.append(_lost(run, "scores", f"{message}; accept with --auepora-update", list(lost)))
    return out


def nothing_compares(run: Run, comparison: Comparison, *, required: bool) -> list[GateOutcome]:
    """Return an outcome if there is a baseline and not one score compares with it: that must not pass for a pass.

    It fails where a baseline is *required*; elsewhere it is not judged.
    """
    measured = (c for c in comparison.cases.values() if c.flip != "skipped")
    held = any(info.baselined for info in run.metrics.values())
    if not held or any(c.changes or c.lost for c in measured) or comparison.count()["skipped"] == len(comparison.cases):
        return []
    why = [f"{_list(names)} ({what})" for what, names in _by_reason(comparison.incomparable).items()]
    counts = comparison.count()
    why += [f"{counts[flip]} of {len(run.cases)} cases {word}" for flip, word in _UNPAIRED.items() if counts[flip]]
    message = f"baseline: nothing in this run compares with it: {'; '.join(why) or 'they have no score in common'}"
    told = f"{message}; whether the run is worse was not judged"
    return [GateOutcome("baseline", "baseline", "failed" if required else "not judged", told, owner=run.owner)]


def _by_reason(incomparable: Mapping[str, str]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for name, reason in incomparable.items():
        out.setdefault(reason, []).append(name)
    return out


def _lost(run: Run, what: str, message: str, culprits: list[str]) -> GateOutcome:
    return GateOutcome(
        f"coverage: {what}", "coverage", "failed", message, owner=run.owner, culprits=tuple(culprits[:5])
    )


def _list(names: list[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
