"""What is left out, in words: of each format what an import and an export tell, with counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.io.importers import FORMATS, export_cases
from pytest_auepora.io.importers.imported import ImportedSuite

from .test_files import imported

UNRENDERED = "a template or a file that only promptfoo reads"
SYSTEM = {"role": "system", "content": "Be brief."}
HUMAN = {"type": "human", "content": "Why?"}

READ: dict[str, tuple[str, str, Any, list[str]]] = {
    "ragas": ("ragas", "a.json", [
        {"user_input": "Why?", "rubrics": {"score1": "bad"}, "multi_responses": ["a"]},
        {"user_input": [{"content": "hi", "type": "ai"}]},
        {"reference": "x"},
        {"user_input": "Odd?", "reference_contexts": ["a"], "reference_context_ids": [1, 2]},
    ], [
        "multi_responses: one answer is recorded (1 time)", "rubrics: no metric here reads it (1 time)",
        "a sample without a question, or with messages that are not JSON (2 times)",
        "reference_contexts that are not as many as their ids (1 time)",
    ]),
    "results of ragas": ("ragas", "a.csv", "question,faithfulness,rouge_score(mode=fmeasure)\nA?,1,.5\nB?,1,.5\n", [
        "faithfulness, rouge_score(mode=fmeasure): scores that ragas gave; `auepora help metric-names` has their "
        "counterparts (2 times)",
    ]),
    "deepeval": ("deepeval", "a.json", [
        {"input": "Why?", "expectedTools": [{"name": "t"}], "success": True, "other": 1}, {"turns": []},
        {"scenario": "a talk"}, {"name": "x"},
    ], [
        "expected_tools: no metric here reads it (1 time)",
        "success: a score, which another tool gave; `auepora help metric-names` has its counterpart (1 time)",
        "other: not one of the columns of a golden (1 time)", "a golden without an input (2 times)",
        "a conversation without turns: there is no user simulator (1 time)",
    ]),
    "promptfoo": ("promptfoo", "a.json", [
        "file://more.yaml",
        {"vars": {"q": "Why?", "ctx": "file://c.txt"}, "description": "{{ q | upper }}", "assert": [
            {"type": "equals", "value": "{{ ctx }}"}, {"type": "contains", "value": "file://a.txt"}, "x"]},
        {"vars": {"q": "file://q.txt"}}, {"vars": "file://vars.yaml", "assert": "file://asserts.yaml"},
        {"vars": {"q": "A?"}, "metadata": {"threadId": "c"}}, {"vars": {"q": "B?"}, "metadata": {"threadId": "c"}},
        {"vars": {"q": []}},
    ], [
        "a test that is not written out (1 time)", f"the assertion equals whose value is {UNRENDERED} (1 time)",
        f"the assertion contains whose value is {UNRENDERED} (1 time)",
        "an assertion that is not written out (1 time)", f"the variable ctx, {UNRENDERED} (1 time)",
        f"a test whose question is {UNRENDERED} (1 time)", "vars of a test from another file (1 time)",
        "assert of a test from another file (1 time)",
        "a test without one of the variables query, question, user_input, user_query, input, prompt, message, q "
        "(1 time)", "a test with an empty list for a variable (1 time)",
        "the answer of an earlier turn: promptfoo takes what the system said (1 time)",
    ]),
    "a configuration of promptfoo": (
        "promptfoo", "a.json", {"defaultTest": {"vars": {"q": "Why?"}, "options": {}}, "tests": [{}]},
        ["options of defaultTest (1 time)"],
    ),
    "results of promptfoo": (
        "promptfoo", "a.json", {"results": {"results": [{"testIdx": 0, "vars": {"q": "Why?"}}, {"testIdx": 0}]}},
        ["the output of a further provider or prompt (1 time)"],
    ),
    "pydantic-evals": ("pydantic-evals", "a.json", {
        "cases": [{"inputs": {"a": 1}}, 3, {"inputs": "Why?", "weight": 2, "evaluators": ["X", {"Contains": "So"}]}],
        "evaluators": [{"IsInstance": "str"}], "report_evaluators": ["x"], "experiment": 1,
    }, [
        "experiment of the data set (1 time)",
        "a case whose inputs hold no question (query, question, user_input, input, prompt, text) (1 time)",
        "a case that is not a mapping (1 time)", "the evaluator IsInstance (1 time)", "the evaluator X (1 time)",
        "that letters count as upper or lower case (1 time)", "weight of a case (1 time)", "report_evaluators (1 time)",
    ]),
    "openai": ("openai", "a.json", [
        {"messages": "x"}, {"prompt": "x"}, {"messages": [SYSTEM]},
        {"messages": [SYSTEM, {"role": "tool", "content": "x"}, {**HUMAN, "content": ["Why?", 5]},
                      {"role": "assistant", "content": None}]},
    ], [
        "a row without a list of messages (messages, input, conversation, conversations) (2 times)",
        "a message of system: the system under test has its own (2 times)",
        "a conversation without a question (1 time)", "a message of tool: the system under test has its own (1 time)",
        "a part of a message that is no text (1 time)", "a message without a text (1 time)",
    ]),
    "csv": ("csv", "a.csv", "id,query,status\na::b,Why?,draft\n,,\n", [
        "the exact name of a case: the id of a golden case is unique and fit for pytest (1 time)",
        "the column status (1 time)",
        "a row without a question (columns query, question, user_input, input, prompt, user_query) (1 time)",
    ]),
    "trec": ("trec", "qrels", "1 0 a -2\n1 0 b 1\n1 3 b 2\n2 0 a -1\n", [
        "a grade below -1, which is read as -1 (1 time)", "an iteration other than 0 of a judgement (1 time)",
        "an earlier judgement of the same document (1 time)", "a topic of which no document is judged (1 time)",
        "the query of a topic: there is no file of topics, its name stands for it (1 time)",
    ]),
}  # fmt: skip


@pytest.mark.parametrize("what", READ)
def test_an_import_tells_what_it_left_out(tmp_path: Path, what: str) -> None:
    fmt, name, data, told = READ[what]
    assert sorted(imported(tmp_path, fmt, data, name).dropped) == sorted(told)


CASE: dict[str, Any] = {
    "id": "a", "query": "two\nlines", "reference_answer": ["x", "y"], "scenario": "typo", "expect": "clarify",
    "must_contain": ["which"], "conversation": "c", "metadata": {"user_input": "Who?"},
    "relevant_docs": [{"doc": "r.md", "quote": "q"}, {"id": "z", "grade": 0}, {"id": "y", "grade": 2, "text": "t"},
                      {"doc": "w.md"}],
}  # fmt: skip
NO_PLACE = "the format has no place for it (1 time)"
FURTHER = "a further reference answer: the format has one (1 time)"
BY_WORD = "that a text is looked for word by word (1 time)"
CONTEXTS = [
    "a document judged not relevant (1 time)", "a grade above 1: every context counts alike (1 time)",
]  # fmt: skip
WRITTEN: dict[str, list[str]] = {
    "trec": [
        "line breaks, tabs and double blanks of a query (1 time)",
        "a quote or span: the format names whole documents (1 time)",
        "that a label names a document, not a chunk (1 time)",
        "the text of a document: judgements are ids and grades (2 times)",
        *(f"{key}: {NO_PLACE}" for key in (
            "reference_answer", "scenario", "expect", "must_contain", "conversation", "metadata")),
    ],
    "beir": [
        "a quote or span: the format names whole documents (1 time)",
        "that a label names a document, not a chunk (1 time)",
        *(f"{key}: {NO_PLACE}" for key in ("reference_answer", "scenario", "expect", "must_contain", "conversation")),
    ],
    "ragas": [
        *CONTEXTS, "the text of a document, where another of the case has none (2 times)",
        "a quote or span: the format names whole documents (1 time)",
        "that a label names a document, not a chunk (1 time)", FURTHER,
        "user_input in metadata: the format has a column of this name (1 time)",
        *(f"{key}: {NO_PLACE}" for key in ("id", "scenario", "expect", "must_contain", "conversation")),
    ],
    "deepeval": [
        FURTHER, *CONTEXTS, "a relevant document without a text: a context is a text (1 time)",
        "the id of a document: a context is a text (1 time)",
        "the document of a context: a golden has one source_file (1 time)",
        *(f"{key}: {NO_PLACE}" for key in ("scenario", "expect", "must_contain", "conversation")),
    ],
    "promptfoo": [
        FURTHER, "expect: clarify: no assertion says it (1 time)", BY_WORD,
        *(f"{key}: {NO_PLACE}" for key in ("scenario", "relevant_docs")),
    ],
    "pydantic-evals": [
        FURTHER, BY_WORD,
        *(f"{key}: {NO_PLACE}" for key in ("scenario", "expect", "conversation", "relevant_docs")),
    ],
    "openai": [
        FURTHER, f"id: {NO_PLACE}", "conversation: each turn is a row (1 time)",
        *(f"{key}: {NO_PLACE}" for key in ("scenario", "expect", "must_contain", "relevant_docs")),
    ],
    "csv": [],
}  # fmt: skip


@pytest.mark.parametrize("fmt", WRITTEN)
def test_an_export_tells_what_the_format_cannot_hold(tmp_path: Path, fmt: str) -> None:
    path = tmp_path / f"out{(FORMATS[fmt].written or ('',))[0]}"
    assert export_cases(ImportedSuite([CASE]), path, fmt) == WRITTEN[fmt]
