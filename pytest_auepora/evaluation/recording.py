"""One answer as it is kept to be judged again: everything that a metric may read, as one short text.

The text begins with a mark that says what is in it (`ERRORED`, `CUT`, `ANSWERED`), so readers need not parse the
rest, which is JSON in one line.  The texts of documents are kept separately, each once for many answers.
A metric that reads what was not kept gets an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypedDict

from ..base.json import dumps
from ..core.metrics_base import Metric
from ..core.result_shapes import Count, MovedLabels, Outputs, Rank, StoredScore
from ..core.run import CaseResult, MetricInfo
from ..core.scoring import Score
from ..core.types import Document, SystemOutputs
from ..errors import HistoryError
from ..io.golden.model import GoldenCase
from ..metrics.ranking.gold import SOURCE_KEYS
from ..regression.baseline import metric_key
from ..shapes import check_shape
from .answer_codec import TEXT, Parts
from .case_result import crop, shown_outputs, without_text

ERRORED = "!"
"""The call failed; its error is kept."""
CUT = "<"
"""Something of the answer is not kept, for its size."""
ANSWERED = "="
"""Any other answer; its parts say what is not kept."""

_LONGEST = len("\\ud83d\\ude00")  # what JSON makes of one character

Recording = tuple[str, Sequence[str]]
"""A mark with JSON, in which a document has the place of its text; and the texts."""

Redact = Callable[[CaseResult], None]
"""Changes a result in place, so that it may be written down."""


_CHANGED = "was changed by pytest_auepora_redact before it was recorded"
_UNSEEN = "was not recorded, as pytest_auepora_redact is not shown it"

_RESPONSE_FLAGS = ("refused", "grounded", "citations")


def record(
    case: GoldenCase,
    result: CaseResult,
    outputs: SystemOutputs | None,
    metrics: Mapping[str, Metric],
    *,
    redact: Redact | None = None,
    cap: int,
) -> Recording:
    """Return what is kept of one answer, and the texts of its documents.

    Args:
        case: what was asked.
        result: what was measured on the answer; not changed.
        outputs: the answer; None where there is none, and ``result.error`` says why.
        metrics: those of the result.
        redact: the project's own; it is shown a copy of *result* with every text in full, and nothing that it
            changes or is not shown is kept.
        cap: characters kept; the largest texts go first, ids, scores of documents and times never.
    """
    redacted = deepcopy(result) if redact is not None else result
    raw: dict[str, Any] = {
        "hash": case.content_hash, "top_k": case.top_k, "seconds": result.seconds, "concurrency": result.concurrency,
    }  # fmt: skip
    if outputs is None:
        if redact is not None:
            redact(redacted)
        return ERRORED + dumps({**raw, "error": redacted.error}), []
    parts = Parts.of(outputs)
    if case.moved is not None:
        raw["moved"] = case.moved
        if redact is None:
            raw["gold"] = [[d.doc_id, d.text, d.metadata] for d in case.sample.relevant_docs or ()]
    if redact is not None:
        _redact(case, outputs, redacted, parts, redact)
    raw["scores"] = _scores_to_json(_unrepeatable_scores(redacted.scores, metrics))
    recording, mark = _without_texts(raw, parts), ANSWERED
    if (excess := _size(recording, cap) - cap) > 0:
        _drop_largest(parts, excess, cap)
        mark = CUT
    if not parts.gaps:
        return ANSWERED + recording[0], recording[1]
    raw |= {"scores": _scores_to_json(redacted.scores), "ranks": redacted.ranks}
    if redact is not None:
        crop(redacted.outputs)
    raw["shown"] = redacted.outputs
    rest, texts = _without_texts(raw, parts)
    return mark + rest, texts


def _redact(case: GoldenCase, outputs: SystemOutputs, result: CaseResult, parts: Parts, redact: Redact) -> None:
    """Let the project redact *result* with every text in full; drop from *parts* what it changed."""
    result.outputs = shown_outputs(case.sample, outputs, whole=True)
    before = deepcopy(result.outputs)
    redact(result)
    _conceal(parts, before, result.outputs)
    if case.moved is not None:
        parts.drop(("retrieved",), f"{_UNSEEN}: the passages that labels which moved were matched by")


def _without_texts(raw: dict[str, Any], parts: Parts) -> Recording:
    """Return *raw* with *parts*; instead of its text a hit has the place of it among the texts."""
    hits = [hit for hit in parts.retrieved or () if hit[TEXT] is not None]
    texts = [hit[TEXT] for hit in hits]
    for place, hit in enumerate(hits):  # and not in copies, which would be most of what there is to do
        hit[TEXT] = place
    try:
        return dumps({**raw, "parts": parts.to_dict()}), texts
    finally:
        for hit, text in zip(hits, texts, strict=True):
            hit[TEXT] = text


def _conceal(parts: Parts, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Drop from *parts* what differs between *before* and *after*, both of `shown_outputs`, or is in neither."""
    if after.get("answer") != before["answer"]:
        parts.drop(("answer",), _CHANGED)
    _conceal_ranking(parts, before["retrieved"], after.get("retrieved"))
    if after.get("timings") != before["timings"]:
        parts.drop(("timings",), _CHANGED)
    if parts.metadata:
        unchanged = {key: before[key] for key in _RESPONSE_FLAGS if key in before and after.get(key) == before[key]}
        changed = any(key in before and key not in unchanged for key in _RESPONSE_FLAGS)
        parts.drop(("metadata",), _CHANGED if changed else _UNSEEN, unchanged)
    if parts.structured is not None or ("structured",) in parts.gaps:
        parts.drop(("structured",), _UNSEEN)
    if parts.extra or any(path[0] == "extra" for path in parts.gaps):
        parts.drop(("extra",), _UNSEEN)


