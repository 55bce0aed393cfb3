"""New ids of labels in a golden file, every other byte as it is."""

from __future__ import annotations

import codecs
import copy
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ..errors import GoldenFileError, Problem
from .json_lines import load_lines
from .source import Source
from .yaml.load import Parser, load_yaml

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
            yield (case["id"], number), _Place(at, key, self.source.at(at, key))

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
