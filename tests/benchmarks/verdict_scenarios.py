"""What may happen to a system in the simulation of the verdict: scenarios draw the systems of a run's cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from .score_sources import METRICS, SAMPLED, VARIANTS, Pair, Question, Source

__all__ = [
    "Scenario", "System", "chunks_lost", "in_slices", "nearly_steady", "one_document", "sampling", "swapped", "uneven",
    "variants",
]  # fmt: skip

ANSWER_METRICS = SAMPLED[:2]

Scores = Mapping[str, float]


class System(NamedTuple):
    """What one case's answers score before and after: each function gives the scores of one more answer."""

    before: Callable[[], Scores]
    after: Callable[[], Scores]
    cluster: str = ""
    labels: Mapping[str, str] = MappingProxyType({})


Scenario = Callable[[int, Random], list[System]]


def _fixed(pair: Pair, *, back: bool = False, cluster: str = "") -> System:
    """Return a system that never varies; *back* exchanges before and after."""
    then, now = (dict(zip(METRICS, side, strict=True)) for side in (reversed(pair) if back else pair))
    return System(lambda: then, lambda: now, cluster)


def sampling(
    questions: Sequence[Question], lost: float = 0.0, *, retriever: bool = False, won: bool = False,
    metrics: Sequence[str] = ANSWER_METRICS, endless: bool = False,
) -> Scenario:  # fmt: skip
    """A language model that samples; a share of the answers lost in the candidate, or *won* back by it.

    No answer is given twice, unless they are to be *endless*.
    """

    def drawn(n: int, rng: Random) -> list[System]:
        gone = set(rng.sample(range(n), max(1, round(lost * n)))) if lost else set()

        def one(i: int, answers: Question) -> System:
            left = rng.sample(answers, len(answers))
            ranking = {"recall@5": float(rng.random() < 0.8)} if retriever else {}

            def answer(*, is_lost: bool) -> Scores:
                scores = dict(zip(SAMPLED, rng.choice(answers) if endless else left.pop(), strict=True))
                return {**{name: 0.0 if is_lost else scores[name] for name in metrics}, **ranking}

            return System(
                lambda: answer(is_lost=won and i in gone), lambda: answer(is_lost=not won and i in gone)
            )  # fmt: skip

        return [one(i, rng.choice(questions)) for i in range(n)]

    return drawn


def nearly_steady(share: float, bad: float) -> Scenario:
    """A share of the cases varies, each answer of theirs bad with a chance of *bad*; the others never change."""

    def drawn(n: int, rng: Random) -> list[System]:
        def one() -> System:
            varies = rng.random() < share

            def answer() -> Scores:
                return {"recall@5": float(not (varies and rng.random() < bad)), "mrr@10": 1.0}

            return System(answer, answer)

        return [one() for _ in range(n)]

    return drawn


def swapped(source: Source, kind: str) -> Scenario:
    """Another retriever that is no better and no worse: before and after exchanged at random in every case."""

    def drawn(n: int, rng: Random) -> list[System]:
        pairs = source.rechunked() if kind == "rechunked" else source.retuned()
        return [_fixed(pairs[i], back=rng.random() < 0.5) for i in rng.sample(range(len(pairs)), n)]

    return drawn


def variants(source: Source) -> Scenario:
    """The same with typos: a few questions, each asked five ways, of which what happens to one happens to all."""

    def drawn(n: int, rng: Random) -> list[System]:
        questions, out = source.variants(), list[System]()
        for q in rng.sample(range(len(questions)), -(-n // VARIANTS)):
            back = rng.random() < 0.5
            out += [_fixed(pair, back=back, cluster=f"q{q}") for pair in questions[q]]
        return out[:n]

    return drawn


def in_slices(scenario: Scenario) -> Scenario:
    """Give the cases labels: three values of one, two of another."""

    def drawn(n: int, rng: Random) -> list[System]:
        labels = [{"part": "abc"[3 * i // n], "half": "ab"[i % 2]} for i in range(n)]
        return [system._replace(labels=own) for system, own in zip(scenario(n, rng), labels, strict=True)]

    return drawn


def uneven(rare: float) -> Scenario:
    """Nothing changed on average, but a tenth of the cases moved by *rare*, the others a little against it."""

    def drawn(n: int, rng: Random) -> list[System]:
        changes = [rare if rng.random() < 0.1 else -rare / 9 for _ in range(n)]
        return [_fixed(((0.5,) * len(METRICS), (0.5 + change,) * len(METRICS))) for change in changes]

    return drawn


def chunks_lost(source: Source, share: float, *, won: bool = False) -> Scenario:
    """A deterministic retriever whose index has lost a share of its chunks, or *won* it back."""

    def drawn(n: int, rng: Random) -> list[System]:
        pairs = source.lost_chunks(share, rng.sample(range(len(source)), n), rng)
        return [_fixed(pair, back=won) for pair in pairs]

    return drawn


def one_document(n: int, rng: Random) -> list[System]:
    """A deterministic retriever that has lost one document."""
    lost, all_found = rng.randrange(n), (1.0,) * len(METRICS)
    return [_fixed((all_found, (0.0,) * len(METRICS) if i == lost else all_found)) for i in range(n)]