def _conceal_ranking(parts: Parts, before: list[dict[str, Any]], after: Any) -> None:
    hits = [without_text(hit) if isinstance(hit, dict) else hit for hit in after] if isinstance(after, list) else None
    if hits != [without_text(hit) for hit in before]:
        parts.drop(("retrieved",), _CHANGED)
        return
    for i, (old, new) in enumerate(zip(before, after, strict=True)):
        if new.get("text") != old["text"]:
            parts.drop(("retrieved", i, "text"), _CHANGED)
        if parts.retrieved is not None and parts.retrieved[i][-1]:
            shown = {SOURCE_KEYS[0]: old.get("doc", old["id"])}
            if "span" in old:
                shown["start"], shown["end"] = old["span"]
            parts.drop(("retrieved", i, "metadata"), _UNSEEN, shown)


def _size(recording: Recording, cap: int) -> int:
    """Return how many characters *recording* has; 0 where these are sure to be no more than *cap*."""
    rest, texts = recording
    upper_bound = sum(map(len, texts)) * _LONGEST + len(texts) * len('"",')
    return len(rest) + sum(len(dumps(text)) + 1 for text in texts) if len(rest) + upper_bound > cap else 0


def _drop_largest(parts: Parts, excess: int, cap: int) -> None:
    """Drop the largest texts until *excess* characters are gone."""
    reason = f"was not recorded: the answer with its documents is larger than auepora_keep = characters={cap}"
    sizes = {path: len(dumps(value)) for path, value in parts.pieces().items()}
    for path in sorted(sizes, key=lambda p: sizes[p], reverse=True):
        if excess <= 0:
            return
        parts.drop(path, reason)
        excess -= sizes[path]
    if excess > 0:
        parts.drop(("retrieved",), reason)


class _Always(TypedDict):
    hash: str
    top_k: int
    seconds: float
    concurrency: Annotated[int, Count]


class _Errored(_Always):
    error: str


class _Whole(_Always):
    parts: Parts


