"""Text metrics under the path and the names of the framework's engineering specification."""

from __future__ import annotations

from typing import ClassVar

from .generation.bleu import BleuScore, SentenceBleu
from .generation.rouge import Rouge1, Rouge2, RougeL, RougeScores
from .generation_overlap import ExactMatch, TokenF1

__all__ = [
    "BleuScore",
    "ExactMatch",
    "Rouge1",
    "Rouge1Answer",
    "Rouge2",
    "Rouge2Answer",
    "RougeL",
    "RougeLAnswer",
    "RougeScores",
    "SentenceBleu",
    "TokenF1",
]


class Rouge1Answer(Rouge1):
    """`Rouge1` called ``rouge1_answer``."""

    stem: ClassVar[str] = "rouge1_answer"


class Rouge2Answer(Rouge2):
    """`Rouge2` called ``rouge2_answer``."""

    stem: ClassVar[str] = "rouge2_answer"


class RougeLAnswer(RougeL):
    """`RougeL` called ``rougeL_answer``."""

    stem: ClassVar[str] = "rougeL_answer"
