"""A small but complete RAG: BM25 finds the chunks, and the answer is the sentence of them that fits best.

It needs no model and no network, words its answer differently each time it is asked, and refuses when what it found
does not speak of what was asked.  `Breakage` lists the ways to break it on purpose, to see what a red run looks like.
"""

from __future__ import annotations

import difflib
import math
import os
import re
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum
from functools import cache
from typing import Any

from pytest_auepora.core.rag_interface import Generator, Retriever, SimpleRAGSystem
from pytest_auepora.core.types import Document, Response, RetrievedDocument

from .corpus import LONG_CHUNK_CHARS, build_corpus

__all__ = ["REFUSAL", "SWITCH", "Bm25Retriever", "Breakage", "Lexicon", "SentenceGenerator", "build_rag", "chunks_for"]

SWITCH = "AUEPORA_EXAMPLE_BREAK"
REFUSAL = "I cannot answer this from the Python language reference."

WORDINGS = ("{}", "In short: {}", "{} That is what the reference says.")

K1, B = 1.2, 0.75
"""BM25's own: how soon a repeated term says no more, and how much the length of a chunk counts."""

MIN_COVERAGE = 0.5
"""How much of the question, by weight, one retrieved chunk must speak of before its sentences count as an answer."""

MIN_TYPO_LETTERS = 5
"""Shorter words are too close to too many others to be put right."""

LENGTH_PRIOR = 8
"""Added to a sentence's number of terms: keeps the shortest from winning by their length alone."""

_WORD = re.compile(r"[\"`]?\w\w+")
_SENTENCE_BREAK = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"(*])|\n\s*\n")
# words that questions are made of whatever they ask for; in quotes they are code ("with", "for") and count
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """about all also am an and any are as at be been being but by can could did do does doing ever every for from
        get gets had has have having how if in into is it its just like made make many may me mean means might much
        must my no not of on one only or other our out over own python same shall should so some still such than that
        the their them then there these they this those to too under until up use used uses using very was way we were
        what when where whether which while who whose why will with without would you your""",
    )
)


class Breakage(Enum):
    """What the environment variable ``AUEPORA_EXAMPLE_BREAK`` may say."""

    NONE = ""
    RETRIEVER = "retriever"
    """Questions are no longer stemmed, the index still is: "raised" finds nothing, as the index says "rais"."""
    INDEX = "index"
    """The index is stale: every third page of the reference is missing."""
    GENERATOR = "generator"
    """The right chunks, but the answer is their least fitting sentence, and nothing is refused."""
    RAISE = "raise"
    """One question in five ends in a ConnectionError, as with a shard that is down."""
    HANG = "hang"
    """The same questions never come back: give ``--auepora-timeout 2`` as well."""
    RECHUNK = "rechunk"
    """Nothing is broken: the corpus is cut into longer chunks, under other ids.  Labels by chunk id are void."""

    @classmethod
    def from_environment(cls) -> Breakage:
        """Read the switch.

        Raises:
            ValueError: it names no known breakage.
        """
        word = os.environ.get(SWITCH, "").strip().lower()
        try:
            return cls(word)
        except ValueError:
            known = ", ".join(b.value for b in cls if b.value)
            raise ValueError(f"{SWITCH}={word!r}: expected one of {known}") from None


def words(text: str) -> list[str]:
    """Return the words of *text* in lower case and in order, without the small talk."""
    found = (match.group().lower() for match in _WORD.finditer(text))
    return [w.lstrip('"`') for w in found if w not in _STOP_WORDS]


def terms(text: str) -> list[str]:
    """Return the index terms of *text*: its words, stemmed unless they are code."""
    return [_stemmed(word) for word in words(text)]


@cache
def _stemmed(word: str) -> str:
    return str(_stemmer().stem(word)) if word.isalpha() else word


@cache
def _stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer  # installed along with rouge-score

    return PorterStemmer()


@cache
def _closest(word: str, known: tuple[str, ...]) -> str:
    return next(iter(difflib.get_close_matches(word, known, n=1, cutoff=0.8)), word)


def indexed_text(doc: Document) -> str:
    """Return what the index knows of a chunk: its text below its heading."""
    return f"{doc.metadata['heading']}\n{doc.text}"


class Lexicon:
    """The words of the corpus: how they are spelt, and how much each term says (its inverse document frequency)."""

    def __init__(self, chunks: Sequence[Document]) -> None:
        texts = [indexed_text(chunk) for chunk in chunks]
        counts = Counter(term for text in texts for term in set(terms(text)))
        size = len(texts)
        self._weights = {t: math.log(1 + (size - n + 0.5) / (n + 0.5)) for t, n in counts.items()}
        self._unknown = math.log(1 + (size + 0.5) / 0.5)
        long = {w for text in texts for w in words(text) if w.isalpha() and len(w) >= MIN_TYPO_LETTERS}
        self._words = tuple(sorted(long))
        self._known = frozenset(self._words)

    def weight(self, some_terms: Iterable[str]) -> float:
        """Return the summed weight of terms.  A term that is nowhere in the corpus says most."""
        return math.fsum(self._weights.get(t, self._unknown) for t in some_terms)

    def query_terms(self, query: str, *, stem: bool = True) -> list[str]:
        """Return the terms of a question, its misspelt words put right where the corpus has a word close to them."""
        return [_stemmed(w) if stem else w for w in map(self._respelt, words(query))]

    def _respelt(self, word: str) -> str:
        if word in self._known or len(word) < MIN_TYPO_LETTERS or _stemmed(word) in self._weights:
            return word
        return _closest(word, self._words)


