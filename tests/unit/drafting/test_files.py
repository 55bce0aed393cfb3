"""Drafts in a golden file: proposed, accepted, changed, taken out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.drafting.documents import DocumentPassage, Job
from pytest_auepora.drafting.draft import Draft
from pytest_auepora.drafting.files import DraftJournal, JournalRow, accept, add_cases, drafts_of, journal_path, reject
from pytest_auepora.errors import AueporaError
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.golden.model import DRAFT

CASE: dict[str, Any] = {
    "id": "draft-1", "query": "What does it cost?", "relevant_docs": [{"doc": "d.md", "quote": "5 euros: no more"}],
    "reference_answer": "5 euros", "scenario": "single-hop", "status": "draft",
}  # fmt: skip


@pytest.fixture(params=["new.golden.yaml", "new.golden.jsonl"])
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path: Path = tmp_path / "golden" / request.param
    add_cases(path, [CASE])
    add_cases(path, [{**CASE, "id": "draft-2", "query": "Who pays?"}])
    return path


def test_a_draft_is_not_run(golden: Path) -> None:
    suite = load_golden(golden)
    assert [case.skip for case in suite.cases] == [DRAFT] * 2
    assert [case["id"] for case in drafts_of(golden)] == ["draft-1", "draft-2"]


def test_what_is_accepted_is_a_case_like_any(golden: Path) -> None:
    one, two = drafts_of(golden)
    accept(golden, one, {})
    accept(golden, two, {"query": "Who must pay?"})
    suite = load_golden(golden)
    assert [(case.id, case.sample.query, case.skip) for case in suite.cases] == [
        ("draft-1", "What does it cost?", None),
        ("draft-2", "Who must pay?", None),
    ]
    assert drafts_of(golden) == []


def test_what_is_rejected_is_gone(golden: Path) -> None:
    reject(golden, "draft-1")
    assert [case.id for case in load_golden(golden).cases] == ["draft-2"]
    reject(golden, "draft-2")
    assert not golden.exists()


JOB = Job("single-hop", "d", (DocumentPassage("d", 0, "text"),))
OTHER = Job("single-hop", "d", (DocumentPassage("d", 9, "more"),))
BY = {"model": {"model": "m"}, "prompts": "1"}


def test_it_stands_beside_the_golden_file() -> None:
    assert journal_path(Path("golden/docs.golden.yaml")) == Path("golden/docs.drafts.jsonl")


def test_what_was_noted_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.drafts.jsonl"
    journal = DraftJournal(path)
    journal.note(Draft(JOB, "Q?", case={"id": "x"}), BY)
    journal.note(Draft(OTHER, "R?", reason="quote not found", about="a"), BY)
    journal.decide("y", "rejected", reason="nobody asks that", query="Y?")
    journal.decide("x", "rejected", reason="too easy", query="")
    again = DraftJournal(path)
    assert again.rows == journal.rows
    assert again.finished_jobs(BY) == {JOB.key: True, OTHER.key: False}
    assert again.finished_jobs({**BY, "prompts": "2"}) == {}
    assert again.rejections() == {"quote not found": ["a"]}
    assert again.rejected_questions() == ["Y?"]
    assert again.rows[-1] == JournalRow(id="x", decision="rejected", reason="too easy")


ROW = b'{"job": "j", "id": "x", "by": {}}\n'


@pytest.mark.parametrize(
    ("damaged", "told"),
    [
        (b'{"id', ":3:2: not JSON"),
        (b"3", ":3:1: expected a mapping, found 3"),
        (b"[1]", r":3:1: expected a mapping, found \[1\]"),
        (b"\xff", ": cannot be read: .*utf-8"),
        (b'{"job": ["x"]}', r':3:1: job: expected a text, found \["x"\]'),
        (b'{"job": "x", "reason": 5}', ":3:1: reason: expected a text, found 5"),
        (b'{"job": "x", "question": 5}', ":3:1: question: expected a text, found 5"),
        (b'{"id": "c", "decision": "rejected", "query": null}', ":3:1: query: expected a text, found null"),
        (b'{"id": "c", "decision": "burnt"}', ':3:1: decision: expected one of .*rejected, found "burnt"'),
        (b'{"id": "c", "decision": "edited", "reference_answer": ["a"]}', ":3:1: reference_answer: expected a text"),
        (b'{"job": "x", "by": []}', r":3:1: by: expected a mapping, found \[\]"),
        (b"{}", r":3:1: expected a try \(job\), or a decision \(decision and id\)"),
        (b'{"id": "c"}', r":3:1: expected a try \(job\), or a decision"),
        (b"[" * 100_000, ":3:1: "),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, damaged: bytes, told: str) -> None:
    path = tmp_path / "a.drafts.jsonl"
    path.write_bytes(ROW + b"\n" + damaged + b"\n")
    with pytest.raises(AueporaError, match=rf"a\.drafts\.jsonl{told}"):
        DraftJournal(path)


@pytest.mark.parametrize("cut", [b'{"job": "k"', b"x", '{"job": "ü'.encode()[:-1]])
def test_a_last_line_that_a_kill_cut_is_dropped(tmp_path: Path, cut: bytes) -> None:
    path = tmp_path / "a.drafts.jsonl"
    path.write_bytes(ROW + cut)
    journal = DraftJournal(path)
    assert [row.job for row in journal.rows] == ["j"]
    assert path.read_bytes() == ROW + cut
    journal.decide("y", "accepted")
    journal.decide("z", "accepted")
    assert path.read_bytes().startswith(ROW + b'{"id": "y"')
    assert DraftJournal(path).rows == journal.rows
