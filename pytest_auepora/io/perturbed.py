"""Disturbed forms of golden queries, appended to the golden file for people to review; never made at run time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.perturb import Operation, variants
from ..errors import GoldenFileError, Problem
from .golden.load import load_golden

__all__ = ["Perturbed", "perturbed"]

_OWN = frozenset(
    {"id", "query", "variant_of", "scenario", "thresholds", "must_pass", "quarantine", "benchmark", "xfail"}
)
"""What a variant does not take over: it is another question, and need not be answered as well."""


@dataclass(frozen=True, slots=True)
class Perturbed:
    """``block`` is the text of the new cases alone, ``text`` the whole file with them; ``ids`` are theirs."""

    ids: tuple[str, ...]
    block: str
    text: str


def perturbed(path: Path, operations: Sequence[Operation], *, count: int, seed: int) -> Perturbed:
    """Return the golden file at *path* with up to *count* variants of each operation behind its cases.

    Only cases that are no variants themselves are disturbed, and variants the file already has are left out, so
    doing it twice changes nothing.  Everything that stood in the file stays as it was, comments included.

    Raises:
        GoldenFileError: the file is wrong, or its cases are not written as a list at its end.
    """
    suite = load_golden(path)
    text = path.read_text(encoding="utf-8-sig")
    lines = path.suffix == ".jsonl"
    raw = [json.loads(line) for line in text.splitlines() if line.strip()] if lines else _yaml(text)["cases"]
    by_id = {case["id"]: case for case in raw if "id" in case}
    known = {case.id for case in suite.cases}
    new: list[dict[str, Any]] = []
    for case in suite.cases:
        if case.skip is not None or "variant_of" in case.sample.labels:
            continue
        kept = {k: v for k, v in by_id[case.id].items() if k not in _OWN}
        for one in variants(case.sample, operations, count=count, seed=seed):
            if one.sample_id not in known:
                own = {
                    "id": one.sample_id,
                    "variant_of": case.id,
                    "scenario": one.labels["scenario"],
                    "query": one.query,
                }
                new.append({**own, **kept})
    block = (
        "".join(f"{json.dumps(c, ensure_ascii=False)}\n" for c in new)
        if lines
        else _block(text, suite.cases[0].line, new)
    )
    whole = text + ("" if text.endswith("\n") else "\n") + block if new else text
    if not lines and new and _read(whole) != {**_yaml(text), "cases": raw + new}:
        message = (
            "the cases are not a list in block style at the end of the file; paste the new cases where they belong"
        )
        raise GoldenFileError([Problem(str(path), suite.cases[-1].line, 1, message)])
    return Perturbed(tuple(c["id"] for c in new), block, whole)


def _block(text: str, line: int, cases: Sequence[dict[str, Any]]) -> str:
    import yaml

    first = text.splitlines()[line - 1]
    indent = first[: len(first) - len(first.lstrip())]
    apart = [deepcopy(case) for case in cases]  # or what variants have in common would be written as an alias
    made: str = yaml.safe_dump(apart, sort_keys=False, allow_unicode=True, width=110) if cases else ""
    return "".join(f"{indent}{one}\n" for one in made.splitlines())


def _yaml(text: str) -> dict[str, Any]:
    import yaml

    found: dict[str, Any] = yaml.safe_load(text)
    return found


def _read(text: str) -> dict[str, Any] | None:
    import yaml

    try:
        return _yaml(text)
    except yaml.YAMLError:
        return None
