"""The diagnosis of one case in one sentence: retrieval or generation, and which document.

``retrieval: refunds.md fell from rank 2 to 9 (recall@5 looks at 5)``
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..base.grouping import grouped
from ..base.text import forms_words, twin_of, without_case
from ..core.run import CaseResult, MetricInfo, Run
from ..core.scoring import Score
from ..core.targets import component_of
from ..core.types import MADE_UP, Response, SystemOutputs, TargetCategory
from ..metrics.refusal import is_refusal
from ..regression.baseline import STILL_FAILING
from ..regression.compare import CaseComparison
from ..regression.guards.case_guard import assertion_fault
from ..regression.guards.steadiness import as_shown
from .numbers import metric_value, plural
from .relevant_docs import RelevantDoc, grade_of, relevant_docs
from .text import listed, quote, quoted

_CUTOFF = re.compile(r"@(\d+)")
_OWN_CLASS = re.compile(r"pytest_auepora(\.\w+)*\.(?=[A-Z])")
_CONTENT = re.compile(r": (?:[{\[('\"].*|\d+)", re.DOTALL)
"""The content of an output of the wrong shape; the message has the shape before it."""
_LONG_WORD = re.compile(r"[\w:.+-]{5,}")
_SHORT_QUERY = 8
_DETAILS: Mapping[str, tuple[str, Callable[[Sequence[Any]], str]]] = {
    "missed": ("missed", listed), "missing": ("misses", quoted), "forbidden_present": ("says", quoted),
    "unsupported": ("unsupported:", quoted), "wrong": ("wrong:", quoted),
}  # fmt: skip
"""Key of the details of a score → how its texts are named."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The part at fault (``retrieval``, ``generation``, ``latency``, ``error``, …), and what is wrong there."""

    component: str
    text: str

    def __str__(self) -> str:
        return f"{self.component}: {self.text}"


def diagnose(
    result: CaseResult, comparison: CaseComparison | None, metrics: Mapping[str, MetricInfo]
) -> Diagnosis | None:
    """Return why *result* failed or errored, or which assertion still fails; None for a case without problems."""
    result = as_shown(result)
    if result.state == "error":
        return _diagnose_error(result)
    if result.state == "skipped" or (result.state == "passed" and STILL_FAILING not in result.extra):
        return None
    docs, blamed = relevant_docs(result, comparison), blamed_metrics(result, metrics)
    if result.state == "passed":
        return _generation_fault(result, docs, metrics, _answer_fault(result, blamed))
    refusals = [n for n in blamed if metrics[n].target == "NEGATIVE_REJECTION"]
    if refusals and (expected_reply := result.expected.get("expect", "answer")) != "answer":
        clarify = expected_reply == "clarify"
        message = "a question back was expected" if clarify else "a refusal was expected, the system answered"
        return Diagnosis("generation", f"{message} ({_problem(result, refusals[0])})")
    groups = grouped(("generation" if name in refusals else component(metrics[name]), name) for name in blamed)
    if "generation" in groups:
        fault = "the system refused to answer" if refusals else _answer_fault(result, groups["generation"])
        if "retrieval" not in groups:
            return _generation_fault(result, docs, metrics, fault)
        return Diagnosis("retrieval", f"{_retrieval_fault(result, docs, metrics, groups['retrieval'])}, and {fault}")
    if "retrieval" in groups:
        return Diagnosis("retrieval", _retrieval_fault(result, docs, metrics, groups["retrieval"]))
    if "system" in groups:
        is_latency = all(metrics[n].target == "LATENCY" for n in groups["system"])
        return Diagnosis("latency" if is_latency else "system", _problem(result, groups["system"][0]))
    problem = result.problems[0] if result.problems else "failed"
    if raised := [n for n, s in result.scores.items() if s.state == "error" and problem.startswith(f"{n}: ")]:
        return Diagnosis("metric", f"{raised[0]} raised {result.scores[raised[0]].reason}")
    return Diagnosis("system", problem)


