"""Names: what is made in Python is called what the registry accepts, and options are checked."""

from __future__ import annotations

import json
import re

import pytest

from pytest_auepora.core.metrics_base import Metric
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.additional import (
    DistinctN,
    IntraListDiversity,
    MeanLatency,
    PercentileLatency,
    QuantileLatency,
    ResponseDiversity,
)
from pytest_auepora.metrics.catalogue import SPELLINGS
from pytest_auepora.metrics.coverage import CitationCoverage, CoverageEntities, SpanIoU, SpanRecall
from pytest_auepora.metrics.pairs import SlicedMetric
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.metrics.retrieval_basic import HitRateAtK, PrecisionAtK, RecallAtK
from pytest_auepora.metrics.retrieval_judged import RBP, BPref, JudgedAtK, RetrievalAccuracy, RPrecision
from pytest_auepora.metrics.retrieval_ranking import MeanAveragePrecision, MRRAtK, NDCGAtK
from pytest_auepora.metrics.robustness import (
    CounterfactualConsistency,
    ErrorCorrection,
    MisleadingRate,
    NegativeRejectionRate,
    NoiseRobustness,
    OverRefusal,
)
from pytest_auepora.metrics.service.operational import TimeoutRate

REGISTRY = Registry()
ELSEWHERE = ("generation", "annotation", "claims")
"""Rooms whose metrics have property tests of their own."""
MINE = [name for name, home in SPELLINGS.items() if not home.startswith(ELSEWHERE)]
NEEDS = {"noise_robustness": "noise_robustness[recall@5]", "sliced": "sliced[recall@5,scenario:typo]"}


def typed(spelling: str) -> str:
    """A name of that spelling, with 5 for every number."""
    return NEEDS.get(spelling) or re.sub(r"\{\w+\}", "5", spelling)


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (RecallAtK(5), "recall@5"),
        (RecallAtK(k=3, capped=True), "recall@3[capped=true]"),
        (RecallAtK(5, level="doc"), "recall@5_doc"),
        (PrecisionAtK(1, denominator="returned", ties="trec"), "precision@1[ties=trec,denominator=returned]"),
        (HitRateAtK(10, ties="trec"), "hit@10[ties=trec]"),
        (MRRAtK(), "mrr"),
        (MRRAtK(None), "mrr"),
        (MRRAtK(10), "mrr@10"),
        (MRRAtK(10, level="doc", unjudged="skip"), "mrr@10_doc[unjudged=skip]"),
        (MeanAveragePrecision(), "map"),
        (MeanAveragePrecision(k=5, norm="found"), "map@5[norm=found]"),
        (NDCGAtK(10), "ndcg@10"),
        (NDCGAtK(k=10, gain="linear"), "ndcg@10[gain=linear]"),
        (JudgedAtK(10), "judged@10"),
        (BPref(ties="trec"), "bpref[ties=trec]"),
        (RPrecision(), "r_precision"),
        (RBP(0.95), "rbp[p=0.95]"),
        (RBP(0.95, level="doc"), "rbp_doc[p=0.95]"),
        (BPref(level="doc"), "bpref_doc"),
        (RPrecision(level="doc"), "r_precision_doc"),
        (RetrievalAccuracy(), "retrieval_accuracy"),
        (SpanRecall(), "span_recall"),
        (SpanIoU(3), "span_iou@3"),
        (CoverageEntities(), "coverage_entities"),
        (CitationCoverage(resolve_in="retrieved", corpus={"a"}), "citation_coverage[resolve_in=retrieved]"),
        (OverRefusal(), "over_refusal"),
        (NegativeRejectionRate(["no idea", "pass"]), "negative_rejection[refusal_patterns=no idea|pass]"),
        (NoiseRobustness(RecallAtK(5)), "noise_robustness[recall@5]"),
        (NoiseRobustness("map[norm=found,ties=trec]"), "noise_robustness[map[norm=found,ties=trec]]"),
        (NoiseRobustness("mrr@5[ties=trec]", pairing="all"), "noise_robustness[mrr@5[ties=trec],pairing=all]"),
        (NoiseRobustness("mrr", scenarios=["typo"]), "noise_robustness[mrr,scenarios=typo]"),
        (CounterfactualConsistency(), "counterfactual_consistency"),
        (CounterfactualConsistency("rougeL"), "counterfactual_consistency[rougeL]"),
        (MisleadingRate("exact_match"), "misleading_rate[exact_match]"),
        (ErrorCorrection(at_least=0.5), "error_correction[at_least=0.5]"),
        (SlicedMetric("recall@5", "scenario:typo"), "sliced[recall@5,scenario:typo]"),
        (MeanLatency(), "mean_latency[end_to_end]"),
        (MeanLatency("retrieval"), "mean_latency[retrieval]"),
        (QuantileLatency(), "quantile_latency"),
        (QuantileLatency("retrieval", 0.99), "quantile_latency[retrieval,quantile=0.99]"),
        (PercentileLatency(95), "p95_latency"),
        (PercentileLatency(50, "retrieval"), "p50_latency[retrieval]"),
        (DistinctN(), "distinct_2"),
        (IntraListDiversity(), "intra_list_diversity@5"),
        (ResponseDiversity(of="embedding"), "response_diversity[of=embedding]"),
        (TimeoutRate(250), "timeout_rate[soft_deadline_ms=250]"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)  # fmt: skip
