"""`AggregateMetrics`: the same few figures of every run, from its stored results, with today's formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from typing import Any

from ..core.by_fields import ByFields
from ..core.metrics_base import Measurement, Metric
from ..core.run import CaseResult, MetricInfo, Run
from ..metrics.registry import Registry
from ..regression.baseline import metric_key
from .codec import rounded
from .restore import restored

__all__ = ["CUTS", "MRR_CUT", "AggregateMetrics", "aggregate_of", "document_of", "first_rank"]

CUTS = (1, 3, 5, 10)
"""The depths at which hits and covered documents are counted."""

MRR_CUT = 10
"""A first hit below this rank counts as none."""


@dataclass(eq=False, repr=False, slots=True)
class AggregateMetrics(ByFields):
    """What a run amounts to; None where nothing was measured.  Values are in [0, 1].

    Attributes:
        hit_at_k: share of the cases with relevant chunks that had one in the top k.
        mrr: mean of 1 / rank of the first relevant chunk, 0 below rank 10, over the same cases.
        recall_at_k_doc: mean share of a case's relevant documents that the top k chunks come from.
        citation_coverage: of the grounded answers, the share that cites something and nothing that is not there.
        groundedness: of the answers with phrases to hold, the share with all of ``must_contain`` and none of
            ``forbidden``; answers to cases that call for a refusal do not count.
        empty_result_rate: share of the cases for which nothing was returned.
        refusal_correctness: of the answered cases that call for a refusal, the share that was refused.
        total_queries: cases that ran.
        failed_queries: of these, the ones that errored; they are in no other figure.
    """

    hit_at_k: dict[int, float | None] = field(default_factory=dict)
    mrr: float | None = None
    recall_at_k_doc: dict[int, float | None] = field(default_factory=dict)
    citation_coverage: float | None = None
    groundedness: float | None = None
    empty_result_rate: float | None = None
    refusal_correctness: float | None = None
    total_queries: int = 0
    failed_queries: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return what is stored: four decimals, ``null`` for what is undefined, k as text."""
        return {name: _stored(value) for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> AggregateMetrics:
        """Read what `to_dict` gave; keys of newer versions are ignored."""
        known = {f.name for f in fields(cls)}
        data = {k: v for k, v in raw.items() if k in known}
        for name in ("hit_at_k", "recall_at_k_doc"):
            data[name] = {int(k): v for k, v in raw.get(name, {}).items()}
        return cls(**data)

    def flat(self) -> dict[str, float | None]:
        """Return every figure under one name each: ``hit@1``, ``mrr@10``, ``recall@5_doc``, …"""
        return {
            **{f"hit@{k}": v for k, v in self.hit_at_k.items()},
            f"mrr@{MRR_CUT}": self.mrr,
            **{f"recall@{k}_doc": v for k, v in self.recall_at_k_doc.items()},
            "citation_coverage": self.citation_coverage,
            "groundedness": self.groundedness,
            "empty_result_rate": self.empty_result_rate,
            "refusal_correctness": self.refusal_correctness,
        }


def _stored(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _stored(v) for k, v in value.items()}
    return rounded(value) if isinstance(value, float) else value


RankOf = Callable[[CaseResult], "int | None"]


def aggregate_of(run: Run, only: Container[str] | None = None, rank_of: RankOf | None = None) -> AggregateMetrics:
    """Compute the aggregate of *run* from its results; the same run gives the same figures.

    *only* are the cases to count, all by default; *rank_of* tells where a case had its first relevant chunk.

    Ranks and ids are taken as stored.  What is read off texts takes the stored score where it was measured by the
    present version of its metric, and is measured anew on the stored texts where it was not.
    """
    rank_of = rank_of or first_rank
    ran = _Cases(run, lambda c: c.state != "skipped" and (only is None or c.case_id in only))
    cases = ran.where(lambda c: c.state != "error")
    ranks: list[int | None] = []
    recalls: dict[int, list[float]] = {k: [] for k in CUTS}
    for case in cases:
        if case.ranks:
            ranks.append(rank_of(case))
        for k, recall in _document_recalls(case).items():
            if recall is not None:
                recalls[k].append(recall)
    text = _Measured(run.metrics, cases)
    return AggregateMetrics(
        hit_at_k={k: _mean(float(r is not None and r <= k) for r in ranks) for k in CUTS},
        mrr=_mean(1 / r if r is not None and r <= MRR_CUT else 0.0 for r in ranks),
        recall_at_k_doc={k: _mean(recalls[k]) for k in CUTS},
        citation_coverage=text.mean("citation_coverage"),
        groundedness=text.mean("assertion_pass"),
        empty_result_rate=text.mean("empty_result_rate"),
        refusal_correctness=text.mean("refusal_correctness"),
        total_queries=len(ran),
        failed_queries=len(ran) - len(cases),
    )


def first_rank(result: CaseResult) -> int | None:
    """Return the 1-based rank of the first relevant chunk that was returned, or None."""
    return min((r for r in result.ranks.values() if r is not None), default=None)


def _document_recalls(result: CaseResult) -> Mapping[int, float | None]:
    """Return the share of the relevant documents that the top k come from, by k; stored scores where no ids are."""
    if "retrieved" not in result.outputs or "relevant" not in result.expected:
        scores = {k: result.scores.get(f"recall@{k}_doc") for k in CUTS}
        return {k: score.value for k, score in scores.items() if score is not None}
    wanted = set(_documents([label for label in result.expected["relevant"] if label.get("grade", 1) >= 1]))
    if not wanted:
        return {}
    hits = _documents(result.outputs["retrieved"][: CUTS[-1]])
    return {k: len(wanted.intersection(hits[:k])) / len(wanted) for k in CUTS}


def document_of(said: Mapping[str, Any]) -> str:
    """Return the document that a stored label or a stored hit belongs to."""
    return _documents([said])[0]


def _documents(said: Iterable[Mapping[str, Any]]) -> list[str]:
    return [str(one["doc"] if "doc" in one else one["id"]) for one in said]


def _mean(values: Iterable[float]) -> float | None:
    seen = list(values)
    return math.fsum(seen) / len(seen) if seen else None


@cache
def _registry() -> Registry:
    return Registry()


class _Cases:
    """Those cases of a run that are wanted, looked up anew each time: of a large run none of them is held."""

    def __init__(self, run: Run, wanted: Callable[[CaseResult], bool]) -> None:
        self._run, self._wanted = run, wanted

    def __iter__(self) -> Iterator[CaseResult]:
        return filter(self._wanted, self._run.cases.values())

    def where(self, wanted: Callable[[CaseResult], bool]) -> _Cases:
        return _Cases(self._run, lambda case: self._wanted(case) and wanted(case))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Measured:
    """Scores of stored cases by metric: those they have, or new ones."""

    def __init__(self, infos: Mapping[str, MetricInfo], cases: _Cases) -> None:
        self._infos, self._cases = infos, cases
        self._restored: dict[str, Any] = {}

    def mean(self, name: str) -> float | None:
        info, concerned = self._infos.get(name), _CONCERNS.get(name)
        cases = self._cases if concerned is None else self._cases.where(concerned)
        if info is None and not any(True for _ in cases):
            return None  # and nothing is imported for it
        metric = _registry().get(name)
        if info is not None and metric_key(info) == metric_key(MetricInfo.of(metric)):
            scores = (c.scores.get(name) for c in self._cases)
            return _mean(s.value for s in scores if s is not None and s.value is not None)
        values = (v for c in cases if (v := self._anew(metric, c)) is not None)
        if name == "citation_coverage" and not any(map(_may_cite, cases)):
            return next(values, None)  # nothing cites anything: every answer that counts has the same 0
        return _mean(values)

    def _anew(self, metric: Metric, case: CaseResult) -> float | None:
        held = self._restored.get(case.case_id) or restored(case)
        if held is None:
            return None
        self._restored[case.case_id] = held
        return _anew(metric, held)


_CONCERNS: Mapping[str, Callable[[CaseResult], bool]] = {
    "assertion_pass": lambda case: "must_contain" in case.expected or "forbidden" in case.expected,
    "refusal_correctness": lambda case: case.expected.get("expect", "refuse") == "refuse",
}
"""Which cases a metric is about, as far as that can be seen before a case is restored, which takes time."""


def _may_cite(case: CaseResult) -> bool:
    return "citations" in case.outputs or "[" in str(case.outputs.get("answer", ""))


def _anew(metric: Metric, held: Any) -> float | None:
    try:
        seen = metric.measure(*held)
    except Exception:  # a stored case that the formula cannot read says nothing; it must not hide the others
        return None
    return seen.value if isinstance(seen, Measurement) else None
