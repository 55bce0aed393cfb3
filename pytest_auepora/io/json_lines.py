"""JSON Lines with the places of all values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..base.files import RepeatedKeyError, unique_keys
from ..base.git import CONFLICT, conflict_line
from .source import MAX_DEPTH, Source, describe

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_TOKEN = re.compile(r'["\[\]{}]|[^\s\[\]{}:,"]+')
"""The beginning of a text, a bracket, a number or a word."""


def is_jsonl(path: Path) -> bool:
    """Whether the name of the file says that it is JSON Lines."""
    return path.suffix.lower() == ".jsonl"


def parse_json_cell(value: Any, *starts: str) -> Any:
    """Return what a text that begins with one of *starts* holds as JSON; *value* itself where it is none."""
    if isinstance(value, str) and value.startswith(starts):
        with suppress(ValueError):
            return json.loads(value)
    return value


def load_lines(source: Source) -> list[dict[str, Any]]:
    """Return the mapping on every line that is not blank; *source* then knows all places.

    A line that holds anything else is reported and left out.  A repeated key is reported; its first value is kept.
    """
    values: dict[int, dict[str, Any]] = {}
    for number, line in enumerate(source.lines):
        if not line or line.isspace():
            continue
        line_number = source.lines_before + number + 1
        try:
            value = _parse(source, line, source.line_starts[number])
        except json.JSONDecodeError as exc:
            message = CONFLICT if conflict_line(line) else f"not JSON: {exc.msg}"
            source.report_at(line_number, exc.colno, message)
            continue
        except RecursionError:
            source.report_at(line_number, 1, f"lists and mappings nest more than {MAX_DEPTH} deep on this line")
            continue
        except ValueError as exc:
            source.report_at(line_number, 1, f"cannot be read: {exc}")
            continue
        if not isinstance(value, dict):
            source.report_at(line_number, 1, f"expected a mapping on each line, got {describe(value)}")
            continue
        values[number] = value
        source.start_offsets[id(value)] = source.line_starts[number] + len(line) - len(line.lstrip())
    source.root, source.locate = values, _locate
    return [*values.values()]


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


_decode = json.JSONDecoder(object_pairs_hook=unique_keys, parse_constant=_refuse_constant).decode


def _parse(source: Source, line: str, start: int) -> Any:
    try:
        value = _decode(line)
    except RepeatedKeyError:
        value = _parse_with_offsets(source, line, start)
        source.dropped.append(value)  # so that its id stays its own, whatever becomes of it
    _check(line, value)
    return value


def _check(line: str, value: Any) -> None:
    if line.count("[") + line.count("{") > MAX_DEPTH:
        level, depth = [value], 0
        while level := [part for item in level if isinstance(item, (dict, list)) for part in _parts(item)]:
            depth += 1
            if depth > MAX_DEPTH:
                raise RecursionError
    if _SURROGATE.search(line):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as exc:
            half = str(exc.object[exc.start : exc.end]).encode("ascii", "backslashreplace").decode()
            raise ValueError(f"{half} is half a character") from None


def _parts(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value


def _locate(source: Source) -> None:
    for number, value in source.root.items():
        if id(value) not in source.offsets:
            twin = Source(source.path, "")
            twin_value = _parse_with_offsets(twin, source.lines[number], source.line_starts[number])
            source.move_offsets(value, twin.offsets, twin_value)


class _Pairs(list[tuple[str, Any]]):
    """A mapping as it is written: a key may be there twice."""


_RAW = json.JSONDecoder()


def _token_offsets(line: str) -> Iterator[int]:
    at = 0
    while token := _TOKEN.search(line, at):
        yield token.start()
        # a pattern for the whole text would keep a state for each of its characters
        at = _RAW.raw_decode(line, token.start())[1] if token[0] == '"' else token.end()


def _parse_with_offsets(source: Source, line: str, start: int) -> Any:
    """Return the value of a *line* of valid JSON that begins at offset *start*; *source* then knows all offsets.

    A repeated key is reported; its first value is kept.
    """
    offsets_of_tokens = (start + offset for offset in _token_offsets(line))

    def build(raw: Any) -> tuple[Any, int]:
        """Return the value of *raw* and its offset."""
        offsets = [next(offsets_of_tokens)]
        value: Any = raw
        if isinstance(raw, _Pairs):
            value = {}
            for key, raw_part in raw:
                key_offset = next(offsets_of_tokens)
                part, offset = build(raw_part)
                if key in value:
                    source.report_at(*source.line_and_column(key_offset), f"{key!r} is given twice")
                    source.dropped.append(part)
                else:
                    value[key] = part
                    offsets += (key_offset, offset)
        elif isinstance(raw, list):
            value = []
            for part, offset in map(build, raw):
                value.append(part)
                offsets.append(offset)
        else:
            return raw, offsets[0]
        next(offsets_of_tokens)  # the bracket at the end
        source.offsets[id(value)] = offsets
        return value, offsets[0]

    return build(json.loads(line, object_pairs_hook=_Pairs, parse_constant=_refuse_constant))[0]
