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
from functools import reduce
from io import StringIO
from operator import getitem
from pathlib import Path
from typing import Any

import yaml

from ..base.complaints import Problem
from ..core.rag_interface import NOISE_DOCS
from ..core.types import EvaluationSample
from ..errors import GoldenFileError
from ..metrics.registry import Registry
from .golden.fields import EXPECTED_FIELDS
from .golden.load import load_golden
from .golden.model import GoldenSuite
from .importers.golden import case_text
from .json_lines import is_jsonl, load_lines
from .source import KeyPath, Source
from .yaml.nodes import Parser, flow_text, load_yaml

_OWN_KEYS = frozenset(
    {"id", "query", "variant_of", "scenario", "thresholds", "must_pass", "quarantine", "benchmark", "xfail"}
)
"""Keys that a variant does not inherit: it is another question, whose answer may be worse."""
_CHANGED = (NOISE_DOCS, "forbidden")
"""Labels that a variant may have of its own."""


@dataclass(frozen=True, slots=True)
class Appended:
    """``block`` is the text of the new cases alone, ``text`` the whole file with them; ``ids`` are theirs."""

    ids: tuple[str, ...]
    block: str
    text: str


def with_variants(
    path: Path, variants: Callable[[EvaluationSample], Iterable[EvaluationSample]], registry: Registry | None = None
) -> Appended:
    """Return the golden file at *path* with the *variants* of each case after its cases.

    Cases that are variants themselves get none, and existing variants are left out: doing it twice changes nothing.

    Raises:
        GoldenFileError: the file is wrong, or its cases are not written as a list at its end.
    """
    suite = load_golden(path, registry)
    by_id = {case["id"]: case for case in raw_cases(path)}
    new: list[dict[str, Any]] = []
    for case in suite.cases:
        if case.skip is not None or "variant_of" in case.sample.labels:
            continue
        inherited = {k: v for k, v in by_id[case.id].items() if k not in _OWN_KEYS}
        for variant in variants(case.sample):
            if variant.sample_id not in by_id:
                own = {
                    "id": variant.sample_id,
                    "variant_of": case.id,
                    "scenario": variant.labels["scenario"],
                    "query": variant.query,
                }
                before = case.sample.labels
                changed = {k: v for k, v in variant.labels.items() if k in _CHANGED and v != before.get(k)}
                new.append({**own, **inherited, **changed})
    return with_cases(path, new, registry)


def with_cases(path: Path, new: Sequence[Mapping[str, Any]], registry: Registry | None = None) -> Appended:
    """Return the golden file at *path* with the cases *new* after its own.

    Raises:
        GoldenFileError: the file is wrong, or its cases are not written as a list at its end.
    """
    suite = load_golden(path, registry)
    text = path.read_text(encoding="utf-8-sig")
    block = _cases_text(path, StringIO(text).readlines()[suite.cases[0].line - 1], new)
    new_text = text + ("" if text.endswith("\n") else "\n") + block if new else text
    file_text = _checked_text(path, suite, new_text, [*raw_cases(path), *new])
    return Appended(tuple(case["id"] for case in new), block, file_text)


def with_replacement(path: Path, case_id: str, new: Mapping[str, Any] | None, registry: Registry | None = None) -> str:
    """Return the text of the golden file at *path* with a case replaced by *new*; None removes the case.

    Raises:
        GoldenFileError: the file is wrong, or its cases are not written as a list at its end.
        KeyError: there is no such case.
    """
    suite = load_golden(path, registry)
    text = path.read_text(encoding="utf-8-sig")
    lines = StringIO(text).readlines()  # not splitlines(), which also breaks at U+2028
    starts = [case.line - 1 for case in suite.cases]
    index = starts.index(suite.case(case_id).line - 1)
    end = starts[index + 1] if index + 1 < len(starts) else len(lines)
    while end > starts[index] + 1 and lines[end - 1].strip()[:1] in ("", "#"):
        end -= 1  # blank lines and comments before the next case are the next case's
    old_cases = raw_cases(path)
    block = "" if new is None else _changed_block(path, lines[starts[index] : end], old_cases[index], new)
    new_text = "".join([*lines[: starts[index]], block, *lines[end:]])
    cases = [case for old in old_cases if (case := new if old["id"] == case_id else old)]
    return _checked_text(path, suite, new_text, cases)


def _changed_block(path: Path, lines: Sequence[str], old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Return the text of a case that becomes *new*; if it only loses its ``status``, all its other lines stay."""
    others = [line for line in lines if not line.lstrip().startswith("status:")]
    if len(others) == len(lines) - 1 and new == {key: value for key, value in old.items() if key != "status"}:
        return "".join(others)
    return _cases_text(path, lines[0], [new])


def raw_cases(path: Path) -> list[dict[str, Any]]:
    """Return the cases of a golden file as they are written, without what they inherit."""
    text = path.read_text(encoding="utf-8-sig")
    if is_jsonl(path):
        return [case for line in text.split("\n") if line.strip() and "query" in (case := json.loads(line))]
    return list(_parse_yaml(text)["cases"])


def _checked_text(path: Path, suite: GoldenSuite, new_text: str, cases: Sequence[Any]) -> str:
    """Return the new text, if it holds these cases and all else as before, with the file's line ends and its mark."""
    old_text = path.read_text(encoding="utf-8-sig")
    if not is_jsonl(path) and _parse_yaml(new_text) != {**_parse_yaml(old_text), "cases": cases}:
        where = "the cases are not a list in block style at the end of the file"
        problem = Problem(str(path), suite.cases[-1].line, 1, f"{where}; paste the new cases where they belong")
        raise GoldenFileError([problem])
    raw = path.read_bytes()
    with_line_ends = new_text.replace("\n", "\r\n") if raw.partition(b"\n")[0].endswith(b"\r") else new_text
    return f"\ufeff{with_line_ends}" if raw.startswith(codecs.BOM_UTF8) else with_line_ends


def _cases_text(path: Path, first: str, cases: Sequence[Mapping[str, Any]]) -> str:
    """Return *cases* as text for the file at *path*, indented as *first*, the first line of a case."""
    if is_jsonl(path):
        return "".join(f"{json.dumps(case, ensure_ascii=False)}\n" for case in cases)
    indent = first[: len(first) - len(first.lstrip())]
    return "".join(case_text(case, indent) for case in cases)


def _parse_yaml(text: str) -> dict[str, Any]:
    """Return the value of *text*; an empty mapping if it is not YAML."""
    root: dict[str, Any] = {}
    with suppress(yaml.YAMLError):
        root = yaml.load(text, Parser)  # libyaml accepts more than the parser in Python
    return root


Slot = tuple[str, int]
"""A case id, and the index of a label in its ``relevant_docs``."""

_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)+")


