"""Text metrics under the path and the names of the framework's engineering specification."""

from __future__ import annotations

from .generation_overlap import ExactMatch, TokenF1
from .text.bleu import BleuScore, SentenceBleu
from .text.rouge import Rouge1, Rouge2, RougeL, RougeLAnswer, RougeScores

__all__ = [
    "BleuScore",
    "ExactMatch",
    "Rouge1",
    "Rouge2",
    "RougeL",
    "RougeLAnswer",
    "RougeScores",
    "SentenceBleu",
    "TokenF1",
]
