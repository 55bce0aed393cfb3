"""The evaluation of SQuAD v1.1, written from its definition."""

from __future__ import annotations

import re
import string
from collections import Counter


def squad_normalise(text: str) -> str:
    excluded = set(string.punctuation)
    no_punctuation = "".join(c for c in text.lower() if c not in excluded)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", no_punctuation).split())


def squad_f1(prediction: str, truth: str) -> float:
    given, wanted = squad_normalise(prediction).split(), squad_normalise(truth).split()
    same = sum((Counter(given) & Counter(wanted)).values())
    if same == 0:
        return 0.0
    precision, recall = 1.0 * same / len(given), 1.0 * same / len(wanted)
    return (2 * precision * recall) / (precision + recall)
