"""`AggregateMetrics`: the same few figures of every run, from its stored results, with today's formulas."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from itertools import islice
from types import MappingProxyType
from typing import Annotated, Any, TypedDict

from ..core.metrics_base import CHUNK_KEYS, Measurement
from ..core.run import CaseResult, MetricInfo, Run
from ..core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from ..metrics.judge.usage import USAGE, JudgeUsage
from ..metrics.registry import Registry
from ..regression.baseline import metric_key
from ..regression.compare import Comparison
from .codec import rounded

CUTS = (1, 3, 5, 10)
"""The depths at which hits and covered documents are counted."""

SHOWN_AS = {"groundedness": "assertion_pass"}
"""Stored under the first name, measured and shown under the second: other metrics are called groundedness as well."""

MRR_CUT = 10
"""A first hit below this rank counts as none."""


class _Spent(TypedDict, total=False):
    requests: float
    prompt_tokens: float
    completion_tokens: float
    cost: float | None


@dataclass(slots=True)
class AggregateMetrics:
    """What a run amounts to; None where nothing was measured.  Values are in [0, 1].

    Attributes:
        hit_at_k: share of the cases with relevant chunks that had one in the top k.
        mrr: mean of 1 / rank of the first relevant chunk, 0 below rank 10, over the same cases.
        recall_at_k_doc: mean share of a case's relevant documents that the top k chunks come from.
        citation_coverage: of the grounded answers, the share that cites something and nothing that is not there.
        groundedness: of the answers with phrases to hold, the share with all of
            ``must_contain`` and none of ``forbidden``; answers to cases that call for a refusal do not count.
        empty_result_rate: share of the cases for which nothing was returned.
        refusal_correctness: of the answered cases that call for a refusal, the share that was refused.
        total_queries: cases that ran.
        failed_queries: of these, the ones that errored; they are in no other figure.
        judge: what LLM judges spent, all metrics together: ``requests``, ``prompt_tokens``, ``cost``, …
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
    judge: Annotated[dict[str, Any], _Spent] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return what is stored: four decimals, ``null`` for what is undefined, k as text."""
        return {
            name: value if name == "judge" else _stored(value)
            for name, value in asdict(self).items()
            if name != "judge" or value
        }

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
            SHOWN_AS["groundedness"]: self.groundedness,
            "empty_result_rate": self.empty_result_rate,
            "refusal_correctness": self.refusal_correctness,
        }


def _stored(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _stored(v) for k, v in value.items()}
    return rounded(value) if isinstance(value, float) else value


def first_rank(result: CaseResult) -> int | None:
    """Return the 1-based rank of the first relevant chunk that was returned, or None."""
    return min((r for r in result.ranks.values() if r is not None), default=None)


def document_of(said: Mapping[str, Any]) -> str:
    """Return the document that a stored label or a stored hit belongs to."""
    return str(said["doc"] if "doc" in said else said["id"])


_NOTHING = (None,) * len(CUTS)

RankOf = Callable[[CaseResult], "int | None"]
_Said = Mapping[str, Any]


def aggregate_of(
    run: Run,
    only: Container[str] | None = None,
    rank_of: RankOf = first_rank,
    documents: Mapping[str, str] = MappingProxyType({}),
    unmapped: Container[str] = (),
) -> AggregateMetrics:
    """Compute the aggregate of *run* from its results; the same run gives the same figures.

    *only* are the cases to count, all by default; *rank_of* tells where a case had its first relevant chunk,
    *documents* to which document a label belongs that names a chunk alone.  Of cases that are *unmapped* (a label
    names a chunk that is no more) nobody knows where the hits are, and documents only where the labels say theirs.

    Ranks and ids are taken as stored.  What is read off texts takes the stored score where it was measured by the
    present version of its metric, and is measured anew on the stored texts where it was not.
    """
    counted = [case for case in run.cases.values() if only is None or case.case_id in only]
    cases = [case for case in counted if case.state != "skipped"]
    answered = [case for case in cases if case.state != "error"]
    spent = JudgeUsage()
    for usage in (usage for case in counted for usage in case.extra.get(USAGE, {}).values()):
        spent.add(**usage)
    ranks = [rank_of(case) for case in answered if case.ranks and case.case_id not in unmapped]
    recalls: list[tuple[float | None, ...]] = []  # at each of the cuts
    means = {
        name: _mean(case.scores[name].value for case in answered if name in case.scores)
        for name in _READ
        if _is_current(name, run.metrics.get(name))
    }
    anew: dict[str, list[CaseResult]] = {name: [] for name in _READ if name not in means}
    cites = False
    for case in answered:
        expected, outputs = case.expected, case.outputs  # once: of a large run they are fetched from a file
        known = case.case_id not in unmapped or all("doc" in label for label in expected.get("relevant", ()))
        recalls.append(_document_recalls(case, expected, outputs, documents) if known else _NOTHING)
        cites = cites or "citations" in outputs or "[" in str(outputs.get("answer", ""))
        for name, about in anew.items():
            if name not in _CONCERNS or _CONCERNS[name](expected):
                about.append(case)
    held: dict[str, tuple[EvaluationSample, SystemOutputs]] = {}
    for name, about in anew.items():
        values = _values_anew(name, about, held)
        # where nothing cites anything, every answer that counts has the same 0
        means[name] = _mean(values if cites or name != "citation_coverage" else islice(values, 1))
    return AggregateMetrics(
        hit_at_k={k: _mean(float(r is not None and r <= k) for r in ranks) for k in CUTS},
        mrr=_mean(1 / r if r is not None and r <= MRR_CUT else 0.0 for r in ranks),
        recall_at_k_doc={k: _mean(r[i] for r in recalls) for i, k in enumerate(CUTS)},
        citation_coverage=means["citation_coverage"],
        groundedness=means[SHOWN_AS["groundedness"]],
        empty_result_rate=means["empty_result_rate"],
        refusal_correctness=means["refusal_correctness"],
        total_queries=len(cases),
        failed_queries=len(cases) - len(answered),
        judge=spent.to_dict(),
    )


def _document_recalls(
    result: CaseResult, expected: _Said, outputs: _Said, documents: Mapping[str, str]
) -> tuple[float | None, ...]:
    """Return the share of the relevant documents that the top k come from, at each cut; None where that has no sense.

    Where no ids are, that is the stored score.
    """
    if "retrieved" not in outputs or "relevant" not in expected:
        scores = [result.scores.get(f"recall@{k}_doc") for k in CUTS]
        return tuple([None if score is None else score.value for score in scores])
    wanted: dict[str, str] = {}  # by name of the label, which a chunk may have as its id, its document
    for label in expected["relevant"]:
        if label.get("grade", 1) >= 1:
            name = document_of(label)
            wanted[str(label.get("id", name))] = name if "doc" in label else documents.get(name, name)
    if not wanted:
        return _NOTHING
    names, first = set(wanted.values()), dict[str, int]()
    for rank, hit in enumerate(outputs["retrieved"][: CUTS[-1]], 1):
        for name in {document_of(hit), wanted.get(str(hit["id"]), "")} & names:
            first.setdefault(name, rank)
    found = sorted(first.values())
    return tuple([bisect_right(found, k) / len(names) for k in CUTS])


def _mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of *values*; None is no value."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


@cache
def _registry() -> Registry:
    return Registry()


def _is_current(name: str, info: MetricInfo | None) -> bool:
    """Whether the metric *name*, of which a run says *info*, is the same today."""
    return info is not None and metric_key(info) == metric_key(MetricInfo.of(_registry().get(name)))


def _values_anew(
    name: str, cases: Sequence[CaseResult], held: dict[str, tuple[EvaluationSample, SystemOutputs]]
) -> Iterator[float]:
    """Measure *cases* on their stored texts; in *held* are those that were restored already, by id."""
    if not cases:
        return  # and nothing is imported for it
    metric = _registry().get(name)
    for case in cases:
        if (given := held.get(case.case_id) or restored(case)) is None:
            continue
        held[case.case_id] = given
        with suppress(
            Exception
        ):  # a stored case that the formula cannot read says nothing; it must not hide the others
            if isinstance(seen := metric.measure(*given), Measurement) and seen.value is not None:
                yield seen.value


_READ = ("citation_coverage", "assertion_pass", "empty_result_rate", "refusal_correctness")
"""Metrics that are read off texts."""

_CONCERNS: Mapping[str, Callable[[_Said], bool]] = {
    "assertion_pass": lambda expected: "must_contain" in expected or "forbidden" in expected,
    "refusal_correctness": lambda expected: expected.get("expect", "refuse") == "refuse",
}
"""By what is expected, which cases a metric is about, as far as that shows before one is restored, which takes time."""


def restored(result: CaseResult) -> tuple[EvaluationSample, SystemOutputs] | None:
    """Return the sample and the outputs of a stored case; None where it has no outputs.

    Texts of retrieved documents are the stored beginnings, and everything is as it was after redaction.
    """
    if "answer" not in result.outputs:  # nothing was kept, or no text: of a very large run
        return None
    return _sample(result), _outputs(result.outputs)


def _sample(result: CaseResult) -> EvaluationSample:
    said = result.expected
    labels = {k: v for k, v in result.labels.items() if k != "tags"}
    labels |= {k: said[k] for k in ("expect", "must_contain", "forbidden") if k in said}
    relevant = [_gold(r) for r in said["relevant"]] if "relevant" in said else None
    reference = None
    if "reference" in said:
        reference = Response(said["reference"], metadata={"alternatives": list(said.get("references", ()))[1:]})
    return EvaluationSample(result.case_id, result.query, relevant, None, reference, labels)


def _gold(raw: Mapping[str, Any]) -> Document:
    metadata: dict[str, Any] = {"grade": raw.get("grade", 1)}
    if "quote" in raw or "match" in raw:
        metadata["match"] = raw.get("match", "quote")
    if span := raw.get("span"):
        metadata["start"], metadata["end"] = span
    if raw.get("match") == "moved":
        metadata["ids"] = tuple(raw.get("ids", ()))
    if "doc" in raw:
        metadata["document_id"] = raw["doc"]
    return Document(raw["id"], raw.get("quote", ""), metadata)


def _outputs(raw: Mapping[str, Any]) -> SystemOutputs:
    retrieved = [
        RetrievedDocument(
            Document(hit["id"], hit.get("text", ""), {"document_id": hit["doc"]} if "doc" in hit else {}),
            hit.get("score") or 0.0,
            rank,
        )
        for rank, hit in enumerate(raw.get("retrieved", ()), 1)
    ]
    metadata = {k: raw[k] for k in ("refused", "grounded", "citations") if k in raw}
    return SystemOutputs(retrieved, Response(raw.get("answer", ""), metadata=metadata), dict(raw.get("timings", {})))


def unmapped_cases(run: Run, comparison: Comparison | None) -> set[str]:
    """Return the cases of which a label names a chunk that was returned for the baseline, and whose id is gone.

    Documents are cut otherwise than for the baseline, and nothing says which chunk of today the label stands for.
    """
    if comparison is None or comparison.provenance.keys().isdisjoint(CHUNK_KEYS):
        return set()
    out = set()
    for case_id, case in run.cases.items():
        pair = comparison.cases.get(case_id)
        if pair is None or pair.before is None or not case.ranks:
            continue
        ranks = pair.before.ranks
        there = {str(hit["id"]) for hit in case.outputs.get("retrieved", ())}
        plain = [str(label.get("id")) for label in case.expected.get("relevant", ()) if "match" not in label]
        if any(ranks.get(name) is not None and name not in there for name in plain):
            out.add(case_id)
    return out
