"""Golden files in YAML."""

from __future__ import annotations

from pathlib import Path

from ...metrics.registry import Registry
from ..yaml.file import load_yaml
from .fields import SUITE
from .model import GoldenSuite
from .source import MAX_BYTES, Source, describe
from .suite import build_suite

__all__ = ["load_golden_yaml"]


def load_golden_yaml(path: Path, registry: Registry, *, max_bytes: int = MAX_BYTES) -> GoldenSuite:
    """Read a golden file; see `golden.load_golden`."""
    source = Source.load(path, max_bytes, "or write it as JSON Lines, of which `auepora score` takes more")
    root = load_yaml(source)
    if root is None:
        source.complain(0, 0, "is empty; a golden file has cases")
        raise source.error()
    if not isinstance(root, dict):
        hint = "; put the list under cases:" if isinstance(root, list) else ""
        source.complain(1, 1, f"expected a mapping with cases, got {describe(root)}{hint}")
        raise source.error()
    said = SUITE.read_mapping(root, source)
    cases = [(source, said.get("cases", []))]
    return build_suite(source, registry, path=path, raw=root, said=said, cases=cases)
