"""The page that follows every metric of the specifications to its class, its test and its oracle."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from pytest_auepora.core.metrics_base import Metric
from pytest_auepora.metrics.registry import Registry

from .layout import cell
from .specified import SPECIFIED

__all__ = ["specification_page", "tests_of"]

ROOT = Path(__file__).resolve().parents[2]
SHOWN = 2
"""Test files named per metric, oracles first."""

HEAD = """\
# Metrics of the specification

Every metric that the framework's specifications name, the class that computes it, the tests that prove it and whose
numbers they hold it to. Generated.

| Named | Type | Class | Proven in | Held to |
|---|---|---|---|---|"""


def specification_page() -> str:
    """Return the page."""
    registry = Registry()
    rows = []
    for named, name in SPECIFIED:
        metric = registry.get(name)
        proofs = ", ".join(f"`{Path(proof).name}`" for proof in tests_of(metric, name)[:SHOWN])
        rows.append(
            f"| {cell(named)} | `{cell(name)}` | `{type(metric).__name__}` | {proofs} | {cell(metric.oracle)} |"
        )
    return "\n".join([HEAD, *rows, ""])


def tests_of(metric: Metric, name: str) -> list[str]:
    """Return the test files that speak of the class, or of the metric by *name*; oracles first."""
    base = re.split(r"[@{\[]", name)[0].rstrip("_")
    word = re.compile(rf"\b{type(metric).__name__}\b|[\"']{re.escape(base)}(?:[@\[\"']|_\d)")
    return [path for path, text in _tests() if word.search(text)]


@cache
def _tests() -> list[tuple[str, str]]:
    folders = ("tests/oracles", "tests/unit/metrics")
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("test_*.py"))]
    return [(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in paths]
