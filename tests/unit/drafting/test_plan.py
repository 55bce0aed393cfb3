"""Quotas, and which passages are tried."""

from __future__ import annotations

import pytest

from pytest_auepora.drafting.documents import Passage, Passages
from pytest_auepora.drafting.plan import PACK, TRIES, packed, planned, price_of, read_quotas
from pytest_auepora.errors import AueporaError

PROSE = (
    "Words about bicycles, deposits and late returns stand here until the passage is long enough, {}." + " More." * 9
)
CORPUS = [Passage(doc, i, PROSE.format(f"{doc} {i} rare{i}")) for doc in ("a", "b") for i in range(8)]


@pytest.mark.parametrize(
    ("text", "quotas"),
    [("single-hop=2", {"single-hop": 2}), (" multi-hop = 1 , unanswerable=0", {"multi-hop": 1, "unanswerable": 0})],
)
def test_quotas(text: str, quotas: dict[str, int]) -> None:
    assert read_quotas(text) == quotas


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("singlehop=2", "unknown kind 'singlehop' (did you mean 'single-hop'?)"),
        ("single-hop", "single-hop: expected how many"),
        ("single-hop=-1", "single-hop: expected how many"),
        ("single-hop=0", "no case is wanted"),
        ("", "no case is wanted"),
    ],
)
def test_quotas_that_are_none(text: str, told: str) -> None:
    with pytest.raises(AueporaError) as error:
        read_quotas(text)
    assert told in str(error.value)


def test_each_document_and_kind_has_tries_of_its_own() -> None:
    jobs = planned(Passages(CORPUS), {"single-hop": 2, "multi-hop": 1}, seed=0)
    assert {key: len(found) for key, found in jobs.items()} == {
        ("a", "single-hop"): 2 * TRIES, ("a", "multi-hop"): TRIES,
        ("b", "single-hop"): 2 * TRIES, ("b", "multi-hop"): TRIES,
    }  # fmt: skip
    assert all(job.passages[0].doc == job.doc == doc for (doc, _), found in jobs.items() for job in found)
    hops = [job.passages for (_, kind), found in jobs.items() for job in found if kind == "multi-hop"]
    assert all(one.doc != other.doc for one, other in hops)
    assert planned(Passages(CORPUS), {"single-hop": 2}, seed=0) == planned(Passages(CORPUS), {"single-hop": 2}, seed=0)


def test_another_document_does_not_change_the_order() -> None:
    alone = planned(Passages(CORPUS[:8]), {"single-hop": 1}, seed=3)
    assert planned(Passages(CORPUS), {"single-hop": 1}, seed=3)["a", "single-hop"] == alone["a", "single-hop"]


def test_groups_hold_every_passage_once_and_are_small() -> None:
    passages = [Passage("d", i, "x" * size) for i, size in enumerate([PACK // 2, PACK // 2, 9, 2 * PACK, 9, 9])]
    groups = [*packed(passages)]
    assert [passage for group in groups for passage in group] == passages
    assert [len(group) for group in groups] == [2, 1, 1, 2]
    assert [*packed([])] == []


@pytest.mark.parametrize(("kind", "calls"), [("single-hop", 7), ("multi-hop", 10)])
def test_the_price_of_a_try_is_all_that_may_be_asked(kind: str, calls: int) -> None:
    (job, *_) = planned(Passages(CORPUS), {kind: 1}, seed=0)["a", kind]
    assert price_of([job], CORPUS).calls == calls


def test_the_price_of_searching_it_all_grows_with_the_corpus() -> None:
    (job, *_) = planned(Passages(CORPUS), {"unanswerable": 1}, seed=0)["a", "unanswerable"]
    one, many = price_of([job], CORPUS), price_of([job], CORPUS * 50)
    assert one.calls == 3
    assert many.calls > one.calls
    assert many.prompt_tokens > 20 * one.prompt_tokens
    assert price_of([job, job], CORPUS) == tuple(2 * n for n in one)
