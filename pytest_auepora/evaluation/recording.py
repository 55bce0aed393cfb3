"""One answer as it is kept to be judged again: everything that a metric may read, as one short text.

The text begins with a mark that says what is in it (`ERRORED`, `PARTIAL`, `CUT`, `WHOLE`), so that nobody has to
read on to know; the rest is JSON in one line, which whoever keeps many compresses together (see `document_texts`).
What was not kept is missed when a metric reads it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.json import dumps
from ..core.metrics_base import Metric
from ..core.run import CaseResult
from ..core.scores import Score
from ..core.types import Document, SystemOutputs
from ..errors import HistoryError
from ..io.golden.load import GoldenCase
from .answer_codec import Parts
from .answer_summary import cropped, shown_outputs
from .document_texts import Apart, apart, reunited, whole

__all__ = ["CAP", "CUT", "ERRORED", "PARTIAL", "WHOLE", "RecordedAnswer", "Redact", "record"]

CAP = 1_000_000
"""Characters of one answer with its documents that are kept, unless something else is asked for."""

ERRORED = "!"
"""The call failed; its error is kept."""
WHOLE = "="
"""Everything is there."""
PARTIAL = "~"
"""Something is not: redacted, or nothing that JSON can carry."""
CUT = "<"
"""Something is not, for its size."""

_LONGEST = len("\\ud83d\\ude00")  # what JSON makes of one character

Redact = Callable[[CaseResult], None]
"""Changes a result in place, so that it may be written down."""


def record(
    case: GoldenCase,
    result: CaseResult,
    outputs: SystemOutputs | None,
    metrics: Mapping[str, Metric],
    *,
    redact: Redact | None = None,
    cap: int = CAP,
) -> Apart:
    """Return what is kept of one answer, apart from the texts of its documents.

    Args:
        case: what was asked.
        result: what was measured on the answer; not changed.
        outputs: the answer; None where there is none, and ``result.error`` says why.
        metrics: those of the result.
        redact: the project's own; it is shown a copy of *result* with every text in full, and nothing that it
            changes or is not shown is kept.
        cap: characters kept; the largest texts go first, ids, scores of documents and times never.
    """
    told = deepcopy(result) if redact is not None else result
    raw: dict[str, Any] = {
        "hash": case.content_hash, "top_k": case.top_k, "seconds": result.seconds, "concurrency": result.concurrency,
    }  # fmt: skip
    if outputs is None:
        if redact is not None:
            redact(told)
        return ERRORED + dumps({**raw, "error": told.error}), []
    parts = Parts.of(outputs)
    if case.moved is not None:
        raw["moved"] = case.moved
        if redact is None:
            raw["gold"] = [[d.doc_id, d.text, d.metadata] for d in case.sample.relevant_docs or ()]
    if redact is not None:
        _redact(case, outputs, told, parts, redact)
    costly = {n: s for n, s in told.scores.items() if n in metrics and not metrics[n].deterministic}
    raw["scores"] = _said(costly)
    kept, mark = apart(raw, parts), PARTIAL
    if (excess := _size(kept, cap) - cap) > 0:
        _cut(parts, excess, cap)
        mark = CUT
    if not parts.gaps:
        return WHOLE + kept[0], kept[1]
    raw |= {"scores": _said(told.scores), "ranks": told.ranks}
    raw["shown"] = told.outputs if redact is None else cropped(told.outputs)
    rest, texts = apart(raw, parts)
    return mark + rest, texts


def _redact(case: GoldenCase, outputs: SystemOutputs, told: CaseResult, parts: Parts, redact: Redact) -> None:
    """Show the project *told* with every text in full, and leave only what it does not object to in *parts*."""
    from .redaction import UNSEEN, conceal

    told.outputs = shown_outputs(case.sample, outputs, whole=True)
    before = deepcopy(told.outputs)
    redact(told)
    conceal(parts, before, told.outputs)
    if case.moved is not None:
        parts.drop(("retrieved",), f"{UNSEEN}: the passages that labels which moved were matched by")


def _size(recording: Apart, cap: int) -> int:
    """Return how many characters *recording* has; 0 where these are sure to be no more than *cap*."""
    rest, texts = recording
    most = sum(map(len, texts)) * _LONGEST + len(texts) * len('"",') + len(',"texts":[]}')
    return len(whole(recording)) if len(rest) + most > cap else 0


def _cut(parts: Parts, excess: int, cap: int) -> None:
    """Take the largest texts out until *excess* characters are gone."""
    reason = f"was not recorded: the answer with its documents is larger than auepora_keep = characters={cap}"
    sizes = {path: len(dumps(value)) for path, value in parts.pieces().items()}
    for path in sorted(sizes, key=lambda p: sizes[p], reverse=True):
        if excess <= 0:
            return
        parts.drop(path, reason)
        excess -= sizes[path]
    if excess > 0:
        parts.drop(("retrieved",), reason)


@dataclass(eq=False, repr=False, slots=True)
class RecordedAnswer:
    """An answer that was given in an earlier run; where a system's answer is expected, it stands for it.

    Attributes:
        text: what `record` returned.
        keys: version and parameters that the metrics had then, by name.
        run_id: the run.
    """

    text: str
    keys: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    run_id: str = ""
    _raw: dict[str, Any] | None = None

    @classmethod
    def failed(cls, error: str) -> RecordedAnswer:
        """Return what stands where there should be an answer and is none."""
        return cls(ERRORED, _raw={"error": error, "seconds": 0.0, "concurrency": 1})

    @property
    def raw(self) -> dict[str, Any]:
        """What was kept.

        Raises:
            HistoryError: the text is damaged.
        """
        if self._raw is None:
            try:
                self._raw = reunited(json.loads(_unpacked(self.text[1:])))
            except (ValueError, LookupError, TypeError) as exc:
                raise HistoryError(f"a recorded answer is damaged: {exc}") from None
        return self._raw

    @property
    def is_answer(self) -> bool:
        """Whether the system answered, then."""
        return not self.text.startswith(ERRORED)

    def parts(self) -> Parts:
        """Return the answer, taken apart."""
        return Parts.from_dict(self.raw["parts"])

    def scores(self) -> dict[str, Score]:
        """Return what was measured then and cannot, or need not, be measured again."""
        return {name: Score(**score) for name, score in self.raw.get("scores", {}).items()}

    def settled(self, case: GoldenCase) -> GoldenCase:
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


def _said(scores: Mapping[str, Score]) -> dict[str, Any]:
    return {name: score.said() for name, score in scores.items()}


def _unpacked(text: str) -> str | bytes:
    """Return the JSON of a recording; older histories have each compressed by itself.

    Raises:
        ValueError: it is damaged.
    """
    if text.startswith("{"):
        return text
    import base64
    import zlib

    try:
        return zlib.decompress(base64.b64decode(text, validate=True))
    except zlib.error as exc:
        raise ValueError(str(exc)) from None
