"""Golden files with slips and damage: they are read, or every complaint has its place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_auepora.errors import GoldenFileError
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.metrics.registry import Registry

from ....mutations import read_all, spoilt, tries

YAML = """\
suite: billing
owner: search-team
owners: {token_f1: ranking}
top_k: 5
tags: [nightly]
metrics:
  - recall@5
  - ndcg@10
  - mrr@10
  - token_f1
thresholds:
  recall@5: 0.80
  p95_latency: {max: 2.0}
case_thresholds: {recall@5: 0.5}
regression: {case_guard: auto, case_max_drop: 0.5, slices: [topic], metrics: {mrr@10: {margin: 0.1}}}
defaults: {tags: [fast]}
cases:
  - id: refund-window
    query: How long do I have to ask for a refund?
    relevant_docs: [policy-4, {id: policy-7, grade: 2}, {doc: refunds.md, quote: "within 30 days"}]
    reference_answer: Within 30 days of purchase.
    must_contain: ["30 days"]
    tags: [smoke]
    labels: {topic: refunds}
  - id: warranty
    query: >
      How long is
      the warranty?
    relevant_docs: [{doc: warranty.md, span: [10, 40]}]
    labels: {topic: &t goods}
    thresholds: {mrr@10: ">= 0.5"}
    quarantine: 2031-01-01
  - {id: ceo-salary, query: "What does the CEO earn?", relevant_docs: [], labels: {topic: *t}}
  - id: talk
    query: And when it broke?
    chat_history: [{user: "The warranty?"}, {role: assistant, content: Two years.}]
    conversation: goods
    labels: {chunk_labels: {c1: {topical_relevance: true, sufficient_evidence: false}}}
    forbidden: [never, "r.*d"]
    forbidden_docs: [{doc: old.md, quote: "ten days"}]
    match: regex
    answer_schema: {type: object, properties: {years: {type: integer}}}
    nuggets: [two years]
    claims: [it is two years]
    timeout: 2.5
  - {id: marks, query: Q, skip: later, candidate_docs: [x], sensitive: [secret], must_pass: yes, status: draft}
"""
LINES = """\
{"id": "a", "query": "Why?", "relevant_docs": ["x", {"id": "y", "grade": 2}], "reference_answer": "So."}
{"id": "b", "query": "How?", "relevant_docs": [], "tags": ["smoke"], "labels": {"topic": "t"}}
"""
PLACED = re.compile(r"^.+\.golden\.(yaml|jsonl)(:\d+:\d+)?: .")


def tried(path: Path, data: bytes) -> bool:
    """Whether the file is refused; each complaint names the file, and where something stands in it, the place."""
    path.write_bytes(data)
    try:
        load_golden(path, Registry())
    except GoldenFileError as exc:
        assert exc.problems  # noqa: PT017 - either is fine
        for problem in exc.problems:
            assert PLACED.match(str(problem)), problem
            assert len(problem.message) < 2_000, problem
        return True
    return False


@tries(400, 18_000)
def test_slips_in_yaml(tmp_path: Path, tries: int) -> None:
    path = tmp_path / "a.golden.yaml"
    assert not tried(path, YAML.encode())
    assert tries / 4 < read_all(tries, 4, lambda pick: tried(path, spoilt(YAML, pick, "yaml"))) < tries


@tries(200, 6_000)
def test_slips_in_lines(tmp_path: Path, tries: int) -> None:
    path = tmp_path / "a.golden.jsonl"
    assert not tried(path, LINES.encode())
    assert tries / 4 < read_all(tries, 5, lambda pick: tried(path, spoilt(LINES, pick, "lines"))) < tries


@pytest.mark.parametrize(
    ("now", "before", "place"),
    [
        ("  - id: warranty", f"  - {'k' * 1025}: 1\n    id: warranty", "25:1030"),
        ("  - mrr@10\n", f"  - recall@{'9' * 5000}\n", "9:5"),
        ("  recall@5: 0.80", f"  recall@{'9' * 5000}: 0.8", "12:5010"),
        ("top_k: 5", "top_k: 1:30", "4:8"),
        ("top_k: 5", f"top_k: {'9' * 5000}", "4:8"),
        ("  recall@5: 0.80", "  recall@5: 190:20:30", "12:13"),
        ("  recall@5: 0.80", "  recall@5: .nan", "12:13"),
        ('must_contain: ["30 days"]', 'match: regex\n    must_contain: ["a{99999999999}"]', "23:19"),
        ("quarantine: 2031-01-01", "quarantine: 2031-13-41", "32:17"),
    ],
)
def test_the_place_of_what_no_parser_likes(tmp_path: Path, now: str, before: str, place: str) -> None:
    path = tmp_path / "a.golden.yaml"
    path.write_text(YAML.replace(now, before, 1), encoding="utf-8")
    with pytest.raises(GoldenFileError) as seen:
        load_golden(path, Registry())
    assert place in [f"{one.line}:{one.col}" for one in seen.value.problems]
