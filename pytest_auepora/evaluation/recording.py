"""One answer as it is kept to be judged again: everything that a metric may read.

What is too large is cut, what the project redacts is redacted.  A metric that reads what is not whole has the score it
had then; where it has none, the answer is not comparable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from ..base.records import Count, Number, Place, Record
from ..core.metrics_base import AnswerPart, Metric
from ..core.run import CaseResult, MetricInfo
from ..core.scoring import Score, StoredScore
from ..core.types import Document, EvaluationSample, SystemOutputs
from ..io.golden.model import GoldenCase
from ..regression.baseline import metric_key
from .answer_codec import Loss, RecordedOutputs
from .shown_outputs import cap_shown, shown_outputs

Redact = Callable[[CaseResult], None]
"""Changes a result in place, so that it may be written down."""


@dataclass(slots=True)
class Recording(Record):
    """One answer to a case, or the error in its place."""

    hash: str
    """Of the content of the case."""
    top_k: Place
    """How many documents were asked for."""
    seconds: Number
    concurrency: Count
    """How many calls were under way at once."""
    error: str | None = None
    """What the call raised; null where there is an answer."""
    outputs: RecordedOutputs | None = None
    """The answer; null where the call raised."""
    scores: dict[str, StoredScore] = field(default_factory=dict)
    """Those that measuring again would not give: of metrics that are not deterministic; all if something is lost."""
    shown: dict[str, Any] | None = None
    """What reports show of the answer, where it is not what measuring again would show."""
    ranks: dict[str, Count | None] = field(default_factory=dict)
    """Of the relevant labels, where ``shown`` is there."""
    moved: dict[str, Any] | None = None
    """How labels were matched whose chunks had other ids then."""
    gold: list[tuple[str, str, dict[str, Any]]] | None = None
    """Id, text and metadata of these labels."""

    @property
    def is_cut(self) -> bool:
        """Whether something was too large to be recorded."""
        return self.outputs is not None and "cut" in self.outputs.lost.values()


def record(
    case: GoldenCase,
    result: CaseResult,
    outputs: SystemOutputs | None,
    metrics: Mapping[str, Metric],
    *,
    redact: Redact | None = None,
    cap: int,
) -> Recording:
    """Return what is kept of one answer.

    Args:
        case: what was asked.
        result: what was measured on the answer; not changed.
        outputs: the answer; None where there is none, and ``result.error`` says why.
        metrics: those of the result.
        redact: the project's own; it is shown a copy of *result* with every text in full.
        cap: characters of texts and metadata that are kept; the longest are cut first.
    """
    redacted = deepcopy(result) if redact is not None else result
    recording = Recording(case.content_hash, case.top_k, result.seconds, result.concurrency, moved=case.moved)
    if outputs is None:
        if redact is not None:
            redact(redacted)
        recording.error = redacted.error
        return recording
    recording.outputs = answer = RecordedOutputs.of(outputs)
    if redact is not None:
        redacted.outputs = shown_outputs(case.sample, outputs, whole=True)
        before = deepcopy(redacted.outputs)
        redact(redacted)
        answer.redact(before, redacted.outputs)
        cap_shown(redacted.outputs)
        if case.moved is not None:
            answer.lost["ranking"] = "unseen"  # the passages that the labels were matched by
    elif case.moved is not None:
        recording.gold = [(d.doc_id, d.text, d.metadata) for d in case.sample.relevant_docs or ()]
    answer.cut(cap)
    if answer.lost:
        recording.scores = dict(redacted.scores)
        recording.shown, recording.ranks = redacted.outputs, redacted.ranks
    else:
        recording.scores = _unrepeatable_scores(redacted.scores, metrics)
    return recording


@dataclass(eq=False, repr=False, slots=True)
class RecordedAnswer:
    """An answer of an earlier run, in place of a system's answer.

    ``keys`` are version and parameters that the metrics had then, by name.
    """

    recording: Recording
    keys: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    run_id: str = ""

    @classmethod
    def failed(cls, error: str) -> RecordedAnswer:
        """Return a recorded error, in place of a missing answer."""
        return cls(Recording("", 0, 0.0, 1, error))

    @property
    def outputs(self) -> RecordedOutputs | None:
        """What the system answered then; None where it failed."""
        return self.recording.outputs

    def score(self, metric: Metric) -> Score | None:
        """Return what *metric* gave then, if that was kept, and its version and parameters are the same today."""
        is_same = self.keys.get(metric.name) == metric_key(MetricInfo.of(metric))
        return self.recording.scores.get(metric.name) if is_same else None

    def lacks(self, metric: Metric, sample: EvaluationSample) -> dict[AnswerPart, Loss]:
        """Return what *metric* reads and the recording has not whole, and why."""
        if self.outputs is None:
            return {}
        reads = set(metric.reads)
        if "ranking" in reads and any(d.metadata.get("match") in ("quote", "span") for d in sample.relevant_docs or ()):
            reads.add("documents")
        return {part: loss for part, loss in self.outputs.lost.items() if part in reads}

    def rescored(self, result: CaseResult, metrics: Mapping[str, Metric], *, redact: Redact | None = None) -> Recording:
        """Return what is kept of the answer with the scores of *result*, which go with the metrics of that run."""
        recording = self.recording
        if recording.outputs is None:
            return recording
        if redact is not None:
            redact(result := deepcopy(result))
        return replace(
            recording,
            scores=dict(result.scores) if recording.outputs.lost else _unrepeatable_scores(result.scores, metrics),
        )

    def relabelled(self, case: GoldenCase) -> GoldenCase:
        """Return *case* with its labels as they were found when it was recorded."""
        recording = self.recording
        if recording.moved is None:
            return case
        sample = case.sample
        if recording.gold is not None:
            gold = [Document(doc_id, text, metadata) for doc_id, text, metadata in recording.gold]
            sample = replace(sample, relevant_docs=gold or None)
        return replace(case, sample=sample, moved=recording.moved)

    def differs(self, case: GoldenCase) -> str:
        """Return why this is no answer to *case*, or an empty string."""
        if self.recording.hash != case.content_hash:
            return "the case has changed since"
        if self.recording.top_k != case.top_k:
            return f"{self.recording.top_k} documents were asked for then, {case.top_k} now"
        return ""


def _unrepeatable_scores(scores: Mapping[str, Score], metrics: Mapping[str, Metric]) -> dict[str, Score]:
    """Return the scores of metrics that are not deterministic."""
    return {n: s for n, s in scores.items() if n in metrics and not metrics[n].deterministic}
