"""Assertions of promptfoo that become keys, and those that are counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .test_files import imported


@pytest.mark.parametrize(
    ("cell", "assertion"),
    [
        ("model-graded-closedqa: mentions 18:00", "model-graded-closedqa"), ("file://check.py", "python"),
        ("file://check.js:held", "javascript"), ("not-model-graded-closedqa: insults", "not-model-graded-closedqa"),
        ("is-valid-openai-tools-call", "is-valid-openai-tools-call"), ("contains-sql", "contains-sql"),
        ("guardrails", "guardrails"), ("g-eval(0.7): is kind", "g-eval"), ("fn:output.length", "javascript"),
        ("trajectory:step-count: 3", "trajectory:step-count"), ("newer-than-this: x", "newer-than-this"),
        ("promptfoo:redteam:harmful: x", "promptfoo:redteam:harmful"), ("word-count(3)", "word-count"),
    ],
)  # fmt: skip
def test_assertions_in_a_table_without_counterpart_are_counted(tmp_path: Path, cell: str, assertion: str) -> None:
    suite = imported(tmp_path, "promptfoo", f'question,__expected\nWhy?,"{cell}"\n', "a.csv")
    assert suite.cases == [{"id": "why", "query": "Why?", "metadata": {"promptfoo": {"query": "question"}}}]
    assert suite.dropped == [f"the assertion {assertion} (1 time)"]


@pytest.mark.parametrize(
    ("cell", "key", "value"),
    [
        ("similar:cosine(0.8): the Pro plan", "reference_answer", "the Pro plan"),
        ("18:00", "reference_answer", "18:00"),
        ("Note: closed", "reference_answer", "Note: closed"),
        ("https://shop.example", "reference_answer", "https://shop.example"),
        ("contains-all: a, b", "must_contain", ["a", "b"]),
        ('contains-all: "a, b", c', "must_contain", ["a, b", "c"]),
        ("grade: is kind", "rubric", ["is kind"]),
    ],
)
def test_assertions_in_a_table_with_counterpart(tmp_path: Path, cell: str, key: str, value: Any) -> None:
    quoted = cell.replace('"', '""')
    (case,) = imported(tmp_path, "promptfoo", f'question,__expected\nWhy?,"{quoted}"\n', "a.csv").cases
    assert case[key] == value


def test_words_of_yaml_1_2_are_texts(tmp_path: Path) -> None:
    text = "tests: [{vars: {q: 12:30}, assert: [{type: icontains-any, value: %s}, {type: equals, value: Off}]}]"
    text %= "[Yes, NO, 010, 0o17, 1_000, 0x1F, 1e3, 1.10, ~, on, 2024-05-01, .5]"
    (case,) = imported(tmp_path, "promptfoo", text, "a.yaml").cases
    assert (case["query"], case["reference_answer"]) == ("12:30", "Off")
    assert case["must_contain"][0] == r"(?i)Yes|NO|10|15|1_000|31|1000|1\.1|null|on|2024\-05\-01|0\.5"


def test_default_assertions_can_be_switched_off(tmp_path: Path) -> None:
    default = {"assert": [{"type": "icontains", "value": "x"}]}
    tests = [{"vars": {"q": "Why?"}, "options": {"disableDefaultAsserts": True}}]
    suite = imported(tmp_path, "promptfoo", {"defaultTest": default, "tests": tests})
    assert "must_contain" not in suite.cases[0]


def test_an_assertion_without_a_text_is_counted(tmp_path: Path) -> None:
    suite = imported(tmp_path, "promptfoo", [{"vars": {"q": "Why?"}, "assert": [{"type": "contains-all"}]}])
    assert suite.dropped == ["the assertion contains-all (1 time)"]
