"""Rows of files: JSON, JSON Lines, YAML and CSV, as mappings."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

import yaml

from ...base.files import numbered_lines, parse_json, read_text, write_atomically
from ...errors import GoldenFileError
from ..json_lines import is_jsonl
from ..source import Source, check_plain
from ..yaml.nodes import load_yaml
from .imported import ImportProblem

T = TypeVar("T")

LONGEST_CELL = 100_000_000
"""Characters of a cell in CSV."""

_SEPARATORS = (",", ";", "\t", "|")
"""What separates the columns of a table, the commonest first."""

_SEPARATOR_LINE = re.compile(r'"?sep=([^\w\s"]|\t)"? *\r?')
"""How spreadsheets name the separator, in a line before the header."""

_MAX_DEPTH = 80
"""How deep lists and mappings may nest; a case has a few levels of its own, and golden files nest at most 100."""


class Row(dict[str, Any]):
    """One mapping of a file, with the words that say where it stands: ``cases.csv: row 2``, ``cases.jsonl:7``."""

    def __init__(self, values: Mapping[Any, Any], place: str) -> None:
        super().__init__({str(key): value for key, value in values.items()})
        self.place = place

    def cell(self, name: str, read: Callable[..., T], *more: Any) -> T:
        """Return what *read* makes of the value of a column, None without one; it is given its place, and *more*."""
        return read(self.get(name), f"{self.place}, column {name}", *more)


def read_data(path: Path, *, core_schema: bool = False) -> Any:
    """Return what a file of JSON, JSON Lines, YAML, CSV or TSV holds; raises `ImportProblem` for any other.

    Tables give a list of `Row`.  With *core_schema*, plain scalars of YAML are read as YAML 1.2 has them.
    """
    suffix = path.suffix.lower()
    text = read_text(path, ImportProblem)
    if suffix in (".csv", ".tsv"):
        return _parse_csv(text, "\t" if suffix == ".tsv" else ",", path)
    if suffix in (".jsonl", ".ndjson"):
        values = [(_parse_json(line, path, number), f"{path}:{number}") for number, line in numbered_lines(text)]
        return [Row(value, place) if isinstance(value, Mapping) else value for value, place in values]
    if suffix in (".yaml", ".yml"):
        return _parse_yaml(text, path, core_schema=core_schema)
    if suffix == ".json":
        return _parse_json(text, path, 1)
    raise ImportProblem(f"{path}: expected .json, .jsonl, .yaml, .yml, .csv or .tsv")


def read_rows(path: Path, *keys: str) -> list[Row]:
    """Return the list of mappings in *path*, at the top or under one of *keys*; raises `ImportProblem` without one."""
    data = read_data(path)
    if isinstance(data, Mapping):
        data = next((data[k] for k in keys if isinstance(data.get(k), list)), data)
    if not isinstance(data, list) or not all(isinstance(row, Mapping) for row in data):
        where = f", at the top or under {' or '.join(keys)}" if keys else ""
        raise ImportProblem(f"{path}: expected a list of mappings{where}")
    return [row if isinstance(row, Row) else Row(row, f"{path}: row {n}") for n, row in enumerate(data, 1)]


def _parse_json(text: str, path: Path, line: int) -> Any:
    data = parse_json(text, path, line, ImportProblem)
    check_values(data, f"{path}:{line}")
    return data


def _parse_yaml(text: str, path: Path, *, core_schema: bool) -> Any:
    source = Source(str(path), text)
    try:
        data = load_yaml(source, core_schema=core_schema)
        if source.problems:  # a key that is given twice
            raise source.error()
    except GoldenFileError as exc:
        raise ImportProblem(str(exc)) from None
    check_values(data, str(path))  # aliases may nest deeper than the reader saw
    return data


def check_values(data: Any, place: str) -> None:
    """Refuse what no golden file can hold; raises `ImportProblem`, with *place*."""
    try:
        check_plain(data, _MAX_DEPTH)
    except RecursionError:
        raise ImportProblem(f"{place}: nests too deep") from None
    except ValueError as exc:
        raise ImportProblem(f"{place}: {exc}") from None


def _parse_csv(text: str, usual: str, path: Path) -> list[Row]:
    """Return the rows of a table, separated by *usual* or by what else separates the columns of its header.

    A row is numbered as a spreadsheet does: the header is row 1.
    """
    first, _, rest = text.partition("\n")
    said = _SEPARATOR_LINE.fullmatch(first)
    header_line = rest.partition("\n")[0] if said else first
    candidates = [said[1]] if said else [d for d in dict.fromkeys((usual, *_SEPARATORS)) if d in header_line] or [usual]
    problems = []
    for delimiter in candidates:
        try:
            return _rows_of_table(rest if said else text, delimiter, path, 2 if said else 1)
        except ImportProblem as exc:
            problems.append(exc)
    raise problems[0]


def _rows_of_table(text: str, delimiter: str, path: Path, first: int) -> list[Row]:
    csv.field_size_limit(LONGEST_CELL)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as exc:
        raise ImportProblem(f"{path}: not CSV: {exc}") from None
    if not rows:
        return []
    header, *body = rows
    if len(set(header)) != len(header):
        raise ImportProblem(f"{path}:{first}: a column is named twice")
    for number, row in enumerate(body, first + 1):
        if row and len(row) != len(header):
            shown = "" if delimiter == "," else f" (separated by {delimiter!r})"
            raise ImportProblem(f"{path}: row {number} has {len(row)} columns, the header {len(header)}{shown}")
    return [
        Row(dict(zip(header, row, strict=True)), f"{path}: row {number}")
        for number, row in enumerate(body, first + 1)
        if row
    ]


def write_data(path: Path, data: Any, indent: int | None = None) -> None:
    """Write *data* as JSON, on one line without *indent*, as JSON Lines, or as YAML, whatever *path* ends in."""
    if path.suffix.lower() == ".json":
        write_atomically(path, dump_json(data, indent) + "\n")
    elif is_jsonl(path):
        write_lines(path, data)
    else:
        write_atomically(path, yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100))


def write_lines(path: Path, rows: Iterable[Any]) -> None:
    """Write *rows* as JSON Lines."""
    write_atomically(path, "".join(f"{dump_json(row)}\n" for row in rows))


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
    write_atomically(path, buffer.getvalue())


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