def test_a_metric_made_in_python_has_the_name_that_makes_it(made: Metric, name: str) -> None:
    assert made.name == name
    again = REGISTRY.get(name)
    assert type(again) is type(made)
    assert again.params() == made.params()
    json.dumps(made.params())


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("recall@0", r"recall@0: k must be at least 1, got 0"),
        ("recall@-3", r"k must be at least 1, got -3"),
        ("ndcg@5[gain=exponential]", r"gain must be one of exp, linear, binary, got 'exponential'"),
        ("ndcg@5[gian=exp]", r"no option 'gian' \(did you mean 'gain'\?\)"),
        ("mrr[k=2.5]", r"k must be a whole number, got 2.5"),
        ("mrr[k=true]", r"k must be a whole number, got True"),
        ("map@5[norm=capped]", r"norm must be one of all, found"),
        ("distinct_0", r"n must be at least 1, got 0"),
        ("bleu[max_order=0]", r"max_order must be at least 1, got 0"),
        ("chrf[char_order=2.5]", r"char_order must be a whole number, got 2.5"),
        ("bertscore[num_layers=-1]", r"num_layers must be at least 0, got -1"),
        ("chrf[beta=x]", r"beta must be a number, got 'x'"),
        ("bertscore[5]", r"model_type must be a text, got 5"),
        ("intra_list_diversity@0", r"top_k must be at least 1, got 0"),
        ("p0_latency", r"percent must be between 1 and 100, got 0"),
        ("p101_latency", r"percent must be between 1 and 100, got 101"),
        ("quantile_latency[quantile=1.5]", r"quantile must be above 0 and at most 1, got 1.5"),
        ("rbp[p=1.0]", r"p must lie between 0 and 1, got 1.0"),
        ("timeout_rate[soft_deadline_ms=0]", r"soft_deadline_ms must be a number above 0, got 0"),
        ("noise_robustness", r"which metric\?"),
        ("sliced[recall@5]", r"a slice is key:value"),
        ("negative_rejection[refusal_patterns=|]", r"refusal_patterns must be a list of words"),
        ("noise_robustness[mrr,scenarios=5]", r"scenarios must be a list of words, got 5"),
        ("recall@5[doc]", r"capped must be true or false, got 'doc'"),
        ("recall@5[true,first,5]", r"level must be one of chunk, doc, got 'first'"),
        ("rbp[p=much]", r"p must be a number, got 'much'"),
        ("quantile_latency[quantile=true]", r"quantile must be a number, got True"),
        ("timeout_rate[soft_deadline_ms=soon]", r"soft_deadline_ms must be a number above 0, got 'soon'"),
        ("mean_latency[5]", r"timing_key must be a text, got 5"),
    ],
)
def test_a_bad_option_says_what_is_wrong(name: str, complaint: str) -> None:
    with pytest.raises(MetricError, match=complaint):
        REGISTRY.get(name)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_metric_says_what_it_is(spelling: str) -> None:
    metric = REGISTRY.get(typed(spelling))
    low, high = metric.range
    assert low < high
    assert metric.direction in ("higher", "lower")
    for said in (metric.formula, metric.source, metric.oracle):
        assert said
        assert "\n" not in said
    assert metric.target.name
    assert type(metric).__doc__
