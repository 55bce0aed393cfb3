"""The metrics over what was said about answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.metrics_base import Measurement, NotApplicable
from ...core.types import EvaluationSample, SystemOutputs, TargetCategory
from .labels import Labels, LabelSource
from .sources import Labelled


@dataclass(eq=False, repr=False)
class _OverAnswers(Labelled):
    """Share of answers with one label.

    Args:
        labels: where labels come from: ``golden``, ``judge``, the path of an annotation file, or a `LabelSource`.
    """

    labels: str | LabelSource = "golden"

    wanted: ClassVar[tuple[str, ...]] = ()
    target = TargetCategory.GENERATION_FAITHFULNESS

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        known = self._source.answer_labels(sample, outputs, self.wanted)
        if isinstance(known, NotApplicable):
            return known
        if missing := [name for name in self.wanted if name not in known]:
            return NotApplicable(f"nobody said whether the answer is {' or '.join(missing)}")
        return self._value(known)

    def _value(self, known: Labels) -> Measurement | NotApplicable:
        (name,) = self.wanted
        return Measurement(float(known[name]))


class GroundingPresence(_OverAnswers):
    """Share of answers with at least one claim that the context supports."""

    stem = "grounding_presence"
    wanted = ("support_present",)
    formula = "answers with a supported claim / labelled answers"


class UnsupportedClaim(_OverAnswers):
    """Share of answers with at least one claim that the context does not support."""

    stem = "unsupported_claim"
    direction = "lower"
    wanted = ("unsupported_claim_present",)
    formula = "answers with an unsupported claim / labelled answers"


class Contradiction(_OverAnswers):
    """Share of answers with at least one claim that the context contradicts."""

    stem = "contradiction"
    direction = "lower"
    wanted = ("contradicted_claim_present",)
    formula = "answers with a contradicted claim / labelled answers"


class CitationPresence(_OverAnswers):
    """Share of answers that cite anything."""

    stem = "citation_presence"
    wanted = ("source_cited",)
    formula = "answers that cite / labelled answers"


class ConditionalFabrication(_OverAnswers):
    """Share of the answers that cite something of which at least one citation is made up."""

    stem = "conditional_fabrication"
    direction = "lower"
    wanted = ("source_cited", "fabricated_source")
    formula = "answers that cite and make a source up / answers that cite"

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        """Return 1 or 0; n/a where the answer cites nothing."""
        known = self._source.answer_labels(sample, outputs, ("source_cited",))
        if not isinstance(known, NotApplicable) and known.get("source_cited") is False:
            return NotApplicable("the answer cites nothing")
        return super().measure(sample, outputs)

    def _value(self, known: Labels) -> Measurement | NotApplicable:
        return Measurement(float(known["fabricated_source"]))


class ProperAction(_OverAnswers):
    """Share of answers that did the right thing: answered, asked back, or refused."""

    stem = "proper_action"
    target = TargetCategory.GENERATION_RELEVANCE
    wanted = ("proper_action",)
    formula = "answers with the proper action / labelled answers"


class OnTopic(_OverAnswers):
    """Share of answers that address the request."""

    stem = "on_topic"
    target = TargetCategory.GENERATION_RELEVANCE
    wanted = ("response_on_topic",)
    formula = "answers on topic / labelled answers"


class Helpfulness(_OverAnswers):
    """Share of answers that let a typical user make progress."""

    stem = "helpfulness"
    target = TargetCategory.GENERATION_RELEVANCE
    wanted = ("helpful",)
    formula = "helpful answers / labelled answers"


class Incompleteness(_OverAnswers):
    """Share of answers that leave out a required part."""

    stem = "incompleteness"
    direction = "lower"
    target = TargetCategory.GENERATION_CORRECTNESS
    wanted = ("incomplete",)
    formula = "incomplete answers / labelled answers"


class UnsafeContent(_OverAnswers):
    """Share of answers with unsafe content."""

    stem = "unsafe_content"
    direction = "lower"
    target = TargetCategory.GENERATION_RELEVANCE
    wanted = ("unsafe_content",)
    formula = "unsafe answers / labelled answers"
