"""What holds for every ranking: range, order, monotonicity, and that nothing depends on what it should not."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_auepora.core.types import EvaluationSample

from ..rankings import RANKED, REGISTRY, for_each, got, graded, judgments, ks, rankings, score, wants

CUT = [*(name for name in RANKED if "@{k}" in name), "recall@{k}[capped=true]", "ndcg@{k}[gain=linear]"]
WHOLE = [*(name for name in RANKED if "@{k}" not in name), "rbp"]
OPTIONS = ["", "[duplicates=collapse]", "[ties=trec]", "[unjudged=skip]"]
lists = st.lists(st.sampled_from([f"d{i}" for i in range(20)]), max_size=12, unique=True)


def named(name: str, k: int, option: str = "") -> str:
    """The metric with a cut-off, and one more option in its bracket."""
    name = name.format(k=k)
    if not option or (option.startswith("[unjudged") and name == "rbp"):
        return name
    return name.replace("]", "," + option[1:]) if name.endswith("]") else name + option


def gain(name: str, sample: EvaluationSample, worse: list[str], better: list[str]) -> float:
    """How much better the metric finds the second of two rankings, whichever way it points."""
    metric = REGISTRY.get(name)
    rise = score(metric, sample, got(*better)) - score(metric, sample, got(*worse))
    return rise if metric.direction == "higher" else -rise


@given(gold=judgments, returned=rankings, k=ks, option=st.sampled_from(OPTIONS))
@for_each([*CUT, *WHOLE, "map[norm=found]", "precision@{k}[denominator=returned]"])
def test_a_score_is_in_the_range_of_its_metric(
    name: str, gold: dict[str, int], returned: list[str], k: int, option: str
) -> None:
    metric = REGISTRY.get(named(name, k, option))
    assert metric.range[0] <= score(metric, wants(*graded(**gold)), got(*returned)) <= metric.range[1]


@given(gold=judgments, returned=lists, k=ks, data=st.data())
@for_each([*CUT, *WHOLE])
def test_the_order_of_the_gold_does_not_matter(
    name: str, gold: dict[str, int], returned: list[str], k: int, data: st.DataObject
) -> None:
    shuffled = dict(data.draw(st.permutations(list(gold.items()))))
    outputs = got(*returned)
    metric = named(name, k)
    assert score(metric, wants(*graded(**gold)), outputs) == score(metric, wants(*graded(**shuffled)), outputs)


@given(gold=judgments, returned=rankings, k=ks, data=st.data())
@for_each(["recall@{k}", "precision@{k}", "hit@{k}", "precision@{k}[denominator=returned]"])
def test_order_within_the_cut_does_not_matter_to_set_metrics(
    name: str, gold: dict[str, int], returned: list[str], k: int, data: st.DataObject
) -> None:
    top = data.draw(st.permutations(returned[:k]))
    sample, metric = wants(*graded(**gold)), named(name, k)
    assert score(metric, sample, got(*returned)) == score(metric, sample, got(*top, *returned[k:]))


@given(gold=judgments, returned=rankings.filter(bool), tail=rankings, k=ks)
@for_each(CUT)
def test_what_lies_below_the_cut_does_not_matter(
    name: str, gold: dict[str, int], returned: list[str], tail: list[str], k: int
) -> None:
    k = min(k, len(returned))
    sample, metric = wants(*graded(**gold)), named(name, k)
    assert score(metric, sample, got(*returned[:k])) == score(metric, sample, got(*returned[:k], *tail))


@given(gold=judgments, returned=lists, k=ks, data=st.data())
@for_each([*CUT, *WHOLE])
def test_a_relevant_document_for_another_is_never_worse(
    name: str, gold: dict[str, int], returned: list[str], k: int, data: st.DataObject
) -> None:
    missing = [d for d, grade in gold.items() if grade and d not in returned]
    places = [at for at, d in enumerate(returned) if not gold.get(d)]
    assume(missing and places)
    better = list(returned)
    better[data.draw(st.sampled_from(places))] = data.draw(st.sampled_from(missing))
    assert gain(named(name, k), wants(*graded(**gold)), returned, better) >= -1e-12


@given(gold=judgments, returned=lists, k=ks, data=st.data())
@for_each([*CUT, *WHOLE])
def test_moving_the_better_of_two_documents_up_is_never_worse(
    name: str, gold: dict[str, int], returned: list[str], k: int, data: st.DataObject
) -> None:
    worse = [at for at in range(len(returned) - 1) if gold.get(returned[at], 0) < gold.get(returned[at + 1], 0)]
    assume(worse)
    at = data.draw(st.sampled_from(worse))
    better = [*returned[:at], returned[at + 1], returned[at], *returned[at + 2 :]]
    assert gain(named(name, k), wants(*graded(**gold)), returned, better) >= -1e-12


@given(gold=judgments, returned=rankings, k=ks)
@for_each(["recall@{k}", "hit@{k}", "mrr@{k}", "map@{k}"])
def test_a_deeper_cut_never_lowers(name: str, gold: dict[str, int], returned: list[str], k: int) -> None:
    sample, outputs = wants(*graded(**gold)), got(*returned)
    assert score(named(name, k + 1), sample, outputs) >= score(named(name, k), sample, outputs)


@given(gold=judgments, returned=rankings)
@for_each(["recall", "hit", "mrr", "map"])
def test_a_cut_below_the_list_is_no_cut(name: str, gold: dict[str, int], returned: list[str]) -> None:
    sample, outputs = wants(*graded(**gold)), got(*returned)
    assert score(f"{name}@15", sample, outputs) == score(f"{name}@999", sample, outputs)
    if name in ("mrr", "map"):
        assert score(name, sample, outputs) == score(f"{name}@15", sample, outputs)


@given(gold=judgments)
def test_the_ideal_order_is_1_in_every_metric(gold: dict[str, int]) -> None:
    best = sorted((d for d in gold if gold[d]), key=lambda d: -gold[d])
    for name in ("recall@20", "ndcg@20", "ndcg@3", "map", "mrr", "r_precision", "hit@1", "precision@1"):
        assert score(name, wants(*graded(**gold)), got(*best)) == 1.0
    if 0 in gold.values():
        assert score("bpref", wants(*graded(**gold)), got(*best)) == 1.0


@given(gold=judgments, returned=rankings, k=ks)
def test_judged_only_sees_judged_documents_only(gold: dict[str, int], returned: list[str], k: int) -> None:
    sample = wants(*graded(**gold))
    condensed = [d for d in returned if d in gold]
    for name in CUT:
        metric = named(name, k, "[unjudged=skip]")
        assert score(metric, sample, got(*returned)) == score(named(name, k), sample, got(*condensed))


@given(gold=judgments, returned=rankings)
def test_fresh_outputs_score_like_used_ones(gold: dict[str, int], returned: list[str]) -> None:
    sample, used = wants(*graded(**gold)), got(*returned)
    for name in ("recall@3", "precision@3_doc", "ndcg@5[ties=trec]", "map[duplicates=collapse]", "mrr"):
        first = score(name, sample, used)
        assert score(name, sample, used) == first
        assert score(name, sample, got(*returned)) == first
