"""The journal of tries and decisions."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.drafting.documents import Passage
from pytest_auepora.drafting.draft import Outcome
from pytest_auepora.drafting.journal import Journal, journal_path
from pytest_auepora.drafting.plan import Job
from pytest_auepora.errors import AueporaError

JOB = Job("single-hop", "d", (Passage("d", 0, "text"),))
OTHER = Job("single-hop", "d", (Passage("d", 9, "more"),))
BY = {"model": {"model": "m"}, "prompts": "1"}


def test_it_stands_beside_the_golden_file() -> None:
    assert journal_path(Path("golden/docs.golden.yaml")) == Path("golden/docs.drafts.jsonl")


def test_what_was_noted_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.drafts.jsonl"
    journal = Journal(path)
    journal.note(Outcome(JOB, case={"id": "x"}, question="Q?"), BY)
    journal.note(Outcome(OTHER, "quote not found: 'a'", question="R?"), BY)
    journal.decide("y", "rejected", reason="nobody asks that", query="Y?")
    journal.decide("x", "rejected", reason="too easy", query="")
    again = Journal(path)
    assert again.rows == journal.rows
    assert again.done(BY) == {JOB.key: True, OTHER.key: False}
    assert again.done({**BY, "prompts": "2"}) == {}
    assert again.reasons() == {"quote not found": 1}
    assert again.rejected() == ["Y?"]
    assert again.rows[-1] == {"id": "x", "decision": "rejected", "reason": "too easy"}


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.drafts.jsonl"
    path.write_text('{"id": "x"}\n\n{"id', encoding="utf-8")
    with pytest.raises(AueporaError, match=r"a\.drafts\.jsonl:3: not JSON"):
        Journal(path)
