"""BEIR: a directory with ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/<split>.tsv``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...base.files import numbered_lines, read_text, write_atomically
from .cells import name_of, shown_cell
from .imported import (
    Cases,
    Dropped,
    ImportedSuite,
    ImportProblem,
    document_name,
    documents_of,
    filled,
    graded,
    ids_and_grades,
)
from .rows import Row, mapping_or_empty, read_rows, write_lines

_HEADER = ["query-id", "corpus-id", "score"]


def load(path: Path, dropped: Dropped, *, split: str | None = None, texts: bool = False) -> ImportedSuite:
    """Read a BEIR directory: of ``qrels`` *split*, ``test`` by default, or the only one there is.

    With *texts*, the texts of the judged documents are taken from the corpus.
    """
    grades = graded(_judgements(_split_file(path, split)), dropped)
    corpus: dict[str, dict[str, Any]] = {}
    if texts:
        judged = {document for documents in grades.values() for document in documents}
        corpus = {name: row for row in _read_documents(path / "corpus.jsonl") if (name := row["_id"]) in judged}
        dropped.add("the text of a judged document that the corpus does not have", len(judged - corpus.keys()))
    else:
        dropped.add("the texts of the judged documents, which stay in the corpus (--texts takes them along)")
    cases = Cases(dropped)
    for row in _read_documents(path / "queries.jsonl"):
        if (name := row["_id"]) not in grades:
            dropped.add("a query that this split does not judge")
            continue
        docs = [_document(d, grade, corpus) for d, grade in grades.pop(name).items()]
        case = cases.add(name, row["text"], relevant_docs=docs)
        query_id = {"query_id": name} if case["id"] != name else {}
        case |= filled({"metadata": {**row["metadata"], **query_id}})
    dropped.add("a judged query that is not there", len(grades))
    return ImportedSuite(cases, suite=path.resolve().name)


def _split_file(path: Path, split: str | None) -> Path:
    files = {p.stem: p for p in sorted((path / "qrels").glob("*.tsv"))}
    name = split or (next(iter(files)) if len(files) == 1 else "test")
    if name not in files:
        raise ImportProblem(f"{path / 'qrels'}: no {name}.tsv; available: {', '.join(files) or 'none'}")
    return files[name]


def _judgements(path: Path) -> Iterator[tuple[str, str, int]]:
    for number, line in numbered_lines(read_text(path, ImportProblem)):
        parts = line.split("\t")
        if number == 1 and parts == _HEADER:
            continue
        try:
            query, document, score = parts
            yield query, document, int(score)
        except ValueError:
            raise ImportProblem(
                f"{path}:{number}: expected query-id, corpus-id and score, got {shown_cell(line)}"
            ) from None


def _read_documents(path: Path) -> list[Row]:
    rows = read_rows(path)
    for row in rows:
        if row.get("_id") is None or not isinstance(row.get("text"), str):
            raise ImportProblem(f"{row.place} has no _id or no text")
        row["_id"] = name_of(row["_id"], f"{row.place}, _id")
        row["metadata"] = mapping_or_empty(row.get("metadata"))
    return rows


def _document(name: str, grade: int, corpus: Mapping[str, Mapping[str, Any]]) -> Any:
    row = corpus.get(name, {})
    metadata = {**row.get("metadata", {}), **filled({"title": row.get("title") or None})}
    document = {"id": name, **filled({"text": row.get("text"), "metadata": metadata})}
    if grade != 1:
        document["grade"] = grade
    return name if document.keys() == {"id"} else document


def save(suite: ImportedSuite, path: Path, dropped: Dropped, *, split: str = "test") -> None:
    """Write a BEIR directory, its corpus from the cases; raises `ImportProblem` for a tab or line break in an id."""
    queries, qrels = [], ["\t".join(_HEADER)]
    corpus: dict[str, dict[str, Any]] = {}
    for case in suite.cases:
        metadata = dict(case.get("metadata", {}))
        name = str(metadata.pop("query_id", case["id"]))
        queries.append({"_id": name, "text": case["query"], "metadata": metadata})
        for document, grade in ids_and_grades(case, dropped):
            if "\t" in document or "\n" in document:
                raise ImportProblem(f"{document!r} cannot be a document of BEIR: the format separates by tabs")
            qrels.append(f"{name}\t{document}\t{grade}")
        for doc in documents_of(case):
            extra = dict(doc.get("metadata", {}))
            text = doc.get("text", "" if "doc" in doc else doc.get("quote", ""))
            row = {"_id": document_name(doc), "title": extra.pop("title", ""), "text": text, "metadata": extra}
            corpus[row["_id"]] = row if text else corpus.get(row["_id"], row)
        if not case.get("relevant_docs"):
            dropped.add("a case without relevant documents: a query nobody judged is not evaluated")
        dropped.add_unsupported(case, ("id", "query", "relevant_docs", "metadata"))
    write_lines(path / "queries.jsonl", queries)
    write_lines(path / "corpus.jsonl", corpus.values())
    write_atomically(path / "qrels" / f"{split}.tsv", "".join(f"{line}\n" for line in qrels))