class _Answered(_Whole, total=False):
    scores: dict[str, Annotated[Score, StoredScore]]
    moved: MovedLabels
    gold: list[tuple[str, str, dict[str, Any]]]
    ranks: dict[str, Annotated[int | None, Rank]]
    shown: Outputs


@dataclass(eq=False, repr=False, slots=True)
class RecordedAnswer:
    """An answer of an earlier run, in place of a system's answer.

    ``keys`` are version and parameters that the metrics had then, by name.
    """

    recording: Recording
    keys: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    run_id: str = ""
    _raw: dict[str, Any] | None = None

    @classmethod
    def failed(cls, error: str) -> RecordedAnswer:
        """Return a recorded error, in place of a missing answer."""
        return cls((ERRORED, ()), _raw={"error": error, "seconds": 0.0, "concurrency": 1})

    @property
    def raw(self) -> dict[str, Any]:
        """What was kept; raises `HistoryError` where the text is damaged."""
        if self._raw is None:
            text, texts = self.recording
            try:
                raw: dict[str, Any] = check_shape(json.loads(text[1:]), _Answered if self.is_answer else _Errored)
                for hit in (raw.get("parts") or {}).get("retrieved") or ():
                    if hit[TEXT] is not None:
                        hit[TEXT] = texts[hit[TEXT]]
            except (ValueError, LookupError, TypeError, RecursionError) as exc:
                raise HistoryError(f"a recorded answer is damaged: {exc}") from None
            self._raw = raw
        return self._raw

    @property
    def is_answer(self) -> bool:
        """Whether the system answered, then."""
        return not self.recording[0].startswith(ERRORED)

    def parts(self) -> Parts:
        """Return the answer as its parts."""
        return Parts.from_dict(self.raw["parts"])

    def score(self, metric: Metric) -> Score | None:
        """Return what *metric* gave then, if that was kept, and its version and parameters are the same today."""
        raw_score = self.raw.get("scores", {}).get(metric.name)
        if raw_score is None or self.keys.get(metric.name) != metric_key(MetricInfo.of(metric)):
            return None
        return Score(**raw_score)

    def rescored(self, result: CaseResult, metrics: Mapping[str, Metric], *, redact: Redact | None = None) -> Recording:
        """Return what is kept of the answer with the scores of *result*, which go with the metrics of that run."""
        if not self.is_answer:
            return self.recording
        if redact is not None:
            redact(result := deepcopy(result))
        scores = _scores_to_json(result.scores if "shown" in self.raw else _unrepeatable_scores(result.scores, metrics))
        if scores == self.raw.get("scores"):
            return self.recording
        rest, texts = self.recording
        return rest[0] + dumps({**json.loads(rest[1:]), "scores": scores}), texts

    def relabelled(self, case: GoldenCase) -> GoldenCase:
        """Return *case* with its labels as they were found when it was recorded."""
        if not self.is_answer or "moved" not in self.raw:
            return case
        sample = case.sample
        if "gold" in self.raw:
            gold = [Document(doc_id, text, metadata) for doc_id, text, metadata in self.raw["gold"]]
            sample = replace(sample, relevant_docs=gold or None)
        return replace(case, sample=sample, moved=self.raw["moved"])

    def differs(self, case: GoldenCase) -> str:
        """Return why this is no answer to *case*, or an empty string."""
        if self.raw["hash"] != case.content_hash:
            return "the case has changed since"
        if self.raw["top_k"] != case.top_k:
            return f"{self.raw['top_k']} documents were asked for then, {case.top_k} now"
        return ""


def _unrepeatable_scores(scores: Mapping[str, Score], metrics: Mapping[str, Metric]) -> dict[str, Score]:
    """Return the scores of metrics that are not deterministic."""
    return {n: s for n, s in scores.items() if n in metrics and not metrics[n].deterministic}


def _scores_to_json(scores: Mapping[str, Score]) -> dict[str, Any]:
    return {name: score.to_dict() for name, score in scores.items()}
