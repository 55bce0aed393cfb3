"""JSON Lines with the places of all values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..base.files import RepeatedKeyError, refuse_constant, unique_keys
from ..base.git import CONFLICT, conflict_line
from .source import MAX_DEPTH, KeyPath, Source, check_plain, describe

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_TOKEN = re.compile(r'["\[\]{}]|[^\s\[\]{}:,"]+')
"""The beginning of a text, a bracket, a number or a word."""


def is_jsonl(path: Path) -> bool:
    """Whether the name of the file says that it is JSON Lines."""
    return path.suffix.lower() == ".jsonl"


def load_lines(source: Source) -> dict[int, dict[str, Any]]:
    """Return the mapping on every line that is not blank, by the number of its line in *source*, from 0.

    *source* then finds the places of all values.  A line that holds anything else is reported and left out.  A repeated
    key is reported; its first value is kept.
    """
    source.find = partial(_find, source)
    values: dict[int, dict[str, Any]] = {}
    for number, line in enumerate(source.lines):
        if not line or line.isspace():
            continue
        line_number = source.lines_before + number + 1
        try:
            value = _parse(source, line, number)
        except json.JSONDecodeError as exc:
            message = CONFLICT if conflict_line(line) else f"not JSON: {exc.msg}"
            source.report_at(line_number, exc.colno, message)
        except RecursionError:
            source.report_at(line_number, 1, f"lists and mappings nest more than {MAX_DEPTH} deep on this line")
        except ValueError as exc:
            source.report_at(line_number, 1, f"cannot be read: {exc}")
        else:
            if isinstance(value, dict):
                values[number] = value
            else:
                source.report_at(line_number, 1, f"expected a mapping on each line, got {describe(value)}")
    return values


_decode = json.JSONDecoder(object_pairs_hook=unique_keys, parse_constant=refuse_constant).decode


def _parse(source: Source, line: str, number: int) -> Any:
    try:
        value = _decode(line)
    except RepeatedKeyError:
        value = json.loads(line, object_pairs_hook=_first_values, parse_constant=refuse_constant)
        for key, offset in _place(line).repeated():
            source.report_at(*source.line_and_column(source.line_starts[number] + offset), f"{key!r} is given twice")
    if _SURROGATE.search(line) or line.count("[") + line.count("{") > MAX_DEPTH:
        check_plain(value)
    return value


def _first_values(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        values.setdefault(key, value)
    return values


class _Pairs(list[tuple[str, Any]]):
    """A mapping as it is written: a key may be there twice."""


class _Placed(NamedTuple):
    """The offset of a value in its line; of a mapping its keys with their offsets and values, of a list its items."""

    offset: int
    pairs: Sequence[tuple[Any, int, _Placed]] = ()

    def repeated(self) -> Iterator[tuple[str, int]]:
        """Yield the keys that are there already, with their offsets."""
        keys = set()
        for key, offset, value in self.pairs:
            if key in keys:
                yield key, offset
            keys.add(key)
            yield from value.repeated()


_RAW = json.JSONDecoder()


def _token_offsets(line: str) -> Iterator[int]:
    at = 0
    while token := _TOKEN.search(line, at):
        yield token.start()
        # a pattern for the whole text would keep a state for each of its characters
        at = _RAW.raw_decode(line, token.start())[1] if token[0] == '"' else token.end()


def _place(line: str) -> _Placed:
    """Return the places of the values of a *line* of valid JSON."""
    offsets = _token_offsets(line)

    def placed(raw: Any) -> _Placed:
        start = next(offsets)
        if isinstance(raw, _Pairs):
            pairs: list[tuple[Any, int, _Placed]] = [(key, next(offsets), placed(part)) for key, part in raw]
        elif isinstance(raw, list):
            pairs = [(i, place.offset, place) for i, place in enumerate(map(placed, raw))]
        else:
            return _Placed(start)
        next(offsets)  # the bracket at the end
        return _Placed(start, pairs)

    return placed(json.loads(line, object_pairs_hook=_Pairs, parse_constant=refuse_constant))


def _find(source: Source, path: KeyPath, on_key: bool) -> int | None:
    number, *keys = path
    line = source.lines[number]
    if not keys:
        return source.line_starts[number] + len(line) - len(line.lstrip())
    value, offset = _place(line), None
    for key in keys:
        found = next(((at, part) for name, at, part in value.pairs if name == key), None)
        if found is None:
            return None
        key_offset, value = found
        offset = key_offset if on_key else value.offset
    return None if offset is None else source.line_starts[number] + offset
