"""From what a golden file says to a `GoldenSuite`: everything that needs more than one value to check."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...metrics.registry import Registry
from ...regression.policy import ALL, AnchorPolicy, RegressionPolicy
from ..source import Source
from .cases import CaseReader
from .fields import MAX_TOP_K
from .gates import Yardstick
from .model import GoldenSuite
from .names import SuiteName

__all__ = ["DEFAULT_METRICS", "build_suite"]

DEFAULT_METRICS = (
    "recall@5", "mrr@10", "ndcg@10", "token_f1", "rougeL", "assertion_pass", "refusal_correctness",
)  # fmt: skip
"""What is measured where a file does not say; what a case has no labels for is n/a."""


def build_suite(
    source: Source, registry: Registry, *, path: Path, raw: dict[str, Any], said: dict[str, Any],
    cases: Iterable[tuple[Source, list[Any]]],
) -> GoldenSuite:  # fmt: skip
    """Put a suite together.

    Args:
        source: where complaints go.
        registry: the metrics there are.
        path: the file.
        raw: the mapping at the top of the file (of a JSONL file, its first line).
        said: what reading *raw* with `fields.SUITE` or `fields.HEADER` gave.
        cases: the cases as they stand, part by part, each with its source; *source* itself, or one that is gone when
            the next is asked for.

    Raises:
        GoldenFileError: anything was complained about, now or before.
    """
    yardstick = Yardstick(source, registry)
    metrics = yardstick.take(said.get("metrics", DEFAULT_METRICS), raw.get("metrics"))
    owner = said.get("owner", "")
    top_k = said.get("top_k") or _deepest(metrics)
    inherited = _case_thresholds(said, yardstick)
    reader = CaseReader(source, yardstick, said.get("defaults", {}), inherited, top_k)
    for part, some in cases:
        reader.read_part(part, some)
    read = reader.finish()
    owners = said.get("owners", {})
    yardstick.check_names(owners, raw.get("owners", {}))
    gates = yardstick.gates(said.get("thresholds", {}), owner, owners)
    yardstick.check_gates(gates, read)
    yardstick.check_case_thresholds(read)
    policy = _policy(said.get("regression", {}), raw, yardstick)
    policy = replace(policy, assertions=said.get("assertions", policy.assertions))
    if policy.slices:
        yardstick.check_slices(policy.slices, raw["regression"]["slices"], read)
    suite = GoldenSuite(
        _name(said, path, source), path, owner, top_k, metrics, tuple(gates),
        policy, read, said.get("fixture", "rag"),
        tuple(said.get("tags", ())), said.get("description", ""), said.get("repeat", 1), owners,
        tuple(yardstick.warnings),
    )  # fmt: skip
    if source.problems:
        raise source.error()
    return suite


def _name(said: dict[str, Any], path: Path, source: Source) -> str:
    if "suite" in said:
        return str(said["suite"])
    stem = re.sub(r"(\.golden)?\.(ya?ml|jsonl)$", "", path.name, flags=re.IGNORECASE)
    if why := SuiteName().wrong(stem):
        source.complain(0, 0, f"the suite is called after the file, and {stem!r} {why}; write suite: in the file")
    return stem


def _deepest(metrics: tuple[str, ...]) -> int:
    """The largest cut-off named, so that no metric is cut short unseen; at least 5."""
    found = [int(k) for name in metrics for k in re.findall(r"@(\d{1,6})", name)]
    return min(max([5, *found]), MAX_TOP_K)


def _case_thresholds(said: dict[str, Any], yardstick: Yardstick) -> dict[str, Any]:
    inherited = said.get("defaults", {}).get("thresholds", {})
    return {**yardstick.case_bounds(said.get("case_thresholds", {})), **yardstick.case_bounds(inherited)}


def _policy(said: dict[str, Any], raw: dict[str, Any], yardstick: Yardstick) -> RegressionPolicy:
    if "metrics" in said:
        yardstick.check_names(said["metrics"], raw["regression"]["metrics"])
    for key, names in said.get("not_comparable", {}).items():
        for name in names:
            if name != ALL and yardstick.known(name) is None:
                yardstick.source.bad(raw["regression"]["not_comparable"], key, yardstick.unknown(name))
    if "anchor" in said:
        said = {**said, "anchor": AnchorPolicy(**said["anchor"])}
    return RegressionPolicy(**said)
