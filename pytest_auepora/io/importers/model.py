"""What an import gives: cases with the keys of a golden file, and what did not fit; what exporters ask of a case."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...core.types import id_of_text
from ...errors import AueporaError
from ..golden.names import CaseId

_CASE_ID = CaseId()
_ILLEGAL = re.compile(r"::|[\[\]\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]+")
_LONGEST = 80
_LONGEST_ID = CaseId.max_length


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
    """Counts what is left out, so that a thousand rows make one sentence."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, what: str, times: int = 1) -> None:
        """Note *what* (a sentence without its count)."""
        if times:
            self._counts[what] += times

    def sentences(self) -> list[str]:
        """Return what was noted, in the order it came up."""
        return [f"{what} ({count} time{'s' if count > 1 else ''})" for what, count in self._counts.items()]


class Names:
    """Gives every case an id that pytest can live with, and that nobody else has."""

    def __init__(self, dropped: Dropped) -> None:
        self._taken: set[str] = set()
        self._dropped = dropped

    def take(self, given: Any, query: str) -> str:
        """Return *given* as an id, or one made from *query*; a second of a name gets a number."""
        name = "" if given is None else str(given)
        made = _legal(name) if name else _slug(query)
        number = 2
        unique = made
        while unique in self._taken:
            tail = f"-{number}"
            unique, number = f"{made[: _LONGEST_ID - len(tail)]}{tail}", number + 1
        self._taken.add(unique)
        if name and unique != name:
            self._dropped.add("the exact name of a case: the id of a golden case is unique and fit for pytest")
        return unique


def _legal(name: str) -> str:
    made = _ILLEGAL.sub("-", name).strip()[:_LONGEST_ID].strip()
    return made if made and not _CASE_ID.broken_rule(made) else f"case-{made}"[:_LONGEST_ID].rstrip("- ")


def _slug(query: str) -> str:
    words = re.findall(r"\w+", query.lower())
    slug = ""
    for word in words[:8]:
        if slug and len(slug) + len(word) >= _LONGEST:
            break
        slug = f"{slug}-{word}" if slug else word[:_LONGEST]
    return _legal(slug or "case")


def take_notes(metadata: dict[str, Any], name: str) -> dict[str, Any]:
    """Take what an import noted under *name* out of *metadata*; what is no mapping is somebody else's, and stays."""
    return dict(metadata.pop(name)) if isinstance(metadata.get(name), Mapping) else {}


def split_metadata(row: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """Return the columns of *row* that are not *known* and hold something: they become metadata."""
    known = set(known)
    return {str(k): v for k, v in row.items() if k not in known and v is not None and v not in ("", [], {})}


def by_text(texts: Iterable[str]) -> list[dict[str, Any]]:
    """Return contexts without ids as quotes from any document, each text once."""
    return [{"quote": t} for t in dict.fromkeys(texts) if t.strip()]


def quote_notes(cases: Iterable[Mapping[str, Any]]) -> list[str]:
    """Say how many contexts of *cases* are quotes from any document, if there are some."""
    docs = (doc for case in cases for doc in case.get("relevant_docs", ()))
    count = sum(isinstance(doc, Mapping) and doc.keys() == {"quote"} for doc in docs)
    if not count:
        return []
    are, their = (
        ("context without an id is a quote", "its") if count == 1 else ("contexts without an id are quotes", "their")
    )
    return [f"{count} {are}: any chunk that contains {their} text counts as relevant"]


def ids_and_grades(case: Mapping[str, Any], dropped: Dropped) -> list[tuple[str, int]]:
    """Return the ids of the relevant documents and their grades."""
    found: dict[str, int] = {}
    for doc in case.get("relevant_docs") or []:
        one = {"id": doc} if isinstance(doc, str) else doc
        if "quote" in one or "span" in one:
            dropped.add("a quote or span: the format names whole documents")
        name = name_of(one)
        dropped.add(
            "that a label names a document, not a chunk", one.keys() & {"id", "doc", "quote", "span"} == {"doc"}
        )
        found[name] = max(found.get(name, -1), int(one.get("grade", 1)))
    return list(found.items())


def name_of(doc: Mapping[str, Any]) -> str:
    """Return what a format of ids calls a relevant document: its id, its document, or one made of its quote."""
    return str(doc.get("id", doc.get("doc", id_of_text(str(doc.get("quote"))))))


def judged_relevant(case: Mapping[str, Any], dropped: Dropped) -> list[dict[str, Any]]:
    """Return the relevant documents as mappings; note what a list of contexts cannot say of them."""
    docs = case.get("relevant_docs")
    every: list[dict[str, Any]] = [{"id": d} if isinstance(d, str) else d for d in docs or []]
    made = [d for d in every if d.get("grade", 1) > 0]
    dropped.add("that nothing is relevant", docs == [])
    dropped.add("a document judged not relevant", len(every) - len(made))
    dropped.add("a grade above 1: every context counts alike", sum(d.get("grade", 1) > 1 for d in made))
    dropped.add("the metadata of a document", sum("metadata" in d for d in made))
    return made


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


def drop_rest(
    said: Mapping[str, Any], held: Container[str], dropped: Dropped, told: str = "{}: the format has no place for it"
) -> None:
    """Note every key of *said* that is not *held*, as *told*."""
    for key in said:
        if key not in held:
            dropped.add(told.format(key))
