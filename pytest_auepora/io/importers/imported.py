"""Imported cases with the keys of a golden file and what was dropped; helpers of importers and exporters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, count, zip_longest
from pathlib import Path
from textwrap import shorten
from typing import Any

from ...base.complaints import cut_lines
from ...core.types import id_of_text
from ...errors import AueporaError
from ..golden.names import CONTROL, CaseId

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
        answers: recorded answers, in the form that ``auepora score`` reads: id of the case, answer, documents.
    """

    cases: list[dict[str, Any]]
    dropped: list[str] = field(default_factory=list)
    suite: str = ""
    notes: list[str] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)


class Dropped(Counter[str]):
    """Counts what is dropped, so that a thousand rows make one sentence."""

    def add(self, what: str, times: int = 1) -> None:
        """Note *what* (a sentence without its count)."""
        if times:
            self[what] += times

    def add_unsupported(
        self, mapping: Iterable[str], supported: Container[str], what: str = "{}: the format has no place for it"
    ) -> None:
        """Note every key of *mapping* that is not *supported*; *what* has a ``{}`` for it."""
        for key in mapping:
            self.add(what.format(key), key not in supported)

    def sentences(self) -> list[str]:
        """Return what was dropped, with counts, in the order of the first."""
        return [f"{cut_lines(what)} ({times} time{'s' if times > 1 else ''})" for what, times in self.items()]


@dataclass(frozen=True)
class Importer:
    """A format of another package, which the hook ``pytest_auepora_importers`` offers.

    Attributes:
        title: what it is, in a few words; it stands behind its name in the help.
        load: reads a path: ``(path, dropped) -> ImportedSuite``; *dropped* notes what does not fit.
        save: writes a suite: ``(suite, path, dropped)``; None where the format is only read.
        written: suffixes of the files that ``save`` writes; any where there are none.
        options: names of further arguments that they take.
    """

    title: str
    load: Callable[[Path, Dropped], ImportedSuite]
    save: Callable[[ImportedSuite, Path, Dropped], None] | None = None
    written: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    def function(self, name: str) -> Callable[..., Any]:
        """Return ``load`` or ``save``; raises `ImportProblem` where it cannot do that."""
        if (function := self.load if name == "load" else self.save) is None:
            raise ImportProblem(f"{self.title} is only read, not written")
        return function


class Cases(list[dict[str, Any]]):
    """Imported cases, each with a unique id that pytest accepts."""

    def __init__(self, dropped: Dropped) -> None:
        super().__init__()
        self._used_ids: set[str] = set()
        self._dropped = dropped

    def add(self, name: Any, query: str, **values: Any) -> dict[str, Any]:
        """Append a case called *name* with those of *values* that are not empty, and return it."""
        case = {"id": self.unique_id(name, query), "query": query, **filled(values)}
        self.append(case)
        return case

    def unique_id(self, name: Any, query: str) -> str:
        """Return *name* as an id, or one made from *query*; repeats get a number."""
        text = str(name) if type(name) in (str, int) else ""
        base = _legal_id(text) if text else _slug(query)
        suffixes = chain([""], (f"-{number}" for number in count(2)))
        numbered = (f"{base[: _MAX_ID_LENGTH - len(suffix)]}{suffix}" for suffix in suffixes)
        unique = next(case_id for case_id in numbered if case_id not in self._used_ids)
        self._used_ids.add(unique)
        if name not in (None, "") and unique != text:
            self._dropped.add("the exact name of a case: the id of a golden case is unique and fit for pytest")
        return unique


def _legal_id(name: str) -> str:
    legal = _ILLEGAL.sub("-", name).strip()[:_MAX_ID_LENGTH].strip()
    return legal if legal and not CaseId().broken_rule(legal) else f"case-{legal}"[:_MAX_ID_LENGTH].rstrip("- ")


def _slug(query: str) -> str:
    words = [word[:_MAX_SLUG_LENGTH] for word in re.findall(r"\w+", query.lower())[:8]]
    return _legal_id(shorten(" ".join(words), _MAX_SLUG_LENGTH, placeholder="").replace(" ", "-") or "case")


def pop_notes(metadata: dict[str, Any], tool: str) -> dict[str, Any]:
    """Remove the notes of an import under *tool* from *metadata* and return them; other values than mappings stay."""
    return dict(metadata.pop(tool)) if isinstance(metadata.get(tool), Mapping) else {}


