"""Labels that people (or judges) give to retrieved chunks and to answers: their names, and where they are kept."""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ...core.metrics_base import NotApplicable
from ...core.types import EvaluationSample, SystemOutputs
from ...errors import MetricError, did_you_mean

CHUNK_LABELS = ("topically_relevant", "evidence_sufficient", "misleading")
"""What is said of a retrieved chunk with respect to the query."""

ANSWER_LABELS = (
    "support_present",
    "unsupported_claim_present",
    "contradicted_claim_present",
    "source_cited",
    "fabricated_source",
    "proper_action",
    "response_on_topic",
    "helpful",
    "incomplete",
    "unsafe_content",
    "refused",
)
"""What is said of an answer, the first five with respect to the retrieved context."""

Labels = Mapping[str, bool]


def answer_hash(text: str) -> str:
    """Return the hash under which labels of an answer are kept: of its text in NFC, white space as single blanks."""
    folded = " ".join(unicodedata.normalize("NFC", text).split())
    return sha256(folded.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_labels(raw: Mapping[str, Any], known: Sequence[str], where: str) -> dict[str, bool]:
    """Return the labels among the keys of *raw*; None says that nobody knows, and is left out.

    Raises:
        MetricError: a label is unknown, or is neither true nor false (1 and 0 will do).
    """
    out: dict[str, bool] = {}
    for name, value in raw.items():
        if name not in known:
            raise MetricError(f"{where}: no label {name!r}{did_you_mean(name, known)}; there is {', '.join(known)}")
        if value is None:
            continue
        if value not in (0, 1) or isinstance(value, float):
            raise MetricError(f"{where}: {name} must be true or false, got {value!r}")
        out[name] = bool(value)
    return out


_ENTAILMENT = {"entailment": "support_present", "supported": "support_present"}
_NEUTRAL = {"neutral": "unsupported_claim_present", "unsupported": "unsupported_claim_present"}
_CONTRADICTION = {"contradiction": "contradicted_claim_present", "contradicted": "contradicted_claim_present"}
_CLAIMS = _ENTAILMENT | _NEUTRAL | _CONTRADICTION


def labels_from_claims(claims: Iterable[object], where: str = "claims") -> dict[str, bool]:
    """Return the labels of an answer whose claims were judged one by one; without any claim all are false.

    Args:
        claims: ``entailment`` / ``supported``, ``neutral`` / ``unsupported``, ``contradiction`` / ``contradicted``.
        where: what an error is said to be in.

    Raises:
        MetricError: a claim is called something else.
    """
    out = dict.fromkeys(_CLAIMS.values(), False)
    for claim in claims:
        if (label := _CLAIMS.get(str(claim).strip().lower())) is None:
            raise MetricError(f"{where}: a claim is one of {', '.join(_CLAIMS)}, got {claim!r}")
        out[label] = True
    return out


@dataclass(frozen=True, slots=True)
class ChunkLabels:
    """What is known about the chunks of one case.

    ``retrieved`` has one entry a returned chunk, in order, None where nobody said anything; ``judged`` is every
    passage that somebody labelled, returned or not.
    """

    retrieved: Sequence[Labels | None]
    judged: Sequence[Labels]


class LabelSource(ABC):
    """Where labels come from."""

    deterministic = True
    judged = False
    """The labels are a model's opinion."""
    concurrency = 1
    """Of how many cases they may be asked for at once, in threads."""

    @abstractmethod
    def chunk_labels(
        self, sample: EvaluationSample, outputs: SystemOutputs, wanted: Sequence[str], depth: int
    ) -> ChunkLabels | NotApplicable:
        """Return what is known about the chunks of a case: the *wanted* labels, of the first *depth* returned."""

    @abstractmethod
    def answer_labels(
        self, sample: EvaluationSample, outputs: SystemOutputs, wanted: Sequence[str]
    ) -> Labels | NotApplicable:
        """Return what is known about this very answer; what was said about another one is not applicable."""

    @abstractmethod
    def params(self) -> Any:
        """What tells this source from others, JSON-able."""
