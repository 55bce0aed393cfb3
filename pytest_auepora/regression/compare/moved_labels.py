"""What a run whose labels moved may be held to: said in words, and failed where labels point nowhere."""

from __future__ import annotations

from collections import Counter

from ...core.run import Run
from ..guards.gates import GateOutcome, cases_words
from .cases import Comparison

__all__ = ["label_notes", "label_outcomes"]

_BY = {
    "exact": "by the same text under another id",
    "span": "by the chunks that hold the passage (span)",
    "fallback_doc": "by document (fallback_doc)",
}
_HELP = "pytest --auepora-labels check tells them one by one"


def label_notes(run: Run, comparison: Comparison | None) -> list[str]:
    """Return what has to be said beside the scores: how labels that moved were matched, and what does not compare."""
    moved = {c.case_id: c.extra["labels"] for c in run.having("labels")}
    out: list[str] = []
    if moved:
        became = Counter(told["became"] for m in moved.values() for told in m["labels"].values())
        matched = Counter(m["match"] for m in moved.values())
        kinds = ", ".join(f"{n} {kind}" for kind, n in became.most_common())
        how = ", ".join(f"{matched[match]} {words}" for match, words in _BY.items() if matched[match])
        told = f"; cases matched {how}" if how else ""
        out.append(f"labels moved in {len(moved)} of {len(run.cases)} cases: {kinds}{told}; {_HELP}")
    apart: dict[str, list[str]] = {}
    for case_id, why in comparison.apart.items() if comparison is not None else ():
        apart.setdefault(why, []).append(case_id)
    out += [f"retrieval not comparable in {cases_words(len(ids))}: {why}" for why, ids in apart.items()]
    return out


def label_outcomes(run: Run) -> list[GateOutcome]:
    """Return a failed outcome where labels of the golden file can be matched with nothing the corpus has."""
    lost = {
        c.case_id: [name for name, told in c.extra["labels"]["labels"].items() if told["match"] == "none"]
        for c in run.having("labels")
        if c.extra["labels"].get("match") == "none"
    }
    if not lost:
        return []
    names = [name for one in lost.values() for name in one]
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    message = f"{shown}: moved labels without a match, so retrieval is n/a in {cases_words(len(lost))}; {_HELP}"
    return [GateOutcome("coverage: labels", "coverage", "failed", message, owner=run.owner, culprits=tuple(lost)[:5])]
