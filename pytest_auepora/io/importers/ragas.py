"""ragas: ``EvaluationDataset`` and test sets, as JSON, JSON Lines or CSV.

``user_input``, ``reference``, ``reference_contexts``, ``reference_context_ids``; the names of older versions
(``question``, ``ground_truth``, ``ground_truths``) are read too.  Other columns become metadata.  Of a multi-turn
sample, whose ``user_input`` are messages, the last question is a case, and the messages before it its turns.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .cells import alternatives_cell, is_structured, list_cell, texts_cell
from .model import (
    Cases,
    Dropped,
    ImportedSuite,
    ImportProblem,
    as_quotes,
    ids_and_grades,
    quote_notes,
    reference_text,
    relevant_documents,
    split_metadata,
)
from .rows import Row, dump_json, first_filled, read_rows, write_csv, write_data
from .turns import Exchange, exchanges_of, is_messages

_QUERY = ("user_input", "question")
_ANSWER = ("reference", "ground_truth", "ground_truths")
_OUTPUTS = ("response", "answer", "retrieved_contexts", "contexts", "retrieved_context_ids", "multi_responses")
_CONTEXTS = ("reference_contexts", "reference_context_ids")
_RULES = ("rubrics", "rubric", "reference_tool_calls", "reference_topics")
_KNOWN = (*_QUERY, *_ANSWER, *_OUTPUTS, *_CONTEXTS, *_RULES)


def load(path: Path, dropped: Dropped) -> ImportedSuite:
    """Read a data set of ragas; see the module."""
    cases = Cases(dropped)
    for row in read_rows(path, "samples", "data"):
        key = first_filled(row, _QUERY) or ""
        query, history = row.get(key), list[dict[str, str]]()
        if isinstance(query, list) or is_structured(query):
            exchanges = _exchanges(query, f"{row.place}, column {key}", dropped)
            if not exchanges:
                dropped.add("a conversation without a question, or not as JSON")
                continue
            query, history, said = exchanges[-1]
            dropped.add("the answer to the last question: a recorded answer", said is not None)
        if not isinstance(query, str) or not query.strip():
            dropped.add("a sample without a question")
            continue
        docs, answers, metadata = _documents(row, dropped), _answers(row), split_metadata(row, _KNOWN)
        answer = answers[0] if len(answers) == 1 else answers
        cases.add(None, query, chat_history=history, relevant_docs=docs, reference_answer=answer, metadata=metadata)
        for key in (*_OUTPUTS, *_RULES):
            why = "a recorded answer" if key in _OUTPUTS else "no metric here reads it"
            dropped.add(f"{key}: {why}", first_filled(row, [key]) is not None)
    return ImportedSuite(cases, notes=quote_notes(cases))


def _exchanges(query: Any, place: str, dropped: Dropped) -> list[Exchange]:
    try:
        messages = list_cell(query, place)
    except ImportProblem:  # objects as Python shows them
        return []
    return exchanges_of(messages, dropped) if is_messages(messages) else []


def _answers(row: Row) -> list[str]:
    if (key := first_filled(row, _ANSWER)) is None:
        return []
    read = texts_cell if key == "ground_truths" else alternatives_cell
    return [text for text in read(row[key], f"{row.place}, column {key}") if text.strip()]


def _documents(row: Row, dropped: Dropped) -> list[Any]:
    texts, ids = (texts_cell(row.get(key), f"{row.place}, column {key}") for key in _CONTEXTS)
    ids = list(dict.fromkeys(ids))
    if not ids:
        return as_quotes(texts)
    if len(ids) == len(texts):
        return [{"id": i, "text": t} for i, t in zip(ids, texts, strict=True)]
    dropped.add("reference_contexts that are not as many as their ids", bool(texts))
    return ids


def save(suite: ImportedSuite, path: Path, dropped: Dropped) -> None:
    """Write ``.jsonl``, ``.json`` or ``.csv`` as ragas does."""
    made_ids = Cases(Dropped())
    rows = []
    for case in suite.cases:
        row: dict[str, Any] = {"user_input": case["query"], **_contexts(case, dropped)}
        if (answer := reference_text(case, dropped)) is not None:
            row["reference"] = answer
        metadata = case.get("metadata", {})
        row.update({k: v for k, v in metadata.items() if k not in _KNOWN})
        for key in metadata:
            dropped.add(f"{key} in metadata: the format has a column of this name", key in _KNOWN)
        dropped.add("id: the format has no place for it", made_ids.unique_id(None, case["query"]) != case["id"])
        dropped.add_unsupported(case, ("id", "query", "relevant_docs", "reference_answer", "metadata"))
        rows.append(row)
    if path.suffix.lower() == ".csv":
        columns = list(dict.fromkeys(k for row in rows for k in row))
        write_csv(path, columns, ({k: v if isinstance(v, str) else dump_json(v) for k, v in r.items()} for r in rows))
    else:
        write_data(path, rows)


def _contexts(case: Any, dropped: Dropped) -> dict[str, list[str]]:
    docs = relevant_documents(case, dropped)
    texts = [d.get("text") or d.get("quote") for d in docs]
    contexts: dict[str, list[str]] = {}
    if docs and all(texts):
        contexts["reference_contexts"] = [str(t) for t in texts]
    else:
        dropped.add("the text of a document, where another of the case has none", sum(map(bool, texts)))
    if any("id" in d or "doc" in d for d in docs):
        contexts["reference_context_ids"] = [name for name, grade in ids_and_grades(case, dropped) if grade > 0]
    return contexts