class LabelFile:
    """A golden file as it is on disk.

    Raises:
        GoldenFileError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.source = Source.load(path)
        self._is_jsonl = is_jsonl(path)
        self._root = root = self._load(self.source)
        cases: dict[KeyPath, Any]
        if self._is_jsonl:
            cases = {(line,): case for line, case in root.items() if {"id", "query"} & case.keys()}
        else:
            cases = {("cases", i): case for i, case in enumerate(root["cases"])}
        self._names = {slot: name for path, case in cases.items() for slot, name in self._names_in(path, case)}
        """The path of the name of each label."""

    def _load(self, source: Source) -> Any:
        return load_lines(source) if self._is_jsonl else load_yaml(source)

    def _names_in(self, path: KeyPath, case: Any) -> Iterator[tuple[Slot, KeyPath]]:
        holder, key = case, next((key for key in ("relevant_docs", *EXPECTED_FIELDS) if key in case), "")
        if not key:  # inherited: written once for many cases
            head = next(iter(self._root)) if self._is_jsonl else None
            holder = (self._root if head is None else self._root[head]).get("defaults") or {}
            path, key = ("defaults",) if head is None else (head, "defaults"), "relevant_docs"
        for number, label in enumerate(holder.get(key) or []):
            name = (number, "id" if "id" in label else "doc") if isinstance(label, dict) else (number,)
            yield (case["id"], number), (*path, key, *name)

    def places(self) -> dict[Slot, tuple[int, int]]:
        """Return line and column, both 1-based, of the name of every label."""
        return {slot: self.source.position(path) for slot, path in self._names.items()}

    def name(self, slot: Slot) -> str:
        """Return the name of a label in the file; empty if there is no such label."""
        return str(reduce(getitem, self._names[slot], self._root)) if slot in self._names else ""

    def with_new_ids(self, new_ids: Mapping[Slot, str]) -> bytes:
        """Return the bytes of the file with the names in *new_ids* replaced.

        Raises:
            GoldenFileError: a name cannot be replaced in place (a block of text, one place for two different ids);
                nothing may be written then.
        """
        replacements: dict[tuple[int, int], str] = {}
        for slot, new in new_ids.items():
            place = self.source.position(self._names[slot])
            if replacements.setdefault(place, new) != new:
                raise self._refusal(place, f"one place, and two new ids for it: {replacements[place]!r} and {new!r}")
        text = self.source.text
        events = () if self._is_jsonl else yaml.parse(text, Parser)
        scalars: Iterator[Any] = (event for event in events if isinstance(event, yaml.ScalarEvent))
        ends = {scalar.start_mark.index: scalar.end_mark.index for scalar in scalars}  # a scalar starts at its anchor
        edits = sorted((*self._span(place, ends), new) for place, new in replacements.items())
        for start, end, new in reversed(edits):
            text = text[:start] + self._scalar_text(text[start:end], new) + text[end:]
        self._check_text(text, new_ids)
        raw = self.path.read_bytes()
        return (codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b"") + text.encode()

    def _span(self, place: tuple[int, int], ends: Mapping[int, int]) -> tuple[int, int]:
        """Return the characters of the scalar at *place*, without anchor and tag."""
        text, start = self.source.text, self.source.line_starts[place[0] - 1] + place[1] - 1
        if self._is_jsonl:
            return start, json.JSONDecoder().raw_decode(text, start)[1]
        if (end := ends.get(start, 0)) and (properties := _PROPERTIES.match(text, start, end)):
            start = properties.end()
        if not end or text[start] in "|>*":
            raise self._refusal(place, "is written in a way that cannot be exchanged in place")
        return start, end

    def _scalar_text(self, old: str, new: str) -> str:
        """Return *new* in the quotes of *old*, or in those that it needs."""
        if self._is_jsonl:
            return json.dumps(new, ensure_ascii=False)
        return flow_text(new, old[:1] if old[:1] in "'\"" else None)

    def _check_text(self, text: str, new_ids: Mapping[Slot, str]) -> None:
        """Check that the new text has the value of the old one but for these ids."""
        expected = copy.deepcopy(self._root)  # keeps values that are used twice one object
        for slot, new in new_ids.items():
            *holder, key = self._names[slot]
            reduce(getitem, holder, expected)[key] = new
        twin = Source(self.source.path, text)
        if self._load(twin) != expected or twin.problems:
            message = "exchanging the labels in place would change more than them; nothing was written"
            raise self._refusal((0, 0), message)

    def _refusal(self, place: tuple[int, int], message: str) -> GoldenFileError:
        return GoldenFileError([Problem(self.source.path, *place, message)])
