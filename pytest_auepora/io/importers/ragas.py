"""ragas: ``EvaluationDataset``, test sets and results, as JSON, JSON Lines or CSV.

``user_input``, ``reference``, ``reference_contexts``, ``reference_context_ids``; the names of older versions
(``question``, ``ground_truth``, ``ground_truths``) are read too.  ``response`` and ``retrieved_contexts`` are recorded
answers; columns of scores are left out, others become metadata.  Of a multi-turn sample, whose ``user_input`` are
messages, the last question is a case, and the messages before it its turns.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...base.pages import reference
from .cells import alternatives_cell, is_structured, list_cell, texts_cell
from .chats import is_messages, last_exchange
from .imported import (
    Cases,
    Dropped,
    ImportedSuite,
    ImportProblem,
    as_quotes,
    ids_and_grades,
    recorded,
    reference_text,
    relevant_documents,
    split_metadata,
)
from .rows import Row, dump_json, first_filled, read_rows, write_csv, write_data

_QUERY = ("user_input", "question")
_ANSWER = ("reference", "ground_truth", "ground_truths")
_RESPONSE, _RETRIEVED, _RETRIEVED_IDS = (
    ("response", "answer"),
    ("retrieved_contexts", "contexts"),
    "retrieved_context_ids",
)
_OUTPUTS = (*_RESPONSE, *_RETRIEVED, _RETRIEVED_IDS, "multi_responses")
_CONTEXTS = ("reference_contexts", "reference_context_ids")
_RULES = ("rubrics", "rubric", "reference_tool_calls", "reference_topics")
SCORES = (
    "agent_goal_accuracy", "answer_accuracy", "answer_correctness", "answer_relevancy", "answer_similarity",
    "bleu_score", "chrf_score", "context_entity_recall", "context_precision", "context_precision_with_reference",
    "context_precision_without_reference", "context_recall", "context_relevance", "context_utilization",
    "data_compare_score", "domain_specific_rubrics", "exact_match", "factual_correctness", "faithful_rate",
    "faithfulness", "faithfulness_with_hhem", "id_based_context_precision", "id_based_context_recall",
    "instance_rubrics", "instance_specific_rubrics", "llm_context_precision_with_reference",
    "llm_context_precision_without_reference", "llm_context_recall", "llm_sql_equivalence_with_reference",
    "multi_modal_faithfulness", "multi_modal_relevance", "noise_sensitivity",
    "non_llm_context_precision_with_reference", "non_llm_context_recall", "non_llm_string_similarity", "nv_accuracy",
    "nv_context_relevance", "nv_response_groundedness", "quoted_spans_alignment", "relevance_rate",
    "response_groundedness", "rouge_score", "rubrics_score_with_reference", "rubrics_score_without_reference",
    "semantic_similarity", "sql_semantic_equivalence", "string_present", "summary_score", "tool_call_accuracy",
    "tool_call_f1", "topic_adherence",
)  # fmt: skip
"""What ragas calls its metrics in its results; behind a name may stand its mode: ``rouge_score(mode=fmeasure)``."""
_KNOWN = (*_QUERY, *_ANSWER, *_OUTPUTS, *_CONTEXTS, *_RULES)


def load(path: Path, dropped: Dropped) -> ImportedSuite:
    """Read a data set of ragas; see the module."""
    cases, kept = Cases(dropped), list[dict[str, Any]]()
    scores: list[str] = []
    for row in read_rows(path, "samples", "data"):
        key = first_filled(row, _QUERY) or ""
        query, history, said = row.get(key), list[dict[str, str]](), None
        if isinstance(query, list) or is_structured(query):
            query, history, said, _ = last_exchange(row.cell(key, _messages), dropped)
        if not isinstance(query, str) or not query.strip():
            dropped.add("a sample without a question, or with messages that are not JSON")
            continue
        measured = [column for column in row if column.partition("(")[0] in SCORES]
        scores += [column for column in measured if column not in scores]
        docs, answers, metadata = _documents(row, dropped), _answers(row), split_metadata(row, (*_KNOWN, *measured))
        answer = answers[0] if len(answers) == 1 else answers
        case = cases.add(
            None, query, chat_history=history, relevant_docs=docs, reference_answer=answer, metadata=metadata
        )
        said = row.get(first_filled(row, _RESPONSE) or "") if said is None else said
        kept += recorded(case, said, *_retrieved(row))
        dropped.add("multi_responses: one answer is recorded", first_filled(row, _OUTPUTS[-1:]) is not None)
        for key in _RULES:
            dropped.add(f"{key}: no metric here reads it", first_filled(row, [key]) is not None)
    where = reference("metric-names")
    dropped.add(f"{', '.join(scores)}: scores that ragas gave; {where} has their counterparts", len(scores))
    return ImportedSuite(cases, answers=kept)


def _retrieved(row: Row) -> tuple[list[str], list[str]]:
    """Return the texts and the ids of what was retrieved; no ids where they are not as many."""
    key = first_filled(row, _RETRIEVED) or ""
    texts, ids = (row.cell(name, texts_cell) for name in (key, _RETRIEVED_IDS))
    return texts, ids if len(ids) == len(texts) or not texts else []


def _messages(query: Any, place: str) -> list[Any]:
    try:
        messages = list_cell(query, place)
    except ImportProblem:  # objects as Python shows them
        return []
    return messages if is_messages(messages) else []


def _answers(row: Row) -> list[str]:
    if (key := first_filled(row, _ANSWER)) is None:
        return []
    read = texts_cell if key == "ground_truths" else alternatives_cell
    return [text for text in row.cell(key, read) if text.strip()]


def _documents(row: Row, dropped: Dropped) -> list[Any]:
    texts, ids = (row.cell(key, texts_cell) for key in _CONTEXTS)
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
