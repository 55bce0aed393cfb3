"""Pairs of answers and references, random and from real data, and the way to make cases of them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from pytest_auepora.core.metrics_base import Measurement, Metric
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs

Compared = Callable[[str, int], None]
Pair = tuple[str, list[str]]  # an answer and its references

WORDS = [
    *("the", "The", "of", "refund", "refunds", "refunded", "policy", "policies", "don't", "U.S.", "3.14", "1,000"),
    *("30-day", "cafés", "naïve", "e-mail", "dying", "running", "organization's", "skies", "<skipped>", "&amp;"),
    *("&quot;x&quot;", "(see)", "a/b", "[1]", "well-\nknown", "$5.00", "x²", "ﬁne", "İstanbul"),
]
SPACES = (" ", " ", " ", "  ", "\n", "\t", "\u00a0", "\u3000", "\x1c", "-\n", ". ", ", ", ",\t", ".\n")


def random_text(rng: random.Random, longest: int = 40) -> str:
    return "".join(rng.choice(WORDS) + rng.choice(SPACES) for _ in range(rng.randint(1, longest)))


def random_pairs(n: int, seed: int) -> Iterator[Pair]:
    """Answers that are edits of their references, so that scores spread over the whole range."""
    rng = random.Random(seed)
    for _ in range(n):
        references = [random_text(rng) for _ in range(rng.choice((1, 1, 2, 3)))]
        kept = [w for w in re.split(r"(\s)", rng.choice(references)) if rng.random() < 0.8]
        answer = "".join(kept) + (random_text(rng, 10) if rng.random() < 0.5 else "")
        yield (answer if answer.strip() else "refund"), references


def has_word(text: str) -> bool:
    return re.search("[A-Za-z0-9]", text) is not None


def clapnq_rows(data: Path) -> list[dict[str, Any]]:
    text = (data / "clapnq-dev" / "clapnq_dev_answerable.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


@lru_cache(maxsize=1)
def clapnq_pairs(data: Path) -> list[Pair]:
    """Each human answer against the other answers to its question; single ones against the next question's."""
    rows = clapnq_rows(data)
    answers = [[o["answer"] for o in row["output"] if has_word(o["answer"])] for row in rows]
    pairs = []
    for here, after in zip(answers, answers[1:] + answers[:1], strict=True):
        for i, answer in enumerate(here):
            pairs.append((answer, here[:i] + here[i + 1 :] or after))
    for row, here in zip(rows, answers, strict=True):
        pairs += [(row["passages"][0]["text"], here), (row["input"], here)]
    return pairs


@lru_cache(maxsize=1)
def xquad_pairs(data: Path) -> list[Pair]:
    """Each gold answer, whole and as part of the words around it, against itself and the next question's."""
    raw = json.loads((data / "xquad-en" / "xquad.en.json").read_text(encoding="utf-8"))
    pairs: list[Pair] = []
    for paragraph in (p for article in raw["data"] for p in article["paragraphs"]):
        context, answers = paragraph["context"], [q["answers"][0] for q in paragraph["qas"]]
        for one, other in zip(answers, answers[1:] + answers[:1], strict=True):
            start, end = one["answer_start"], one["answer_start"] + len(one["text"])
            around = context[max(0, start - 12) : end + 12]
            pairs += [(one["text"], [one["text"]]), (around, [one["text"]]), (one["text"], [other["text"], around])]
    return pairs


def case(pair: Pair, evidence: str = "") -> tuple[EvaluationSample, SystemOutputs]:
    answer, references = pair
    reference = Response(references[0], metadata={"alternatives": references[1:]})
    retrieved = [RetrievedDocument(Document("d", evidence), 1.0, 1)] if evidence else []
    return EvaluationSample("s", "q", reference_answer=reference), SystemOutputs(retrieved, Response(answer))


def measured(metric: Metric, pair: Pair) -> Measurement:
    seen = metric.measure(*case(pair))
    assert isinstance(seen, Measurement), seen
    return seen
