"""What several exporters ask of a case: its documents, its answer, and what they leave out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...core.types import id_of_text
from .model import Dropped

__all__ = ["answer_of", "by_text", "drop_rest", "ids_and_grades", "texts_of"]


def by_text(texts: Iterable[str], dropped: Dropped) -> list[dict[str, Any]]:
    """Return contexts without ids as quotes from any document, each text once."""
    unique = dict.fromkeys(t for t in texts if t.strip())
    dropped.add("nothing, but a context names no document: it is a quote, and any chunk that holds it counts",
                len(unique))  # fmt: skip
    return [{"quote": t} for t in unique]


def ids_and_grades(case: Mapping[str, Any], dropped: Dropped) -> list[tuple[str, int]] | None:
    """Return the ids of the relevant documents and their grades; None where nobody said."""
    docs = case.get("relevant_docs")
    if docs is None:
        return None
    found: dict[str, int] = {}
    for doc in docs:
        one = {"id": doc} if isinstance(doc, str) else doc
        if "quote" in one or "span" in one:
            dropped.add("a quote or span: the format names whole documents")
        name = str(one.get("id", one.get("doc", id_of_text(str(one.get("quote"))))))
        found[name] = max(found.get(name, 0), int(one.get("grade", 1)))
    return list(found.items())


def texts_of(case: Mapping[str, Any]) -> list[str]:
    """Return the texts of the relevant documents, of those that have one."""
    docs = [d for d in case.get("relevant_docs") or [] if isinstance(d, Mapping)]
    return [str(d.get("text") or d.get("quote")) for d in docs if d.get("text") or d.get("quote")]


def answer_of(case: Mapping[str, Any], dropped: Dropped) -> str | None:
    """Return the reference answer, the first of several."""
    answer = case.get("reference_answer")
    if isinstance(answer, list):
        dropped.add("a further reference answer: the format has one", len(answer) - 1)
        return str(answer[0])
    return None if answer is None else str(answer)


def drop_rest(case: Mapping[str, Any], held: Iterable[str], dropped: Dropped) -> None:
    """Note every key of *case* that is not *held*."""
    for key in case.keys() - set(held):
        dropped.add(f"{key}: the format has no place for it")