class Bm25Retriever(Retriever):
    """BM25 over chunks.  Equal scores keep the order of the corpus.

    Args:
        chunks: what to search, with a ``heading`` in the metadata.
        lexicon: reads the questions.
        stem_queries: False breaks it, see `Breakage.RETRIEVER`.
    """

    def __init__(self, chunks: Sequence[Document], lexicon: Lexicon, *, stem_queries: bool = True) -> None:
        self._chunks = list(chunks)
        self._lexicon = lexicon
        self._stem_queries = stem_queries
        counts = [Counter(terms(indexed_text(chunk))) for chunk in self._chunks]
        mean_length = sum(count.total() for count in counts) / max(len(counts), 1)
        chunks_with = Counter(term for count in counts for term in count)
        self._index: dict[str, dict[int, float]] = defaultdict(dict)  # term → chunk → what the term adds to its score
        for i, count in enumerate(counts):
            saturation = K1 * (1 - B + B * count.total() / mean_length)
            for term, n in count.items():
                rarity = math.log(1 + (len(counts) - chunks_with[term] + 0.5) / (chunks_with[term] + 0.5))
                self._index[term][i] = rarity * n / (n + saturation)

    def retrieve(self, query: str, *, top_k: int = 5) -> list[RetrievedDocument]:
        """Return the *top_k* best chunks; fewer if fewer share a word with the query."""
        asked = self._lexicon.query_terms(query, stem=self._stem_queries)
        scores = Counter[int]()
        for term in asked:
            scores.update(self._index.get(term, {}))  # adds to what the other terms gave
        best = sorted(scores, key=lambda i: (-scores[i], i))[:top_k]
        return [RetrievedDocument(self._chunks[i], scores[i], rank) for rank, i in enumerate(best, start=1)]


class SentenceGenerator(Generator):
    """Answers with the sentence of the context that shares most with the question, for its length.

    Asked again it words the answer differently, as a language model does; in turns, so that numbers can be repeated.

    Args:
        lexicon: weighs the terms and reads the questions.
        broken: see `Breakage.GENERATOR`.
    """

    def __init__(self, lexicon: Lexicon, *, broken: bool = False) -> None:
        self._lexicon = lexicon
        self._broken = broken
        self._asked = Counter[str]()

    def generate(self, query: str, context_docs: list[Document]) -> Response:
        """Return one sentence, or the refusal where no document covers enough of the question."""
        asked = frozenset(self._lexicon.query_terms(query))
        candidates = [sentence for doc in context_docs for sentence in sentences(doc.text)]
        if not candidates or not (self._broken or self._covered(asked, context_docs)):
            return Response(REFUSAL, metadata={"refused": True})
        choose = min if self._broken else max
        best = choose(candidates, key=lambda s: self._fit(asked, s))
        # as a model that samples would, but alike in every run: a third of all cases begins with each wording
        wording = WORDINGS[(zlib.crc32(query.encode()) + self._asked[query]) % len(WORDINGS)]
        self._asked[query] += 1
        return Response(wording.format(best), metadata={"refused": False})

    def _covered(self, asked: frozenset[str], docs: Iterable[Document]) -> bool:
        shares = (self._lexicon.weight(asked.intersection(terms(indexed_text(d)))) for d in docs)
        return max(shares, default=0.0) >= MIN_COVERAGE * self._lexicon.weight(asked)

    def _fit(self, asked: frozenset[str], sentence: str) -> float:
        said = frozenset(terms(sentence))
        return self._lexicon.weight(asked & said) / math.sqrt(LENGTH_PRIOR + len(said))


def sentences(text: str) -> list[str]:
    """Cut *text* into sentences, each on one line; grammar rules and signatures are no sentences."""
    lines = (" ".join(part.split()) for part in _SENTENCE_BREAK.split(text))
    return [line for line in lines if "::=" not in line and line.count(" ") >= 3]


class FlakyRetriever(Retriever):
    """A retriever behind a connection that fails, or hangs, for one question in five: always the same ones."""

    def __init__(self, inner: Retriever, *, hang: bool) -> None:
        self._inner = inner
        self._hang = hang

    def retrieve(self, query: str, *, top_k: int = 5) -> list[RetrievedDocument]:
        """Pass the question on, or not."""
        if zlib.crc32(query.encode()) % 5 == 0:
            if self._hang:
                time.sleep(3600)
            raise ConnectionError("search index: shard 2 of 5 does not answer")
        return self._inner.retrieve(query, top_k=top_k)


def chunks_for(breakage: Breakage) -> list[Document]:
    """Return everything that the system can retrieve, as it is cut."""
    if breakage is Breakage.RECHUNK:
        return build_corpus(chunk_chars=LONG_CHUNK_CHARS, sign="~")
    return build_corpus()


def build_rag(breakage: Breakage = Breakage.NONE, chunks: Sequence[Document] | None = None) -> SimpleRAGSystem:
    """Index the corpus (or *chunks*) and return the system, whole or broken."""
    chunks = chunks_for(breakage) if chunks is None else chunks
    lexicon = Lexicon(chunks)
    if breakage is Breakage.INDEX:
        gone = set(sorted({c.metadata["document_id"] for c in chunks})[::3])
        chunks = [c for c in chunks if c.metadata["document_id"] not in gone]
    retriever: Retriever = Bm25Retriever(chunks, lexicon, stem_queries=breakage is not Breakage.RETRIEVER)
    if breakage in (Breakage.RAISE, Breakage.HANG):
        retriever = FlakyRetriever(retriever, hang=breakage is Breakage.HANG)
    return SimpleRAGSystem(retriever, SentenceGenerator(lexicon, broken=breakage is Breakage.GENERATOR))
