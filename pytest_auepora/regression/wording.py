"""The verdict in one word, and what to do about a red run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from .guards.gates import GateOutcome

__all__ = ["Word", "next_steps", "word_of"]

Word = Literal["worse", "better", "same", "inconclusive", "not judged", "mixed"]
"""What the comparison with the baseline amounts to; ``mixed``: single cases fell, the suite is the same or better."""

_MOST_NAMED = 5


def word_of(gates: Iterable[GateOutcome], fell: Sequence[str] = ()) -> Word:
    """Return the word for a run.

    Args:
        gates: its outcomes; those against the baseline and the anchor count, advisory ones do not.
        fell: ids of the cases that failed as they are worse than their baseline, or errored and did not before.
    """
    words = {g.word for g in gates if g.kind in ("regression", "anchor") and g.state not in ("advisory", "not judged")}
    if "worse" in words:
        return "worse"
    if fell:
        return "mixed" if words & {"same", "better"} and "inconclusive" not in words else "worse"
    for word in ("better", "inconclusive", "same"):
        if word in words:
            return word
    return "not judged"


def next_steps(word: Word, *, varies: Sequence[str] = ()) -> list[str]:
    """Return what to do next, a sentence each; nothing where *word* needs nothing done.

    Args:
        word: the verdict.
        varies: cases that did not answer the same when asked again.
    """
    out: list[str] = []
    if word in ("worse", "mixed"):
        out.append("intended: accept it with `pytest --auepora-update`, and commit the baseline")
    if varies:
        out.append(
            f"varies: {_named(varies)} answered differently when asked again; see the page Non-deterministic systems"
        )
    if word in ("worse", "mixed"):
        out.append("look closer: `pytest --auepora-report html:report.html` shows each case beside its baseline")
    return out


def _named(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _MOST_NAMED} more" if len(ids) > _MOST_NAMED else ""
    return ", ".join(ids[:_MOST_NAMED]) + more
