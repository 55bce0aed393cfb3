"""`AggregateMetrics`: the same few figures of every run, from its stored results, with the present formulas."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from enum import Enum
from functools import cache
from itertools import islice
from types import MappingProxyType
from typing import Annotated, Any

from ..base.records import Number, ReadAs, Record
from ..core.metrics_base import CHUNK_KEYS, Measurement
from ..core.run import CaseResult, MetricInfo, Run
from ..core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from ..metrics.judge.usage import JudgeUsage
from ..metrics.registry import Registry
from ..metrics.service.system_usage import total_spending
from ..regression.baseline import metric_key
from ..regression.compare import Comparison

_SPENT = ("judge", "system")  # stored as they are, where there is anything

CUTS = (1, 3, 5, 10)
"""The depths at which hits and covered documents are counted."""

DISPLAY_NAMES = {"groundedness": "assertion_pass"}
"""Stored name → name of the metric, which is shown: other metrics are called groundedness as well."""

MRR_CUT = 10
"""A first hit below this rank counts as none."""


@dataclass(slots=True)
class AggregateMetrics(Record):
    """Summary figures of a run; None where nothing was measured.  Values are in [0, 1]."""

    hit_at_k: dict[int, float | None] = field(default_factory=dict)
    """Share of the cases with relevant chunks that had one in the top k."""
    mrr: float | None = None
    """Mean of 1 / rank of the first relevant chunk, 0 below rank 10, over the same cases."""
    recall_at_k_doc: dict[int, float | None] = field(default_factory=dict)
    """Mean share of a case's relevant documents that the top k chunks come from."""
    citation_coverage: float | None = None
    """Of the grounded answers, the share that cites something and nothing that is not there."""
    groundedness: float | None = None
    """Of the answers with phrases to hold, the share with all of ``must_contain`` and none of ``forbidden``; answers to
    cases that call for a refusal do not count."""
    empty_result_rate: float | None = None
    """Share of the cases for which nothing was returned."""
    refusal_correctness: float | None = None
    """Of the answered cases that call for a refusal, the share that was refused."""
    total_queries: int = 0
    """Cases that ran."""
    failed_queries: int = 0
    """Of these, the ones that errored; they are in no other figure."""
    judge: Annotated[dict[str, Any], ReadAs(dict[str, int | Number | list[str] | None])] = field(default_factory=dict)
    """What LLM judges spent, all metrics together: ``requests``, ``prompt_tokens``, ``cost``, …"""
    system: Annotated[dict[str, Any], ReadAs(dict[str, int | Number])] = field(default_factory=dict)
    """What the system reported to have spent, all models together: ``calls``, ``input_tokens``, ``cost``, …"""

    def to_dict(self) -> dict[str, Any]:
        """Return what is stored: four decimals, ``null`` for what is undefined, k as text."""
        return {
            name: value if name in _SPENT else storable(value)
            for name, value in asdict(self).items()
            if name not in _SPENT or value
        }

    def flat(self) -> dict[str, float | None]:
        """Return every figure under one name each: ``hit@1``, ``mrr@10``, ``recall@5_doc``, …"""
        return {
            **{f"hit@{k}": v for k, v in self.hit_at_k.items()},
            f"mrr@{MRR_CUT}": self.mrr,
            **{f"recall@{k}_doc": v for k, v in self.recall_at_k_doc.items()},
            "citation_coverage": self.citation_coverage,
            DISPLAY_NAMES["groundedness"]: self.groundedness,
            "empty_result_rate": self.empty_result_rate,
            "refusal_correctness": self.refusal_correctness,
        }