def cause_key(text: str, case: CaseResult) -> str:
    """Return *text* without its variable parts, if *case* or one of its metrics errored; else an empty string.

    Variable parts are the query, and ids, times and long numbers: words of five characters or more with a digit.
    Reports merge cases with equal keys: an outage is one problem, not forty.
    """
    if case.state != "error" and not text.startswith("metric: "):
        return ""
    if text.startswith("output: "):
        text = _CONTENT.sub("", text)
    if len(query := case.query) >= _SHORT_QUERY:
        text = text.replace(query, "")
    return _LONG_WORD.sub(lambda word: "#" if any(map(str.isdigit, word[0])) else word[0], text)


def group_by_cause(
    cases: Iterable[CaseResult], run: Run, compared: Mapping[str, CaseComparison], *, merge_equal: bool = False
) -> list[tuple[Diagnosis | None, list[CaseResult]]]:
    """Group *cases*, largest drop since the baseline first, whose errors, or whose metrics' errors, have one cause.

    Each group comes with the diagnosis of its first case.  With *merge_equal*, equal diagnoses are one group as well.
    """
    groups: dict[str, tuple[Diagnosis | None, list[CaseResult]]] = {}
    for case in sorted(cases, key=lambda case: compared[case.case_id].worst if case.case_id in compared else 0.0):
        diagnosis = diagnose(case, compared.get(case.case_id), run.metrics)
        other_key = str(diagnosis or case.state) if merge_equal else f"|{case.case_id}"
        groups.setdefault(cause_key(str(diagnosis), case) or other_key, (diagnosis, []))[1].append(case)
    return [*groups.values()]


def component(info: MetricInfo) -> str:
    """Return ``retrieval``, ``generation`` or ``system`` for a metric."""
    return component_of(TargetCategory[info.target]) if info.target in TargetCategory.__members__ else "system"


def cutoff(info: MetricInfo) -> int | None:
    """Return the k of a metric that looks at the top k, else None."""
    k = info.params.get("k")
    if isinstance(k, int):
        return k
    return int(match[1]) if (match := _CUTOFF.search(info.name)) else None


def blamed_metrics(result: CaseResult, metrics: Mapping[str, MetricInfo]) -> list[str]:
    """Return the metrics that the problems of *result* name, in that order, without those that raised.

    For a case that passed, these are the assertions that still fail.
    """
    out: list[str] = []
    for problem in result.problems or result.extra.get(STILL_FAILING, ()):
        named = [n for n in metrics if problem.startswith(n) and _is_about(problem, n)]  # a call for few of them
        name = max(named, key=len, default="")
        if name and name not in out and (name not in result.scores or result.scores[name].state != "error"):
            out.append(name)
    return out


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


def _diagnose_error(result: CaseResult) -> Diagnosis:
    """Return the diagnosis of an error, without the case id, so that equal errors have equal texts."""
    line = result.error_line or "no result"
    line = without_case(_OWN_CLASS.sub("", line, count=1) if _OWN_CLASS.match(line) else line, result.case_id)
    kind, _, message = line.partition(": ")
    component = {"CallTimeoutError": "timeout", "OutputShapeError": "output"}.get(kind)
    return Diagnosis(component, message) if component else Diagnosis("error", line)


