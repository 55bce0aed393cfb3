"""The anchor: an older baseline that stays where it is, so that many small steps down add up to one that shows.

A baseline moves with every accepted change, and each step may be too small to fail.  The anchor is written on request
only, and judged by limits of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from ..core.metrics_base import Metric
from ..core.run import Run
from ..errors import BaselineError
from .baseline.file import load_baseline
from .baseline.model import Baseline
from .compare.cases import by_reason, compare
from .guards.gates import GateOutcome
from .guards.suite_guard import judge_comparison
from .policy import RegressionPolicy


class Anchor(NamedTuple):
    """What lies where an anchor belongs: a baseline, nothing, or something that cannot be read (``problem``)."""

    baseline: Baseline | None = None
    problem: str = ""


def anchor_path(baseline: Path) -> Path:
    """Return where the anchor beside *baseline* lies: ``shop.json`` has ``shop.anchor.json``."""
    return baseline.with_name(f"{baseline.name.removesuffix('.json')}.anchor.json")


def load_anchor(baseline: Path, suite: str, variant: str = "") -> Anchor:
    """Read the anchor beside *baseline*, if there is one."""
    try:
        return Anchor(load_baseline(anchor_path(baseline), suite, variant))
    except BaselineError as exc:
        return Anchor(problem=str(exc).replace("--auepora-update", "--auepora-update anchor"))


def judge_anchor(
    run: Run, anchor: Anchor, policy: RegressionPolicy, metrics: Mapping[str, Metric], advisory: Collection[str] = ()
) -> list[GateOutcome]:
    """Return one outcome per metric that compares with the anchor; one failure if it cannot be read.

    Cases are not held to it one by one, and what it measured and nobody does any more is the baseline's to miss.
    """
    if anchor.problem:
        return [GateOutcome("anchor", "baseline", "failed", anchor.problem, owner=run.owner)]
    if anchor.baseline is None:
        return []
    gates = judge_comparison(run, compare(run, anchor.baseline), policy.against_anchor(), metrics, advisory)
    for gate in gates:
        part = gate.part
        gate.title, gate.kind = f"anchor: {part}", "anchor"
        gate.message = f"{gate.title}: {gate.message.removeprefix(f'{part} ')}"
    return gates


def anchor_notes(run: Run, anchor: Anchor) -> list[str]:
    """Say which metrics do not compare with the anchor, or that nothing does."""
    if anchor.baseline is None:
        return []
    found = compare(run, anchor.baseline)
    if not any(case.changes for case in found.cases.values()):
        return [
            "nothing in this run compares with the anchor, so slow drift was not judged; renew it: "
            "--auepora-update anchor"
        ]
    reasons = by_reason(found.incomparable).items()
    return [f"not comparable with the anchor: {', '.join(names)} ({why})" for why, names in reasons]
