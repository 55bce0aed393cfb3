"""Conversations of other tools: turns of golden cases, in every format that has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.importers import export_cases, import_cases
from pytest_auepora.io.importers.chats import exchanges_of, is_messages, messages_of
from pytest_auepora.io.importers.imported import Dropped, ImportedSuite
from tests.unit.io.files import write_golden

from .test_files import imported

TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Refunds?"},
    {"role": "assistant", "content": "Within 30 days."},
    {"role": "user", "content": [{"type": "text", "text": "And "}, {"type": "text", "text": "shipping?"}]},
]
HISTORY = [{"user": "Refunds?"}, {"assistant": "Within 30 days."}]
CASE = {"id": "a", "query": "And shipping?", "chat_history": HISTORY, "reference_answer": "Two days."}


@pytest.mark.parametrize(("who", "what"), [("role", "content"), ("type", "content"), ("from", "value")])
@pytest.mark.parametrize(("user", "assistant"), [("user", "assistant"), ("human", "ai"), ("Human", "gpt")])
def test_turns_are_read_whatever_the_speakers_are_called(who: str, what: str, user: str, assistant: str) -> None:
    messages = [{who: user, what: "Refunds?"}, {who: assistant, what: "Within 30 days."}, {who: user, what: "And?"}]
    assert is_messages(messages)
    first, second = exchanges_of(messages, Dropped())
    assert (first.query, first.history, first.answer) == ("Refunds?", [], "Within 30 days.")
    assert (second.query, second.history, second.answer) == ("And?", HISTORY, None)


@pytest.mark.parametrize("part", [{"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": 5}, 7])
def test_parts_that_are_no_text_are_counted(part: Any) -> None:
    dropped = Dropped()
    content = [{"type": "text", "text": "What is this?"}, part]
    (exchange,) = exchanges_of([{"role": "user", "content": content}], dropped)
    assert exchange.query == "What is this?"
    assert dropped.total() == 1


def test_what_nobody_in_the_conversation_said_is_left_out() -> None:
    dropped = Dropped()
    more: list[dict[str, Any]] = [*TALK, {"role": "tool", "content": "found"}, {"role": "assistant", "content": None}]
    assert exchanges_of(more, dropped)[-1].query == "And shipping?"
    assert list(dropped.values()) == [1, 1, 1]


@pytest.mark.parametrize(
    "value", [[], "x", [3], [{"role": "user"}], [{"content": "x"}], [{"role": "?", "content": "x"}]]
)
def test_what_are_no_messages(value: Any) -> None:
    assert not is_messages(value)


def test_a_case_as_messages() -> None:
    plain = {**CASE, "chat_history": [{"role": "user", "content": "Refunds?"}, HISTORY[1]]}
    assert messages_of(plain) == messages_of(CASE)
    assert messages_of(CASE)[-1] == {"role": "user", "content": "And shipping?"}


RAGAS = [{"content": m["content"], "type": {"user": "human", "assistant": "ai"}[str(m["role"])]} for m in TALK[1:3]]
SOURCES: dict[str, tuple[Any, str]] = {
    "ragas": (
        [{"user_input": [*RAGAS, {"content": "And shipping?", "type": "human"}], "reference": "Two days."}], "a.json"
    ),
    "deepeval": (
        [{"scenario": "asks", "turns": TALK, "expectedOutcome": "Two days.", "name": "a"}], "a.json"
    ),
    "promptfoo": (
        {"tests": [
            {"vars": {"query": "Refunds?"}, "metadata": {"conversationId": "c"},
             "assert": [{"type": "factuality", "value": "Within 30 days."}]},
            {"vars": {"query": "And shipping?"}, "metadata": {"conversationId": "c"},
             "assert": [{"type": "factuality", "value": "Two days."}]},
        ]}, "a.yaml"
    ),
    "pydantic-evals": (
        {"cases": [{"name": "a", "inputs": {"messages": TALK}, "expected_output": "Two days."}]}, "a.json"
    ),
    "openai": ([{"messages": [*TALK, {"role": "assistant", "content": "Two days."}], "id": "a"}], "a.json"),
}  # fmt: skip


@pytest.mark.parametrize("fmt", SOURCES)
def test_the_last_question_of_a_conversation_is_a_case(tmp_path: Path, fmt: str) -> None:
    raw, name = SOURCES[fmt]
    case = imported(tmp_path, fmt, raw, name).cases[-1]
    assert case["query"] == "And shipping?"
    assert case["chat_history"] == HISTORY
    said = case["rubric"][0] if fmt == "deepeval" else case["reference_answer"]
    assert said == "Two days."
    write_golden(ImportedSuite([case]), tmp_path / "x.golden.yaml")
    (read,) = load_golden(tmp_path / "x.golden.yaml").cases
    assert [turn["content"] for turn in read.sample.chat_history] == ["Refunds?", "Within 30 days."]


@pytest.mark.parametrize(
    ("fmt", "name"),
    [("promptfoo", "a.yaml"), ("pydantic-evals", "a.json"), ("openai", "a.jsonl"), ("csv", "a.csv")],
)
def test_turns_come_back(tmp_path: Path, fmt: str, name: str) -> None:
    export_cases(ImportedSuite([CASE]), tmp_path / name, fmt)
    case = import_cases(tmp_path / name, fmt).cases[-1]
    assert {key: case[key] for key in ("query", "chat_history", "reference_answer")} == {
        key: CASE[key] for key in ("query", "chat_history", "reference_answer")
    }


@pytest.mark.parametrize(("fmt", "name"), [("ragas", "a.json"), ("deepeval", "a.json"), ("beir", "folder")])
def test_a_format_without_turns_says_so(tmp_path: Path, fmt: str, name: str) -> None:
    told = export_cases(ImportedSuite([{**CASE, "relevant_docs": ["x"]}]), tmp_path / name, fmt)
    assert any(line.startswith("chat_history: ") for line in told)


def test_a_thread_of_promptfoo_is_a_conversation(tmp_path: Path) -> None:
    test = {"metadata": {"conversationId": "c", "lang": "en"}}
    raw = {"tests": [{**test, "vars": {"query": query}} for query in ("One?", "Two?")]}
    suite = imported(tmp_path, "promptfoo", raw, "a.yaml")
    assert [case["conversation"] for case in suite.cases] == ["c", "c"]
    assert suite.cases[1]["chat_history"] == [{"user": "One?"}]
    assert suite.cases[1]["metadata"] == {"lang": "en"}
    export_cases(suite, tmp_path / "b.yaml", "promptfoo")
    assert [c["conversation"] for c in import_cases(tmp_path / "b.yaml", "promptfoo").cases] == ["c", "c"]


def test_messages_may_be_a_variable_of_promptfoo(tmp_path: Path) -> None:
    raw = {"tests": [{"vars": {"messages": json.dumps(TALK), "lang": "en"}}]}
    (case,) = imported(tmp_path, "promptfoo", raw, "a.yaml").cases
    assert (case["query"], case["chat_history"]) == ("And shipping?", HISTORY)
    assert case["metadata"] == {"promptfoo": {"query": "", "vars": {"lang": "en"}}} or "lang" in str(case["metadata"])


@pytest.mark.parametrize("history", [TALK[:3], HISTORY])
def test_a_list_of_messages_stands_for_one_test(tmp_path: Path, history: list[Any]) -> None:
    raw = {"defaultTest": {"vars": {"messages": history}}, "tests": [{"vars": {"question": ["One?", "Two?"]}}]}
    cases = imported(tmp_path, "promptfoo", raw, "a.yaml").cases
    assert [(case["query"], case["chat_history"]) for case in cases] == [("One?", HISTORY), ("Two?", HISTORY)]


@pytest.mark.parametrize(
    "prompt", ["{% for turn in _conversation %}…", "file://p.json", {"id": "file://p.json", "label": "x"}]
)
def test_a_prompt_that_reads_turns_makes_tests_a_conversation(tmp_path: Path, prompt: Any) -> None:
    (tmp_path / "p.json").write_text("[{{ _conversation | dump }}]", encoding="utf-8")
    apart = {"options": {"disableConversationVar": True}, "vars": {"q": "Alone?"}}
    other = {"metadata": {"conversationId": "c"}, "vars": {"q": "Other?"}}
    tests = [{"vars": {"q": "One?"}}, {"vars": {"q": "Two?"}}, apart, other]
    cases = imported(tmp_path, "promptfoo", {"prompts": [prompt], "tests": tests}, "a.yaml").cases
    assert [case.get("conversation") for case in cases] == ["a", "a", None, "c"]
    assert [case.get("chat_history") for case in cases] == [None, [{"user": "One?"}], None, None]
    cases = imported(tmp_path, "promptfoo", {"prompts": ["{{q}}", 3], "tests": tests}, "a.yaml").cases
    assert [case.get("conversation") for case in cases] == [None, None, None, "c"]
