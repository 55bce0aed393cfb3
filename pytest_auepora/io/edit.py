"""Golden files changed in place: cases appended, replaced or taken out, new ids of labels; all else stays as it was,
comments included.
"""

from __future__ import annotations

import codecs
import copy
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ..core.rag_interface import NOISE_DOCS
from ..core.types import EvaluationSample
from ..errors import GoldenFileError, Problem
from ..metrics.registry import Registry
from .golden.load import load_golden
from .golden.model import GoldenSuite
from .importers.golden import case_text
from .json_lines import load_lines
from .source import Source
from .yaml.load import Parser, load_yaml

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
    block = _block(path, StringIO(text).readlines()[suite.cases[0].line - 1], new)
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
    lines = StringIO(text).readlines()  # not splitlines(), which also breaks at U+2028
    starts = [case.line - 1 for case in suite.cases]
    at = starts.index(suite.case(case_id).line - 1)
    end = starts[at + 1] if at + 1 < len(starts) else len(lines)
    while end > starts[at] + 1 and lines[end - 1].strip()[:1] in ("", "#"):
        end -= 1  # blank lines and comments before the next case are the next case's
    block = "" if new is None else _block(path, lines[starts[at]], [new])
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


def _block(path: Path, first: str, cases: Sequence[Mapping[str, Any]]) -> str:
    """Return *cases* as they are written in the file at *path*, indented as *first*, the first line of a case."""
    if path.suffix == ".jsonl":
        return "".join(f"{json.dumps(case, ensure_ascii=False)}\n" for case in cases)
    indent = first[: len(first) - len(first.lstrip())]
    return "".join(case_text(case, indent) for case in cases)


def _yaml(text: str) -> dict[str, Any]:
    """Return what *text* says; an empty mapping where it is no YAML."""
    found: dict[str, Any] = {}
    with suppress(yaml.YAMLError):
        found = yaml.load(text, Parser)  # libyaml takes more than Python alone does
    return found


Slot = tuple[str, int]
"""A case id, and the index of a label in its ``relevant_docs``."""

_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)+")
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
_FLOW = frozenset(",[]{}")


class _Place(NamedTuple):
    """What names a label: the value of *holder* at *key*, and where it stands."""

    holder: Any
    key: Any
    at: tuple[int, int]


class LabelFile:
    """A golden file as it is on disk.

    Raises:
        GoldenFileError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.source = Source.load(path)
        self._lines = path.suffix.lower() == ".jsonl"
        root: Any = load_lines(self.source) if self._lines else load_yaml(self.source)
        self._root = root
        cases = [line for line in root if {"id", "query"} & line.keys()] if self._lines else root["cases"]
        self._places = {slot: place for case in cases for slot, place in self._of_case(case)}

    def _of_case(self, case: Any) -> Iterator[tuple[Slot, _Place]]:
        holder = case
        if "relevant_docs" not in case:  # inherited: written once for many cases
            head = self._root[0] if self._lines else self._root
            holder = head.get("defaults") or {}
        labels = holder.get("relevant_docs") or []
        for number, label in enumerate(labels):
            at, key = (label, "id" if "id" in label else "doc") if isinstance(label, dict) else (labels, number)
            yield (case["id"], number), _Place(at, key, self.source.position(at, key))

    def place(self, slot: Slot) -> tuple[int, int]:
        """Return line and column, both 1-based, of what names a label."""
        return self._places[slot].at

    def places(self) -> dict[Slot, tuple[int, int]]:
        """Return line and column, both 1-based, of every label."""
        return {slot: found.at for slot, found in self._places.items()}

    def name(self, slot: Slot) -> str:
        """Return what a label is called in the file now; empty where there is no such label."""
        found = self._places.get(slot)
        return "" if found is None else str(found.holder[found.key])

    def rewritten(self, new_ids: Mapping[Slot, str]) -> bytes:
        """Return the file's bytes with the labels in *new_ids* named so.

        Raises:
            GoldenFileError: a label is written in a way that cannot be exchanged in place (a block of text, one
                place for two different ids); nothing is to be written then.
        """
        spots: dict[tuple[int, int], str] = {}
        for slot, new in new_ids.items():
            place = self.place(slot)
            if spots.setdefault(place, new) != new:
                raise self._refusal(place, f"one place, and two new ids for it: {spots[place]!r} and {new!r}")
        ends = {} if self._lines else _ends(self.source.text)
        edits = sorted((*self._span(place, ends), new) for place, new in spots.items())
        text = self.source.text
        for start, end, new in reversed(edits):
            text = text[:start] + self._scalar(text[start:end], new) + text[end:]
        self._check(text, new_ids)
        raw = self.path.read_bytes()
        return (codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b"") + text.encode()

    def _span(self, place: tuple[int, int], ends: Mapping[int, int]) -> tuple[int, int]:
        """Return the characters of the scalar at *place*, without anchor and tag."""
        text, start = self.source.text, self.source.line_starts[place[0] - 1] + place[1] - 1
        if self._lines:
            return start, json.JSONDecoder().raw_decode(text, start)[1]
        if (end := ends.get(start, 0)) and (found := _PROPERTIES.match(text, start, end)):
            start = found.end()
        if not end or text[start] in "|>*":
            raise self._refusal(place, "is written in a way that cannot be exchanged in place")
        return start, end

    def _scalar(self, old: str, new: str) -> str:
        if self._lines or old[:1] == '"':
            return json.dumps(new, ensure_ascii=bool(_UNSAFE.search(new)))
        if old[:1] == "'" and not _UNSAFE.search(new):
            return "'" + new.replace("'", "''") + "'"
        return new if _is_plain(new) else json.dumps(new, ensure_ascii=bool(_UNSAFE.search(new)))

    def _check(self, text: str, new_ids: Mapping[Slot, str]) -> None:
        """Read the new text: it has to say what the old one did, but for these ids."""
        copies: dict[int, Any] = {}
        wanted = copy.deepcopy(self._root, copies)  # what is used twice stays one value
        for slot, new in new_ids.items():
            place = self._places[slot]
            copies[id(place.holder)][place.key] = new
        twin = Source(self.source.path, text)
        found = load_lines(twin) if self._lines else load_yaml(twin)
        if twin.problems or found != wanted:
            told = "exchanging the labels in place would change more than them; nothing was written"
            raise self._refusal((0, 0), told)

    def _refusal(self, place: tuple[int, int], message: str) -> GoldenFileError:
        return GoldenFileError([Problem(self.source.path, *place, message)])


def _ends(text: str) -> dict[int, int]:
    """Return where each scalar of *text* ends, by where it (or its anchor) starts."""
    scalars: Iterator[Any] = (event for event in yaml.parse(text, Parser) if isinstance(event, yaml.ScalarEvent))
    return {scalar.start_mark.index: scalar.end_mark.index for scalar in scalars}


def _is_plain(text: str) -> bool:
    """Whether *text* can stand without quotes, in a list in brackets too, and is read as itself."""
    if _UNSAFE.search(text) or _FLOW & set(text) or text != text.strip():
        return False
    try:
        return bool(yaml.safe_load(f"[{text}]") == [text] and yaml.safe_load(f"a: {text}") == {"a": text})
    except yaml.YAMLError:
        return False
