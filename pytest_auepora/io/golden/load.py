"""Golden files: the questions a system has to answer, what is known about the right answers, and the gates."""

from __future__ import annotations

from pathlib import Path

from ...core.garbage import garbage_collection_paused
from ...errors import GoldenFileError, Problem
from ...metrics.registry import Registry
from ..source import MAX_BYTES, Source, describe
from .fields import SUITE
from .model import GoldenCase, GoldenSuite
from .suite import build_suite

__all__ = ["MAX_BYTES", "GoldenCase", "GoldenSuite", "load_golden"]


def load_golden(path: str | Path, registry: Registry | None = None, *, max_bytes: int = MAX_BYTES) -> GoldenSuite:
    """Read the golden file at *path*: ``.yaml``, ``.yml`` or ``.jsonl``.

    Args:
        path: the file.
        registry: the metrics there are; those of this package by default.
        max_bytes: how large the file may be.

    Raises:
        GoldenFileError: all that is wrong with the file, each complaint with its line and column.
    """
    path = Path(path)
    registry = registry if registry is not None else Registry()
    with garbage_collection_paused(all_kept=True):
        return _load(path, registry, max_bytes)


def _load(path: Path, registry: Registry, max_bytes: int) -> GoldenSuite:
    suffix = path.suffix.lower()
    if suffix in (".yaml", ".yml"):
        return _load_yaml(path, registry, max_bytes)
    if suffix == ".jsonl":
        from ..jsonl import load_golden_jsonl

        return load_golden_jsonl(path, registry, max_bytes=max_bytes)
    raise GoldenFileError([Problem(str(path), 0, 0, "a golden file ends in .yaml, .yml or .jsonl")])


def _load_yaml(path: Path, registry: Registry, max_bytes: int) -> GoldenSuite:
    from ..yaml.file import load_yaml  # with it comes PyYAML

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
