"""``auepora import --from otel`` and the review of its drafts: traces become golden cases by a decision."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.golden.model import DRAFT, GoldenCase

from ...drafting.trace_files import rag_trace, write_otlp
from ..conftest import Shell

DOCS = [
    {"id": "r#1", "content": "Refunds within 30 days.", "metadata": '{"source": "r.md"}'},
    {"id": "w#1", "content": "Of ann@shop.org."},
]
REDACT = """\
def redact(text):
    return text.replace("ann@shop.org", "[mail]")
"""
DRAFTS = "d.golden.yaml"


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    given: list[str] = []
    monkeypatch.setattr("builtins.input", lambda _: given.pop(0))
    return given


@pytest.fixture
def traces(shell: Shell) -> Shell:
    write_otlp(
        shell.path / "spans.jsonl",
        *rag_trace("t1", "Refunds?", "30 days, says ann@shop.org.", session="c", docs=DOCS, tag__tags=["shop"]),
        *rag_trace("t2", "And for ann@shop.org?", "I do not know.", start=10, session="c", docs=DOCS),
    )
    shell.write("redact.py", REDACT)
    return shell


def test_texts_are_redacted_or_it_is_said_that_they_need_not_be(traces: Shell) -> None:
    for flags in ((), ("--redact", "redact.py:redact", "--no-redact")):
        said = traces("import", "spans.jsonl", "--from", "otel", "-o", DRAFTS, *flags)
        assert said.code == 2
        assert "--redact " in said.err
        assert "--no-redact" in said.err
    assert not (traces.path / DRAFTS).exists()


def drafts(traces: Shell, *flags: str) -> Any:
    return traces("import", "spans.jsonl", "--from", "otel", "-o", DRAFTS, "--redact", "redact.py:redact", *flags)


def test_drafts_are_written_to_be_reviewed(traces: Shell) -> None:
    said = drafts(traces)
    assert said.code == 0
    assert said.err.startswith("2 drafts ")
    assert "2 traces" in said.err
    assert said.err.splitlines()[0].endswith(f"review {DRAFTS}")
    text = (traces.path / DRAFTS).read_text(encoding="utf-8")
    assert "ann@shop.org" not in text
    assert [case.skip for case in load_golden(traces.path / DRAFTS).cases] == [DRAFT] * 2
    again = drafts(traces)
    assert again.code == 3
    assert "(2 times)" in again.err


def reviewed(traces: Shell, answers: list[str], *replies: str) -> list[GoldenCase]:
    drafts(traces)
    answers += replies
    said = traces("review", DRAFTS)
    assert said.code == 0, said.err
    return [case for case in load_golden(traces.path / DRAFTS).cases if case.skip is None]


def reference(case: GoldenCase) -> str | None:
    answer = case.sample.reference_answer
    return None if answer is None else answer.text


def documents(case: GoldenCase) -> list[str] | None:
    relevant = case.sample.relevant_docs
    return None if relevant is None else [document.doc_id for document in relevant]


def test_what_it_said_becomes_the_reference_by_a_decision(traces: Shell, answers: list[str]) -> None:
    first, second = reviewed(traces, answers, "a", "1", "y", "a", "0")
    assert reference(first) == "30 days, says [mail]."
    assert documents(first) == ["r.md"]
    assert (second.sample.query, documents(second)) == ("And for [mail]?", [])
    assert second.sample.chat_history == [
        {"role": "user", "content": "Refunds?"}, {"role": "assistant", "content": "30 days, says [mail]."}
    ]  # fmt: skip
    assert "says" not in str(first.sample.metadata), "what it said was there for this decision"


def test_nothing_said_stays_unsaid(traces: Shell, answers: list[str]) -> None:
    first, second = reviewed(traces, answers, "a", "", "", "e", "For whom?", "9", "2", "Nobody.")
    assert (reference(first), documents(first)) == (None, None)
    assert (second.sample.query, reference(second)) == ("For whom?", "Nobody.")
    assert documents(second) == ["w#1"]


def test_the_review_shows_the_turns_and_what_was_found(traces: Shell, answers: list[str]) -> None:
    drafts(traces)
    answers += ["s", "s"]
    shown = traces("review", DRAFTS).out
    for line in ("user      Refunds?", "question  And for [mail]?", "it said   I do not know.",
                 "[1] r.md r#1: “Refunds within 30 days.”", "[2] w#1: “Of [mail].”"):  # fmt: skip
        assert f"  {line}\n" in shown


def test_what_cannot_redact_is_told(traces: Shell) -> None:
    said = traces("import", "spans.jsonl", "--from", "otel", "--redact", "redact.py:nothing")
    assert said.code == 3
    assert "redact.py has no 'nothing'" in said.err
    traces.write("redact.py", "redact = 'x'")
    assert "redact.py:redact" in traces("import", "spans.jsonl", "--from", "otel", "--redact", "redact.py:redact").err


def test_questions_of_other_golden_files_are_known(traces: Shell) -> None:
    traces.write("other.golden.yaml", "cases:\n  - {id: r, query: 'Refunds?'}\n")
    said = drafts(traces, "--known", "other.golden.yaml", "--by", "tag", "--per-slice", "1")
    assert "1 draft from 2 traces" in said.err
    assert "(1 time)" in said.err


def test_ids_stay_unique_in_the_file(traces: Shell) -> None:
    drafts(traces)
    write_otlp(traces.path / "spans.jsonl", *rag_trace("t9", "Refunds? Where and of whom and why at all?", "x"))
    drafts(traces)
    ids = [case.id for case in load_golden(traces.path / DRAFTS).cases]
    assert len(ids) == len(set(ids)) == 3


def test_without_output_the_drafts_are_printed(traces: Shell) -> None:
    said = traces("import", "spans.jsonl", "--from", "otel", "--no-redact")
    assert said.code == 0
    assert "status: draft" in said.out


def test_the_output_is_a_golden_file(traces: Shell) -> None:
    said = traces("import", "spans.jsonl", "--from", "otel", "-o", "drafts.csv", "--no-redact")
    assert (said.code, ".golden.jsonl" in said.err) == (2, True)
