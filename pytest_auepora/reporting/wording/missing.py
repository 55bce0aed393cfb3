"""Why there is no number to judge, or what is missing."""

from __future__ import annotations

from collections.abc import Mapping

from ...base.text import names_words
from ...core.run import Run
from ...regression.outcomes import GateOutcome, GateReason, Note
from ..numbers import plural
from ..text import Code, Sentence, where_to_read
from .changes import by_reason, metrics_text, unpaired_text

_ACCEPT = Sentence("accept a run with ", Code("pytest --auepora-update"))
JUDGE_GONE = "the judge that was calibrated is not there: no model is named now; its gates count only with it"
_PRUNE = Sentence("accept with ", Code("pytest --auepora-update=prune"))
CHECK_HINT = Sentence(Code("pytest --auepora-labels check"), " lists them")


_PLAIN: Mapping[GateReason, str] = {
    "must_pass skipped": "{names}: must pass, and was skipped",
    "no worst value": "{errors} errored, and an error has no worst {gate.metric} to count with",
    "aggregate failed": "not judged: {gate.detail}",
    "suite not selected": "the test 'suite' was not selected, so this was not judged",
    "not finished": "the run ended before it was judged, after {gate.n} of {gate.total} cases",
    "suspects": "{names} failed and could not be confirmed, which a required baseline does not allow",
    "judge gone": JUDGE_GONE,
    "judge silent": "every reply of the judge failed, in {cases}: {gate.detail}",
    **dict.fromkeys(("unreadable", "not written", "hook raised", "calibration unusable"), "{gate.detail}"),
}
"""Sentences that only name what a gate names."""


def missing_text(gate: GateOutcome, run: Run) -> str:
    """Return why there is no number to judge, or what is missing; empty where the numbers say it."""
    if (text := _PLAIN.get(gate.reason)) is None:
        return _unmeasured_text(gate) or _lost_text(gate) or _uncompared_text(gate, run)
    errors, cases = plural(gate.n_error, "case"), plural(gate.n, "case")
    return text.format(gate=gate, names=names_words(gate.names), errors=errors, cases=cases)


def _unmeasured_text(gate: GateOutcome) -> str:
    """Return why nothing was measured; empty for any other reason."""
    detail = gate.detail
    match gate.reason:
        case "all skipped":
            return f"every case was skipped{f' ({detail})' if detail else ''}"
        case "no case ran":
            return f"no case ran in the slice {dict(gate.slice)}" if gate.slice else "no case ran"
        case "nothing measured" if gate.names:
            return f"no case has a number in {names_words(gate.names)}, so nothing was judged"
        case "nothing measured":
            return f"nothing was measured: {detail or 'the metric gave no score'}"
        case _:
            return ""


def _lost_text(gate: GateOutcome) -> str:
    """Return which cases, metrics or scores are gone; empty for any other reason."""
    names, detail = names_words(gate.names), gate.detail
    match gate.reason:
        case "cases vanished":
            new_names = {old: f"{old} (renamed to {new}?)" for old, new in gate.renamed.items() if new}
            gone = names_words([new_names.get(name, name) for name in gate.names])
            return Sentence(f"{gone} in the baseline, no longer in the golden file; ", _PRUNE)
        case "metrics vanished":
            return Sentence(f"{names} in the baseline, no longer computed; ", _PRUNE)
        case "scores lost":
            first = gate.names[0] if gate.names else "a case"
            cases = f"{first} and {len(gate.names) - 1} more" if len(gate.names) > 1 else first
            why = f" ({gate.metric}{f': {detail}' if detail else ''})" if gate.metric or detail else ""
            return Sentence(f"{cases} had a score in the baseline and has none now{why}; ", _ACCEPT)
        case "labels moved":
            cases = plural(gate.n or len(gate.worst_cases), "case")
            return Sentence(f"{names}: moved labels without a match, so retrieval is n/a in {cases}; ", CHECK_HINT)
        case _:
            return ""


def _uncompared_text(gate: GateOutcome, run: Run) -> str:
    """Return why there is nothing to compare with; empty for any other reason."""
    match gate.reason:
        case "no baseline":
            return Sentence(f"{gate.detail or 'there is no baseline'}; ", _ACCEPT, ", and commit the file")
        case "nothing compares":
            reasons = [*metrics_text(gate.incomparable), *unpaired_text(gate.unpaired, len(run.cases))]
            said = "; ".join(reasons) or "they have no score in common"
            return f"nothing in this run compares with it: {said}; whether the run is worse was not judged"
        case "damaged data":
            reasons = [*by_reason(gate.incomparable)] or [gate.detail or "its data are damaged"]
            return f"{reasons[0]}; restore the baseline or accept anew"
        case _:
            return ""


def label_hint(note: Note) -> str:
    """Return what to do about labels that nothing met."""
    if not note.data.get("returned"):
        return "no document was returned; does the system return (answer, documents)?"
    if source := note.data.get("source"):
        return f"a plain label is an id; did you mean {{doc: {source}}}?"
    return Sentence("a plain label is an id, {doc: …} names a source document: ", where_to_read("recall-is-zero"))