def _retrieval_fault(
    result: CaseResult, docs: Sequence[RelevantDoc], metrics: Mapping[str, MetricInfo], blamed: Sequence[str]
) -> str:
    returned = result.outputs.get("retrieved") or ()
    if not returned:
        return "nothing was returned"
    name = blamed[0]
    k = cutoff(metrics[name])
    score = result.scores.get(name)
    score_text = f"{name} {metric_value(score.value, metrics[name])}" if score is not None else name
    lost = [d for d in docs if not d.within(k)]
    fell = [d for d in docs if d.within(k) and d.rank and d.before and d.rank > d.before]
    if lost and not (fell and all(d.known and not d.was_within(k) for d in lost)):  # not if all were lost before
        worst = min(lost, key=lambda d: (not d.was_within(k), -d.grade, d.rank or len(returned) + 1))
        limit = f"{name} looks at {k}" if k else score_text
        missed = min(len(lost), k) if k else len(lost)  # more than k have no room in the top k
        ids_made_up = all(str(hit.get("id", "")).startswith(MADE_UP) for hit in returned)  # then labels cannot match
        note = "; the documents came without an id, so theirs are made from their texts" if ids_made_up else ""
        if twin := twin_of(worst.label, (str(hit.get("id")) for hit in returned)):
            note = f"; the label and an id that was returned differ in Unicode form: {forms_words(worst.label, twin)}"
        return _describe_loss(worst, missed, k, limit, len(returned)) + note
    if fell:
        worst = max(fell, key=lambda d: (d.rank or 0) - (d.before or 0))
        return f"{worst.short} fell from rank {worst.before} to {worst.rank} ({score_text})"
    first = min((d.rank for d in docs if d.rank is not None), default=1)
    if first > 1:
        return f"the first relevant document is at rank {first} ({_problem(result, name)})"
    if k and docs:
        hits = sum(grade_of(hit) > 0 for hit in returned[:k])
        return f"{hits} of the first {k} {'is' if hits == 1 else 'are'} relevant ({_problem(result, name)})"
    return _problem(result, name)


def _describe_loss(doc: RelevantDoc, missed: int, k: int | None, limit: str, n_returned: int) -> str:
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


def _generation_fault(
    result: CaseResult, docs: Sequence[RelevantDoc], metrics: Mapping[str, MetricInfo], fault: str
) -> Diagnosis:
    """Return the cause of a bad answer: documents that fell or were not retrieved, else the generation."""
    if not docs:
        return Diagnosis("generation", fault)
    names = (n for n in result.scores if n in metrics and component(metrics[n]) == "retrieval" and cutoff(metrics[n]))
    name = next(names, "")
    k = cutoff(metrics[name]) if name else None
    if fell := [d for d in docs if d.was_within(k) and not d.within(k)]:
        worst = max(fell, key=lambda d: (d.rank is None, d.grade))
        n_returned = len(result.outputs.get("retrieved") or ())
        loss = _describe_loss(worst, len(fell), k, f"{name} looks at {k}", n_returned)
        return Diagnosis("retrieval", f"{loss}, and {fault}")
    missing = [d for d in docs if d.rank is None]
    if len(missing) == len(docs):
        return Diagnosis("retrieval", f"{max(missing, key=lambda d: d.grade).short} was not found, and {fault}")
    n_found = len(docs) - len(missing)
    if missing:
        mostly_missing = n_found < len(missing)
        verb = "was" if mostly_missing and n_found == 1 else "were"
        text = f"{n_found} of {len(docs)} documents {verb} found, {'and ' if mostly_missing else ''}{fault}"
        return Diagnosis("retrieval" if mostly_missing else "generation", text)
    return Diagnosis("generation", f"{'the document was' if len(docs) == 1 else 'the documents were'} found, {fault}")


def _answer_fault(result: CaseResult, blamed: Sequence[str]) -> str:
    answer = str(result.outputs.get("answer") or "")
    if not answer.strip():
        return "the answer is empty"
    refused = result.outputs.get("refused")
    response = Response(answer, metadata={} if refused is None else {"refused": refused})
    if is_refusal(SystemOutputs([], response)):
        return "the system refused to answer"
    details = [result.scores[name].details for name in blamed if name in result.scores]
    if faults := [fault for one in details if (fault := assertion_fault(one, 2, quote))]:
        return faults[0]
    claims = [quoted(one["unsupported"], 1) for one in details if one.get("unsupported")]
    fault = f"says what the documents do not: {claims[0]}" if claims else "falls short"
    return f"the answer {fault} ({_problem(result, blamed[0])})"


def _problem(result: CaseResult, name: str) -> str:
    return next((problem for problem in result.problems if _is_about(problem, name)), name)


def _is_about(problem: str, metric: str) -> bool:
    """Whether *problem* is about *metric* (and not about ``recall@50`` where that is ``recall@5``)."""
    return problem.startswith(metric) and problem[len(metric) : len(metric) + 1] in (" ", ":", "")