def storable(value: Any) -> Any:
    """Return *value* as JSON has it: its numbers with four decimals, no negative zero, None for infinity and NaN."""
    if isinstance(value, dict):
        return {str(k): storable(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [storable(part) for part in value]
    if isinstance(value, float):
        return round(value, 4) + 0.0 if math.isfinite(value) else None
    return value.value if isinstance(value, Enum) else value


def first_rank(result: CaseResult) -> int | None:
    """Return the 1-based rank of the first relevant chunk that was returned, or None."""
    return min((r for r in result.ranks.values() if r is not None), default=None)


def document_id(entry: Mapping[str, Any]) -> str:
    """Return the document of a stored label or a stored hit."""
    return str(entry["doc"] if "doc" in entry else entry["id"])


_UNDEFINED_RECALLS = (None,) * len(CUTS)

RankOf = Callable[[CaseResult], "int | None"]
_Fields = Mapping[str, Any]
_Answered = tuple[EvaluationSample, SystemOutputs]


def compute_aggregate(
    run: Run,
    only: Container[str] | None = None,
    rank_of: RankOf = first_rank,
    documents: Mapping[str, str] = MappingProxyType({}),
    unmapped: Container[str] = (),
) -> AggregateMetrics:
    """Compute the aggregate of *run* from its results; the same run gives the same figures.

    *only* are the cases to count, all by default; *rank_of* returns the rank of the first relevant chunk of a case;
    *documents* maps labels that name a chunk alone to documents.  Hits of *unmapped* cases (a label names a chunk that
    no longer exists) are unknown, and documents are known only if the labels name them.

    Ranks and ids are used as stored.  For metrics on texts, the stored score counts if it was measured by the present
    version of the metric; otherwise the stored texts are measured again.
    """
    counted = [case for case in run.cases.values() if only is None or case.case_id in only]
    cases = [case for case in counted if case.state != "skipped"]
    answered = [case for case in cases if case.state != "error"]
    judge_usage = JudgeUsage()
    for usage in (usage for case in counted for usage in case.judge_usage.values()):
        judge_usage.add(**usage)
    ranks = [rank_of(case) for case in answered if case.ranks and case.case_id not in unmapped]
    recalls, means = _read_texts(run, answered, documents, unmapped)
    return AggregateMetrics(
        hit_at_k={k: _mean(float(r is not None and r <= k) for r in ranks) for k in CUTS},
        mrr=_mean(1 / r if r is not None and r <= MRR_CUT else 0.0 for r in ranks),
        recall_at_k_doc={k: _mean(r[i] for r in recalls) for i, k in enumerate(CUTS)},
        citation_coverage=means["citation_coverage"],
        groundedness=means[DISPLAY_NAMES["groundedness"]],
        empty_result_rate=means["empty_result_rate"],
        refusal_correctness=means["refusal_correctness"],
        total_queries=len(cases),
        failed_queries=len(cases) - len(answered),
        judge=judge_usage.to_dict(),
        system=total_spending(case.system_usage for case in counted).to_dict(),
    )


def _read_texts(
    run: Run, answered: Sequence[CaseResult], documents: Mapping[str, str], unmapped: Container[str]
) -> tuple[list[tuple[float | None, ...]], dict[str, float | None]]:
    """Return the recalls of each case, and the means of `_TEXT_METRICS`."""
    recalls = []
    means = {
        name: _mean(case.scores[name].value for case in answered if name in case.scores)
        for name in _TEXT_METRICS
        if _is_current(name, run.metrics.get(name))
    }
    cases_to_measure: dict[str, list[str]] = {name: [] for name in _TEXT_METRICS if name not in means}
    cites = False
    for case in answered:
        expected, outputs = case.expected, case.outputs  # once: for a large run they are read from a file
        has_documents = case.case_id not in unmapped or all("doc" in label for label in expected.get("relevant", ()))
        recalls.append(_document_recalls(case, expected, outputs, documents) if has_documents else _UNDEFINED_RECALLS)
        cites = cites or "citations" in outputs or "[" in str(outputs.get("answer", ""))
        for name, concerned in cases_to_measure.items():
            if name not in _APPLIES_TO or _APPLIES_TO[name](expected):
                concerned.append(case.case_id)
    restore = cache(lambda case_id: restore_case(run.cases[case_id]))
    for name, concerned in cases_to_measure.items():
        values = _measure_again(name, concerned, restore)
        # if nothing is cited, every answer that counts has the same 0
        means[name] = _mean(values if cites or name != "citation_coverage" else islice(values, 1))
    return recalls, means


def _document_recalls(
    result: CaseResult, expected: _Fields, outputs: _Fields, documents: Mapping[str, str]
) -> tuple[float | None, ...]:
    """Return the recall of documents at each cut, None if it is undefined; the stored score where there are no ids."""
    if "retrieved" not in outputs or "relevant" not in expected:
        scores = [result.scores.get(f"recall@{k}_doc") for k in CUTS]
        return tuple([None if score is None else score.value for score in scores])
    documents_by_label: dict[str, str] = {}  # by name of the label, which a chunk may have as its id, its document
    for label in expected["relevant"]:
        if label.get("grade", 1) >= 1:
            name = document_id(label)
            documents_by_label[str(label.get("id", name))] = name if "doc" in label else documents.get(name, name)
    if not documents_by_label:
        return _UNDEFINED_RECALLS
    names, first_ranks = set(documents_by_label.values()), dict[str, int]()
    for rank, hit in enumerate(outputs["retrieved"][: CUTS[-1]], 1):
        for name in (document_id(hit), documents_by_label.get(str(hit["id"]), "")):
            if name in names:
                first_ranks.setdefault(name, rank)
    ranks = sorted(first_ranks.values())
    return tuple([bisect_right(ranks, k) / len(names) for k in CUTS])


def _mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of *values* without None."""
    numbers = [value for value in values if value is not None]
    return math.fsum(numbers) / len(numbers) if numbers else None


@cache
def _registry() -> Registry:
    return Registry()


def _is_current(name: str, info: MetricInfo | None) -> bool:
    """Whether the metric *name*, stored as *info*, is still the same."""
    return info is not None and metric_key(info) == metric_key(MetricInfo.of(_registry().get(name)))


def _measure_again(name: str, case_ids: Sequence[str], restore: Callable[[str], _Answered | None]) -> Iterator[float]:
    """Measure cases on their stored texts, which *restore* reads."""
    if not case_ids:
        return  # without importing the metric
    metric = _registry().get(name)
    for answered in filter(None, map(restore, case_ids)):
        with suppress(Exception):  # a stored case that the formula cannot read must not hide the others
            if isinstance(result := metric.measure(*answered), Measurement) and result.value is not None:
                yield result.value


_TEXT_METRICS = ("citation_coverage", "assertion_pass", "empty_result_rate", "refusal_correctness")
"""Metrics that are computed from texts."""

_APPLIES_TO: Mapping[str, Callable[[_Fields], bool]] = {
    "assertion_pass": lambda expected: "must_contain" in expected or "forbidden" in expected,
    "refusal_correctness": lambda expected: expected.get("expect", "refuse") == "refuse",
}
"""Metric → whether it applies to a case with these expected values; checked before the slow `restore_case`."""


def restore_case(result: CaseResult) -> _Answered | None:
    """Return the sample and the outputs of a stored case, cut and redacted as stored; None if it has no outputs."""
    if "answer" not in result.outputs:  # outputs or texts are not stored, as for a very large run
        return None
    return _restore_sample(result), _restore_outputs(result.outputs)


def _restore_sample(result: CaseResult) -> EvaluationSample:
    expected = result.expected
    labels = {k: v for k, v in result.labels.items() if k != "tags"}
    labels |= {k: expected[k] for k in ("expect", "must_contain", "forbidden") if k in expected}
    relevant = [_label_document(r) for r in expected["relevant"]] if "relevant" in expected else None
    reference = None
    if "reference" in expected:
        reference = Response(expected["reference"], metadata={"alternatives": list(expected.get("references", ()))[1:]})
    turns = expected.get("chat_history", [])
    return EvaluationSample(result.case_id, result.query, relevant, None, reference, labels, chat_history=turns)


def _label_document(label: Mapping[str, Any]) -> Document:
    metadata: dict[str, Any] = {"grade": label.get("grade", 1)}
    if "quote" in label or "match" in label:
        metadata["match"] = label.get("match", "quote")
    if span := label.get("span"):
        metadata["start"], metadata["end"] = span
    if label.get("match") == "moved":
        metadata["ids"] = tuple(label.get("ids", ()))
    if "doc" in label:
        metadata["document_id"] = label["doc"]
    return Document(label["id"], label.get("quote", ""), metadata)


def _restore_outputs(raw: Mapping[str, Any]) -> SystemOutputs:
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
    """Return the cases with a label whose chunk was returned for the baseline and whose id no longer exists.

    The chunking has changed since the baseline, and the present chunk of the label is unknown.
    """
    if comparison is None or comparison.provenance.keys().isdisjoint(CHUNK_KEYS):
        return set()
    unmapped = set()
    for case_id, case in run.cases.items():
        pair = comparison.cases.get(case_id)
        if pair is None or pair.before is None or not case.ranks:
            continue
        ranks = pair.before.ranks
        retrieved_ids = {str(hit["id"]) for hit in case.outputs.get("retrieved", ())}
        labelled_ids = [str(label.get("id")) for label in case.expected.get("relevant", ()) if "match" not in label]
        if any(ranks.get(name) is not None and name not in retrieved_ids for name in labelled_ids):
            unmapped.add(case_id)
    return unmapped
