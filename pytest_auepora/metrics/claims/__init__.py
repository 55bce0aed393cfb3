"""Claims against evidence: RAGChecker's metrics and ALCE's, by a judge, an NLI model or a matrix that is given."""

from .checker import ClaimChecker, JudgeChecker
from .citations import CitationPrecision, CitationRecall
from .measures import (
    AnswerCorrectness,
    ClaimF1,
    ClaimPrecision,
    ClaimRecall,
    ContextPrecision,
    ContextRecall,
    ContextUtilization,
    Faithfulness,
    Hallucination,
    NoiseSensitivityInIrrelevant,
    NoiseSensitivityInRelevant,
    SelfKnowledge,
)

__all__ = [
    "AnswerCorrectness",
    "CitationPrecision",
    "CitationRecall",
    "ClaimChecker",
    "ClaimF1",
    "ClaimPrecision",
    "ClaimRecall",
    "ContextPrecision",
    "ContextRecall",
    "ContextUtilization",
    "Faithfulness",
    "Hallucination",
    "JudgeChecker",
    "NoiseSensitivityInIrrelevant",
    "NoiseSensitivityInRelevant",
    "SelfKnowledge",
]
