"""Tables: CSV, TSV and Parquet, one case a row.

A column named as a key of a golden case is that key; common other names are understood (`_ALIASES`).  A cell of a list
holds JSON, or texts between ``|``; a mapping is JSON.  Every other column becomes metadata.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping
from datetime import date
from itertools import count
from math import isfinite
from pathlib import Path
from typing import Any

from ...base.text import did_you_mean, names_words
from ..golden.fields import CASE_FIELDS
from ..golden.kinds import FieldType, Flag, Free, ListOf, Number, Reason, Whole
from ..parquet import import_pyarrow, iter_rows, write_parquet
from .cells import alternatives_cell, is_structured, list_cell, looks_like_texts, name_of, shown_cell, text_cell
from .imported import Cases, Dropped, ImportedSuite, ImportProblem, split_metadata
from .rows import Row, check_values, dump_json, read_rows, write_csv

_ALIASES = {
    "id": ("case_id", "sample_id", "query_id", "qid", "name"),
    "query": ("question", "user_input", "input", "prompt", "user_query"),
    "reference_answer": ("expected_answer", "expected_output", "expected", "reference", "ground_truth", "gold_answer",
                         "answer"),
    "chat_history": ("history", "conversation_history", "turns"),
    "relevant_docs": ("relevant_doc_ids", "relevant_ids", "doc_ids", "relevant_documents", "gold_docs",
                      "reference_context_ids", "expected_chunk_ids", "expected_doc_ids"),
}  # fmt: skip
"""Key of a golden case → other names of its column, in order of preference."""

_COLUMNS = {key: field.type for key, field in CASE_FIELDS.items() if key not in ("thresholds", "status", "benchmark")}
_LISTS = {key for key, kind in _COLUMNS.items() if isinstance(kind, ListOf) and key != "reference_answer"}
_TEXTS = ("query", "reference_answer")
"""Cells of free text: a list of texts in one of them, as tools write it, is no text of its own."""
_FLAGS = {**dict.fromkeys(("true", "yes", "1"), True), **dict.fromkeys(("false", "no", "0"), False)}


def _finite(cell: str) -> float:
    if not isfinite(number := float(cell)):
        raise ValueError(cell)
    return number


_PARSERS: Mapping[type[FieldType], tuple[str, Callable[[str], Any]]] = {
    Free: ("JSON", json.loads),
    Whole: ("a number", int),
    Number: ("a number", _finite),
    Flag: ("true or false", lambda cell: _FLAGS[cell.strip().lower()]),
    Reason: ("text", lambda cell: _FLAGS.get(cell.lower(), cell)),
}
"""Type → what a cell is expected to hold, and its parser; all others are texts."""


def load(path: Path, dropped: Dropped) -> ImportedSuite:
    """Read a CSV or TSV file; see the module."""
    return _build_suite(read_rows(path), path, dropped)


def load_parquet(path: Path, dropped: Dropped) -> ImportedSuite:
    """Read a Parquet file; raises as `io.parquet.load_parquet_dataset` does."""
    places = (f"{path}: row {number}" for number in count(1))
    rows = [
        Row({name: _plain(value, f"{place}, column {name}") for name, value in row.items()}, place)
        for row, place in zip(iter_rows(path), places)  # noqa: B905 - the places do not end
    ]
    return _build_suite(rows, path, dropped)


def _plain(value: Any, place: str) -> Any:
    """Return a value of Parquet as a golden file can hold it; NaN is how tables say that nothing is there."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item, place) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, place) for item in value]
    if value is None or isinstance(value, (str, int, date)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    raise ImportProblem(f"{place}: expected text, a number or a date, got {shown_cell(value)}")


def _build_suite(rows: list[Row], path: Path, dropped: Dropped) -> ImportedSuite:
    names = dict.fromkeys(name for row in rows for name in row)
    if rows and not {"query", *_ALIASES["query"]} & names.keys():
        raise ImportProblem(
            f"{path}: no column holds questions ({', '.join(('query', *_ALIASES['query']))}); "
            f"available: {names_words([*map(shown_cell, names)], 20)}{did_you_mean('query', names)}"
        )
    cases = Cases(dropped)
    for row in rows:
        columns = _find_columns(row)
        query = row.get(columns["query"])
        if looks_like_texts(query):
            query = row.cell(columns["query"], text_cell)
        if not isinstance(query, str) or not query.strip():
            dropped.add(f"a row without a question (columns query, {', '.join(_ALIASES['query'])})")
            continue
        case = cases.add(row.get(columns["id"]), query)
        for key, name in [*columns.items()][2:]:
            if (cell := row.get(name)) in (None, ""):
                continue
            if (value := _parse_cell(key, cell, f"{row.place}, column {name}")) is not None:
                case[key] = [{"doc": doc} for doc in value] if name == "expected_doc_ids" else value
        rest = split_metadata(row, columns.values())
        for name in [name for name in rest if name in CASE_FIELDS]:  # thresholds, benchmark: settings of the run
            dropped.add(f"the column {name}")
            del rest[name]
        if rest:
            metadata = case.get("metadata", {})
            case["metadata"] = {**(metadata if isinstance(metadata, Mapping) else {"metadata": metadata}), **rest}
    columns = _find_columns(names)
    renamed = [f"the column {name} is read as {key}" for key, name in columns.items() if name in names and name != key]
    others = [name for name in names if name not in columns.values() and name not in CASE_FIELDS]
    kept = [f"the column {name} is kept as metadata, which no metric reads" for name in others]
    return ImportedSuite(cases, notes=[*renamed, *kept])


def _find_columns(names: Container[str]) -> dict[str, str]:
    """Return the name that each column has among *names*."""
    return {key: next((n for n in (key, *_ALIASES.get(key, ())) if n in names), key) for key in _COLUMNS}


def _parse_cell(key: str, cell: Any, place: str) -> Any:
    if key in _LISTS:
        return [part if isinstance(part, Mapping) else name_of(part, place) for part in list_cell(cell, place, "|")]
    if key == "reference_answer":
        answers = alternatives_cell(cell, place)
        return answers[0] if len(answers) == 1 else answers
    if not isinstance(cell, str):
        return cell
    expected, parse = _PARSERS.get(type(_COLUMNS[key]), ("text", str))
    try:
        value = parse(cell)
    except (ValueError, KeyError, RecursionError):
        raise ImportProblem(f"{place}: expected {expected}, got {shown_cell(cell)}") from None
    check_values(value, place)
    return value


def save(suite: ImportedSuite, path: Path, dropped: Dropped) -> None:
    """Write a CSV file that `load` reads the same."""
    rows = ({k: _csv_cell(k, v) for k, v in case.items()} for case in suite.cases)
    write_csv(path, _used_columns(suite, dropped), rows)


def _used_columns(suite: ImportedSuite, dropped: Dropped) -> list[str]:
    for case in suite.cases:
        dropped.add_unsupported(case, _COLUMNS, "{}: no column")
    return [c for c in _COLUMNS if any(c in case for case in suite.cases)]


def _csv_cell(key: str, value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if key in _TEXTS:
        return _scalar(key, value)
    if key in _LISTS and isinstance(value, list):
        plain = value and all(isinstance(v, str) and v == v.strip() and "|" not in v and v for v in value)
        joined = "|".join(value) if plain else ""
        return joined if joined and not is_structured(joined) else dump_json(value)
    return dump_json(value) if isinstance(value, (list, Mapping)) else value


def save_parquet(suite: ImportedSuite, path: Path, dropped: Dropped) -> None:
    """Write a Parquet file, nested values as JSON.  Needs the extra ``parquet``."""
    pyarrow = import_pyarrow()
    names = _used_columns(suite, dropped)
    columns = {name: pyarrow.array([_scalar(name, case.get(name)) for case in suite.cases]) for name in names}
    write_parquet(pyarrow.table(columns), path)


def _scalar(key: str, value: Any) -> Any:
    """Return a value of one type per column: scalars as they are, everything else as JSON."""
    if key in _TEXTS and looks_like_texts(value):
        value = [value]
    return dump_json(value) if isinstance(value, (list, Mapping)) or (key in _LISTS and value is not None) else value
