"""The sentence of each kind of note."""

from __future__ import annotations

from collections.abc import Mapping

from ...base.text import names_words
from ...regression.outcomes import Note, NoteKind
from ...regression.policy import CLUSTERS_FOR_STATISTICS
from ..numbers import number, plural
from ..text import Code, Sentence, where_to_read
from .changes import incomparable_text
from .missing import label_hint

_PLAIN: Mapping[NoteKind, str] = {
    "not comparable with the anchor": "not comparable with the anchor: {names} ({why})",
    "replayed": "replayed from run {detail}: its answers, no calls",
    "recorded otherwise": "run {detail} has another provenance, so no answers were taken: {why}",
    "history not written": "not kept in the history: {detail}",
    "history not read": "{detail}",
    "answers cut": "too large to be recorded in full (auepora_keep): the answers to {names}; "
                   "metrics over the texts that were cut are not comparable in a replay",
    "no output": "no output for {names}",
    "stopped": "the run was stopped, so the baseline was not touched",
    "not pruned": "not all cases ran, so nothing was pruned",
    "anchor not written": "not all cases ran, so the anchor was not touched",
    "accepted answers not kept": "the accepted answers are not kept: {detail}",
}  # fmt: skip
"""Sentences that only name what a note names."""

_ANCHOR = Code("pytest --auepora-update=anchor")


def note_text(note: Note) -> str:
    """Return the sentence of a note."""
    if (text := _PLAIN.get(note.kind)) is None:
        return _of_comparison(note) or _of_answers(note)
    why = incomparable_text(note.why) if note.why is not None else ""
    return text.format(names=names_words(note.names), detail=note.detail, why=why)


def _of_comparison(note: Note) -> str:
    """Return the sentence of a note about baseline, anchor or labels; empty for any other."""
    names, data = names_words(note.names), note.data
    match note.kind:
        case "slices too small":
            slices = ", ".join(f"{name} ({n})" for name, n in data.get("clusters", {}).items()) or names
            return f"slices of fewer than {CLUSTERS_FOR_STATISTICS} clusters are not judged: {slices}"
        case "anchor not compared":
            said = "nothing in this run compares with the anchor, so slow drift was not judged; renew it with "
            return Sentence(said, _ANCHOR)
        case "accepted once":
            cases = plural(data.get("cases", len(note.names)), "case")
            said = f"one accepted answer of {cases}: chance in them cannot be told from a change; "
            page = where_to_read("baselines")
            return Sentence(said, Code("pytest --auepora-update"), " asks them again (", page, ")")
        case "reused":
            cases, reused = data.get("cases", 0), data.get("reused", 0)
            return f"{plural(cases, 'case')}: {plural(cases - reused, 'generator call')}, {reused} reused"
        case "falls add up":
            change = f"from {number(data.get('before', 0.0))} to {number(data.get('after', 0.0))}"
            said = f"{names}: {data.get('falls', 0)} accepted falls in a row add up {change}; "
            return Sentence(said, "an anchor keeps such steps from adding up: ", _ANCHOR)
        case "no label met":
            returned = [f"{hit} of {doc}" if doc else str(hit) for hit, doc in data.get("returned") or ()]
            came = f"returned {names_words(returned, 3)}; " if returned else ""
            cases, wanted = plural(data.get("cases", 0), "case"), names_words(note.names, 3)
            return Sentence(f"no label was met in {cases}: wanted {wanted}; {came}", label_hint(note))
        case _:
            return ""


def _of_answers(note: Note) -> str:
    """Return the sentence of a note about where answers are from, or calls that were not made; empty for any other."""
    names, data, detail = names_words(note.names), note.data, note.detail
    changes = note.why.changes if note.why is not None else ()
    match note.kind:
        case "provenance differs":
            said = ", ".join(f"{change.key} {change.before} and {change.after}" for change in changes)
            return f"not all cases have the same provenance: {said or detail}"
        case "resumed":
            taken, cases = data.get("taken", 0), data.get("cases", 0)
            rest = ", the others asked" if taken < cases else ""
            return f"{taken} of {cases} answers taken from run {detail}{rest}"
        case "nothing recorded":
            return f"no recorded run{f' of {detail}' if detail else ''}; nothing was taken"
        case "recorded at another commit":
            said = "; ".join(f"was made at commit {change.before}, this is {change.after}" for change in changes)
            return f"run {detail} {said}"
        case "looked once":
            longer = " that lives longer than one test can be asked again: scope='session'"
            return {
                "workers": Sentence("one process looks again: ", Code("pytest --auepora -p no:xdist")),
                "scope": Sentence("a fixture ", Code(names), longer),
                "replay": Sentence(
                    "the replayed run has no second answers: ", Code("pytest --auepora"), " asks for them"
                ),
                "limit": "a higher --auepora-max-calls looks again",
                "budget": "a higher auepora_budget looks again",
            }.get(detail, detail)
        case "call limit":
            asked = f"; not asked again: {names}" if names else ""
            limit = f"--auepora-max-calls {data['limit']}" if data.get("limit") else "auepora_budget"
            return f"{limit} was used up{asked}"
        case _:
            return ""