def filled(values: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return *values* without those that are empty."""
    return {key: value for key, value in values.items() if value is not None and value not in ("", [], {})}


def split_metadata(row: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """Return the columns of *row* that are not *known* and not empty: they become metadata."""
    known = set(known)
    return {str(key): value for key, value in filled(row).items() if key not in known}


def as_quotes(texts: Iterable[str], **source: str) -> list[dict[str, Any]]:
    """Return contexts without ids as quotes, each text once; from any document unless *source* names its ``doc``."""
    return [{**source, "quote": text} for text in dict.fromkeys(texts) if text.strip()]


def quote_notes(cases: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a note on how many contexts of *cases* are quotes from any document, if there are some."""
    n_quotes = sum(doc.keys() == {"quote"} for case in cases for doc in documents_of(case))
    words = "context without an id is a quote: any chunk that contains its"
    if n_quotes > 1:
        words = "contexts without an id are quotes: any chunk that contains their"
    return [f"{n_quotes} {words} text counts as relevant"] if n_quotes else []


def documents_of(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the relevant documents of a case as mappings."""
    return [{"id": doc} if isinstance(doc, str) else doc for doc in case.get("relevant_docs") or ()]


def recorded(case: Mapping[str, Any], answer: Any, texts: Iterable[str] = (), ids: Iterable[str] = ()) -> list[Any]:
    """Return a list of the recorded answer to a case, with its documents; an empty one where nothing was said."""
    if not isinstance(answer, str) or not answer.strip():
        return []
    documents = [filled({"id": i, "text": t}) for i, t in zip_longest(ids, texts)]
    return [{"id": case["id"], "answer": answer, "documents": documents}]


def document_name(doc: Mapping[str, Any]) -> str:
    """Return the id of a relevant document: its own, that of its document, or one made of its quote."""
    return str(doc.get("id", doc.get("doc", id_of_text(str(doc.get("quote"))))))


def ids_and_grades(case: Mapping[str, Any], dropped: Dropped) -> list[tuple[str, int]]:
    """Return the ids of the relevant documents and their grades."""
    grades: dict[str, int] = {}
    for doc in documents_of(case):
        keys = doc.keys() & {"id", "doc", "quote", "span"}
        dropped.add("a quote or span: the format names whole documents", bool(keys & {"quote", "span"}))
        dropped.add("that a label names a document, not a chunk", keys == {"doc"})
        name = document_name(doc)
        grades[name] = max(grades.get(name, -1), int(doc.get("grade", 1)))
    return list(grades.items())


def graded(judgements: Iterable[tuple[str, str, int]], dropped: Dropped) -> dict[str, dict[str, int]]:
    """Return query → document → grade; of a pair judged twice the last counts, as in ``trec_eval``."""
    grades: dict[str, dict[str, int]] = {}
    for query, document, grade in judgements:
        dropped.add("a grade below -1, which is read as -1", grade < -1)
        dropped.add("an earlier judgement of the same document", document in grades.get(query, {}))
        grades.setdefault(query, {})[document] = max(grade, -1)
    return grades


def relevant_documents(case: Mapping[str, Any], dropped: Dropped) -> list[dict[str, Any]]:
    """Return the relevant documents as mappings; note what a list of contexts cannot hold."""
    documents = documents_of(case)
    relevant = [d for d in documents if d.get("grade", 1) > 0]
    dropped.add("that nothing is relevant", case.get("relevant_docs") == [])
    dropped.add("a document judged not relevant", len(documents) - len(relevant))
    dropped.add("a grade above 1: every context counts alike", sum(d.get("grade", 1) > 1 for d in relevant))
    dropped.add("the metadata of a document", sum("metadata" in d for d in relevant))
    return relevant


def reference_text(case: Mapping[str, Any], dropped: Dropped) -> str | None:
    """Return the reference answer, the first of several."""
    answer = case.get("reference_answer")
    if isinstance(answer, list):
        dropped.add("a further reference answer: the format has one", len(answer) - 1)
        answer = answer[0]
    return None if answer is None else str(answer)


def texts_of(case: Mapping[str, Any], key: str) -> list[str]:
    """Return the texts at *key*, where one text stands for a list of it."""
    texts = case.get(key) or []
    return [texts] if isinstance(texts, str) else texts
