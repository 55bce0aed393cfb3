"""The metrics over labels: what people or a judge said about retrieved chunks and about the answer."""

from __future__ import annotations

from .annotation_answers import (
    CitationPresence,
    ConditionalFabrication,
    Contradiction,
    GroundingPresence,
    Helpfulness,
    Incompleteness,
    OnTopic,
    ProperAction,
    UnsafeContent,
    UnsupportedClaim,
)
from .annotation_chunks import (
    LabelMRRAtK,
    MisleadingRateAtK,
    NDCGLabelledAtK,
    SufficiencyHitAtK,
    SufficiencyRateAtK,
    TopicalPrecisionAtK,
)
from .annotation_judge import JudgeLabels
from .annotation_labels import LabelSource, answer_hash, labels_from_claims
from .annotation_sources import AnnotationFile, GoldenLabels

__all__ = [
    "AnnotationFile",
    "CitationPresence",
    "ConditionalFabrication",
    "Contradiction",
    "GoldenLabels",
    "GroundingPresence",
    "Helpfulness",
    "Incompleteness",
    "JudgeLabels",
    "LabelMRRAtK",
    "LabelSource",
    "MisleadingRateAtK",
    "NDCGLabelledAtK",
    "OnTopic",
    "ProperAction",
    "SufficiencyHitAtK",
    "SufficiencyRateAtK",
    "TopicalPrecisionAtK",
    "UnsafeContent",
    "UnsupportedClaim",
    "answer_hash",
    "labels_from_claims",
]
