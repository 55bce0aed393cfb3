"""Irrelevant documents put among those that a generator gets: does it still answer from the right ones?

As RGB measures noise robustness (arXiv:2309.01431): a variant of a case asks the same question, and its context holds
documents that do not answer it.  What was retrieved stays as it was; only the generator sees the noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, TypeVar

from .types import Document, EvaluationSample, id_of_text

__all__ = ["NOISE_DOCS", "noise_of", "with_noise"]

NOISE_DOCS = "noise_docs"
"""Key of a case's labels, and of ``SystemOutputs.extra`` (the ids), where noise was put into the context."""

T = TypeVar("T")


def noise_of(sample: EvaluationSample) -> list[Document]:
    """Return the documents of ``labels["noise_docs"]``: texts, or mappings with ``text`` and perhaps ``id``."""
    given: Sequence[Any] = sample.labels.get(NOISE_DOCS) or ()
    said = [{"text": one} if isinstance(one, str) else one for one in ([given] if isinstance(given, str) else given)]
    return [Document(str(one.get("id") or id_of_text(one["text"])), str(one["text"])) for one in said]


def with_noise(found: Sequence[T], sample: EvaluationSample, like: Callable[[Document], T]) -> list[T]:
    """Return *found* with the noise of *sample* among it, each at a place that depends on the case's id alone.

    Args:
        found: what the generator would get.
        sample: the case.
        like: makes what the generator takes of a document.
    """
    mixed = list(found)
    for index, document in enumerate(noise_of(sample)):
        drawn = sha256(f"{sample.sample_id}|noise|{index}".encode("utf-8", "surrogatepass")).digest()
        mixed.insert(int.from_bytes(drawn[:4], "big") % (len(mixed) + 1), like(document))
    return mixed
