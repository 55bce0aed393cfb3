"""deepeval: goldens of an ``EvaluationDataset``, as JSON, JSON Lines or CSV.

``input``, ``expected_output``, ``context``, ``name``, ``source_file``, ``additional_metadata``, … in snake or camel
case.  A context with a ``source_file`` becomes a quote from that document; one without matches by its whole text.
In CSV the contexts of a row stand between ``|``.  Of a conversational golden with ``turns`` the last question is a
case, the turns before it its ``chat_history``, and ``expected_outcome`` what a judge looks for (``rubric``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...base.pages import reference
from .cells import list_cell, parsed_cell, text_cell, texts_cell
from .chats import is_messages, last_exchange
from .imported import (
    Cases,
    Dropped,
    ImportedSuite,
    as_quotes,
    filled,
    recorded,
    reference_text,
    relevant_documents,
)
from .rows import Row, dump_json, read_rows, write_csv, write_data

_COLUMNS = (
    "input", "actual_output", "expected_output", "retrieval_context", "context", "name", "comments", "source_file",
    "tools_called", "expected_tools", "additional_metadata", "custom_column_key_values",
)  # fmt: skip
_OUTCOME = "expected_outcome"
_CHAT_COLUMNS = ("scenario", "user_description", "turns", _OUTCOME)
_TEXTS = ("source_file", "expected_output", _OUTCOME)
_SAID, _RETRIEVED = "actual_output", "retrieval_context"
_SCORES = ("metrics_data", "success")
_METADATA_COLUMNS = ("comments", "source_file", "custom_column_key_values")
_EXTRA = "additional_metadata"


def load(path: Path, dropped: Dropped) -> ImportedSuite:
    """Read goldens of deepeval; see the module."""
    cases, kept = Cases(dropped), list[dict[str, Any]]()
    for raw in read_rows(path, "goldens", "test_cases", "testCases"):
        named = {re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower(): value for name, value in raw.items()}
        row = Row({name: value for name, value in named.items() if value not in (None, "", [])}, raw.place)
        query, history, said = row.get("input"), list[dict[str, str]](), row.get(_SAID)
        if "turns" in row:
            turns = row.cell("turns", list_cell)
            query, history, said, _ = last_exchange(turns if is_messages(turns) else (), dropped)
        if not isinstance(query, str) or not query.strip():
            is_scenario = "scenario" in row or "turns" in row
            dropped.add("a conversation without turns: there is no user simulator" if is_scenario
                        else "a golden without an input")  # fmt: skip
            continue
        texts = {key: row.cell(key, text_cell) for key in _TEXTS if key in row}
        source = {"doc": texts["source_file"]} if "source_file" in texts else {}
        docs = as_quotes(row.cell("context", texts_cell, "|"), **source)
        answer, metadata = texts.get("expected_output"), _metadata(row)
        case = cases.add(row.get("name"), query, chat_history=history, relevant_docs=docs, reference_answer=answer)
        case |= filled({"rubric": [texts[_OUTCOME]] if _OUTCOME in texts else None, "metadata": metadata})
        kept += recorded(case, said, row.cell(_RETRIEVED, texts_cell, "|"))
        for key in ("tools_called", "expected_tools"):
            dropped.add(f"{key}: no metric here reads it", key in row)
        scores = f"a score, which another tool gave; {reference('metric-names')} has its counterpart"
        for key in _SCORES:
            dropped.add(f"{key}: {scores}", key in row)
        known = (*_COLUMNS, *_CHAT_COLUMNS, *_SCORES, _OUTCOME, "turns")
        dropped.add_unsupported(row, known, "{}: not one of the columns of a golden")
    return ImportedSuite(cases, answers=kept)


def _metadata(row: Row) -> dict[str, Any]:
    columns = {key: row.cell(key, parsed_cell) for key in (_EXTRA, *_METADATA_COLUMNS) if key in row}
    columns |= {key: row[key] for key in _CHAT_COLUMNS[:2] if key in row}
    additional = columns.pop(_EXTRA, None)
    metadata = dict(additional) if isinstance(additional, Mapping) else {_EXTRA: additional} if additional else {}
    return {**metadata, **columns}


def save(suite: ImportedSuite, path: Path, dropped: Dropped) -> None:
    """Write ``.json``, ``.jsonl`` or ``.csv`` as ``save_as`` does."""
    rows = [_row(case, dropped) for case in suite.cases]
    if path.suffix.lower() == ".csv":
        for row in rows:
            contexts = row["context"]
            dropped.add("the limits of a context with a | in it", sum("|" in c for c in contexts or ()))
            row["context"] = None if contexts is None else "|".join(contexts)
            row.update({k: dump_json(row[k]) for k in (_EXTRA, _METADATA_COLUMNS[2]) if row[k] is not None})
        write_csv(path, _COLUMNS, rows)
    else:
        write_data(path, rows, indent=4)


def _row(case: Mapping[str, Any], dropped: Dropped) -> dict[str, Any]:
    metadata = dict(case.get("metadata", {}))
    row: dict[str, Any] = dict.fromkeys(_COLUMNS)
    row.update({"input": case["query"], "name": case["id"], "expected_output": reference_text(case, dropped)})
    row.update({k: metadata.pop(k) for k in _METADATA_COLUMNS if k in metadata})
    docs = relevant_documents(case, dropped)
    with_text = [d for d in docs if d.get("text") or d.get("quote")]
    row["context"] = [str(d.get("text") or d["quote"]) for d in with_text] or None
    dropped.add("a relevant document without a text: a context is a text", len(docs) - len(with_text))
    sources = {d.get("doc") for d in with_text}
    if row["source_file"] is None and len(sources) == 1:
        row["source_file"] = sources.pop()
    dropped.add("the id of a document: a context is a text", sum("id" in d for d in with_text))
    dropped.add("the document of a context: a golden has one source_file",
                sum("doc" in d and d["doc"] != row["source_file"] for d in with_text))  # fmt: skip
    dropped.add("a span: a context is a text", sum("span" in d for d in with_text))
    only_extra = metadata.keys() == {_EXTRA} and not isinstance(metadata[_EXTRA], Mapping)
    row[_EXTRA] = (metadata[_EXTRA] if only_extra else metadata) or None
    dropped.add_unsupported(case, ("id", "query", "relevant_docs", "reference_answer", "metadata"))
    return row
