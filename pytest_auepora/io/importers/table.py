"""Tables: CSV, TSV and Parquet, one case a row.

A column named as a key of a golden case is that key; common other names are understood (`ALIASES`).  A cell of a list
holds JSON, or texts between ``|``; a mapping is JSON.  Every other column becomes metadata.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping
from pathlib import Path
from typing import Any

from ...errors import did_you_mean
from ..golden.fields import CASE_FIELDS
from ..golden.kinds import FieldType, Flag, Free, ListOf, Number, Reason, Whole
from ..golden.passages import Documents
from ..parquet import imported_pyarrow, iter_rows
from .model import Dropped, ImportedSuite, ImportProblem, Names, drop_rest, split_metadata
from .rows import as_list, dump_json, read_rows, write_csv

ALIASES = {
    "id": ("case_id", "sample_id", "query_id", "qid", "name"),
    "query": ("question", "user_input", "input", "prompt", "user_query"),
    "reference_answer": ("expected_answer", "expected_output", "expected", "reference", "ground_truth", "gold_answer",
                         "answer"),
    "relevant_docs": ("relevant_doc_ids", "relevant_ids", "doc_ids", "relevant_documents", "gold_docs",
                      "reference_context_ids"),
}  # fmt: skip
"""Key of a golden case → other names of its column, in order of preference."""

_COLUMNS = {key: field.type for key, field in CASE_FIELDS.items() if key not in ("thresholds", "status", "benchmark")}
_LISTS = {key for key, kind in _COLUMNS.items() if isinstance(kind, (ListOf, Documents)) and key != "reference_answer"}
_SEVERAL = '["'
"""What a cell of several reference answers begins with."""
_YES = ("true", "yes", "1")
_NO = ("false", "no", "0")
_READ: Mapping[type[FieldType], tuple[str, Callable[[str], Any]]] = {
    Free: ("JSON", json.loads),
    Whole: ("a number", int),
    Number: ("a number", float),
    Flag: ("true or false", lambda cell: cell.strip().lower() in _YES),
    Reason: ("text", lambda cell: {**dict.fromkeys(_YES, True), **dict.fromkeys(_NO, False)}.get(cell.lower(), cell)),
}
"""What a cell of a kind is told to hold, and how it is read; all others are texts."""


def load(path: Path, dropped: Dropped) -> ImportedSuite:
    """Read a CSV or TSV file; see the module."""
    return _suite(read_rows(path), path, dropped)


def load_parquet(path: Path, dropped: Dropped) -> ImportedSuite:
    """Read a Parquet file; raises as `io.parquet.load_parquet_dataset` does."""
    return _suite(list(iter_rows(path)), path, dropped)


def _suite(rows: list[dict[str, Any]], path: Path, dropped: Dropped) -> ImportedSuite:
    names = Names(dropped)
    cases = []
    if rows and not any({"query", *ALIASES["query"]} & row.keys() for row in rows):
        there = list(dict.fromkeys(name for row in rows for name in row))
        near = did_you_mean("query", there)
        known = ", ".join(("query", *ALIASES["query"]))
        raise ImportProblem(f"{path}: no column holds questions ({known}); there is {', '.join(there)}{near}")
    for number, row in enumerate(rows, 1):
        columns = _names_in(row)
        query = row.get(columns["query"])
        if not isinstance(query, str) or not query.strip():
            dropped.add(f"a row without a question (columns query, {', '.join(ALIASES['query'])})")
            continue
        case: dict[str, Any] = {"id": names.take(row.get(columns["id"]), query), "query": query}
        for key in [*_COLUMNS][2:]:
            if (cell := row.get(columns[key])) not in (None, ""):
                case[key] = _read(key, cell, f"{path}: row {number}, column {columns[key]}")
        rest = split_metadata(row, columns.values())
        for name in rest.keys() & CASE_FIELDS.keys():  # thresholds, benchmark: matters of running it
            dropped.add(f"the column {name}")
            del rest[name]
        if rest:
            own = case.get("metadata", {})
            case["metadata"] = {**(own if isinstance(own, Mapping) else {"metadata": own}), **rest}
        cases.append({k: v for k, v in case.items() if v is not None})
    return ImportedSuite(cases, notes=_read_as(rows))


def _names_in(there: Container[str]) -> dict[str, str]:
    """Return by what name each column is *there*."""
    return {key: next((n for n in (key, *ALIASES.get(key, ())) if n in there), key) for key in _COLUMNS}


def _read_as(rows: list[dict[str, Any]]) -> list[str]:
    """Say which columns were read as something of another name."""
    there = dict.fromkeys(name for row in rows for name in row)
    known = _names_in(there)
    taken = [f"the column {name} is read as {key}" for key, name in known.items() if name in there and name != key]
    rest = [n for n in there if n not in known.values() and n not in CASE_FIELDS]
    return [*taken, *(f"the column {name} is kept as metadata, which no metric reads" for name in rest)]


def _read(key: str, cell: Any, place: str) -> Any:
    if key in _LISTS:
        return as_list(cell)
    if key == "reference_answer":
        answers = as_list(cell) if isinstance(cell, list) or str(cell).startswith(_SEVERAL) else [str(cell)]
        return answers[0] if len(answers) == 1 else answers
    wanted, read = _READ.get(type(_COLUMNS[key]), ("text", str))
    if not isinstance(cell, str):
        return cell
    try:
        return read(cell)
    except (ValueError, RecursionError):
        raise ImportProblem(f"{place}: expected {wanted}, got {cell[:60]!r}") from None


def save(suite: ImportedSuite, path: Path, dropped: Dropped) -> None:
    """Write a CSV file that `load` reads the same."""
    rows = ({k: _cell(k, v) for k, v in case.items()} for case in suite.cases)
    write_csv(path, _columns_of(suite, dropped), rows)


def _columns_of(suite: ImportedSuite, dropped: Dropped) -> list[str]:
    for case in suite.cases:
        drop_rest(case, _COLUMNS, dropped, "{}: no column")
    return [c for c in _COLUMNS if any(c in case for case in suite.cases)]


def _cell(key: str, value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if key == "reference_answer":
        return _flat(key, value)
    if key in _LISTS and isinstance(value, list):
        plain = value and all(isinstance(v, str) and v == v.strip() and "|" not in v and v for v in value)
        return "|".join(value) if plain and not value[0].startswith("[") else dump_json(value)
    return dump_json(value) if isinstance(value, (list, Mapping)) else value


def save_parquet(suite: ImportedSuite, path: Path, dropped: Dropped) -> None:
    """Write a Parquet file, nested values as JSON.  Needs the extra ``parquet``."""
    pyarrow = imported_pyarrow()
    columns = {c: pyarrow.array([_flat(c, case.get(c)) for case in suite.cases]) for c in _columns_of(suite, dropped)}
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def _flat(key: str, value: Any) -> Any:
    """Return a value of one type per column: scalars as they are, everything else as JSON."""
    if key == "reference_answer" and isinstance(value, str) and value.startswith(_SEVERAL):
        value = [value]
    return dump_json(value) if isinstance(value, (list, Mapping)) or (key in _LISTS and value is not None) else value
