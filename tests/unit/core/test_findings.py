"""Findings: which fail their case, and which say that it is worse than what was accepted."""

from __future__ import annotations

import pytest

from pytest_auepora.base.records import read_record, record_text
from pytest_auepora.core.findings import Answers, Finding, FindingStatus


@pytest.mark.parametrize(
    ("status", "fails"),
    [
        ("failed", True), ("not asked again", True), ("varies", False), ("suspect", False), ("still failing", False),
        ("excused", False), ("advisory", False),
    ],
)  # fmt: skip
def test_which_findings_fail(status: FindingStatus, fails: bool) -> None:
    assert Finding("assertion", "must_contain", status).fails == fails


@pytest.mark.parametrize(("held", "accepted", "worse"), [(2, 2, True), (1, 2, False), (0, 0, False), (0, 2, False)])
def test_only_what_always_held_got_worse(held: int, accepted: int, worse: bool) -> None:
    assert Finding("assertion", "must_contain", held=held, accepted=accepted).is_worse == worse
    assert not Finding("assertion", "must_contain", "varies", held=held, accepted=accepted).is_worse


def test_they_come_back_from_a_file() -> None:
    finding = Finding("fell", "recall@5", before=1.0, after=0.25, limit=0.5, held=5, accepted=5, asked=3, needed=3)
    assert read_record(Finding, record_text(finding)) == finding
    answers = Answers({"mrr": [1.0, None, "error"]}, {"must_contain": [True, False, False]}, [True, True, False])
    back = read_record(Answers, record_text(answers))
    assert (back, len(back)) == (answers, 3)
