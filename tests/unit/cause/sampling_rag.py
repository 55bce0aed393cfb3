"""A RAG over real questions that samples its answers, whole or broken for some of them."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

from example_suite.simple_rag import Bm25Retriever, Lexicon, terms
from pytest_auepora.core.types import Document, RetrievedDocument

DATA = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "clapnq-dev"
_DEEP = 40


class Questions:
    """Natural questions over Wikipedia passages, with the answers of people."""

    def __init__(self, folder: Path) -> None:
        kinds = ("answerable", "unanswerable")
        answerable, rest = (
            [json.loads(line) for line in (folder / f"clapnq_dev_{kind}.jsonl").read_text("utf-8").splitlines()]
            for kind in kinds
        )
        texts = list(dict.fromkeys(row["passages"][0]["text"] for row in (*answerable, *rest)))
        self.passages = {f"p{i}": Document(f"p{i}", text, {"heading": ""}) for i, text in enumerate(texts)}
        self._home = {doc.text: name for name, doc in self.passages.items()}
        self.rows = answerable
        self._rankings: dict[str, list[RetrievedDocument]] = {}

    @cached_property
    def _retriever(self) -> Bm25Retriever:
        chunks = [*self.passages.values()]
        return Bm25Retriever(chunks, Lexicon(chunks))

    def home(self, row: Mapping[str, Any]) -> str:
        """The passage that answers a question."""
        return self._home[row["passages"][0]["text"]]

    def ranking(self, query: str, without: Collection[str] = ()) -> list[RetrievedDocument]:
        """The best passages that are in the index."""
        if query not in self._rankings:
            self._rankings[query] = self._retriever.retrieve(query, top_k=_DEEP)
        return [hit for hit in self._rankings[query] if hit.doc.doc_id not in without]

    def golden(self, rows: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> str:
        """The golden file of some questions."""
        cases = [
            {"id": f"q{i}", "query": row["input"], "relevant_docs": [self.home(row)],
             "reference_answer": row["output"][0]["answer"]}
            for i, row in enumerate(rows)
        ]  # fmt: skip
        return json.dumps({"suite": "questions", "metrics": [*metrics], "cases": cases})


class SamplingRag:
    """Two sentences of what was retrieved, drawn by how well they fit the question.

    ``broken`` maps a way to be broken to the questions that it happens to: their passages are not in the *index*, they
    are *refused*, they get a *cached* answer to another question, which is said, a *reranker* puts what was found into
    another order.
    """

    def __init__(self, questions: Questions, seed: str, broken: Mapping[str, Any] | None = None) -> None:
        self._questions, self._seed, self._rng, self.broken = questions, seed, Random(seed), broken or {}
        homes = {row["input"]: questions.home(row) for row in questions.rows}
        self._gone = {homes[query] for query in self.broken.get("index", ())}

    def __call__(self, query: str) -> dict[str, Any]:
        hits = self._questions.ranking(query, self._gone)[:5]
        if query in self.broken.get("reranker", ()):
            hits.sort(key=lambda hit: crc32(f"{self._seed} {hit.doc.doc_id}".encode()))
        return {
            "answer": self._answer(query, hits),
            "documents": [{"id": h.doc.doc_id, "text": h.doc.text} for h in hits],
        }

    def _answer(self, query: str, hits: Sequence[RetrievedDocument]) -> str:
        if query in self.broken.get("refused", ()):
            return "I cannot answer this from the passages."
        if query in self.broken.get("cached", ()):
            other = self.broken["cached"][query]
            return self._answer_from(other, self._questions.ranking(other)[:5])
        return self._answer_from(query, hits)

    def _answer_from(self, query: str, hits: Sequence[RetrievedDocument]) -> str:
        weights = sentence_weights(query, tuple(h.doc.text for h in hits))
        if not weights:
            return ""
        drawn = self._rng.choices([*weights], weights=[*weights.values()], k=2)
        return " ".join(dict.fromkeys(drawn))


_WEIGHTS: dict[tuple[str, tuple[str, ...]], dict[str, float]] = {}


def sentence_weights(query: str, texts: tuple[str, ...]) -> dict[str, float]:
    """How likely each sentence is: the first texts, and what shares words with the question, are."""
    if (query, texts) not in _WEIGHTS:
        asked, out = set(terms(query)), dict[str, float]()
        for place, text in enumerate(texts):
            for sentence in filter(None, (part.strip() for part in text.split(" . "))):
                shared = len(asked & set(terms(sentence)))
                out[sentence] = math.exp(1.2 * shared - 0.7 * place)
        _WEIGHTS[query, texts] = out
    return _WEIGHTS[query, texts]
