"""TREC: relevance judgements (qrels), topics and run files.

qrels: ``topic iteration document grade`` on each line, separated by blanks; runs: ``topic Q0 document rank score tag``,
and further columns that nobody reads.  A line that begins with ``#`` is a comment.  Topics: one ``topic<TAB>query`` a
line, or the tagged form with ``<num>`` and ``<title>``.  A grade of 0 stays (judged and not relevant), and one below 0
is -1: the document counts as not judged, as in trec_eval.  Without topics the queries are the names of the topics.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

from ...base.files import numbered_lines, read_text, write_atomically
from ...core.types import Document, RetrievedDocument
from .cells import shown_cell
from .imported import Cases, Dropped, ImportedSuite, ImportProblem, documents_of, graded, ids_and_grades

_TOPIC = re.compile(r"<top>(.*?)</top>", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"<num>\s*(?:Number:)?\s*(\S+?)\s*(?=<|\s)", re.IGNORECASE)
_QRELS_COLUMNS = ("topic", "iteration", "document", "grade")
_RUN_COLUMNS = ("topic", "Q0", "document", "rank", "score", "tag")
_BLANKS = re.compile(r"[ \t\r\f\v]+")
"""What separates columns; other blanks of Unicode may stand in an id."""
_TITLE = re.compile(r"<title>\s*(?:Topic:)?\s*(.*?)\s*(?=<|$)", re.DOTALL | re.IGNORECASE)


def load(path: Path, dropped: Dropped, *, topics: str | Path | None = None) -> ImportedSuite:
    """Read the qrels at *path* and the queries at *topics*; see the module.

    *path* may be a directory with one file whose name has ``qrels`` in it and one with ``topics`` or ``queries``.
    """
    qrels_path, topics_path = _find_paths(path, topics)
    grades = _read_qrels(qrels_path, dropped)
    queries = read_topics(topics_path) if topics_path is not None else {topic: topic for topic in grades}
    if topics_path is None:
        dropped.add("the query of a topic: there is no file of topics, its name stands for it", len(queries))
    dropped.add("a judged topic without a query", len(grades.keys() - queries.keys()))
    cases = Cases(dropped)
    for topic, query in queries.items():
        judged = grades.get(topic, {})
        docs = [document if grade == 1 else {"id": document, "grade": grade} for document, grade in judged.items()]
        case = cases.add(topic, query, relevant_docs=docs)
        if case["id"] != topic:
            case["metadata"] = {"topic": topic}
    return ImportedSuite(cases)


def _find_paths(path: Path, topics: str | Path | None) -> tuple[Path, Path | None]:
    if not path.is_dir():
        return path, Path(topics) if topics is not None else None
    paths = []
    for words in (("qrels",), ("topics", "queries")):
        candidates = sorted(p for p in path.iterdir() if p.is_file() and any(w in p.name.lower() for w in words))
        if len(candidates) != 1:
            raise ImportProblem(f"{path}: expected one file named {' or '.join(words)}, found {len(candidates)}")
        paths += candidates
    return paths[0], Path(topics) if topics is not None else paths[1]


def _columns(path: Path, names: tuple[str, ...], *, more: bool = False) -> Iterator[tuple[str, list[str]]]:
    """Yield the columns of every line that is no comment, after its place; with *more*, further ones are ignored."""
    for number, line in numbered_lines(read_text(path, ImportProblem)):
        parts = _BLANKS.split(line.strip(" \t\r\f\v"))
        if parts[0].startswith("#"):
            continue
        if len(parts) < len(names) or (len(parts) > len(names) and not more):
            expected = f"{len(names)} columns, '{' '.join(names)}'"
            raise ImportProblem(f"{path}:{number}: expected {expected}, got {len(parts)}: {shown_cell(line)}")
        yield f"{path}:{number}", parts[: len(names)]


def _read_qrels(path: Path, dropped: Dropped) -> dict[str, dict[str, int]]:
    """Return topic → document → grade, without topics of which nothing is judged (-1 alone)."""
    grades = graded(_judgements(path, dropped), dropped)
    judged = {topic: docs for topic, docs in grades.items() if max(docs.values()) >= 0}
    dropped.add("a topic of which no document is judged", len(grades) - len(judged))
    return judged


def _judgements(path: Path, dropped: Dropped) -> Iterator[tuple[str, str, int]]:
    for place, (topic, iteration, document, grade_text) in _columns(path, _QRELS_COLUMNS):
        try:
            grade = int(grade_text)
        except ValueError:
            raise ImportProblem(
                f"{place}: column 4 (grade): expected a whole number, got {shown_cell(grade_text)}"
            ) from None
        dropped.add("an iteration other than 0 of a judgement", iteration not in ("0", "Q0"))
        yield topic, document, grade


def read_topics(path: Path) -> dict[str, str]:
    """Return topic → query, from lines or TREC's tags; raises `ImportProblem` where one is missing or there twice."""
    text = read_text(path, ImportProblem)
    queries: dict[str, str] = {}
    for where, topic, query in (_tagged_topics if "<top>" in text.lower() else _topic_lines)(text, path):
        if topic in queries:
            raise ImportProblem(f"{where}: topic {shown_cell(topic)} is there twice")
        queries[topic] = query
    return queries


