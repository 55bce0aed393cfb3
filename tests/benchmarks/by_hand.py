"""What a project writes that scores its answers by hand: rouge-score and the formulas, straightforward.

The projects of peers carry a copy of this file, so it imports nothing of this package.
"""

from __future__ import annotations

import json
import math
import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rouge_score.rouge_scorer import RougeScorer

__all__ = ["check", "scores"]

_ROUGE = RougeScorer(["rougeL"], use_stemmer=True)


def scores(case: Mapping[str, Any], answer: str, documents: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Score one answer; a case has the ids of its relevant documents and its reference answer."""
    relevant = set(case["relevant"])
    ids = [document["id"] for document in documents]
    gains = [1 / math.log2(rank + 1) for rank, name in enumerate(ids[:10], 1) if name in relevant]
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(relevant), 10) + 1))
    given, wanted = _words(answer), _words(case["reference"])
    return {
        "recall@5": len(relevant & set(ids[:5])) / len(relevant),
        "ndcg@10": sum(gains) / ideal,
        "mrr": next((1 / rank for rank, name in enumerate(ids, 1) if name in relevant), 0.0),
        "exact_match": float(given == wanted),
        "token_f1": _f1(given, wanted),
        "rougeL": _ROUGE.score(case["reference"], answer)["rougeL"].fmeasure,
    }


def check(means: Mapping[str, float]) -> None:
    """Hold the means over all cases that a tool came to against those that stand beside this file."""
    expected = json.loads((Path(__file__).parent / "expected.json").read_text(encoding="utf-8"))
    same = means.keys() == expected.keys() and all(abs(means[name] - expected[name]) < 1e-9 for name in expected)
    if not same:
        raise AssertionError(f"expected {expected}, found {dict(means)}")


def _words(text: str) -> list[str]:
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def _f1(given: list[str], wanted: list[str]) -> float:
    same = sum((Counter(given) & Counter(wanted)).values())
    if not same:
        return 0.0
    precision, recall = same / len(given), same / len(wanted)
    return 2 * precision * recall / (precision + recall)
