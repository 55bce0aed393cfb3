"""Lists of messages, as in files for fine-tuning and data sets of evals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_auepora.io.importers import export_cases, import_cases
from pytest_auepora.io.importers.imported import ImportedSuite

from .test_files import imported


def said(*texts: str, **last: Any) -> list[dict[str, Any]]:
    """Messages of a user and an assistant in turns."""
    messages: list[dict[str, Any]] = [{"role": ("user", "assistant")[i % 2], "content": t} for i, t in enumerate(texts)]
    messages[-1] |= last
    return messages


def test_each_answer_is_the_reference_of_a_case(tmp_path: Path) -> None:
    first, second = imported(tmp_path, "openai", [{"messages": said("A?", "a", "B?", "b"), "topic": "x"}]).cases
    assert first == {"id": "a", "query": "A?", "conversation": "conversation-1", "reference_answer": "a",
                     "metadata": {"topic": "x"}}  # fmt: skip
    assert second["chat_history"] == [{"user": "A?"}, {"assistant": "a"}]
    assert second["reference_answer"] == "b"
    assert second["conversation"] == first["conversation"]


def test_an_answer_without_weight_is_history_alone(tmp_path: Path) -> None:
    messages = said("A?", "wrong", "B?", "b")
    messages[1]["weight"] = 0
    (case,) = imported(tmp_path, "openai", [{"messages": messages, "id": "talk"}]).cases
    assert (case["id"], case["query"], case["reference_answer"]) == ("talk", "B?", "b")
    assert case["chat_history"][1] == {"assistant": "wrong"}
    assert "conversation" not in case
    messages[1]["content"] = "b"
    (case,) = imported(tmp_path, "openai", [{"messages": messages}]).cases
    assert (case["query"], case["reference_answer"]) == ("B?", "b"), "the same words may be right later"


def test_a_question_that_nobody_answered_is_a_case_alone(tmp_path: Path) -> None:
    (case,) = imported(tmp_path, "openai", [{"messages": said("A?")}]).cases
    assert case == {"id": "a", "query": "A?"}


def test_a_data_set_of_evals_has_the_answers_beside(tmp_path: Path) -> None:
    (case,) = imported(tmp_path, "openai", [{"input": said("A?"), "ideal": ["a", "aa"]}]).cases
    assert case["reference_answer"] == ["a", "aa"]


def test_rows_that_are_none_are_counted(tmp_path: Path) -> None:
    rows = [{"messages": "x"}, {"prompt": "x"}, {"messages": [{"role": "system", "content": "x"}]}]
    suite = imported(tmp_path, "openai", rows)
    assert (suite.cases, len(suite.dropped)) == ([], 3)


def test_what_is_written_is_a_conversation_that_ends(tmp_path: Path) -> None:
    case = {"id": "b-2", "query": "B?", "chat_history": [{"user": "A?"}, {"assistant": "a"}], "conversation": "c",
            "reference_answer": "b", "must_contain": ["b"]}  # fmt: skip
    told = export_cases(ImportedSuite([case]), tmp_path / "a.jsonl", "openai")
    assert [line.partition(":")[0] for line in told] == ["id", "conversation", "must_contain"]
    (back,) = import_cases(tmp_path / "a.jsonl", "openai").cases
    assert {key: back.get(key) for key in case} == case | {"id": "b", "conversation": None, "must_contain": None}


def test_an_earlier_answer_is_no_reference_when_it_comes_back(tmp_path: Path) -> None:
    case = {"id": "b", "query": "B?", "chat_history": [{"user": "A?"}, {"assistant": "wrong"}]}
    export_cases(ImportedSuite([case]), tmp_path / "a.jsonl", "openai")
    assert import_cases(tmp_path / "a.jsonl", "openai").cases == [case]
