"""What of the expected content an answer holds, however long it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...core.metrics_base import Measurement, NotApplicable
from ...core.types import EvaluationSample, SystemOutputs, TargetCategory
from ...errors import MetricError
from ..options import Configured, choice
from ..text.comparands import answer_text
from ..text.tokens import is_mostly_ascii, squad_words
from .assertions import phrase_finder


class _Nugget:
    """A fact with its wordings, and whether an answer without it is incomplete."""

    def __init__(self, raw: Any) -> None:
        if isinstance(raw, Mapping):
            wordings, self.vital = raw.get("any_of") or (), raw.get("importance", "vital") == "vital"
        else:
            wordings, self.vital = raw, True
        wordings = [wordings] if isinstance(wordings, str) else wordings
        self.wordings = [str(w) for w in wordings if str(w).strip()]
        if not self.wordings:
            raise MetricError(f"a nugget needs at least one wording, got {raw!r}")

    @property
    def name(self) -> str:
        return self.wordings[0]


def _nuggets(sample: EvaluationSample) -> list[_Nugget]:
    raw = sample.labels.get("nuggets") or ()
    return [_Nugget(n) for n in ([raw] if isinstance(raw, (str, Mapping)) else raw)]


def _share_of_words(wording: str, answer: str) -> float:
    foreign = not is_mostly_ascii(wording)
    wanted = Counter(squad_words(wording, multilingual=foreign))
    given = Counter(squad_words(answer, multilingual=foreign))
    return (given & wanted).total() / wanted.total() if wanted else 0.0


@dataclass(eq=False, repr=False)
class NuggetRecall(Configured):
    """Share of the listed facts that the answer states.

    The facts are the label ``nuggets``: texts, or mappings with ``any_of`` (wordings of which one will do) and
    ``importance`` (``vital``, the default, or ``okay``).  A fact is supported where one of its wordings stands
    in the answer (folded, at word boundaries), half supported where at least half of the words of one do.

    Args:
        only: count the ``vital`` facts, or ``all``.
        strict: half support counts nothing.
    """

    only: str = choice("vital", "all")
    strict: bool = False

    stem: ClassVar[str] = "nugget_recall"
    target = TargetCategory.GENERATION_CORRECTNESS
    formula: ClassVar[str] = "(supported + ½ half supported) / vital nuggets; strict: supported / vital nuggets"
    source: ClassVar[str] = "TREC 2024 RAG, nugget evaluation (arXiv:2411.09607), matched by wording"
    oracle: ClassVar[str] = "by hand"

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        """Details: ``missing``, ``partly``: nuggets by name.  N/a without a nugget that counts."""
        nuggets = _nuggets(sample)
        if not nuggets:
            return NotApplicable("no nuggets")
        counted = [n for n in nuggets if n.vital or self.only == "all"]
        if not counted:
            return NotApplicable("no vital nugget")
        answer = answer_text(outputs)
        found = phrase_finder(answer)
        support = [self._support(n, answer, found) for n in counted]
        details = {
            "missing": [n.name for n, s in zip(counted, support, strict=True) if s == 0],
            "partly": [n.name for n, s in zip(counted, support, strict=True) if s == 0.5],
        }
        return Measurement(sum(support) / len(counted), details={k: v for k, v in details.items() if v})

    def _support(self, nugget: _Nugget, answer: str, found: Any) -> float:
        if any(map(found, nugget.wordings)):
            return 1.0
        half = not self.strict and any(_share_of_words(w, answer) >= 0.5 for w in nugget.wordings)
        return 0.5 if half else 0.0


@dataclass(eq=False, repr=False)
class InformationIntegration(Configured):
    """1 where the answer states every one of several facts, which no single document holds, else 0.

    The facts are the label ``nuggets``, of whatever importance; n/a with fewer than two of them.
    """

    stem: ClassVar[str] = "information_integration"
    target = TargetCategory.GENERATION_CORRECTNESS
    formula: ClassVar[str] = "[every nugget has a wording in the answer]"
    source: ClassVar[str] = "RGB, information integration (arXiv:2309.01431)"
    oracle: ClassVar[str] = "by hand"

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        """Details: ``missing``, nuggets by name.  N/a with fewer than two nuggets."""
        nuggets: Sequence[_Nugget] = _nuggets(sample)
        if len(nuggets) < 2:
            return NotApplicable("only one nugget: take nugget_recall" if nuggets else "no nuggets")
        found = phrase_finder(answer_text(outputs))
        missing = [n.name for n in nuggets if not any(map(found, n.wordings))]
        return Measurement(float(not missing), details={"missing": missing} if missing else {})
