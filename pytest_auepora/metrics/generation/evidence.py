"""Whether what an answer says is in the evidence: its words, its numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

from ...core.metrics_base import Measurement, NotApplicable
from ...core.types import EvaluationSample, SystemOutputs, TargetCategory
from ..options import Configured, choice
from ..text.comparands import answer_text, evidence_texts
from ..text.quantities import Stated, quantities
from ..text.tokens import is_mostly_ascii, squad_words


@dataclass(eq=False, repr=False)
class _AgainstEvidence(Configured):
    """Compares an answer with evidence.

    Args:
        evidence_source: the ``retrieved`` documents, or the ``relevant`` ones of the golden case.
    """

    evidence_source: str = choice("retrieved", "relevant")

    target = TargetCategory.GENERATION_FAITHFULNESS

    def required_fields(self) -> list[str]:
        return ["relevant_docs"] if self.evidence_source == "relevant" else []


@dataclass(eq=False, repr=False)
class KPrecision(_AgainstEvidence):
    """Share of the answer's words that the evidence has, each at most as often as the evidence has it.

    With nothing retrieved the score is 0.
    """

    stem: ClassVar[str] = "k_precision"
    formula: ClassVar[str] = "|answer ∩ evidence| / |answer|, multisets of normalised words"
    source: ClassVar[str] = "Adlakha et al. 2023 (arXiv:2307.16877)"
    oracle: ClassVar[str] = "an independent count over SQuAD-normalised words, exact"

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        """Details: ``unsupported``, words of the answer that no document has.  An empty answer scores 0."""
        evidence = evidence_texts(sample, outputs, self.evidence_source)
        if isinstance(evidence, NotApplicable):
            return evidence
        foreign = not is_mostly_ascii(answer_text(outputs))
        given = Counter(squad_words(answer_text(outputs), multilingual=foreign))
        if not given:
            return Measurement(0.0, details={"note": "the answer is empty"})
        left = Counter(given)
        for text in evidence:
            left -= Counter(squad_words(text, multilingual=foreign))
        details: dict[str, Any] = {"unsupported": list(left)[:10]} if left else {}
        if not evidence:
            details["note"] = "nothing was retrieved"
        n = given.total()
        return Measurement((n - left.total()) / n, details=details)


@dataclass(eq=False, repr=False)
class UnsupportedNumbers(_AgainstEvidence):
    """Share of the answer's numbers, quantities and dates that neither the evidence nor the query states.

    Lower is better; n/a for an answer without numbers.  They are compared by value, not as they are written
    (``1,000`` and ``one thousand``, ``May 1, 2024`` and ``2024-05-01``); where both sides have a unit, it has
    to be the same.
    """

    stem: ClassVar[str] = "unsupported_numbers"
    direction = "lower"
    formula: ClassVar[str] = "numbers of the answer in neither evidence nor query / numbers of the answer"
    source: ClassVar[str] = "this project"
    oracle: ClassVar[str] = "by hand"

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        """Details: ``unsupported``, the numbers.  N/a where the answer is empty or has none."""
        answer = answer_text(outputs)
        if not answer.strip():
            return NotApplicable("the answer is empty")
        claimed = quantities(answer)
        if not claimed:
            return NotApplicable("no number in the answer")
        evidence = evidence_texts(sample, outputs, self.evidence_source)
        if isinstance(evidence, NotApplicable):
            return evidence
        stated = Stated([*evidence, sample.query])
        bad = [quantity.text for quantity in claimed if quantity not in stated]
        return Measurement(len(bad) / len(claimed), details={"unsupported": bad[:10]} if bad else {})
