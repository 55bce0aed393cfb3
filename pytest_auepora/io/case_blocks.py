"""Cases appended to a golden file, replaced or taken out, everything else as it was, comments included."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from ..core.rag_interface import NOISE_DOCS
from ..core.types import EvaluationSample
from ..errors import GoldenFileError, Problem
from ..metrics.registry import Registry
from .golden.load import load_golden
from .golden.model import GoldenSuite
from .importers.golden import case_text

_OWN = frozenset(
    {"id", "query", "variant_of", "scenario", "thresholds", "must_pass", "quarantine", "benchmark", "xfail"}
)
"""What a variant does not take over: it is another question, and need not be answered as well."""


@dataclass(frozen=True, slots=True)
class Appended:
    """``block`` is the text of the new cases alone, ``text`` the whole file with them; ``ids`` are theirs."""

    ids: tuple[str, ...]
    block: str
    text: str


def perturbed(
    path: Path, variants: Callable[[EvaluationSample], Iterable[EvaluationSample]], registry: Registry | None = None
) -> Appended:
    """Return the golden file at *path* with the *variants* of each case behind its cases.

    Only cases that are no variants themselves are disturbed, and variants the file already has are left out, so
    doing it twice changes nothing.

    Raises:
        GoldenFileError: the file is wrong, or its cases are not written as a list at its end.
    """
    suite = load_golden(path, registry)
    by_id = {case["id"]: case for case in raw_cases(path)}
    known = {case.id for case in suite.cases}
    new: list[dict[str, Any]] = []
    for case in suite.cases:
        if case.skip is not None or "variant_of" in case.sample.labels:
            continue
        kept = {k: v for k, v in by_id[case.id].items() if k not in _OWN}
        for one in variants(case.sample):
            if one.sample_id not in known:
                own = {
                    "id": one.sample_id,
                    "variant_of": case.id,
                    "scenario": one.labels["scenario"],
                    "query": one.query,
                    **({NOISE_DOCS: one.labels[NOISE_DOCS]} if NOISE_DOCS in one.labels else {}),
                }
                new.append({**own, **kept})
    return appended(path, new, registry)


def appended(path: Path, new: Sequence[Mapping[str, Any]], registry: Registry | None = None) -> Appended:
    """Return the golden file at *path* with the cases *new* behind its own.

    Raises:
        GoldenFileError: the file is wrong, or its cases are not written as a list at its end.
    """
    suite = load_golden(path, registry)
    text = path.read_text(encoding="utf-8-sig")
    block = _block(path, text, suite.cases[0].line, new)
    whole = text + ("" if text.endswith("\n") else "\n") + block if new else text
    _check(path, suite, whole, [*raw_cases(path), *new])
    return Appended(tuple(case["id"] for case in new), block, _as_written(path, whole))


def replaced(path: Path, case_id: str, new: Mapping[str, Any] | None, registry: Registry | None = None) -> str:
    """Return the text of the golden file at *path* with *new* in the place of a case; None takes the case out.

    Raises:
        GoldenFileError: the file is wrong, or its cases are not written as a list at its end.
        KeyError: there is no such case.
    """
    suite = load_golden(path, registry)
    text = path.read_text(encoding="utf-8-sig")
    lines = StringIO(text).readlines() if path.suffix == ".jsonl" else text.splitlines(keepends=True)
    starts = [case.line - 1 for case in suite.cases]
    at = starts.index(suite.case(case_id).line - 1)
    end = starts[at + 1] if at + 1 < len(starts) else len(lines)
    while end > starts[at] + 1 and lines[end - 1].strip()[:1] in ("", "#"):
        end -= 1  # blank lines and comments before the next case are the next case's
    block = "" if new is None else _block(path, "".join(lines), starts[at] + 1, [new])
    whole = "".join([*lines[: starts[at]], block, *lines[end:]])
    _check(path, suite, whole, [one for old in raw_cases(path) if (one := new if old["id"] == case_id else old)])
    return _as_written(path, whole)


def _as_written(path: Path, text: str) -> str:
    """Return *text* with the byte order mark and the line ends of the file at *path*."""
    raw = path.read_bytes()
    ended = text.replace("\n", "\r\n") if raw.partition(b"\n")[0].endswith(b"\r") else text
    return f"\ufeff{ended}" if raw.startswith(codecs.BOM_UTF8) else ended


def raw_cases(path: Path) -> list[dict[str, Any]]:
    """Return the cases of a golden file as they are written, without what they inherit."""
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix == ".jsonl":
        return [case for line in text.split("\n") if line.strip() and "query" in (case := json.loads(line))]
    return list(_yaml(text)["cases"])


def _check(path: Path, suite: GoldenSuite, whole: str, cases: Sequence[Any]) -> None:
    """Raise `GoldenFileError` where the new text of the file does not hold these cases and all else as before."""
    if path.suffix == ".jsonl" or _yaml(whole) == {**_yaml(path.read_text(encoding="utf-8-sig")), "cases": cases}:
        return
    message = "the cases are not a list in block style at the end of the file; paste the new cases where they belong"
    raise GoldenFileError([Problem(str(path), suite.cases[-1].line, 1, message)])


def _block(path: Path, text: str, line: int, cases: Sequence[Mapping[str, Any]]) -> str:
    if path.suffix == ".jsonl":
        return "".join(f"{json.dumps(case, ensure_ascii=False)}\n" for case in cases)
    first = text.splitlines()[line - 1]
    indent = first[: len(first) - len(first.lstrip())]
    return "".join(case_text(case, indent) for case in cases)


def _yaml(text: str) -> dict[str, Any]:
    """Return what *text* says; an empty mapping where it is no YAML."""
    import yaml

    found: dict[str, Any] = {}
    with suppress(yaml.YAMLError):
        found = yaml.safe_load(text)
    return found