def _topic_lines(text: str, path: Path) -> Iterator[tuple[str, str, str]]:
    for number, line in numbered_lines(text):
        topic, _, query = map(str.strip, line.partition("\t"))
        if not query:
            raise ImportProblem(f"{path}:{number}: expected 'topic<TAB>query', got {shown_cell(line)}")
        yield f"{path}:{number}", topic, query


def _tagged_topics(text: str, path: Path) -> Iterator[tuple[str, str, str]]:
    for body in _TOPIC.findall(text):
        number, title = _NUMBER.search(body), _TITLE.search(body)
        if number is None or title is None or not title[1]:
            raise ImportProblem(f"{path}: a topic has no <num> or no <title>: {' '.join(body.split())[:80]!r}")
        yield str(path), number[1], " ".join(title[1].split())


def save(suite: ImportedSuite, path: Path, dropped: Dropped, *, topics: str | Path | None = None) -> None:
    """Write qrels to *path*, queries to *topics* (``topics.tsv`` there); raises `ImportProblem` for ids with blanks."""
    qrels, queries = [], []
    for case in suite.cases:
        name = str(case.get("metadata", {}).get("topic", case["id"]))
        if re.search(r"\s", name):
            raise ImportProblem(f"{name!r} cannot be a topic: the format separates by blanks")
        query = " ".join(case["query"].split())
        dropped.add("line breaks, tabs and double blanks of a query", query != case["query"])
        queries.append(f"{name}\t{query}\n")
        for document, grade in ids_and_grades(case, dropped):
            if re.search(r"\s", document):
                raise ImportProblem(f"{document!r} cannot be a document of TREC: the format separates by blanks")
            qrels.append(f"{name} 0 {document} {grade}\n")
        if case.get("relevant_docs") == []:
            dropped.add("that nothing is relevant: a topic without judgements says that nobody looked")
        n_texts = sum(bool(doc.get("text") or doc.get("quote")) for doc in documents_of(case))
        dropped.add("the text of a document: judgements are ids and grades", n_texts)
        metadata_key = ["metadata"] if case.get("metadata", {}).keys() == {"topic"} else []
        dropped.add_unsupported(case, ("id", "query", "relevant_docs", *metadata_key))
    write_atomically(path, "".join(qrels))
    write_atomically(Path(topics) if topics is not None else path.parent / "topics.tsv", "".join(queries))


def read_run(path: Path) -> dict[str, list[RetrievedDocument]]:
    """Return topic → documents, ranked by score as ``trec_eval`` does: the rank written is not looked at.

    Equal scores are ordered by document id, the later one first.  Raises `ImportProblem` for a line of another form.
    """
    results: dict[str, list[tuple[float, str]]] = {}
    for place, (topic, _, document, _, score_text, _) in _columns(path, _RUN_COLUMNS, more=True):
        try:
            if math.isnan(score := float(score_text)):  # which has no place in an order
                raise ValueError(score_text)
        except ValueError:
            raise ImportProblem(f"{place}: column 5 (score): expected a number, got {shown_cell(score_text)}") from None
        results.setdefault(topic, []).append((score, document))
    return {
        topic: [RetrievedDocument(Document(d), s, rank) for rank, (s, d) in enumerate(sorted(docs, reverse=True), 1)]
        for topic, docs in results.items()
    }
