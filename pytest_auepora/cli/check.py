"""``auepora check GOLDEN…``: reads golden files without running anything."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..errors import GoldenFileError
from .exit_codes import FAILED, PASSED, UsageError, to_read
from .label_check import label_check
from .registry import add_metrics, load_suite, registry_of

__all__ = ["add_arguments", "run"]

_GLOBS = ("*.golden.yaml", "*.golden.yml", "*.golden.jsonl")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "golden", nargs="+", type=to_read, metavar="GOLDEN", help="golden files, or directories of them"
    )
    add_metrics(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--corpus", type=Path, metavar="FILE", help="chunks there are (JSONL: id, text, doc): say which labels moved"
    )
    parser.add_argument("--reanchor-from", type=Path, metavar="FILE", help="the corpus before: what old chunk ids said")
    parser.add_argument("--reanchor", action="store_true", help="rewrite labels that provably moved")


def run(given: argparse.Namespace) -> int:
    """Say, file by file, how much is in it or all that is wrong with it."""
    from ..reporting.numbers import plural

    registry = registry_of(given.metrics)
    labels = label_check(given, registry)
    told: list[dict[str, Any]] = []
    moved = False
    for path in _files(given.golden):
        try:
            suite = load_suite(path, registry)
        except GoldenFileError as exc:
            told.append({"path": str(path), "problems": [p._asdict() for p in exc.problems]})
            lines = [str(p) for p in exc.problems]
        else:
            counts = {"cases": len(suite.cases), "metrics": len(suite.metrics), "thresholds": len(suite.gates)}
            told.append({"path": str(path), "suite": suite.name, **counts, "problems": []})
            lines = [f"{path}: {', '.join(plural(n, what[:-1]) for what, n in counts.items())}"]
            if labels is not None:
                found = labels.of(suite)
                told[-1]["labels"] = found.to_dict()
                lines += found.lines(str(path))
                moved = moved or found.is_bad
        if not given.json:
            print("\n".join(lines))
    if given.json:
        print(json.dumps(told, indent=1, ensure_ascii=False))
    return FAILED if moved or any(one["problems"] for one in told) else PASSED


def _files(given: Iterable[Path]) -> Iterator[Path]:
    for path in given:
        if not path.is_dir():
            yield path
            continue
        found = sorted({one for glob in _GLOBS for one in path.rglob(glob)})
        if not found:
            raise UsageError(f"no file below {path} matches {' '.join(_GLOBS)}")
        yield from found
