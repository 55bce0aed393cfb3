"""Drafts from traces: redacted first, without duplicates, sampled by slice, and what is left out is counted."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pytest_auepora.core.run import CaseResult
from pytest_auepora.drafting.from_traces import draft_cases, slice_of
from pytest_auepora.drafting.known import Known
from pytest_auepora.drafting.traces import TraceCall, TraceDocument
from pytest_auepora.errors import AueporaError


def call(trace: str, query: str, **more: Any) -> TraceCall:
    return TraceCall(trace, query, **more)


FULL = call(
    "t1", "Is a@b.org known?", said="Yes, a@b.org is.", history=[{"user": "I am a@b.org"}], conversation="a@b.org",
    documents=[TraceDocument("d#1", "d.md", "mail a@b.org")], model="m-1", feedback={"comment": "a@b.org says no"},
    tags=["x"], input_tokens=3,
)  # fmt: skip


def no_mail(text: str) -> str:
    return re.sub(r"\S+@\S+", "[mail]", text)


def test_a_draft_has_what_was_asked_and_what_was_said_beside_it() -> None:
    (case,) = draft_cases([FULL]).cases
    assert case["status"] == "draft"
    assert "reference_answer" not in case, "what it said is no reference"
    assert "relevant_docs" not in case
    assert case["chat_history"] == [{"user": "I am a@b.org"}]
    assert case["conversation"] == "a@b.org"
    assert case["metadata"]["trace"] == {
        "id": "t1", "said": "Yes, a@b.org is.", "documents": [{"id": "d#1", "doc": "d.md", "text": "mail a@b.org"}],
        "model": "m-1", "tokens": {"input": 3, "output": 0}, "feedback": {"comment": "a@b.org says no"}, "tags": ["x"],
    }  # fmt: skip


def test_every_text_is_redacted_before_anything_else() -> None:
    known = Known(["[mail] known is"])
    assert draft_cases([FULL], redact=no_mail, known=known).cases
    (case,) = draft_cases([FULL], redact=no_mail).cases
    assert "a@b.org" not in str(case)
    assert str(case).count("[mail]") == 6
    assert "a@b.org" in FULL.query, "what is given stays as it is"
    seen: list[str] = []

    def note(text: str) -> str:
        seen.append(text)
        return text

    draft_cases([FULL], redact=note)
    assert len(seen) == 6


def test_the_hook_of_the_project_redacts_too() -> None:
    def pytest_auepora_redact(result: CaseResult, config: Any) -> None:
        result.query = no_mail(result.query)
        outputs, expected = result.outputs, result.expected
        outputs["answer"] = no_mail(outputs["answer"])
        for hit in outputs["retrieved"]:
            hit["text"] = no_mail(hit["text"])
        for turn in expected["chat_history"]:
            turn["content"] = no_mail(turn["content"])
        result.outputs, result.expected = outputs, expected

    (case,) = draft_cases([FULL], redact=pytest_auepora_redact).cases
    assert {"query": case["query"], "history": case["chat_history"]} == {
        "query": "Is [mail] known?", "history": [{"user": "I am [mail]"}]
    }  # fmt: skip
    assert "a@b.org" not in str(case)
    again = draft_cases([FULL], redact=pytest_auepora_redact).cases
    assert case["conversation"] == again[0]["conversation"], "turns of one conversation stay together"


@pytest.mark.parametrize(
    ("redact", "told"),
    [
        (lambda text: None, "returns the text, it gave NoneType"),
        (lambda text: 1 / 0, "raised ZeroDivisionError"),
        (lambda result: 1 / 0, "raised ZeroDivisionError"),
    ],
)
def test_a_function_that_does_not_redact_is_an_error(redact: Any, told: str) -> None:
    with pytest.raises(AueporaError, match=told):
        draft_cases([FULL], redact=redact)


def test_what_asks_the_same_is_left_out_and_counted() -> None:
    calls = [call("1", "How long do I have?"), call("2", "how long do I have"), call("3", "Where?"), call("4", " ")]
    suite = draft_cases(calls, known=Known(["Where?"]))
    assert [case["query"] for case in suite.cases] == ["How long do I have?"]
    assert [line.rpartition("(")[2] for line in suite.dropped] == ["2 times)", "1 time)"]


def test_each_slice_gives_a_sample() -> None:
    calls = [
        call(f"t{n}", f"question number {n} of words{n} more{n}", feedback={"thumbs": "down" if n % 5 == 0 else "up"})
        for n in range(20)
    ]
    suite = draft_cases(calls, by="feedback", per_slice=3)
    labels = [case["labels"]["feedback"] for case in suite.cases]
    assert sorted(labels) == ["thumbs=down"] * 3 + ["thumbs=up"] * 3
    told = [line.split() for line in suite.dropped]
    assert [("thumbs=down" in words, "3" in words, words[-2]) for words in told] == [
        (True, True, "(1"), (False, True, "(13"),
    ]  # fmt: skip
    assert draft_cases(calls, by="feedback", per_slice=3).cases == suite.cases
    assert draft_cases(calls, by="feedback", per_slice=3, seed=1).cases != suite.cases
    assert len(draft_cases(calls, per_slice=4).cases) == 4


@pytest.mark.parametrize(
    ("by", "value"),
    [("model", "m-1"), ("tag", "x"), ("feedback", "comment=a@b.org says no"), ("tenant", "none"), ("", "")],
)
def test_what_a_question_is_sliced_by(by: str, value: str) -> None:
    assert slice_of(FULL, by) == value
