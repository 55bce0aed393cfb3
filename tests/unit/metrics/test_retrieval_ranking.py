"""Reciprocal rank, average precision and nDCG on rankings one can follow by eye; rankings of ids alone."""

from __future__ import annotations

import json
import math
from collections import deque
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora import score_rankings
from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.errors import MetricError, UnknownNameError
from pytest_auepora.metrics.retrieval_ranking import MRRAtK, NDCGAtK

from .rankings import RANKED as NAMES_OF_RANKED
from .rankings import REGISTRY, doc, got, graded, judgments, ks, names, score, wants
from .samples import is_na, reason

RANKED = got("x b y a")
GOLD = wants(*graded(a=2, b=1, c=3))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mrr", 1 / 2), ("mrr@1", 0.0), ("mrr@2", 1 / 2),
        ("map", (1 / 2 + 2 / 4) / 3), ("map@2", (1 / 2) / 3), ("map@1", 0.0),
        ("map[norm=found]", (1 / 2 + 2 / 4) / 2), ("map@2[norm=found]", 1 / 2), ("map@1[norm=found]", 0.0),
        ("ndcg@10", (1 / log2(3) + 3 / log2(5)) / (7 + 3 / log2(3) + 1 / log2(4))),
        ("ndcg@2", (1 / log2(3)) / (7 + 3 / log2(3))),
        ("ndcg@10[gain=binary]", (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3) + 1 / log2(4))),
        ("ndcg@10[gain=linear]", (1 / log2(3) + 2 / log2(5)) / (3 + 2 / log2(3) + 1 / log2(4))),
    ],
)  # fmt: skip
def test_by_eye(name: str, expected: float) -> None:
    assert score(name, GOLD, RANKED) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("name", ["mrr", "mrr@5", "map", "map@5", "map[norm=found]", "ndcg@5"])
def test_nothing_relevant_found_is_zero(name: str) -> None:
    assert score(name, GOLD, got("x y")) == 0.0
    assert score(name, GOLD, got()) == 0.0


@pytest.mark.parametrize("name", ["mrr", "map", "ndcg@5", "ndcg@5_doc"])
def test_why_there_is_no_score(name: str) -> None:
    assert reason(REGISTRY.get(name), EvaluationSample("s", "q"), RANKED) == "no relevant_docs"
    assert is_na(REGISTRY.get(name), wants(), RANKED)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 1500])
