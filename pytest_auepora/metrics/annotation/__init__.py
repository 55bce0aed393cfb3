"""The metrics over labels: what people or a judge said about retrieved chunks and about the answer."""

from __future__ import annotations

from .answers import (
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
from .chunks import (
    LabelMRRAtK,
    MisleadingRateAtK,
    NDCGLabelledAtK,
    SufficiencyHitAtK,
    SufficiencyRateAtK,
    TopicalPrecisionAtK,
)
from .judge import JudgeLabels
from .labels import LabelSource, answer_hash, labels_from_claims
from .sources import AnnotationFile, GoldenLabels

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
