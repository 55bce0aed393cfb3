"""Variants of a case whose generator gets irrelevant documents of the corpus as well (RGB, arXiv:2309.01431)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..core.rag_interface import NOISE_DOCS
from ..core.types import EvaluationSample
from ..io.perturb import VARIANTS, drawn_order
from ..labels.corpus import Chunk, Corpus
from ..metrics.ranking.gold import expected_behaviour, source_of
from ..metrics.refusal import fold
from ..metrics.text.comparands import targets

__all__ = ["noise_variants"]

_POOL = 4
"""The noise is drawn from so many times the documents needed, those that share most words with the query."""


def noise_variants(
    sample: EvaluationSample, corpus: Corpus, *, count: int = VARIANTS, each: int = 3, seed: int = 0
) -> list[EvaluationSample]:
    """Return up to *count* variants of *sample* with *each* irrelevant documents of *corpus* in ``noise_docs``.

    Irrelevant is what is not labelled relevant, nor a chunk of a document that is, and holds neither a reference
    answer nor a phrase of ``must_contain`` nor a quote.  Documents that share words with the query come first: they
    are what a retriever brings by mistake.  Nothing where the case calls for a refusal, or says nothing of what is
    right.
    """
    if expected_behaviour(sample) == "refuse" or not (sample.relevant_docs or _right_texts(sample)):
        return []
    pool = _pool(sample, corpus.chunks, _POOL * each * count)
    made: list[EvaluationSample] = []
    order = drawn_order(f"{seed}|{sample.sample_id}|noise", len(pool))
    for number in range(1, min(count, len(pool) // each) + 1):
        chosen = [pool[i] for i in order[(number - 1) * each : number * each]]
        noise = [{"id": chunk.id, "text": chunk.text} for chunk in chosen]
        labels = {**sample.labels, "variant_of": sample.sample_id, "scenario": "noise", NOISE_DOCS: noise}
        made.append(replace(sample, sample_id=f"{sample.sample_id}-noise-{number}", labels=labels))
    return made


def _pool(sample: EvaluationSample, chunks: Mapping[str, Chunk], size: int) -> list[Chunk]:
    asked = _words(sample.query)
    right = _right_texts(sample)
    gold = {name for doc in sample.relevant_docs or () for name in (doc.doc_id, source_of(doc))}

    def is_wrong(chunk: Chunk) -> bool:
        said = fold(chunk.text)
        return bool(said) and not {chunk.id, chunk.source} & gold and not any(text in said for text in right)

    wrong = filter(is_wrong, chunks.values())
    return sorted(wrong, key=lambda chunk: (-len(asked & _words(chunk.text)), chunk.id))[:size]


def _right_texts(sample: EvaluationSample) -> Sequence[str]:
    """Return what only a relevant document says, folded."""
    found = targets(sample)
    texts = [*found] if isinstance(found, list) else []
    phrases = sample.labels.get("must_contain") or ()
    texts += [phrases] if isinstance(phrases, str) else phrases
    texts += [doc.text for doc in sample.relevant_docs or () if doc.metadata.get("match") == "quote"]
    return [folded for text in texts if (folded := fold(str(text)).rstrip("."))]


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", fold(text)) if len(word) > 2}
