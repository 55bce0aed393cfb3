"""Mutants of recorded answers: what a system would have given with one thing broken, as far as no call can tell.

What is not broken stays as it was recorded: an answer whose best document is gone is still that answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from random import Random
from typing import Any, Literal, get_args

from ..core.types import EvaluationSample, Response, RetrievedDocument, SystemOutputs
from ..io.golden.model import GoldenCase
from ..metrics.ranking.gold import source_of
from ..metrics.ranking.matching import grades_of_retrieved
from ..metrics.refusal import is_refusal

Kind = Literal[
    "best document dropped", "stale index", "texts cut", "order shuffled",
    "refusals", "lost facts", "another case's answer",
]  # fmt: skip
"""What is broken: the best-ranked relevant document is not retrieved; the source documents of the cases are not in the
index, for any case; the second half of each retrieved text is missing; the retrieved documents are in another order;
the system refuses to answer; the answer lacks the fact that it is asked for; it is that of another case."""

KINDS: tuple[Kind, ...] = get_args(Kind)

OF_RETRIEVAL: frozenset[Kind] = frozenset(KINDS[:4])
"""Kinds that change documents, and no answer."""

REFUSAL = "I don't know."
_ORDERS, _OTHERS = 3, 3
"""So many other orders, and other cases, each case is tried with; each of them is measured once."""
_MARKS = ("citations", "grounded")
"""What metadata say of one answer, and not of another."""

Key = tuple[Any, ...]
"""What tells the mutants of one answer apart that are of one kind."""


@dataclass(eq=False)
class Recorded:
    """What was recorded of one case: its answers, None for one that raised."""

    case: GoldenCase
    answers: Sequence[SystemOutputs | None]

    @property
    def whole(self) -> bool:
        """Whether there is an answer each time."""
        return bool(self.answers) and None not in self.answers


@dataclass(eq=False)
class Mutator:
    """Makes the mutants of one kind of the cases *recorded*.

    ``targets`` are the cases in which it can happen: their first answer has a mutant.
    """

    kind: Kind
    recorded: Mapping[str, Recorded]
    targets: list[str] = field(init=False)

    def __post_init__(self) -> None:
        """Try each case."""
        rng = Random(0)
        self._others = self._choose_others() if self.kind == "another case's answer" else {}
        self._sources = self._known_sources() if self.kind == "stale index" else {}
        self.targets = [
            i for i, one in self.recorded.items() if one.whole and self.mutant(i, 0, self.keys([i], rng)[i]) is not None
        ]

    def keys(self, broken: Collection[str], rng: Random) -> dict[str, Key]:
        """Return which mutant each case has whose answers change when *broken* cases are chosen."""
        if self.kind == "stale index":
            gone = set[str]().union(*(self._sources[i][0] for i in broken if i in self._sources))
            missing = {i: gone & found for i, (_, found) in self._sources.items()}
            return {i: tuple(sorted(names)) for i, names in missing.items() if names} | {
                i: () for i in broken if i not in self._sources
            }
        if self.kind == "order shuffled":
            return {i: (rng.randrange(_ORDERS),) for i in broken}
        if self.kind == "another case's answer":
            return {i: (rng.choice(self._others[i]) if self._others[i] else "",) for i in broken}
        return dict.fromkeys(broken, ())

    def mutant(self, case_id: str, number: int, key: Key) -> SystemOutputs | None:
        """Return the mutant of one answer; None where there is nothing to break, or nothing would change."""
        one = self.recorded[case_id]
        outputs = one.answers[number]
        if outputs is None:
            return None
        sample = one.case.sample
        if self.kind == "another case's answer":
            others = self.recorded[key[0]].answers if key[0] else ()
            other = others[number % len(others)] if others else None
            return None if other is None else _differing(outputs, _with_answer(outputs, other.response))
        return _CHANGES[self.kind](sample, outputs, key)

    def _choose_others(self) -> dict[str, list[str]]:
        """Return for each case some that are independent of it and were answered otherwise."""
        rng, out = Random(1), dict[str, list[str]]()
        answered = [i for i, one in self.recorded.items() if one.whole]
        for case_id, one in self.recorded.items():
            others = [i for i in answered if self.recorded[i].case.cluster != one.case.cluster]
            out[case_id] = rng.sample(others, min(_OTHERS, len(others)))
        return out

    def _known_sources(self) -> dict[str, tuple[set[str], set[str]]]:
        """Return by case what its relevant documents were cut from, and what all documents of its answers were."""
        out = dict[str, tuple[set[str], set[str]]]()
        for case_id, one in self.recorded.items():
            answers = [outputs for outputs in one.answers if outputs is not None and outputs.retrieved]
            if answers:
                relevant = {source_of(r.doc) for r in _relevant(one.case.sample, answers[0])}
                out[case_id] = relevant, {source_of(r.doc) for outputs in answers for r in outputs.retrieved}
        return out


def _relevant(sample: EvaluationSample, outputs: SystemOutputs) -> list[RetrievedDocument]:
    """Return the retrieved documents that the labels call relevant; where none is, the first."""
    grades = grades_of_retrieved(sample, outputs)
    found = [r for r, grade in zip(outputs.retrieved, grades, strict=True) if grade > 0]
    return found or outputs.retrieved[:1]


def _best_dropped(sample: EvaluationSample, outputs: SystemOutputs, _: Key) -> SystemOutputs | None:
    best = _relevant(sample, outputs)[:1]
    return _with_documents(outputs, [r for r in outputs.retrieved if r not in best]) if best else None


def _stale(_: EvaluationSample, outputs: SystemOutputs, gone: Key) -> SystemOutputs | None:
    left = [r for r in outputs.retrieved if source_of(r.doc) not in gone]
    return _with_documents(outputs, left) if len(left) < len(outputs.retrieved) else None


def _cut(_: EvaluationSample, outputs: SystemOutputs, __: Key) -> SystemOutputs | None:
    halves = [
        replace(r, doc=replace(r.doc, text=r.doc.text[: len(r.doc.text) // 2])) if r.doc.text else r
        for r in outputs.retrieved
    ]
    return _with_documents(outputs, halves) if any(r.doc.text for r in outputs.retrieved) else None


def _shuffled(_: EvaluationSample, outputs: SystemOutputs, key: Key) -> SystemOutputs | None:
    if len(outputs.retrieved) < 2:
        return None
    order, rng = [*outputs.retrieved], Random(key[0])
    while all(a is b for a, b in zip(order, outputs.retrieved, strict=True)):
        rng.shuffle(order)
    return _with_documents(outputs, order)


def _refused(_: EvaluationSample, outputs: SystemOutputs, __: Key) -> SystemOutputs | None:
    if is_refusal(outputs) is not False:
        return None
    return _with_answer(outputs, Response(REFUSAL, metadata={"refused": True}))


def _lost_fact(sample: EvaluationSample, outputs: SystemOutputs, _: Key) -> SystemOutputs | None:
    answer = outputs.response.text or ""
    without = _without_phrase(answer, sample.labels.get("must_contain"))
    if without is None and sample.reference_answer is not None:
        without = _without_common(answer, sample.reference_answer.text)
    if without is None or is_refusal(outputs) is True:
        return None
    return _with_answer(outputs, replace(outputs.response, text=without))


def _without_phrase(answer: str, phrases: Any) -> str | None:
    """Return *answer* without the first of *phrases* that it has, wherever that stands; None where it has none."""
    wanted = phrases if isinstance(phrases, (list, tuple)) else [phrases] if phrases is not None else []
    for phrase in map(str, wanted):
        if phrase and phrase.casefold() in answer.casefold():
            return " ".join(re.sub(re.escape(phrase), "", answer, flags=re.IGNORECASE).split())
    return None


def _without_common(answer: str, reference: str) -> str | None:
    """Return *answer* without the longest run of words that it shares with *reference*; None where it shares none."""
    words, wanted = answer.split(), [_bare(word) for word in reference.split()]
    block = SequenceMatcher(None, [_bare(word) for word in words], wanted, autojunk=False).find_longest_match()
    return " ".join(words[: block.a] + words[block.a + block.size :]) if block.size else None


def _bare(word: str) -> str:
    return word.casefold().strip(".,;:!?()[]\"'")


_CHANGES: Mapping[Kind, Callable[[EvaluationSample, SystemOutputs, Key], SystemOutputs | None]] = {
    "best document dropped": _best_dropped,
    "stale index": _stale,
    "texts cut": _cut,
    "order shuffled": _shuffled,
    "refusals": _refused,
    "lost facts": _lost_fact,
}


def _with_documents(outputs: SystemOutputs, retrieved: Sequence[RetrievedDocument]) -> SystemOutputs:
    ranked = [replace(r, rank=rank) for rank, r in enumerate(retrieved, 1)]
    return SystemOutputs(ranked, outputs.response, outputs.timings, outputs.extra)


def _with_answer(outputs: SystemOutputs, response: Response) -> SystemOutputs:
    """Return *outputs* with another answer; a system that never says whether it refuses does not say it now."""
    metadata = {key: value for key, value in response.metadata.items() if key not in _MARKS}
    if "refused" not in outputs.response.metadata:
        metadata.pop("refused", None)
    return SystemOutputs(outputs.retrieved, replace(response, metadata=metadata), outputs.timings, outputs.extra)


def _differing(before: SystemOutputs, after: SystemOutputs) -> SystemOutputs | None:
    return after if after.response.text != before.response.text else None
