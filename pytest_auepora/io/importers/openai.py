"""Lists of messages in the form of OpenAI's API: one conversation a row, as JSON or JSON Lines.

``messages`` is a list of ``{"role", "content"}``, as in files for fine-tuning and stored completions (``input`` in
data sets of evals).  Each turn of the assistant is the reference answer to the question before it, unless its
``weight`` is 0; ``ideal`` is that of the last question.  Where nobody answered, the last question is a case alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .chats import Exchange, exchanges_of, is_messages, messages_of
from .imported import Cases, Dropped, ImportedSuite, filled, reference_text, split_metadata
from .rows import Row, mapping_or_empty, read_rows, write_data

_MESSAGES = ("messages", "input", "conversation", "conversations")
_IDS = ("id", "conversation_id", "name")
_ANSWERS = "ideal"
_KNOWN = (*_MESSAGES, *_IDS, _ANSWERS, "metadata")
_KEYS = ("id", "query", "chat_history", "conversation", "reference_answer", "metadata")


def load(path: Path, dropped: Dropped) -> ImportedSuite:
    """Read conversations; see the module."""
    cases = Cases(dropped)
    for number, row in enumerate(read_rows(path, "data", "conversations"), 1):
        messages = next((row[key] for key in _MESSAGES if is_messages(row.get(key))), None)
        if messages is None:
            dropped.add(f"a row without a list of messages ({', '.join(_MESSAGES)})")
            continue
        exchanges = exchanges_of(messages, dropped)
        if not exchanges:
            dropped.add("a conversation without a question")
            continue
        _add_cases(cases, row, number, exchanges)
    return ImportedSuite(cases)


def _add_cases(cases: Cases, row: Row, number: int, exchanges: list[Exchange]) -> None:
    name = next((row[key] for key in _IDS if row.get(key) not in (None, "")), None)
    metadata = {**mapping_or_empty(row.get("metadata")), **split_metadata(row, _KNOWN)}
    ideal: Any = row.get(_ANSWERS)
    checked = [e for e in exchanges if e.answer is not None and e.weight != 0]
    if ideal or not checked:
        checked = [*(e for e in checked if e is not exchanges[-1]), exchanges[-1]]
    several = len(checked) > 1
    for at, exchange in enumerate(checked, 1):
        answer = ideal if exchange is exchanges[-1] and ideal else exchange.answer
        cases.add(
            f"{name}-{at}" if name is not None and several else name, exchange.query, chat_history=exchange.history,
            conversation=str(name if name is not None else f"conversation-{number}") if several else None,
            reference_answer=answer if answer is ideal or exchange.weight != 0 else None, metadata=metadata,
        )  # fmt: skip


def save(suite: ImportedSuite, path: Path, dropped: Dropped) -> None:
    """Write a conversation for each case, which ends with its reference answer."""
    rows, made_ids = [], Cases(Dropped())
    for case in suite.cases:
        messages: list[dict[str, Any]] = [*messages_of(case)]
        for earlier in messages:
            if earlier["role"] == "assistant":  # in the history alone, whether it was right or not
                earlier["weight"] = 0
        if (answer := reference_text(case, dropped)) is not None:
            messages.append({"role": "assistant", "content": answer})
        rows.append({"messages": messages, **filled({"metadata": case.get("metadata")})})
        dropped.add("id: the format has no place for it", made_ids.unique_id(None, case["query"]) != case["id"])
        dropped.add("conversation: each turn is a row", "conversation" in case)
        dropped.add_unsupported(case, _KEYS)
    write_data(path, rows)