@pytest.mark.parametrize("gain", ["exp", "linear", "binary"])
@pytest.mark.parametrize("grades", [(1,), (1, 2, 3)])
def test_an_ideal_ranking_is_exactly_one(size: int, gain: str, grades: tuple[int, ...]) -> None:
    """Not nearly: a gate of 1.0 would fail on rounding."""
    gold = sorted(
        (doc(f"d{i}", grade=grades[i % len(grades)]) for i in range(size)), key=lambda d: -d.metadata["grade"]
    )
    sample, outputs = wants(*gold), got(*gold)
    for k in {1, size, size + 3, max(1, size // 2)}:
        assert score(NDCGAtK(k, gain=gain), sample, outputs) == 1.0
    assert score("map", sample, outputs) == 1.0
    assert score("mrr", sample, outputs) == 1.0


def test_deep_ranks_are_discounted_beyond_the_table() -> None:
    outputs = got(*(f"x{i}" for i in range(2000)), "a")
    assert score("ndcg@3000", wants("a"), outputs) == pytest.approx(1 / log2(2002), abs=1e-15)


def test_repeats_earn_once() -> None:
    twice = got("a a b")
    assert score("ndcg@3", wants("a b"), twice) == pytest.approx((1 + 1 / log2(4)) / (1 + 1 / log2(3)))
    assert score("map", wants("a b"), twice) == (1 + 2 / 3) / 2
    assert score("map[duplicates=collapse]", wants("a b"), twice) == 1.0


def test_passages_in_one_chunk_make_an_ideal_ranking() -> None:
    sample = wants(doc("d", "one", match="quote"), doc("d", "two", match="quote", grade=2), "z")
    outputs = got(doc("c", "one two", document_id="d"), "z")
    assert (score("ndcg@5", sample, outputs), score("map", sample, outputs)) == (1.0, 1.0)
    assert score("ndcg@1", sample, outputs) == 1.0
    missing = got(doc("c", "one", document_id="d"), "z")
    assert score("ndcg@1", sample, missing) == pytest.approx(1 / 3)


def test_documents_of_chunks() -> None:
    chunks = [doc("x"), doc("A#1", document_id="A"), doc("A#2", document_id="A"), doc("B#1", document_id="B")]
    assert score("mrr_doc", wants("A B"), got(*chunks)) == 1 / 2
    assert score("mrr@1_doc", wants("A B"), got(*chunks)) == 0.0
    assert score("map_doc", wants("A B"), got(*chunks)) == (1 / 2 + 2 / 4) / 2
    assert score("map_doc[duplicates=collapse]", wants("A B"), got(*chunks)) == (1 / 2 + 2 / 3) / 2
    assert score("map@3_doc[duplicates=collapse]", wants("A B"), got(*chunks)) == (1 / 2) / 2
    expected = (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3))
    assert score("ndcg@4_doc", wants("A B"), got(*chunks)) == pytest.approx(expected)


def test_the_rank_is_said_beyond_the_cut() -> None:
    assert MRRAtK(1).measure(GOLD, RANKED) == Measurement(0.0, details={"rank": 2})


NAMES = [
    *NAMES_OF_RANKED, "recall@{k}[capped=true]", "precision@{k}[denominator=returned]", "map@{k}[norm=found]",
    "ndcg@{k}[gain=linear]", "ndcg@{k}[gain=binary]",
]  # fmt: skip

queries = st.dictionaries(
    st.sampled_from("abcdef"),
    st.tuples(st.dictionaries(names, st.integers(-1, 3), max_size=8), st.lists(names, max_size=15)),
    min_size=1,
)


@given(drawn=queries, k=ks)
def test_equal_to_cases_with_documents(drawn: dict[str, tuple[dict[str, int], list[str]]], k: int) -> None:
    chosen = [name.format(k=k) for name in NAMES]
    found = score_rankings({q: g for q, (g, _) in drawn.items()}, {q: r for q, (_, r) in drawn.items()}, chosen)
    expected = {q: (g, r) for q, (g, r) in drawn.items() if any(grade > 0 for grade in g.values())}
    for name in chosen:
        for query, (gold, returned) in expected.items():
            one = score(name, wants(*graded(**gold)), got(*returned))
            assert found[query][REGISTRY.get(name).name] == one, (name, gold, returned)
    assert found.keys() == expected.keys()


@given(gold=judgments, returned=st.lists(names, max_size=15, unique=True))
def test_scores_are_read_as_trec_eval_reads_them(gold: dict[str, int], returned: list[str]) -> None:
    scores = {doc: float(len(doc) + ord(doc[0]) % 3) for doc in returned}
    ordered = [doc for _, doc in sorted(((s, d) for d, s in scores.items()), reverse=True)]
    assert score_rankings({"q": gold}, {"q": scores}, ["map"]) == score_rankings({"q": gold}, {"q": ordered}, ["map"])


@given(
    gold=judgments,
    scores=st.dictionaries(names, st.sampled_from([-math.inf, -1.5, 0, 0.5, 2.0, math.inf]), max_size=15),
)
def test_tied_scores_are_read_so_too(gold: dict[str, int], scores: dict[str, float]) -> None:
    ordered = [doc for _, doc in sorted(((s, d) for d, s in scores.items()), reverse=True)]
    found = [score_rankings({"q": gold}, {"q": run}, ["map", "ndcg@5"]) for run in (scores, ordered)]
    assert found[0] == found[1]


@given(drawn=queries)
def test_any_sequence_of_ids_is_a_ranking(drawn: dict[str, tuple[dict[str, int], list[str]]]) -> None:
    gold = {q: g for q, (g, _) in drawn.items()}
    found = [
        score_rankings(gold, {q: kind(r) for q, (_, r) in drawn.items()}, ["map"]) for kind in (list, tuple, deque)
    ]
    assert found[0] == found[1] == found[2]


def test_scores_are_dictionaries_with_means() -> None:
    run = {"x": ["a"], "y": ["z", "b"], "n": []}
    scores = score_rankings({"x": ["a"], "y": ["b"], "n": ["c"]}, run, ["mrr", "hit@1"])
    assert scores == {
        "x": {"mrr": 1.0, "hit@1": 1.0}, "y": {"mrr": 0.5, "hit@1": 0.0}, "n": {"mrr": 0.0, "hit@1": 0.0},
    }  # fmt: skip
    assert scores.means() == {"mrr": 0.5, "hit@1": 1 / 3}
    assert json.loads(json.dumps(scores)) == scores


def test_without_a_metric_or_a_query() -> None:
    assert score_rankings({"q": ["a"]}, {}, []) == {"q": {}}
    assert score_rankings({}, {}, ["mrr"]).means() == {}


def test_ids_alone_are_judgments_too() -> None:
    assert score_rankings({"q": ["a", "b"]}, {"q": ["b", "x"]}, ["recall@2"]) == {"q": {"recall@2": 0.5}}


def test_a_judged_query_not_run_scores_0_an_unjudged_nothing() -> None:
    found = score_rankings({"asked": {"a": 1}, "empty": {"a": 0}}, {"other": ["a"], "empty": ["a"]}, ["hit@1"])
    assert found == {"asked": {"hit@1": 0.0}}


def test_no_query_at_all() -> None:
    assert score_rankings({}, {}, ["ndcg@10", "mrr", "map", "r_precision"]) == {}


def test_deep_rankings() -> None:
    ids = [f"d{i}" for i in range(3000)]
    gold = dict.fromkeys([*ids[1020:1030], ids[2999]], 1)
    found = score_rankings({"q": gold}, {"q": ids}, ["ndcg@3000"])["q"]["ndcg@3000"]
    gains = sum(1 / math.log2(i + 2) for i, d in enumerate(ids) if d in gold)
    assert found == pytest.approx(gains / sum(1 / math.log2(i + 2) for i in range(11)), abs=1e-12)


@pytest.mark.parametrize("metric", ["recall@5_doc", "map[ties=trec]", "ndcg@3[unjudged=skip]", "mrr[duplicates=error]"])
def test_other_ways_to_hold_a_ranking_are_refused(metric: str) -> None:
    with pytest.raises(MetricError, match=r"score it with compute\(\)"):
        score_rankings({"q": ["a"]}, {"q": ["a"]}, [metric])


def test_what_is_no_metric_over_rankings_is_refused() -> None:
    with pytest.raises(MetricError, match="'exact_match' is not a metric over a ranking"):
        score_rankings({"q": ["a"]}, {"q": ["a"]}, ["exact_match"])
    with pytest.raises(UnknownNameError, match="recall@"):
        score_rankings({"q": ["a"]}, {"q": ["a"]}, ["recal@5"])


def test_bad_rankings_are_refused() -> None:
    with pytest.raises(MetricError, match="query 'q' is NaN"):
        score_rankings({"q": ["a"]}, {"q": {"a": math.nan}}, ["mrr"])
    with pytest.raises(MetricError, match="'abc' where a list"):
        score_rankings({"q": ["a"]}, {"q": "abc"}, ["mrr"])
