"""Many rankings at once have the numbers that they have one by one, to the last bit."""

from __future__ import annotations

import json
import math
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora import score_rankings
from pytest_auepora.errors import MetricError, UnknownNameError
from pytest_auepora.metrics.ranking.many import match_rankings

from ..rankings import RANKED, REGISTRY, got, graded, judgments, ks, names, score, wants

NAMES = [
    *RANKED, "recall@{k}[capped=true]", "precision@{k}[denominator=returned]", "map@{k}[norm=found]",
    "ndcg@{k}[gain=linear]", "ndcg@{k}[gain=binary]",
]  # fmt: skip

queries = st.dictionaries(
    st.sampled_from("abcdef"),
    st.tuples(st.dictionaries(names, st.integers(-1, 3), max_size=8), st.lists(names, max_size=15)),
    min_size=1,
)


@given(drawn=queries, k=ks)
def test_equal_to_one_by_one(drawn: dict[str, tuple[dict[str, int], list[str]]], k: int) -> None:
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


def test_scores_come_in_columns_and_as_dictionaries() -> None:
    run = {"x": ["a"], "y": ["z", "b"], "n": []}
    scores = score_rankings({"x": ["a"], "y": ["b"], "n": ["c"]}, run, ["mrr", "hit@1"])
    assert scores == {
        "x": {"mrr": 1.0, "hit@1": 1.0}, "y": {"mrr": 0.5, "hit@1": 0.0}, "n": {"mrr": 0.0, "hit@1": 0.0},
    }  # fmt: skip
    assert (len(scores), list(scores), "y" in scores, "w" in scores) == (3, ["x", "y", "n"], True, False)
    assert {name: column.tolist() for name, column in scores.columns.items()} == {
        "mrr": [1.0, 0.5, 0.0], "hit@1": [1.0, 0.0, 0.0],
    }  # fmt: skip
    assert scores.means() == {"mrr": 0.5, "hit@1": 1 / 3}
    assert json.loads(json.dumps(dict(scores))) == scores
    assert repr(scores) == "<RankingScores of 3 queries by mrr, hit@1>"


def test_without_a_metric_or_a_query() -> None:
    assert score_rankings({"q": ["a"]}, {}, []) == {"q": {}}
    assert score_rankings({}, {}, ["mrr"]).means() == {"mrr": 0.0}


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


def test_hits_are_told_by_query_and_rank() -> None:
    batch = match_rankings({"x": {"a": 2, "b": 1}, "none": {}, "y": {"c": 1}}, {"x": ["b", "z", "a"], "y": ["z"]})
    assert batch.queries == ["x", "y"]
    assert batch.slots.tolist() == [0, 2]
    assert batch.grades.tolist() == [1, 2]
    assert batch.owners.tolist() == [0, 0]
    assert batch.depths.tolist() == [3, 1]
    assert batch.ideals == [[2, 1], [1]]
