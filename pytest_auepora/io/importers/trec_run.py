"""TREC run files: what a system retrieved, ``topic Q0 document rank score tag`` on each line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from ...core.rag_interface import RAGSystem
from ...core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from .model import ImportProblem
from .rows import read_text, write_text

__all__ = ["TrecRun", "read_run", "write_run"]


def read_run(path: str | Path) -> dict[str, list[RetrievedDocument]]:
    """Return topic → documents, ranked by score as ``trec_eval`` does: the rank written is not looked at.

    Equal scores are ordered by document id, the later one first.

    Raises:
        ImportProblem: a line has other than six columns, or a score that is no number.
    """
    path = Path(path)
    found: dict[str, list[tuple[float, str]]] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        parts = line.split()
        if not parts:
            continue
        try:
            topic, _, document, _, score, _ = parts
            found.setdefault(topic, []).append((float(score), document))
        except ValueError:
            raise ImportProblem(f"{path}:{number}: expected 'topic Q0 document rank score tag', got {line!r}") from None
    return {
        topic: [RetrievedDocument(Document(d), s, rank) for rank, (s, d) in enumerate(sorted(docs, reverse=True), 1)]
        for topic, docs in found.items()
    }


def write_run(retrieved: Mapping[str, Sequence[RetrievedDocument]], path: str | Path, *, tag: str = "auepora") -> None:
    """Write topic → documents; where the scores do not fall from rank to rank, ranks are written as scores."""
    lines = []
    for topic, docs in retrieved.items():
        scores = [d.score for d in docs]
        if any(b >= a for a, b in pairwise(scores)):
            scores = [float(len(docs) - n) for n in range(len(docs))]
        for rank, (doc, score) in enumerate(zip(docs, scores, strict=True), 1):
            lines.append(f"{topic} Q0 {doc.doc.doc_id} {rank} {score!r} {tag}\n")
    write_text(Path(path), "".join(lines))


class TrecRun(RAGSystem):
    """A system that gives what a run file says; return it from the ``rag`` fixture to judge the file."""

    def __init__(self, path: str | Path) -> None:
        self._found = read_run(path)
        self.auepora_name = Path(path).stem

    def run(self, sample: EvaluationSample, *, top_k: int = 5) -> SystemOutputs:  # noqa: ARG002 - the file is the answer
        """Return the documents of the topic; none where the file has none, as ``trec_eval -c`` counts it."""
        topic = str(sample.metadata.get("topic", sample.sample_id))
        return SystemOutputs(list(self._found.get(topic, [])), Response(""))
