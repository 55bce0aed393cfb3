"""What may happen to a system in the simulation of the verdict: scenarios draw the systems of a suite's cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from .score_sources import METRICS, SAMPLED, VARIANTS, Pair, Question, Source

__all__ = [
    "ASSERTION", "RAISES", "Change", "Scenario", "System", "asserted", "chunks_lost", "in_slices", "jumping", "lost",
    "nearly_steady", "neutral", "one_document", "sampling", "swapped", "uneven", "variants", "with_metric", "won",
    "worded",
]  # fmt: skip

ASSERTION = "must_contain"
"""Key of a score that is no metric's: whether the answer holds what it must contain."""

RAISES = "error"
"""Score of an answer about which the metric raises."""

Scores = Mapping[str, "float | str | None"]
"""None is n/a."""


class System(NamedTuple):
    """What one case's answers score before and after a change: each function gives the scores of one more answer."""

    before: Callable[[], Scores]
    after: Callable[[], Scores]
    cluster: str = ""
    labels: Mapping[str, str] = MappingProxyType({})


Scenario = Callable[[int, Random], list[System]]
"""Draws so many cases, each with its system; a baseline is accepted for them once."""

Change = Callable[[Sequence[System], Random], list[System]]
"""Changes what comes after, anew in each run."""


def _always(answer: Callable[[], Scores], cluster: str = "") -> System:
    """Return a system that does not change."""
    return System(answer, answer, cluster)


def _fixed(pair: Pair, *, back: bool = False, cluster: str = "") -> System:
    """Return a system that never varies; *back* exchanges before and after."""
    then, now = (dict(zip(METRICS, side, strict=True)) for side in (reversed(pair) if back else pair))
    return System(lambda: then, lambda: now, cluster)


def sampling(questions: Sequence[Question], *, retriever: bool = False) -> Scenario:
    """A language model that samples, with an assertion on each answer; behind a *retriever* that never varies."""

    def drawn(n: int, rng: Random) -> list[System]:
        def one(answers: Question) -> System:
            ranking = {"recall@5": float(rng.random() < 0.8)} if retriever else {}

            def answer() -> Scores:
                *scores, holds = rng.choice(answers)
                return {**dict(zip(SAMPLED, scores, strict=False)), ASSERTION: holds, **ranking}

            return _always(answer)

        return [one(answers) for answers in rng.sample(questions, n)]

    return drawn


def asserted(rate: Callable[[Random], float]) -> Scenario:
    """One assertion a case and nothing else, which holds in a share of its answers that is drawn by *rate*."""

    def drawn(n: int, rng: Random) -> list[System]:
        def one(share: float) -> System:
            return _always(lambda: {ASSERTION: float(rng.random() < share)})

        return [one(rate(rng)) for _ in range(n)]

    return drawn


def with_metric(scenario: Scenario, share: float, chance: float, value: str | None) -> Scenario:
    """Add a metric that has *value*, n/a or raised, with a *chance* in each answer to a *share* of the cases."""

    def drawn(n: int, rng: Random) -> list[System]:
        def one(system: System) -> System:
            spoilt = rng.random() < share

            def answer() -> Scores:
                score = value if spoilt and rng.random() < chance else round(rng.uniform(0.6, 1.0), 2)
                return {**system.before(), "k_precision": score}

            return _always(answer)

        return [one(system) for system in scenario(n, rng)]

    return drawn


def nearly_steady(share: float, bad: float) -> Scenario:
    """A share of the cases varies, each answer of theirs bad with a chance of *bad*; the others never change."""

    def drawn(n: int, rng: Random) -> list[System]:
        def one(*, varies: bool) -> System:
            return _always(lambda: {"recall@5": float(not (varies and rng.random() < bad)), "mrr@10": 1.0})

        return [one(varies=rng.random() < share) for _ in range(n)]

    return drawn


def jumping(low: float, chance: float) -> Scenario:
    """A metric that is 1, or *low* with a *chance* in each answer to every case."""
    return _independently(lambda rng: {"token_f1": low if rng.random() < chance else 1.0})


def worded(*scores: Scores) -> Scenario:
    """A model that has a few wordings for every answer, each as likely as the others, of which we know the *scores*."""
    return _independently(lambda rng: rng.choice(scores))


def _independently(answer: Callable[[Random], Scores]) -> Scenario:
    return lambda n, rng: [_always(lambda: answer(rng)) for _ in range(n)]


def neutral(scenario: Scenario, size: float = 0.2) -> Scenario:
    """Nothing changed on average, but the metrics of each case rose or fell by *size* for good, at random."""

    def drawn(n: int, rng: Random) -> list[System]:
        def one(system: System) -> System:
            shift = rng.choice((-size, size))

            def moved(by: float) -> Scores:  # from the middle of the range, so that none leaves it
                scores = system.before().items()
                return {k: v if k == ASSERTION else size + (1 - 2 * size) * float(v or 0) + by for k, v in scores}

            return System(lambda: moved(0.0), lambda: moved(shift))

        return [one(system) for system in scenario(n, rng)]

    return drawn


def _broken(answer: Callable[[], Scores]) -> Callable[[], Scores]:
    """Return answers of which every score is 0, what must be contained is not."""
    return lambda: dict.fromkeys(answer(), 0.0)


def lost(share: float = 0.0, cases: int = 1) -> Change:
    """So many *cases*, or a *share* of all, answer wrong for good."""

    def changed(systems: Sequence[System], rng: Random) -> list[System]:
        gone = set(rng.sample(range(len(systems)), max(cases, round(share * len(systems)))))
        return [s._replace(after=_broken(s.after)) if i in gone else s for i, s in enumerate(systems)]

    return changed


def won(scenario: Scenario, share: float) -> Scenario:
    """The same backwards: a *share* of the answers was wrong when the baseline was accepted, and is right now."""

    def drawn(n: int, rng: Random) -> list[System]:
        systems = scenario(n, rng)
        missing = set(rng.sample(range(n), max(1, round(share * n))))
        return [s._replace(before=_broken(s.before)) if i in missing else s for i, s in enumerate(systems)]

    return drawn


def swapped(source: Source) -> Scenario:
    """A retriever that is no better and no worse: before and after re-chunking exchanged at random in every case."""

    def drawn(n: int, rng: Random) -> list[System]:
        pairs = source.rechunked()
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


def chunks_lost(source: Source, share: float, *, back: bool = False) -> Scenario:
    """A deterministic retriever whose index has lost a share of its chunks, or got them *back*."""

    def drawn(n: int, rng: Random) -> list[System]:
        pairs = source.lost_chunks(share, rng.sample(range(len(source)), n), rng)
        return [_fixed(pair, back=back) for pair in pairs]

    return drawn


def one_document(n: int, rng: Random) -> list[System]:
    """A deterministic retriever that has lost one document."""
    gone, all_found = rng.randrange(n), (1.0,) * len(METRICS)
    return [_fixed((all_found, (0.0,) * len(METRICS) if i == gone else all_found)) for i in range(n)]
