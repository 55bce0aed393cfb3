"""``auepora review``: one draft after the other, decided in the terminal."""

from __future__ import annotations

import json

import pytest

from pytest_auepora.io.golden.load import load_golden

from ..conftest import Shell

GOLDEN = """\
suite: docs
cases:
  - id: kept
    query: What is kept?
  - id: one
    query: Price?
    relevant_docs:
      - {doc: d.md, quote: 5 euros an hour}
    reference_answer: 5 euros
    status: draft
  - id: two
    query: What does the owner earn?
    relevant_docs: []
    status: draft
"""


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    given: list[str] = []

    def answer(_: str) -> str:
        if not given:
            raise EOFError
        return given.pop(0)

    monkeypatch.setattr("builtins.input", answer)
    return given


def cases(shell: Shell) -> dict[str, tuple[str, bool]]:
    return {c.id: (c.sample.query, c.skip is None) for c in load_golden(shell.path / "d.golden.yaml").cases}


@pytest.fixture
def docs(shell: Shell) -> Shell:
    shell.write("d.golden.yaml", GOLDEN)
    return shell


def test_accept_and_reject(docs: Shell, answers: list[str]) -> None:
    answers += ["a", "r", "nobody asks that"]
    said = docs("review", "d.golden.yaml")
    assert said.code == 0
    assert "one  (1 of 2)" in said.out
    assert "d.md: “5 euros an hour”" in said.out
    assert "refused" in said.out
    assert "1 accepted, 1 rejected; 0 left" in said.out
    assert cases(docs) == {"kept": ("What is kept?", True), "one": ("Price?", True)}
    rows = [json.loads(line) for line in (docs.path / "d.drafts.jsonl").read_text("utf-8").splitlines()]
    assert rows == [
        {"id": "one", "decision": "accepted"},
        {"id": "two", "decision": "rejected", "reason": "nobody asks that", "query": "What does the owner earn?"},
    ]


def test_edit(docs: Shell, answers: list[str]) -> None:
    answers += ["e", "What does an hour cost?", "", "s"]
    assert "1 edited, 1 skipped; 1 left" in docs("review", "d.golden.yaml").out
    assert cases(docs)["one"] == ("What does an hour cost?", True)
    assert cases(docs)["two"][1] is False
    case = load_golden(docs.path / "d.golden.yaml").case("one")
    assert case.sample.reference_answer is not None
    assert case.sample.reference_answer.text == "5 euros"


@pytest.mark.parametrize("given", [["q"], [], ["x", "what", "q"]])
def test_nothing_is_decided_by_leaving(docs: Shell, answers: list[str], given: list[str]) -> None:
    answers += given
    assert "nothing decided; 2 left" in docs("review", "d.golden.yaml").out
    assert (docs.path / "d.golden.yaml").read_text("utf-8") == GOLDEN


def test_a_file_without_drafts(shell: Shell) -> None:
    assert "0 left" in shell("review", "shop.golden.yaml").out


def test_a_file_that_is_wrong_is_told_first(docs: Shell) -> None:
    docs.write("d.golden.yaml", GOLDEN.replace("query: What is kept?", "quer: x"))
    said = docs("review", "d.golden.yaml")
    assert said.code == 3
    assert "d.golden.yaml:4:5" in said.err


def test_a_draft_written_by_hand_is_shown(docs: Shell, answers: list[str]) -> None:
    docs.write("d.golden.yaml", GOLDEN.replace("{doc: d.md, quote: 5 euros an hour}", "c-17"))
    said = docs("review", "d.golden.yaml")
    assert (said.code, "  c-17\n" in said.out) == (0, True)


def test_a_journal_of_another_type_is_one_line(docs: Shell) -> None:
    docs.write("d.drafts.jsonl", '{"id": "c", "decision": "rejected", "query": 1}\n')
    said = docs("review", "d.golden.yaml")
    assert (said.code, said.err.count("\n")) == (3, 1)
    assert said.err.startswith("auepora: d.drafts.jsonl:1:1: query: ")
