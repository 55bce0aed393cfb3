"""The retrieval metrics against ir_measures and ranx, on random rankings: equal to 1e-12."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.metrics.retrieval_judged import RBP

from .rankings import CUTS, Case, cases


def _measured(some: Sequence[Case], measures: Sequence[Any]) -> Iterator[tuple[Case, str, float]]:
    import ir_measures

    by_name = {case.name: case for case in some}
    judged = [ir_measures.Qrel(c.name, name, grade) for c in some for name, grade in c.judged.items()]
    run = [ir_measures.ScoredDoc(c.name, name, score) for c in some for name, score in c.returned]
    for row in ir_measures.iter_calc(measures, judged, run):
        yield by_name[row.query_id], str(row.measure), row.value


@pytest.fixture(scope="module")
def ir_measures() -> Any:
    return pytest.importorskip("ir_measures", reason="ir-measures is the oracle of judged@k")


def test_ir_measures(same: Callable[..., None], ir_measures: Any) -> None:
    """Cut reciprocal rank, judged@k, and the judged-only variants, which drop what nobody judged before the cut."""
    names: dict[str, str] = {}
    for k in CUTS:
        names |= {
            f"RR@{k}": f"mrr@{k}",
            f"Judged@{k}": f"judged@{k}",
            f"P(judged_only=True)@{k}": f"precision@{k}[unjudged=skip]",
            f"AP(judged_only=True)@{k}": f"map@{k}[unjudged=skip]",
            f"nDCG(judged_only=True)@{k}": f"ndcg@{k}[gain=linear,unjudged=skip]",
            f"R(judged_only=True)@{k}": f"recall@{k}[unjudged=skip]",
        }
    names["RR(judged_only=True)"] = "mrr[unjudged=skip]"
    some = [case for case in cases(7, 500) if case.returned]
    measures = [ir_measures.parse_measure(name) for name in names]
    ours = {str(ir_measures.parse_measure(name)): our for name, our in names.items()}
    compared = set()
    for case, measure, value in _measured(some, measures):
        same(ours[measure], case, value, "ir_measures")
        compared.add(measure)
    assert compared == set(ours)


@pytest.fixture(scope="module")
def ranx_scores() -> Callable[[Sequence[Case], list[str]], dict[str, dict[str, float]]]:
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")  # numba's and ranx's own
        patch.setenv("NUMBA_DISABLE_JIT", "1")  # compiling would take ten times as long as what is computed
        ranx = pytest.importorskip("ranx", reason="ranx has nDCG with exponential gain and RBP")

    def evaluate(some: Sequence[Case], measures: list[str]) -> dict[str, dict[str, float]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            judged = ranx.Qrels({case.name: case.judged for case in some})
            run = ranx.Run({case.name: dict(case.returned) for case in some})
            ranx.evaluate(judged, run, measures)
        scores: dict[str, dict[str, float]] = run.scores
        return scores

    return evaluate


def test_ranx(same: Callable[..., None], ranx_scores: Callable[..., dict[str, dict[str, float]]]) -> None:
    """An implementation of its own, not a wrapper of trec_eval."""
    some = [case for case in cases(8, 500) if case.returned]
    names = {"mrr": "mrr", "map": "map", "r_precision": "r-precision"}
    for k in CUTS:
        names |= {f"ndcg@{k}": f"ndcg_burges@{k}", f"ndcg@{k}[gain=linear]": f"ndcg@{k}", f"hit@{k}": f"hit_rate@{k}"}
        names |= {f"recall@{k}": f"recall@{k}", f"precision@{k}": f"precision@{k}", f"mrr@{k}": f"mrr@{k}"}
    theirs = ranx_scores(some, list(names.values()))
    for case in some:
        for ours, name in names.items():
            same(ours, case, theirs[name][case.name], "ranx")


def test_rank_biased_precision(
    same: Callable[..., None], ranx_scores: Callable[..., dict[str, dict[str, float]]]
) -> None:
    """ranx weighs by grade, so the judgments are binary here; the residual closes the sum to 1."""
    some = [case for case in cases(9, 600, top_grade=1) if case.returned]
    for p in (50, 80, 95):
        theirs = ranx_scores(some, [f"rbp.{p}"])[f"rbp.{p}"]
        for case in some:
            name = "rbp" if p == 80 else f"rbp[p={p / 100}]"
            same(name, case, theirs[case.name], "ranx")
        for case in some[:20]:
            _residual_is_what_is_missing(RBP(p / 100), case)


def _residual_is_what_is_missing(metric: RBP, case: Case) -> None:
    """Were every unknown document relevant, the score would grow by exactly the residual."""
    seen = metric.measure(case.sample, case.outputs)
    assert isinstance(seen, Measurement)
    strangers = {name: 1 for name, _ in case.returned if name not in case.judged}
    endless = [f"x{i}" for i in range(500)]
    everything = [*case.returned, *((name, -float(i)) for i, name in enumerate(endless))]
    best = Case(case.name, {**case.judged, **strangers, **dict.fromkeys(endless, 1)}, everything)
    full = metric.measure(best.sample, best.outputs)
    assert isinstance(full, Measurement)
    assert seen.value is not None
    assert full.value == pytest.approx(seen.value + seen.details["residual"], abs=1e-9)
