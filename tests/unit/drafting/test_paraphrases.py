"""Other wordings of queries, from a file and from a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.drafting.paraphrases import ask_paraphrases, load_paraphrases
from pytest_auepora.errors import AueporaError
from pytest_auepora.metrics.generation_llm_judge import JudgeReplyError, LLMCritic


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"id": "x", "query": "one"}\n\n{"id": "x", "query": "two"}\n{"id": "y", "query": "three"}'),
        ("a.json", '{"x": ["one", "two"], "y": "three"}'),
        ("a.yaml", "x: [one, two]\ny: three\n"),
    ],
)
def test_forms(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert load_paraphrases(path) == {"x": ["one", "two"], "y": ["three"]}


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.jsonl", '{"id": "x", "query": "one"}\n{"id"', "a.jsonl:2: not JSON"),
        ("a.jsonl", '{"id": "x"}', "a.jsonl:1: expected a row with id and query"),
        ("a.jsonl", '{"id": "x", "query": 3}', "a.jsonl:1: expected a text, got 3"),
        ("a.yaml", "- x", "a.yaml: expected JSON Lines with id and query, or"),
        ("a.yaml", "x: [", "a.yaml: cannot be read"),
        ("a.json", '{"x": [" "]}', "a.json: x: expected a text"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, name: str, text: str, told: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AueporaError) as error:
        load_paraphrases(path)
    assert told in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AueporaError, match="cannot be read: No such file"):
        load_paraphrases(tmp_path / "a.yaml")


class Rewords(LLMCritic):
    def __init__(self, reply: str) -> None:
        self.reply = reply
        self.prompts: list[str] = []

    def complete(
        self, *, prompt: str, schema: Mapping[str, Any] | None = None, metadata: dict[str, Any] | None = None
    ) -> str:
        self.prompts.append(prompt)
        return self.reply


def test_a_model_rewords_each_query() -> None:
    model = Rewords('{"wordings": ["Is 14 days the limit?", "is it 14 DAYS?", "The limit?", "Is 14 days the limit?"]}')
    found, refused = ask_paraphrases({"a": "Is it 14 days?"}, model, 4)
    assert found == {"a": ["Is 14 days the limit?"]}
    assert refused == 3
    assert "with 4 wordings" in model.prompts[0]
    assert "<question>\nIs it 14 days?\n</question>" in model.prompts[0]


@pytest.mark.parametrize("reply", ["Sure!", '{"wordings": "one"}', '{"wordings": [1]}'])
def test_wordings_that_cannot_be_read_are_an_error(reply: str) -> None:
    with pytest.raises(JudgeReplyError):
        ask_paraphrases({"a": "Is it so?"}, Rewords(reply), 1)
