"""What went wrong in one case, and in many cases together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...base.text import forms_words
from ...core.run import CaseResult, MetricInfo, Run
from ...core.scoring import Score
from ...regression.compare import CaseComparison
from ..diagnosis import Diagnosis, Fault, diagnose, group_by_cause, measured_by
from ..numbers import metric_value, plural
from ..relevant_docs import RelevantDoc
from ..text import cases_words, listed, quote, quoted
from .checks import BROKEN, assertion_fault, fault_text

_CAUSES: Mapping[Fault, str] = {
    "leaked": "returned a forbidden document",
    "nothing returned": "retrieved nothing", "document lost": "lost a document", "document missed": "missed a document",
    "rank fell": "found a document further down", "ranked low": "found a document far down",
    "few relevant": "retrieved more that is irrelevant", "empty": "answered nothing", "refused": "refused to answer",
    "answered": "answered what should be refused", "did not ask back": "did not ask back",
    "assertion": "broke an assertion", "unsupported": "said what no document says", "fell short": "answered otherwise",
    "slow": "took longer", "no number": "have no score", "raised": "raised", "timed out": "timed out",
    "wrong shape": "answered in the wrong shape", "metric raised": "made a metric raise", "failed": "scored lower",
}  # fmt: skip
"""What cases of one fault did, after their number: ``9 refused to answer``."""

_MOST_CAUSES = 3

_DETAILS = {
    "missed": ("missed", listed), **{key: (verb, quoted) for key, (_, verb) in BROKEN.items()},
    "leaked": ("returned", listed), "leaked_items": ("leaks sensitive items:", listed),
    "unsupported": ("unsupported:", quoted), "wrong": ("wrong:", quoted),
}  # fmt: skip
"""Key of the details of a score → how its texts are named."""

_RATIONALE = ("rationale", "reason", "reasoning", "explanation")
"""Keys of the details of a score that say why a judge gave it."""


def diagnosis_text(diagnosis: Diagnosis | None, case: CaseResult, metrics: Mapping[str, MetricInfo]) -> str:
    """Return ``retrieval: refunds.md fell from rank 2 to 9 (recall@5 looks at 5)``; empty without a *diagnosis*."""
    return f"{diagnosis.component}: {_what(diagnosis, case, metrics)}" if diagnosis is not None else ""


def case_diagnosis(case: CaseResult, comparison: CaseComparison | None, metrics: Mapping[str, MetricInfo]) -> str:
    """Return what went wrong in a case, in one line; empty where nothing did."""
    return diagnosis_text(diagnose(case, comparison, metrics), case, metrics)


class ToldGroup(NamedTuple):
    """Cases with one cause: their name together, what went wrong, and the cases, that of the largest drop first."""

    name: str
    reason: str
    cases: list[CaseResult]


def told_groups(cases: Iterable[CaseResult], run: Run, compared: Mapping[str, CaseComparison]) -> list[ToldGroup]:
    """Return *cases* grouped by cause, as `group_by_cause` has them, in words."""
    out = []
    for diagnosis, group in group_by_cause(cases, run, compared):
        reason = diagnosis_text(diagnosis, group[0], run.metrics) or group[0].state
        out.append(ToldGroup(cases_words([case.case_id for case in group]), reason, group))
    return out


def _what(d: Diagnosis, case: CaseResult, metrics: Mapping[str, MetricInfo]) -> str:
    if d.component in ("error", "timeout", "output"):
        return f"{d.text}{tries_text(case)}" if d.text else "no result"
    if d.component == "metric":
        return f"{d.metrics[0]} raised {d.text}"
    if d.fault == "leaked":
        return f"{assertion_fault(d.details, 2)}, which forbidden_docs forbids"
    if d.component != "generation" and d.fault == "assertion":
        return assertion_fault(d.details, 2) or _first_fault(d, metrics)
    if d.component == "retrieval":
        text = _ranking_text(d, case, metrics)
        return f"{text}, and {_answer_text(d, d.answer, case, metrics)}" if d.answer is not None else text
    if d.component == "generation":
        return _generation_text(d, case, metrics)
    return _first_fault(d, metrics)


def error_text(case: CaseResult) -> str:
    """Return the exception of a case in one line, and how often it was met."""
    return case.error_line + tries_text(case)


def tries_text(case: CaseResult) -> str:
    """Return `` (3 attempts)``, `` (in 2 of 5 repeats)``; empty for an error of one call."""
    attempts = f" ({case.attempts} attempts)" if case.attempts > 1 else ""
    return attempts + (f" (in {case.errored} of {case.repeats} repeats)" if case.errored else "")


def accepted_text(accepted: str) -> str:
    """Return the line on the shapes that are read."""
    return f"accepted: {accepted}"


def _first_fault(d: Diagnosis, metrics: Mapping[str, MetricInfo]) -> str:
    """Return what the first check says; of a case that lost without one, the metric."""
    for finding in d.findings:
        if not d.metrics or measured_by(finding) in d.metrics:
            return fault_text(finding, metrics.get(measured_by(finding)))
    return ", ".join(d.metrics) or "failed"


def _ranking_text(d: Diagnosis, case: CaseResult, metrics: Mapping[str, MetricInfo]) -> str:
    ranking, name = d.ranking, d.metrics[0] if d.metrics else ""
    if d.fault == "nothing returned":
        return "nothing was returned"
    doc = ranking.doc
    score = case.scores.get(name)
    shown = f"{name} {metric_value(score.value, metrics.get(name))}" if score is not None else name
    if doc is not None and d.fault in ("document lost", "document missed"):
        note = "; the documents came without an id, so theirs are made from their texts" if ranking.made_up else ""
        if ranking.twin:
            forms = forms_words(doc.label, ranking.twin)
            note = f"; the label and an id that was returned differ in Unicode form: {forms}"
        return _loss_text(doc, ranking.missed, d.k, f"{name} looks at {d.k}" if d.k else shown, ranking.returned) + note
    if doc is not None and d.fault == "rank fell":
        return f"{doc.short} fell from rank {doc.before} to {doc.rank} ({shown})"
    if doc is not None and d.fault == "ranked low":
        return f"the first relevant document is at rank {doc.rank} ({_first_fault(d, metrics)})"
    if d.fault == "few relevant":
        verb = "is" if ranking.found == 1 else "are"
        return f"{ranking.found} of the first {d.k} {verb} relevant ({_first_fault(d, metrics)})"
    return _first_fault(d, metrics)


def _loss_text(doc: RelevantDoc, missed: int, k: int | None, limit: str, n_returned: int) -> str:
    """Return what became of *doc*, the worst of those *missed* in the top *k*."""
    if doc.rank is None:
        limit = f"not among the {n_returned} returned" if n_returned > 1 else "not the one returned"
        again = "again " if doc.known and not doc.before else ""
        text = "fell out" if doc.was_within(k) else f"was {again}not found"
        previous = f", was at rank {doc.before}" if doc.before else ""
    elif doc.was_within(k):
        text, previous = f"fell from rank {doc.before} to {doc.rank}", ""
    else:
        text = f"is only at rank {doc.rank}"
        previous = f", was {doc.before}" if doc.before not in (None, doc.rank) else ""
    others = f"; {plural(missed - 1, 'more document')} missed" if missed > 1 else ""
    return f"{doc.short} {text}{previous} ({limit}){others}"


def _generation_text(d: Diagnosis, case: CaseResult, metrics: Mapping[str, MetricInfo]) -> str:
    if d.fault in ("answered", "did not ask back"):
        wanted = "a question back was expected" if d.fault == "did not ask back" else (
            "a refusal was expected, the system answered"
        )  # fmt: skip
        return f"{wanted} ({_first_fault(d, metrics)})" if d.findings else wanted
    fault, ranking = _answer_text(d, d.fault, case, metrics), d.ranking
    if not ranking.wanted:
        return fault
    if not ranking.missed:
        one = ranking.wanted == 1
        found = "the document was found" if one else "the documents were found"
        if (doc := ranking.doc) is not None:
            found += f"{'' if one else f', {doc.short}'} at rank {doc.rank} (was {doc.before})"
        return f"{found}, {fault}"
    if not ranking.found:
        return f"{fault}; no relevant document was found, as when accepted"
    return f"{ranking.found} of {ranking.wanted} documents were found, {fault}"


def _answer_text(d: Diagnosis, fault: Fault, case: CaseResult, metrics: Mapping[str, MetricInfo]) -> str:
    if fault == "empty":
        return "the answer is empty"
    if fault == "refused":
        return "the system refused to answer"
    if fault == "assertion" and (text := assertion_fault(d.details, 2, quote)):
        return text
    of_answer = Diagnosis("generation", fault, _of_answer(d, metrics), d.findings)
    what = f"says what the documents do not: {quoted(d.details['unsupported'], 1)}" if fault == "unsupported" else (
        "falls short"
    )  # fmt: skip
    return f"the answer {what} ({_score_of(of_answer, case, metrics)})"


def _of_answer(d: Diagnosis, metrics: Mapping[str, MetricInfo]) -> tuple[str, ...]:
    names = [n for n in d.metrics if n in metrics and not metrics[n].target.startswith("RETRIEVAL")]
    return tuple(names) or d.metrics


def _score_of(d: Diagnosis, case: CaseResult, metrics: Mapping[str, MetricInfo]) -> str:
    """Return the check that failed, or else the score that is lower."""
    if any(measured_by(finding) in d.metrics for finding in d.findings) or not d.metrics:
        return _first_fault(d, metrics)
    score = case.scores.get(d.metrics[0])
    return f"{d.metrics[0]} {metric_value(score.value if score else None, metrics.get(d.metrics[0]))}"


def causes_text(diagnoses: Iterable[Diagnosis | None]) -> str:
    """Return what many cases did: ``9 refused to answer, 2 lost a document, 1 raised``; the most frequent first."""
    faults = Counter((d.answer if d.answer in ("refused", "empty") else d.fault) for d in diagnoses if d is not None)
    parts = [f"{n:,} {_CAUSES[fault]}" for fault, n in faults.most_common()]
    left = sum(n for _, n in faults.most_common()[_MOST_CAUSES:])
    return ", ".join([*parts[:_MOST_CAUSES], *([f"{left} more"] if left else [])])


def details_text(score: Score) -> str:
    """Return the details of a score in a few words; empty without any."""
    if score.state == "error":
        return f"error: {score.reason}"
    details = score.details
    parts = [f"{word} {texts_of(details[key])}" for key, (word, texts_of) in _DETAILS.items() if details.get(key)]
    if "rank" in details:
        parts.append("no hit" if details["rank"] is None else f"first hit at rank {details['rank']}")
    if note := details.get("note"):
        parts.append(str(note))
    return "; ".join(parts)


def rationales(score: Score) -> list[tuple[str, str]]:
    """Return what a judge says of its score: the dimension, empty where there is but one, and the text."""
    told = [score.details[key] for key in _RATIONALE if key in score.details]
    parts = [part for one in told for part in (one.items() if isinstance(one, Mapping) else [("", one)])]
    return [(str(part), text) for part, text in parts if isinstance(text, str) and text]


def repeat_text(case: CaseResult) -> str:
    """Return ``2 of 3 fail; shown is number 3``; empty if nothing was repeated."""
    worst = case.worst_repeat
    return f"{worst.failing} of {worst.of} fail; shown is number {worst.repeat}" if worst is not None else ""


def moved_lines(case: CaseResult) -> list[str]:
    """Return how each label that moved was matched: ``refunds#3 (split), matched: span: refunds#4, refunds#5``."""
    labels: Mapping[str, Mapping[str, Any]] = case.moved["labels"] if case.moved is not None else {}
    out = []
    for name, label in labels.items():
        chunks: Sequence[Any] = label.get("chunks") or ()
        out.append(f"{name} ({label['became']}), matched: {label['match']}{f': {listed(chunks)}' if chunks else ''}")
    return out
