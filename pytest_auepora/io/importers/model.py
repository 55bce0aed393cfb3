"""Imported cases with the keys of a golden file and what was dropped; helpers of importers and exporters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...core.types import id_of_text
from ...errors import AueporaError
from ..golden.names import CONTROL, CaseId

_CASE_ID = CaseId()
_ILLEGAL = re.compile(rf"::|[\[\]{CONTROL}]+")
_MAX_SLUG_LENGTH = 80
_MAX_ID_LENGTH = CaseId.max_length


class ImportProblem(AueporaError, ValueError):
    """A file that cannot be imported or exported; the message says where and why."""


@dataclass
class ImportedSuite:
    """The cases of a file of another tool.

    Attributes:
        cases: mappings with the keys of a golden case, ready to be written; see `golden_text`.
        dropped: what a golden case cannot hold, one sentence each, with how often it occurred.
        suite: the name of the data set, where it has one.
        notes: what was read as something else: a column of another name, a context that is a quote.
    """

    cases: list[dict[str, Any]]
    dropped: list[str] = field(default_factory=list)
    suite: str = ""
    notes: list[str] = field(default_factory=list)


class Dropped:
    """Counts what is dropped, so that a thousand rows make one sentence."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, what: str, times: int = 1) -> None:
        """Note *what* (a sentence without its count)."""
        if times:
            self._counts[what] += times

    def sentences(self) -> list[str]:
        """Return what was dropped, with counts, in the order of the first."""
        return [f"{what} ({count} time{'s' if count > 1 else ''})" for what, count in self._counts.items()]


class CaseIds:
    """Gives every case a unique id that pytest accepts."""

    def __init__(self, dropped: Dropped) -> None:
        self._used_ids: set[str] = set()
        self._dropped = dropped

    def unique_id(self, name: Any, query: str) -> str:
        """Return *name* as an id, or one made from *query*; repeats get a number."""
        text = "" if name is None else str(name)
        base = _legal_id(text) if text else _slug(query)
        number = 2
        unique = base
        while unique in self._used_ids:
            suffix = f"-{number}"
            unique, number = f"{base[: _MAX_ID_LENGTH - len(suffix)]}{suffix}", number + 1
        self._used_ids.add(unique)
        if text and unique != text:
            self._dropped.add("the exact name of a case: the id of a golden case is unique and fit for pytest")
        return unique


def _legal_id(name: str) -> str:
    legal = _ILLEGAL.sub("-", name).strip()[:_MAX_ID_LENGTH].strip()
    return legal if legal and not _CASE_ID.broken_rule(legal) else f"case-{legal}"[:_MAX_ID_LENGTH].rstrip("- ")


def _slug(query: str) -> str:
    words = re.findall(r"\w+", query.lower())
    slug = ""
    for word in words[:8]:
        if slug and len(slug) + len(word) >= _MAX_SLUG_LENGTH:
            break
        slug = f"{slug}-{word}" if slug else word[:_MAX_SLUG_LENGTH]
    return _legal_id(slug or "case")


def pop_notes(metadata: dict[str, Any], tool: str) -> dict[str, Any]:
    """Remove the notes of an import under *tool* from *metadata* and return them; other values than mappings stay."""
    return dict(metadata.pop(tool)) if isinstance(metadata.get(tool), Mapping) else {}


def split_metadata(row: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """Return the columns of *row* that are not *known* and not empty: they become metadata."""
    known = set(known)
    return {str(k): v for k, v in row.items() if k not in known and v is not None and v not in ("", [], {})}


def as_quotes(texts: Iterable[str]) -> list[dict[str, Any]]:
    """Return contexts without ids as quotes from any document, each text once."""
    return [{"quote": t} for t in dict.fromkeys(texts) if t.strip()]


def quote_notes(cases: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a note on how many contexts of *cases* are quotes from any document, if there are some."""
    docs = (doc for case in cases for doc in case.get("relevant_docs", ()))
    count = sum(isinstance(doc, Mapping) and doc.keys() == {"quote"} for doc in docs)
    if not count:
        return []
    subject, their = (
        ("context without an id is a quote", "its") if count == 1 else ("contexts without an id are quotes", "their")
    )
    return [f"{count} {subject}: any chunk that contains {their} text counts as relevant"]


def ids_and_grades(case: Mapping[str, Any], dropped: Dropped) -> list[tuple[str, int]]:
    """Return the ids of the relevant documents and their grades."""
    grades: dict[str, int] = {}
    for doc in case.get("relevant_docs") or []:
        mapping = {"id": doc} if isinstance(doc, str) else doc
        if "quote" in mapping or "span" in mapping:
            dropped.add("a quote or span: the format names whole documents")
        name = document_name(mapping)
        dropped.add(
            "that a label names a document, not a chunk", mapping.keys() & {"id", "doc", "quote", "span"} == {"doc"}
        )
        grades[name] = max(grades.get(name, -1), int(mapping.get("grade", 1)))
    return list(grades.items())


def document_name(doc: Mapping[str, Any]) -> str:
    """Return the id of a relevant document: its own, that of its document, or one made of its quote."""
    return str(doc.get("id", doc.get("doc", id_of_text(str(doc.get("quote"))))))


def relevant_documents(case: Mapping[str, Any], dropped: Dropped) -> list[dict[str, Any]]:
    """Return the relevant documents as mappings; note what a list of contexts cannot hold."""
    docs = case.get("relevant_docs")
    documents: list[dict[str, Any]] = [{"id": d} if isinstance(d, str) else d for d in docs or []]
    relevant = [d for d in documents if d.get("grade", 1) > 0]
    dropped.add("that nothing is relevant", docs == [])
    dropped.add("a document judged not relevant", len(documents) - len(relevant))
    dropped.add("a grade above 1: every context counts alike", sum(d.get("grade", 1) > 1 for d in relevant))
    dropped.add("the metadata of a document", sum("metadata" in d for d in relevant))
    return relevant


def document_texts(case: Mapping[str, Any]) -> list[str]:
    """Return the texts of the relevant documents that have one."""
    docs = [d for d in case.get("relevant_docs") or [] if isinstance(d, Mapping)]
    return [str(d.get("text") or d.get("quote")) for d in docs if d.get("text") or d.get("quote")]


def reference_text(case: Mapping[str, Any], dropped: Dropped) -> str | None:
    """Return the reference answer, the first of several."""
    answer = case.get("reference_answer")
    if isinstance(answer, list):
        dropped.add("a further reference answer: the format has one", len(answer) - 1)
        return str(answer[0])
    return None if answer is None else str(answer)


def drop_unsupported(
    mapping: Mapping[str, Any],
    supported: Container[str],
    dropped: Dropped,
    message: str = "{}: the format has no place for it",
) -> None:
    """Note every key of *mapping* that is not *supported*, with *message*."""
    for key in mapping:
        if key not in supported:
            dropped.add(message.format(key))
