"""Disturbed queries: deterministic, plausible, and only where it makes sense."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.types import Document, EvaluationSample
from pytest_auepora.drafting.variants import OPERATIONS, Operation, perturb, variants

QUERY = "How long do I have to ask for a refund, please?"


def test_the_same_on_every_machine() -> None:
    """Golden files hold these; another implementation of the draws would rewrite every one of them."""
    made = variants(EvaluationSample("refund-window", QUERY), OPERATIONS)
    assert [v.query for v in made] == EXPECTED


EXPECTED = [
    "How lnog do I haave to ask for a refund, please?",
    "How long do I have to ask for a reefund, plewse?",
    "How lohg do I have to ask for a refund, plese?",
    "how long do i have to ask for a refund, please?",
    "How Long Do I Have To Ask For A Refund, Please?",
    "hOW LONG DO i HAVE TO ASK FOR A REFUND, PLEASE?",
    "How long do I have to ask for a refund, please???",
    "How long do I have to ask for a refund, please? ...",
    "How long do I have to ask for a refund please",
]


def test_another_case_seed_or_index_is_another_variant() -> None:
    first = perturb(QUERY, case_id="a")
    assert perturb(QUERY, case_id="a") == first
    others = {
        perturb(QUERY, case_id="b"),
        perturb(QUERY, case_id="a", seed=1),
        perturb(QUERY, case_id="a", index=1),
    }
    assert first not in others
    assert len(others) == 3


words = st.text(st.sampled_from("abcdefghijklmnopqrstuvwxyzABC"), min_size=1, max_size=12)
queries = st.lists(words, max_size=8).map(" ".join)


@given(queries, st.integers(0, 5))
def test_typos_are_where_people_make_them(query: str, index: int) -> None:
    made = perturb(query, case_id="c", index=index)
    before, after = query.split(" "), made.split(" ")
    assert len(before) == len(after)
    changed = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert len(changed) <= 2
    for old, new in changed:
        assert len(old) >= 4
        assert (old[0], old[-1]) == (new[0], new[-1])
        assert abs(len(old) - len(new)) <= 1
        assert distance(old, new) <= 2


@given(queries.filter(lambda q: len([w for w in re.findall("[A-Za-z]+", q) if len(w) >= 4 and len(set(w)) > 2]) >= 2))
def test_there_are_two_typos_wherever_there_is_room(query: str) -> None:
    made = perturb(query, case_id="c")
    assert sum(a != b for a, b in zip(query.split(" "), made.split(" "), strict=True)) == 2


def distance(one: str, other: str) -> int:
    """Levenshtein distance."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row, last = [i], row
        for j, b in enumerate(other, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (a != b)))
    return row[-1]


@pytest.mark.parametrize("query", ["", "a b c", "12345 67890", "東京駅はどこですか", "user_name x1y2z3", "the cat"])
def test_what_cannot_be_misspelt_stays(query: str) -> None:
    assert perturb(query, case_id="c") == query
    assert variants(EvaluationSample("c", query), ["typo"]) == []


@pytest.mark.parametrize("query", ["Где находится библиотека?", "Πού είναι η βιβλιοθήκη;", "Où est la bibliothèque ?"])
def test_other_alphabets(query: str) -> None:
    made = perturb(query, case_id="c")
    assert made != query
    assert made.split()[0][0] == query[0]


@given(st.text(max_size=60), st.sampled_from(OPERATIONS), st.integers(0, 9))
def test_any_text(query: str, operation: Operation, index: int) -> None:
    made = perturb(query, case_id="c", operation=operation, index=index)
    assert isinstance(made, str)
    if query.strip():
        assert made.strip()


def test_casing_and_punctuation_keep_the_words() -> None:
    for operation in ("casing", "punctuation"):
        for variant in variants(EvaluationSample("c", QUERY), [operation]):
            assert re.findall(r"\w+", variant.query.lower()) == re.findall(r"\w+", QUERY.lower())


def test_variants_are_cases_of_their_own() -> None:
    sample = EvaluationSample("c", QUERY, [Document("a")], labels={"lang": "en"})
    made = variants(sample, ["typo", "casing"], count=2, seed=3)
    assert [v.sample_id for v in made] == ["c-typo-1", "c-typo-2", "c-casing-1", "c-casing-2"]
    assert made[0].labels == {"lang": "en", "variant_of": "c", "scenario": "typo"}
    assert made[2].labels["scenario"] == "casing"
    assert made[0].relevant_docs == sample.relevant_docs
    assert len({v.query for v in made} | {QUERY}) == 5
    assert sample.labels == {"lang": "en"}
