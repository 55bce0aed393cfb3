"""Where the simulation's scores come from: real retrieval and real answers, or made-up ones where there are no data.

A source gives, for each of its cases, the scores under `METRICS` before and after some change to the system.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, Protocol

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.metrics.registry import Registry

__all__ = [
    "METRICS", "SAMPLED", "VARIANTS", "ClapNq", "Mixture", "Pair", "Question", "Scores", "Source",
    "made_up_answers", "real_answers",
]  # fmt: skip

METRICS = ("recall@5", "hit@1", "mrr@10", "ndcg@10")
Scores = tuple[float, ...]
Pair = tuple[Scores, Scores]
"""One case, before and after."""

SAMPLED = ("token_f1", "rougeL", "assertion_pass")
Question = Sequence[Scores]
"""What nine answers of an unchanged model to one question score under `SAMPLED`."""

VARIANTS = 5
"""How often each question is asked where variants are simulated: itself, and with typing errors."""


class Source(Protocol):
    """Cases and what different changes do to their scores."""

    name: str

    def rechunked(self) -> list[Pair]:
        """Return all cases under another, equally good chunking."""
        ...

    def retuned(self) -> list[Pair]:
        """Return all cases under slightly different parameters."""
        ...

    def variants(self) -> list[list[Pair]]:
        """Return all cases as `rechunked`, each with its variants."""
        ...

    def lost_chunks(self, share: float, cases: Iterable[int], rng: Random) -> list[Pair]:
        """Return the *cases* of an index that has lost a random *share* of its chunks."""
        ...

    def __len__(self) -> int: ...


class ClapNq:
    """300 natural questions over 597 Wikipedia passages, cut into chunks and retrieved with BM25.

    A chunk is relevant when it holds a sentence that an annotator selected as evidence.
    """

    name = "BM25 over 300 real questions (ClapNQ)"

    def __init__(self, folder: Path) -> None:
        answerable, unanswerable = (
            [json.loads(line) for line in (folder / f"clapnq_dev_{kind}.jsonl").read_text("utf-8").splitlines()]
            for kind in ("answerable", "unanswerable")
        )
        passages = {row["passages"][0]["text"]: row["passages"][0] for row in answerable + unanswerable}
        self._passages = list(passages.values())
        self._home = {text: i for i, text in enumerate(passages)}
        self._questions: list[dict[str, Any]] = answerable

    def __len__(self) -> int:
        return len(self._questions)

    def rechunked(self) -> list[Pair]:
        return list(zip(self._before.scores(), self._shifted.scores(), strict=True))

    def retuned(self) -> list[Pair]:
        return self._retuned

    @cached_property
    def _retuned(self) -> list[Pair]:
        other = Index(self._passages, shift=0, k1=1.1, b=0.5)
        return list(zip(self._before.scores(), self._ask(other, self._queries).scores(), strict=True))

    def variants(self) -> list[list[Pair]]:
        return self._variants

    @cached_property
    def _variants(self) -> list[list[Pair]]:
        rng = Random(0)
        per_case = [[p] for p in self.rechunked()]
        for _ in range(VARIANTS - 1):
            queries = [with_typo(q, rng) for q in self._queries]
            before, after = self._ask(self._index, queries).scores(), self._ask(self._other_index, queries).scores()
            for case, pair in zip(per_case, zip(before, after, strict=True), strict=True):
                case.append(pair)
        return per_case

    def lost_chunks(self, share: float, cases: Iterable[int], rng: Random) -> list[Pair]:
        chunks = self._index.chunk_ids
        lost = set(rng.sample(chunks, round(share * len(chunks))))
        return [(self._before.score(i), self._before.score(i, without=lost)) for i in cases]

    @cached_property
    def _queries(self) -> list[str]:
        return [q["input"] for q in self._questions]

    @cached_property
    def _index(self) -> Index:
        return Index(self._passages, shift=0)

    @cached_property
    def _other_index(self) -> Index:
        return Index(self._passages, shift=1)

    @cached_property
    def _before(self) -> Answers:
        return self._ask(self._index, self._queries)

    @cached_property
    def _shifted(self) -> Answers:
        return self._ask(self._other_index, self._queries)

    def _ask(self, index: Index, queries: Sequence[str]) -> Answers:
        gold = [index.chunks_with(self._home[q["passages"][0]["text"]], set(evidence_of(q))) for q in self._questions]
        return Answers(index.search(queries), gold)


def evidence_of(question: dict[str, Any]) -> Iterator[str]:
    """Yield the sentences that any annotator based an answer on."""
    for answer in question["output"]:
        yield from answer["selected_sentences"]


class Index:
    """Passages cut into chunks of three sentences (the first of *shift*, if that is not 0), under BM25."""

    def __init__(self, passages: Sequence[dict[str, Any]], *, shift: int, k1: float = 0.9, b: float = 0.4) -> None:
        import bm25s

        self._sentences: dict[str, list[str]] = {}
        self._of_passage: list[list[str]] = []
        for p, passage in enumerate(passages):
            sentences = passage["sentences"]
            cuts = sorted({0, *range(shift, len(sentences), 3), len(sentences)})
            ids = [f"p{p}-{i}" for i in range(len(cuts) - 1)]
            self._sentences.update(zip(ids, (sentences[a:b] for a, b in pairwise(cuts)), strict=True))
            self._of_passage.append(ids)
        self.chunk_ids = list(self._sentences)
        texts = [" ".join(s) for s in self._sentences.values()]
        self._bm25 = bm25s.BM25(k1=k1, b=b)
        self._bm25.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)

    def search(self, queries: Sequence[str], depth: int = 40) -> list[list[str]]:
        """Return the ids of the best chunks for each query."""
        import bm25s

        tokens = bm25s.tokenize(list(queries), stopwords="en", show_progress=False)
        found, _ = self._bm25.retrieve(tokens, k=depth, show_progress=False)
        return [[self.chunk_ids[int(i)] for i in row] for row in found]

    def chunks_with(self, passage: int, sentences: set[str]) -> list[str]:
        """Return the chunks of a passage that hold any of the sentences; its first where none is found."""
        ids = self._of_passage[passage]
        return [i for i in ids if sentences & set(self._sentences[i])] or ids[:1]


class Answers:
    """Rankings and relevant chunks, scored by the metrics themselves."""

    def __init__(self, rankings: list[list[str]], gold: list[list[str]]) -> None:
        self._rankings, self._gold = rankings, gold
        self._metrics = [Registry().get(name) for name in METRICS]
        self._scores = [self._measure(i, ranking) for i, ranking in enumerate(rankings)]

    def scores(self) -> list[Scores]:
        return self._scores

    def score(self, case: int, without: Collection[str] = ()) -> Scores:
        """Score one case, as if some chunks were not in the index."""
        ranking = self._rankings[case]
        if not any(chunk in without for chunk in ranking[:10]):
            return self._scores[case]
        return self._measure(case, [chunk for chunk in ranking if chunk not in without])

    def _measure(self, case: int, ranking: Sequence[str]) -> Scores:
        sample = EvaluationSample(str(case), "", relevant_docs=[Document(i) for i in self._gold[case]])
        found = [RetrievedDocument(Document(i), 1 / rank, rank) for rank, i in enumerate(ranking[:10], 1)]
        outputs = SystemOutputs(found, Response(""))
        return tuple(number(m.measure(sample, outputs)) for m in self._metrics)


def number(seen: object) -> float:
    assert isinstance(seen, Measurement)
    assert seen.value is not None
    return seen.value


def with_typo(text: str, rng: Random) -> str:
    """Swap two neighbouring inner letters of one longer word."""
    words = text.split()
    long = [i for i, w in enumerate(words) if len(w) >= 5]
    if long:
        i = rng.choice(long)
        at = rng.randrange(1, len(words[i]) - 2)
        words[i] = words[i][:at] + words[i][at + 1] + words[i][at] + words[i][at + 2 :]
    return " ".join(words)


class Mixture:
    """A stand-in where the real questions are absent: one relevant chunk per case, at a random rank.

    Most cases are found at once, some lower down, a few not at all; a change moves only some of them.
    """

    name = "a synthetic mixture of ranks"

    def __init__(self, size: int = 300, seed: int = 0) -> None:
        rng = Random(seed)
        self._ranks = [self._rank(rng) for _ in range(size)]
        self._moved = [self._moved_from(r, 0.4, rng) for r in self._ranks]
        self._nudged = [self._moved_from(r, 0.1, rng) for r in self._ranks]
        self._variants = [
            [(scores_at(rank), scores_at(self._moved_from(moved, 0.2, rng))) for _ in range(VARIANTS - 1)]
            for rank, moved in zip(self._ranks, self._moved, strict=True)
        ]

    def __len__(self) -> int:
        return len(self._ranks)

    def rechunked(self) -> list[Pair]:
        return [(scores_at(a), scores_at(b)) for a, b in zip(self._ranks, self._moved, strict=True)]

    def retuned(self) -> list[Pair]:
        return [(scores_at(a), scores_at(b)) for a, b in zip(self._ranks, self._nudged, strict=True)]

    def variants(self) -> list[list[Pair]]:
        return [[pair, *more] for pair, more in zip(self.rechunked(), self._variants, strict=True)]

    def lost_chunks(self, share: float, cases: Iterable[int], rng: Random) -> list[Pair]:
        ranks = [self._ranks[i] for i in cases]
        return [(scores_at(r), scores_at(math.inf if rng.random() < share else r)) for r in ranks]

    @staticmethod
    def _rank(rng: Random) -> float:
        luck = rng.random()
        return 1 if luck < 0.65 else rng.randint(2, 10) if luck < 0.9 else math.inf

    @classmethod
    def _moved_from(cls, rank: float, share: float, rng: Random) -> float:
        return cls._rank(rng) if rng.random() < share else rank


def scores_at(rank: float) -> Scores:
    """The scores of a case whose only relevant chunk is at *rank*."""
    found = rank <= 10
    return (
        float(rank <= 5),
        float(rank == 1),
        1 / rank if found else 0.0,
        1 / math.log2(1 + rank) if found else 0.0,
    )


def real_answers(folder: Path, *, steady: bool) -> list[Question]:
    """Return what a model of 3 B scored at temperature 0.7, against a tenth answer; only *steady* questions, or all."""
    told = json.loads((folder / "scores.json").read_text("utf-8"))
    assert tuple(told["metrics"]) == SAMPLED
    return [answers for answers, is_steady in zip(told["scores"]["full"], told["steady"], strict=True)
            if is_steady or not steady]  # fmt: skip


def made_up_answers(size: int = 200, seed: int = 0, *, steady: bool) -> list[Question]:
    """Return the like: answers that scatter about a level of their question, and keep an assertion or mostly do."""
    rng = Random(seed)
    out: list[Question] = []
    for i in range(size):
        level, kept = rng.uniform(0.4, 1.0), 1.0 if steady or i % 4 else rng.uniform(0.7, 1.0)
        answers = []
        for _ in range(9):
            score = min(max(rng.gauss(level, 0.12), 0.0), 1.0)
            answers.append((score, 0.95 * score, float(rng.random() < kept)))
        out.append(answers)
    return out
