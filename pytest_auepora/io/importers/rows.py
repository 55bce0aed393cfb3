"""Rows of files: JSON, JSON Lines, YAML and CSV, as mappings."""

from __future__ import annotations

import ast
import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from math import isfinite
from pathlib import Path
from typing import Any

import yaml

from ...base.files import numbered_lines, parse_json, read_text
from ...errors import GoldenFileError
from ..json_lines import is_jsonl
from ..source import Source
from ..yaml.load import check_integer, load_yaml
from .model import ImportProblem

LONGEST_CELL = 100_000_000
"""Characters of a cell in CSV."""

_MAX_DEPTH = 80
"""How deep lists and mappings may nest; a case has a few levels of its own, and golden files nest at most 100."""


def read_data(path: Path) -> Any:
    """Return what a file of JSON, JSON Lines, YAML, CSV or TSV holds; raises `ImportProblem` for any other."""
    suffix = path.suffix.lower()
    text = read_text(path, ImportProblem)
    if suffix in (".csv", ".tsv"):
        return _parse_csv(text, "\t" if suffix == ".tsv" else ",", path)
    if suffix in (".jsonl", ".ndjson"):
        return [_parse_json(line, path, number) for number, line in numbered_lines(text)]
    if suffix in (".yaml", ".yml"):
        return _parse_yaml(text, path)
    if suffix == ".json":
        return _parse_json(text, path, 1)
    raise ImportProblem(f"{path}: expected .json, .jsonl, .yaml, .yml, .csv or .tsv")


def read_rows(path: Path, *keys: str) -> list[dict[str, Any]]:
    """Return the list of mappings in *path*, at the top or under one of *keys*; raises `ImportProblem` without one."""
    data = read_data(path)
    if isinstance(data, Mapping):
        data = next((data[k] for k in keys if isinstance(data.get(k), list)), data)
    if not isinstance(data, list) or not all(isinstance(row, Mapping) for row in data):
        where = f", at the top or under {' or '.join(keys)}" if keys else ""
        raise ImportProblem(f"{path}: expected a list of mappings{where}")
    return [dict(row) for row in data]


def _parse_json(text: str, path: Path, line: int) -> Any:
    data = parse_json(text, path, line, ImportProblem)
    _check(data, f"{path}:{line}", is_json=True)
    return data


def _check_json_value(value: Any) -> None:
    if isinstance(value, str):
        value.encode()  # fails for half a character
    elif isinstance(value, float) and not isfinite(value):
        raise ValueError(f"{value} is not a number")
    elif isinstance(value, int):
        check_integer(value)


def _parse_yaml(text: str, path: Path) -> Any:
    try:
        data = load_yaml(Source(str(path), text))
    except GoldenFileError as exc:
        raise ImportProblem(str(exc)) from None
    _check(data, str(path))  # aliases may nest deeper than the reader saw
    return data


def _check(data: Any, place: str, *, is_json: bool = False, depth: int = 0) -> None:
    """Refuse lists and mappings that nest too deep, and of JSON what no golden file may hold."""
    if isinstance(data, (dict, list)):
        if depth > _MAX_DEPTH:
            raise ImportProblem(f"{place}: nests too deep")
        for part in (*data, *data.values()) if isinstance(data, dict) else data:
            _check(part, place, is_json=is_json, depth=depth + 1)
    elif is_json:
        try:
            _check_json_value(data)
        except ValueError as exc:
            raise ImportProblem(f"{place}: not JSON: {exc}") from None


def _parse_csv(text: str, delimiter: str, path: Path) -> list[dict[str, str]]:
    csv.field_size_limit(LONGEST_CELL)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as exc:
        raise ImportProblem(f"{path}: not CSV: {exc}") from None
    if not rows:
        return []
    header, *body = rows
    if len(set(header)) != len(header):
        raise ImportProblem(f"{path}:1: a column is named twice")
    for number, row in enumerate(body, 2):
        if row and len(row) != len(header):
            raise ImportProblem(f"{path}: row {number} has {len(row)} columns, the header {len(header)}")
    return [dict(zip(header, row, strict=True)) for row in body if row]


def write_text(path: Path, text: str) -> None:
    """Write *text* as UTF-8, lines ended by a line feed alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def write_data(path: Path, data: Any, indent: int | None = None) -> None:
    """Write *data* as JSON, on one line without *indent*, as JSON Lines, or as YAML, whatever *path* ends in."""
    if path.suffix.lower() == ".json":
        write_text(path, dump_json(data, indent) + "\n")
    elif is_jsonl(path):
        write_lines(path, data)
    else:
        write_text(path, yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100))


def write_lines(path: Path, rows: Iterable[Any]) -> None:
    """Write *rows* as JSON Lines."""
    write_text(path, "".join(f"{dump_json(row)}\n" for row in rows))


def dump_json(value: Any, indent: int | None = None) -> str:
    """Return *value* as JSON, on one line without *indent*, dates as texts; raises `ImportProblem` for NaN or ∞."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, default=_plain_text)
    except ValueError as exc:
        raise ImportProblem(f"cannot be written as JSON: {exc}") from None


def _plain_text(value: Any) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows, separated by tabs where *path* ends in ``.tsv``; None is an empty cell."""
    buffer = io.StringIO(newline="")
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    writer = csv.DictWriter(buffer, list(columns), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: "" if row.get(k) is None else row[k] for k in columns} for row in rows)
    write_text(path, buffer.getvalue())


def first_filled(row: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """Return the first of *names* whose column in *row* is not empty."""
    return next((n for n in names if row.get(n) not in (None, "", [])), None)


def as_text(value: Any) -> str:
    """Return *value* as a text: itself, a date as YAML writes it, or JSON."""
    return _plain_text(value) if isinstance(value, (str, date)) else dump_json(value)


def mapping_or_empty(value: Any) -> dict[str, Any]:
    """Return *value* if it is a mapping, else an empty one."""
    return dict(value) if isinstance(value, Mapping) else {}


def list_or_empty(value: Any) -> list[Any]:
    """Return *value* if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_list(value: Any, delimiter: str = "|") -> list[Any]:
    """Return a cell as a list: a list, JSON of a list, or texts between *delimiter*; empty for nothing."""
    if value is None or value == "":
        return []
    if isinstance(value, (list, tuple)):
        return list(value)
    if not isinstance(value, str):
        return [value]
    if value.lstrip().startswith("["):
        for parse in (json.loads, ast.literal_eval):  # the latter is how some tools put lists into CSV
            try:
                parsed = parse(value)
            except (ValueError, SyntaxError, RecursionError, MemoryError):  # the last two of literals nested deep
                continue
            if isinstance(parsed, list):
                return parsed
    return [part.strip() for part in value.split(delimiter) if part.strip()]
