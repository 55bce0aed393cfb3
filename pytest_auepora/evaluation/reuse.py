"""Accepted answers in the place of calls: where the generator is the same and is given the same, nothing can change.

A sampling generator that is asked the same again gives another draw of the same; the accepted answers are such draws.
They serve a case only where its query, the retrieved documents with their order, and the declared provenance of the
generator equal those of all accepted answers; whatever is not known to be equal is asked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from ..adapters.parts import unless_served
from ..adapters.systems import System
from ..core.metrics_base import CHUNK_KEYS
from ..core.run import CaseResult, MetricInfo, Run
from ..core.scoring import Score
from ..core.types import EvaluationSample, Response, RetrievedDocument, SystemOutputs
from ..io.golden.model import GoldenCase, GoldenSuite
from ..regression.baseline import Baseline, BaselineCase, metric_key
from ..regression.compare import provenance_changes
from ..regression.thresholds import PSEUDO_METRICS
from .case_result import blank_result
from .shown_outputs import shown_outputs

RETRIEVAL_KEYS = frozenset({
    *CHUNK_KEYS, "corpus", "corpus_version", "index", "index_version", "retriever", "retriever_version", "embedding",
    "embeddings", "embedding_model", "reranker", "reranker_model",
})  # fmt: skip
"""Keys of the provenance that say what is retrieved, which is looked at itself; all others may be the generator's."""

_MODEL, _PROMPT = ("model", "llm", "generator"), "prompt"

WhyNot = Literal[
    "no baseline", "no digests", "repeated", "undeclared", "provenance", "metrics changed", "not in baseline"
]
"""Why no answer of a suite can serve again: nothing was accepted; what was retrieved then is not known; each case
is asked several times; nobody says which model and prompt it is; that is
another now; a metric is defined otherwise; a metric or threshold needs what the baseline does not have."""


class Refusal(NamedTuple):
    """Why no accepted answer serves, and the keys or metrics concerned."""

    why: WhyNot
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reused:
    """Stands in the place of an answer: the generator was not asked, as it was given the accepted *documents*."""

    documents: Sequence[RetrievedDocument]


def reusing(
    system: System, suite: GoldenSuite, run: Run, baseline: Baseline | None, *, repeat: int = 1
) -> System | Refusal:
    """Return *system* as one that leaves out what the accepted answers of *baseline* say, or why it does not.

    *run* is the run that the answers are for, of which metrics and provenance are looked at.
    """
    if baseline is None:
        return Refusal("no baseline")
    if repeat > 1:
        return Refusal("repeated")
    if names := undeclared(run.provenance):
        return Refusal("undeclared", names)
    if names := generator_changes(baseline.provenance, run.provenance):
        return Refusal("provenance", names)
    kept = {name: info for name, info in run.metrics.items() if info.baselined}
    if names := tuple(
        n for n, i in kept.items() if n not in baseline.metrics or baseline.metrics[n].key != metric_key(i)
    ):
        return Refusal("metrics changed", names)
    wanted = {*(gate.metric for gate in suite.gates), *(name for case in suite.cases for name in case.thresholds)}
    paired = {name for name, info in kept.items() if info.interval == "pairs"}
    if names := tuple(sorted(wanted - kept.keys() - set(PSEUDO_METRICS) | paired)):
        return Refusal("not in baseline", names)
    digests = {
        case.id: before.documents
        for case in suite.cases
        if (before := baseline.cases.get(case.id)) is not None and _serves(case, before, kept)
    }
    if not digests:
        return Refusal("no digests")

    def serve(sample: EvaluationSample, documents: Sequence[RetrievedDocument]) -> Reused | None:
        same = digests.get(sample.sample_id) == digest_of(documents)
        return Reused(documents) if same else None

    return replace(system, invoke=unless_served(system, serve), unserved=system)


def undeclared(provenance: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what nobody says of the generator: its model, its prompt."""
    has_model = any(key in provenance for key in _MODEL)
    has_prompt = any(key.startswith(_PROMPT) for key in provenance)
    return (*(() if has_model else _MODEL[:1]), *(() if has_prompt else (_PROMPT,)))


def generator_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the keys that differ and may be the generator's."""
    return tuple(key for key in provenance_changes(before, now) if key not in RETRIEVAL_KEYS)


def _serves(case: GoldenCase, before: BaselineCase, metrics: Mapping[str, MetricInfo]) -> bool:
    """Whether the accepted answers to *case* are known in all that a run needs of them."""
    values = [value for name in before.scores for value in before.values(name)]
    needed = (name for name, info in metrics.items() if info.interval)
    return (
        bool(before.documents) and before.hash == case.content_hash and before.answered is True
        and before.scores.keys() | before.data.keys() >= metrics.keys() and all(name in before.data for name in needed)
        and "error" not in values and before.match == "exact" and case.skip is None
        and not case.must_pass and case.xfail is None and case.benchmark is None and not case.resources
    )  # fmt: skip


def digest_of(documents: Iterable[RetrievedDocument]) -> str:
    """Return `documents_digest` of *documents*; scores may differ."""
    return documents_digest((hit.doc.doc_id, hit.doc.text, hit.doc.metadata) for hit in documents)


def documents_digest(documents: Iterable[tuple[str | int, str | None, Mapping[str, Any]]]) -> str:
    """Return a digest of id, text and metadata of documents, in their order."""
    parts = [[str(doc_id), text or "", metadata or {}] for doc_id, text, metadata in documents]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


def digest_of_all(answers: Sequence[Any]) -> str:
    """Return the digest of what was retrieved for *answers*; empty where that is not known to be always the same."""
    digests = {digest_of(one.retrieved) if isinstance(one, SystemOutputs) else "" for one in answers}
    return digests.pop() if len(digests) == 1 else ""


def accepted_result(
    case: GoldenCase, before: BaselineCase, infos: Mapping[str, MetricInfo], reused: Reused
) -> CaseResult:
    """Return the result of a case that the accepted answers serve: their centres are its scores."""
    result = blank_result(case)
    result.reused, result.repeats, result.ranks = True, before.answers, dict(before.ranks)
    result.context = before.documents
    for name, info in infos.items():
        data, centre = before.data.get(name), before.centre(name, info.worst)
        if centre is not None:
            result.scores[name] = Score("number", centre, data=data)
        elif data is not None:
            result.scores[name] = Score("aggregate", data=data)
        else:
            result.scores[name] = Score("n/a", reason="the accepted answers serve")
    result.assertions = {key: before.held(key)[0] for key in before.assertions}
    result.outputs = shown_outputs(case.sample, SystemOutputs(list(reused.documents), Response(""))) | {"answer": None}
    return result
