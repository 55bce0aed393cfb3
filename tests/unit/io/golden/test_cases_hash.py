"""The content hash changes when what a score means changes, and only then."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.types import Document
from pytest_auepora.io.golden.cases import content_hash
from tests.unit.io.files import load

FULL = "id: a, query: Q, relevant_docs: [p, {id: q, grade: 2}], reference_answer: A, must_contain: [x], expect: answer"


def hash_of(folder: Path, case: str, before: str = "") -> str:
    (made, *_) = load(folder, f"{before}cases:\n- {{{case}}}\n- {{id: other, query: O}}\n").cases
    return made.content_hash


def test_it_is_short_and_always_the_same(tmp_path: Path) -> None:
    # literals: a baseline written by one version is read by the next
    canonical = (
        '{"expect":"answer","must_contain":["x"],"query":"Q","reference_answer":["A"],'
        '"relevant_docs":["p",["q","",{"grade":2}]]}'
    )
    assert hash_of(tmp_path, FULL) == hashlib.sha256(canonical.encode()).hexdigest()[:12] == "427200b69ee7"


@pytest.mark.parametrize(
    "case",
    [
        FULL.replace("id: a", "id: b"),
        FULL + ", tags: [t]",
        FULL + ", thresholds: {recall@5: 0.3}",
        FULL + ", skip: later",
        FULL + ", xfail: yes",
        FULL + ", timeout: 3",
        FULL + ", must_pass: true",
        FULL + ", quarantine: 2030-01-01",
        FULL + ", benchmark: true",
        FULL + ", top_k: 9",
        FULL + ", cluster: c",
        FULL + ", scenario: typo",
        FULL + ", variant_of: other",
        FULL + ", match: word",
        FULL + ", forbidden: []",
        FULL + ", metadata: {}",
        FULL.replace("[p, {id: q, grade: 2}]", "[{grade: 2, id: q}, p]"),
        FULL.replace("[p,", "[{id: p, grade: 1},"),
        FULL.replace("[x]", "x"),
        FULL.replace("query: Q", '"query": "Q"'),
        "query: Q, expect: answer, reference_answer: A, must_contain: x, id: a, relevant_docs: [{id: q, grade: 2}, p]",
    ],
)
def test_what_it_does_not_depend_on(tmp_path: Path, case: str) -> None:
    assert hash_of(tmp_path, case) == hash_of(tmp_path, FULL)


@pytest.mark.parametrize(
    "case",
    [
        FULL.replace("query: Q", "query: q"),
        FULL.replace("[p,", "[p2,"),
        FULL.replace("grade: 2", "grade: 3"),
        FULL.replace("[p,", "[{id: p, grade: 0},"),
        FULL.replace("[p,", "[{doc: p},"),
        FULL.replace("[p,", "[{doc: p, quote: z},"),
        FULL.replace("[p,", "[{doc: p, span: [1, 2]},"),
        FULL.replace("[p, {id: q, grade: 2}]", "[]"),
        FULL.replace("relevant_docs: [p, {id: q, grade: 2}], ", ""),
        FULL.replace("reference_answer: A", "reference_answer: [A, B]"),
        FULL.replace("[x]", "[x, y]"),
        FULL.replace("expect: answer", "expect: clarify"),
        FULL + ", match: regex",
        FULL + ", forbidden: y",
        FULL + ", candidate_docs: [z]",
        FULL + ", labels: {refused: true}",
        FULL + ", metadata: {user: u1}",
        FULL + ", nuggets: [n]",
        FULL + ", expect_change: true",
    ],
)
def test_what_it_depends_on(tmp_path: Path, case: str) -> None:
    assert hash_of(tmp_path, case) != hash_of(tmp_path, FULL)


def test_no_documents_are_not_the_same_as_nobody_said(tmp_path: Path) -> None:
    assert hash_of(tmp_path, "id: a, query: Q, relevant_docs: []") != hash_of(tmp_path, "id: a, query: Q")


def test_what_is_inherited_counts_as_if_it_were_written(tmp_path: Path) -> None:
    inherited = hash_of(tmp_path, "id: a, query: Q", "defaults: {must_contain: [x]}\n")
    assert inherited == hash_of(tmp_path, "id: a, query: Q, must_contain: x")


DOCS = st.builds(
    Document, st.text(max_size=5), st.text(max_size=5), st.dictionaries(st.text(max_size=3), st.integers())
)
SAID = st.fixed_dictionaries(
    {"query": st.text(max_size=10)},
    optional={
        "must_contain": st.lists(st.text(max_size=5)),
        "relevant_docs": st.lists(DOCS, max_size=4),
        "metadata": st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3)),
    },
)


@given(SAID, st.randoms())
def test_order_never_matters(said: dict[str, Any], random: Any) -> None:
    keys = list(said)
    random.shuffle(keys)
    shuffled = {k: said[k] for k in keys}
    if "relevant_docs" in said:
        shuffled["relevant_docs"] = random.sample(said["relevant_docs"], len(said["relevant_docs"]))
    if "metadata" in said:
        shuffled["metadata"] = dict(reversed(said["metadata"].items()))
    assert content_hash(shuffled) == content_hash(said)


@given(st.text(min_size=1), st.lists(st.text()))
def test_it_is_sha256_over_canonical_json(query: str, phrases: list[str]) -> None:
    meaning = {"must_contain": phrases, "query": query} if phrases else {"query": query}
    canonical = json.dumps(meaning, ensure_ascii=False, separators=(",", ":"))
    expected = hashlib.sha256(canonical.encode()).hexdigest()[:12]
    assert content_hash({"query": query, "must_contain": phrases}) == expected


def plainly(said: dict[str, Any]) -> str:
    """What the hash is defined to be, without any of its short cuts."""
    meaning: dict[str, Any] = {}
    for name, value in said.items():
        if name == "relevant_docs":
            texts = []
            for doc in value:
                metadata = {k: v for k, v in doc.metadata.items() if k != "grade" or v != 1}
                texts.append(canonical([doc.doc_id, doc.text, metadata] if metadata or doc.text else doc.doc_id))
            meaning[name] = [json.loads(text) for text in sorted(texts)]
        elif value:
            meaning[name] = value
    return hashlib.sha256(canonical(meaning).encode()).hexdigest()[:12]


def canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


GRADED = st.dictionaries(
    st.sampled_from(["grade", "match", "start", "x"]),
    st.sampled_from([0, 1, 2, True, 1.0, 0.5, "doc", None, 10**30]),
    max_size=2,
)
GRADED_DOCS = st.builds(Document, st.text(max_size=3), st.sampled_from(["", "é", '"']), GRADED)


@given(SAID, st.lists(GRADED_DOCS, max_size=3))
def test_the_short_cuts_write_what_json_writes(said: dict[str, Any], docs: list[Document]) -> None:
    said = {**said, "relevant_docs": docs}
    assert content_hash(said) == plainly(said)
