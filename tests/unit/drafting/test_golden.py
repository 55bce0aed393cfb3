"""Drafts in a golden file: proposed, accepted, changed, taken out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.drafting.golden import accept, add_cases, drafts_of, reject
from pytest_auepora.io.golden.load import load_golden

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
    assert [case.skip for case in suite.cases] == ["a draft: accept it with auepora review"] * 2
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
