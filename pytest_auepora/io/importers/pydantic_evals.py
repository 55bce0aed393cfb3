"""pydantic-evals: a ``Dataset`` written with ``to_file``, as YAML or JSON.

The question is ``inputs`` where that is a text, or its value under one of `_QUERY_KEYS`, or its only text.  Of the
evaluators, ``Contains`` has a counterpart (``must_contain``).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .chats import HISTORY_KEYS, is_messages, last_exchange, messages_of
from .imported import Cases, Dropped, ImportedSuite, ImportProblem, filled, pop_notes, reference_text, texts_of
from .rows import as_text, list_or_empty, mapping_or_empty, read_data, write_data

_QUERY_KEYS = ("query", "question", "user_input", "input", "prompt", "text")
_ANSWER_KEYS = ("answer", "response", "output", "text")
_NOTES = "pydantic_evals"
_KEYS = ("id", "query", "chat_history", "reference_answer", "must_contain", "match", "metadata")


def load(path: Path, dropped: Dropped) -> ImportedSuite:
    """Read a data set of pydantic-evals; raises `ImportProblem` where it is none."""
    data = read_data(path)
    if not isinstance(data, Mapping) or not isinstance(data.get("cases"), list):
        raise ImportProblem(f"{path}: expected a mapping with a list of cases")
    set_keys = ("$schema", "name", "cases", "evaluators", "report_evaluators")
    dropped.add_unsupported(data, set_keys, "{} of the data set")
    cases = Cases(dropped)
    for raw in data["cases"]:
        if not isinstance(raw, Mapping):
            dropped.add("a case that is not a mapping")
            continue
        notes: dict[str, Any] = {}
        inputs, history = _split_history(raw.get("inputs"), dropped)
        query = _find_query(inputs, notes)
        if query is None:
            dropped.add(f"a case whose inputs hold no question ({', '.join(_QUERY_KEYS)})")
            continue
        case = cases.add(raw.get("name"), query, chat_history=history)
        if (expected := raw.get("expected_output")) is not None and (answer := _find_answer(expected, notes)).strip():
            case["reference_answer"] = answer
        for evaluator in [*list_or_empty(data.get("evaluators")), *list_or_empty(raw.get("evaluators"))]:
            _read_evaluator(evaluator, case, dropped)
        case_keys = ("name", "inputs", "expected_output", "metadata", "evaluators")
        dropped.add_unsupported(raw, case_keys, "{} of a case")
        metadata = raw.get("metadata")
        metadata = metadata if isinstance(metadata, Mapping) else {"metadata": metadata} if metadata else {}
        case |= filled({"metadata": {**metadata, **filled({_NOTES: notes})}})
    dropped.add("report_evaluators", len(list_or_empty(data.get("report_evaluators"))))
    return ImportedSuite(cases, suite=str(data.get("name") or ""))


def _split_history(inputs: Any, dropped: Dropped) -> tuple[Any, list[dict[str, str]]]:
    """Return the inputs without messages, with the last question of these where they have no other, and its turns."""
    if is_messages(inputs):
        inputs = {HISTORY_KEYS[0]: inputs}
    key = next((key for key in HISTORY_KEYS if is_messages(mapping_or_empty(inputs).get(key))), None)
    if key is None:
        return inputs, []
    rest = {name: value for name, value in inputs.items() if name != key}
    question = _find_query(rest, {})
    query, history, *_ = last_exchange(inputs[key], dropped, question or "")
    return (rest if question else {"query": query, **rest}), history


def _find_query(inputs: Any, notes: dict[str, Any]) -> str | None:
    if isinstance(inputs, str):
        return inputs if inputs.strip() else None
    texts = [k for k, v in mapping_or_empty(inputs).items() if isinstance(v, str) and v.strip()]
    key = next((k for k in _QUERY_KEYS if k in texts), texts[0] if len(texts) == 1 else None)
    return None if key is None else _take_text(inputs, key, notes, "query", "inputs")


def _find_answer(expected: Any, notes: dict[str, Any]) -> str:
    texts = [k for k, v in mapping_or_empty(expected).items() if isinstance(v, str)]
    if (key := next((k for k in _ANSWER_KEYS if k in texts), None)) is not None:
        return _take_text(expected, key, notes, "answer", "expected_output")
    if not isinstance(expected, str):
        notes["expected_output"] = expected
    return as_text(expected)


def _take_text(mapping: Mapping[str, Any], key: str, notes: dict[str, Any], key_note: str, rest_note: str) -> str:
    """Return the text at *key*, and note the key and what else there is, for the export."""
    notes |= {key_note: key, **filled({rest_note: {k: v for k, v in mapping.items() if k != key}})}
    return str(mapping[key])


def _read_evaluator(evaluator: Any, case: dict[str, Any], dropped: Dropped) -> None:
    """Read an evaluator: its name, or a mapping from its name to its arguments."""
    is_call = isinstance(evaluator, Mapping) and len(evaluator) == 1
    ((name, arguments),) = evaluator.items() if is_call else [(evaluator, None)]
    value = arguments.get("value") if isinstance(arguments, Mapping) else arguments
    if name != "Contains" or not isinstance(value, str) or not value.strip():
        dropped.add(f"the evaluator {name}")
        return
    ignores_case = isinstance(arguments, Mapping) and arguments.get("case_sensitive") is False
    dropped.add("that letters count as upper or lower case", not ignores_case)
    texts = case.setdefault("must_contain", [])
    if value not in texts:
        texts.append(value)
    case["match"] = "substring"


def save(suite: ImportedSuite, path: Path, dropped: Dropped) -> None:
    """Write a data set as ``to_file`` does, without its schema."""
    cases = [_build_case(case, dropped) for case in suite.cases]
    write_data(path, {"name": suite.suite or None, "cases": cases})


def _build_case(case: Mapping[str, Any], dropped: Dropped) -> dict[str, Any]:
    metadata = dict(case.get("metadata", {}))
    notes = pop_notes(metadata, _NOTES)
    inputs: Any = case["query"]
    if "query" in notes or "chat_history" in case:
        inputs = {str(notes.get("query", "query")): inputs, **mapping_or_empty(notes.get("inputs"))}
    if "chat_history" in case:
        inputs["chat_history"] = messages_of(case)[:-1]
    row = {"name": case["id"], "inputs": inputs, **filled({"metadata": metadata})}
    if (answer := reference_text(case, dropped)) is not None:
        expected: Any = answer
        if "answer" in notes:
            expected = {str(notes["answer"]): answer, **mapping_or_empty(notes.get("expected_output"))}
        elif "expected_output" in notes and as_text(notes["expected_output"]) == answer:
            expected = notes["expected_output"]
        row["expected_output"] = expected
    texts = texts_of(case, "must_contain")
    if case.get("match") == "regex":
        dropped.add("a regular expression", len(texts))
    elif texts:
        row["evaluators"] = [{"Contains": {"value": t, "case_sensitive": False}} for t in texts]
        dropped.add("that a text is looked for word by word", case.get("match", "word") == "word")
    dropped.add_unsupported(case, _KEYS)
    return row
