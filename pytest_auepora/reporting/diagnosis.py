"""What went wrong with one case, in one sentence: was it retrieval or generation, and which document.

``retrieval: refunds.md fell from rank 2 to 9 (recall@5 looks at 5)``
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.grouping import grouped
from ..core.run import CaseResult, MetricInfo, Run
from ..core.scoring import Score
from ..core.targets import component_of
from ..core.types import MADE_UP, Response, SystemOutputs, TargetCategory
from ..errors import without_case
from ..metrics.refusal import is_refusal
from ..regression.compare import CaseComparison
from ..regression.guards.case_guard import RAISED, STILL_FAILING, assertion_fault
from ..regression.guards.steadiness import as_shown
from .numbers import metric_value, plural
from .relevant_docs import RelevantDoc, relevant_docs
from .text import listed, quote, quoted

_CUT = re.compile(r"@(\d+)")
_OURS = re.compile(r"pytest_auepora(\.\w+)*\.(?=[A-Z])")
_CONTENT = re.compile(r": (?:[{\[('\"].*|\d+)", re.DOTALL)
"""What came where another shape was wanted: its shape stands before."""
_LONG_WORD = re.compile(r"[\w:.+-]{5,}")
_SHORT_QUERY = 8


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Where to look (``retrieval``, ``generation``, ``latency``, ``error``, …), and what is wrong there."""

    component: str
    text: str

    def __str__(self) -> str:
        return f"{self.component}: {self.text}"


def diagnose(
    result: CaseResult, comparison: CaseComparison | None, metrics: Mapping[str, MetricInfo]
) -> Diagnosis | None:
    """Say why *result* failed or errored, or which assertion fails still; None for a case of which there is nothing."""
    result = as_shown(result)
    if result.state == "error":
        return _of_error(result)
    if result.state == "skipped" or (result.state == "passed" and STILL_FAILING not in result.extra):
        return None
    docs, blamed = relevant_docs(result, comparison), blamed_metrics(result, metrics)
    if result.state == "passed":
        return _generation_fault(result, docs, metrics, _answer_fault(result, blamed))
    refusals = [n for n in blamed if metrics[n].target == "NEGATIVE_REJECTION"]
    if refusals and (wished := result.expected.get("expect", "answer")) != "answer":
        clarify = wished == "clarify"
        what = "a question back was expected" if clarify else "a refusal was expected, the system answered"
        return Diagnosis("generation", f"{what} ({_told(result, refusals[0])})")
    by = grouped(("generation" if name in refusals else component(metrics[name]), name) for name in blamed)
    if "generation" in by:
        fault = "the system refused to answer" if refusals else _answer_fault(result, by["generation"])
        if "retrieval" not in by:
            return _generation_fault(result, docs, metrics, fault)
        return Diagnosis("retrieval", f"{_retrieval_fault(result, docs, metrics, by['retrieval'])}, and {fault}")
    if "retrieval" in by:
        return Diagnosis("retrieval", _retrieval_fault(result, docs, metrics, by["retrieval"]))
    if "system" in by:
        latency = all(metrics[n].target == "LATENCY" for n in by["system"])
        return Diagnosis("latency" if latency else "system", _told(result, by["system"][0]))
    problem = result.problems[0] if result.problems else "failed"
    return Diagnosis("metric" if RAISED in problem else "system", problem.replace(RAISED, " raised "))


def alike(why: str, case: CaseResult) -> str:
    """Return *why* without what differs from call to call, if *case* errored or one of its metrics did; else nothing.

    That is its query, and ids, times and long numbers: words of five characters or more with a digit.  Cases of which
    this is equal are told together: an outage is one thing, not forty.
    """
    if case.state != "error" and not why.startswith("metric: "):
        return ""
    if why.startswith("output: "):
        why = _CONTENT.sub("", why)
    if len(query := case.query) >= _SHORT_QUERY:
        why = why.replace(query, "")
    return _LONG_WORD.sub(lambda word: "#" if any(map(str.isdigit, word[0])) else word[0], why)


def worst_first(cases: Iterable[CaseResult], compared: Mapping[str, CaseComparison]) -> list[CaseResult]:
    """Return *cases* in the order of their largest drops since the baseline."""
    return sorted(cases, key=lambda case: compared[case.case_id].worst if case.case_id in compared else 0.0)


def together(
    cases: Iterable[CaseResult], run: Run, compared: Mapping[str, CaseComparison]
) -> list[tuple[Diagnosis | None, list[CaseResult]]]:
    """Put those of *cases* together that errored alike, or a metric of which did, with the diagnosis of the first."""
    by: dict[str, tuple[Diagnosis | None, list[CaseResult]]] = {}
    for case in cases:
        why = diagnose(case, compared.get(case.case_id), run.metrics)
        by.setdefault(alike(str(why), case) or f"|{case.case_id}", (why, []))[1].append(case)
    return [*by.values()]


def component(info: MetricInfo) -> str:
    """Return ``retrieval``, ``generation`` or ``system`` for a metric."""
    return component_of(TargetCategory[info.target]) if info.target in TargetCategory.__members__ else "system"


def cutoff(info: MetricInfo) -> int | None:
    """Return the k of a metric that looks at the top k, else None."""
    k = info.params.get("k")
    if isinstance(k, int):
        return k
    return int(found[1]) if (found := _CUT.search(info.name)) else None


def blamed_metrics(result: CaseResult, metrics: Mapping[str, MetricInfo]) -> list[str]:
    """Return the metrics that the problems of *result* name, in that order; those that raised come not into it.

    A case that passed is blamed for the assertions that fail still.
    """
    out: list[str] = []
    for problem in result.problems or result.extra.get(STILL_FAILING, ()):
        if RAISED in problem:
            continue
        named = [n for n in metrics if problem.startswith(n) and _names(problem, n)]  # a call for few of them
        if named and (name := max(named, key=len)) not in out:
            out.append(name)
    return out


def details_text(score: Score) -> str:
    """Return what a score says about itself, in a few words; empty where it says nothing."""
    if score.state == "error":
        return f"error: {score.reason}"
    details = score.details
    said: list[str] = []
    if missed := details.get("missed"):
        said.append(f"missed {listed(missed)}")
    if missing := details.get("missing"):
        said.append(f"misses {quoted(missing)}")
    if present := details.get("forbidden_present"):
        said.append(f"says {quoted(present)}")
    said += [f"{key}: {quoted(details[key])}" for key in ("unsupported", "wrong") if details.get(key)]
    if "rank" in details:
        said.append("no hit" if details["rank"] is None else f"first hit at rank {details['rank']}")
    if note := details.get("note"):
        said.append(str(note))
    return "; ".join(said)


def _of_error(result: CaseResult) -> Diagnosis:
    """The id of the case stands beside it anyway; without it, cases that errored alike say so in equal words."""
    first = result.error_line or "no result"
    first = without_case(_OURS.sub("", first, count=1) if _OURS.match(first) else first, result.case_id)
    kind, _, message = first.partition(": ")
    component = {"CallTimeoutError": "timeout", "OutputShapeError": "output"}.get(kind)
    return Diagnosis(component, message) if component else Diagnosis("error", first)


def _retrieval_fault(
    result: CaseResult, docs: Sequence[RelevantDoc], metrics: Mapping[str, MetricInfo], blamed: Sequence[str]
) -> str:
    returned = result.outputs.get("retrieved") or ()
    if not returned:
        return "nothing was returned"
    name = blamed[0]
    k = cutoff(metrics[name])
    score = result.scores.get(name)
    shown = f"{name} {metric_value(score.value, metrics[name])}" if score is not None else name
    lost = [d for d in docs if not d.within(k)]
    fell = [d for d in docs if d.within(k) and d.rank and d.before and d.rank > d.before]
    if lost and not (fell and all(d.known and not d.was_within(k) for d in lost)):  # what was lost before is no news
        worst = min(lost, key=lambda d: (not d.was_within(k), -d.grade, d.rank or len(returned) + 1))
        limit = f"{name} looks at {k}" if k else shown
        missed = min(len(lost), k) if k else len(lost)  # more than k have no room in the top k
        more = f"; {plural(missed - 1, 'more document')} missed" if missed > 1 else ""
        return _loss(worst, k, limit, len(returned)) + more + _without_ids(returned)
    if fell:
        worst = max(fell, key=lambda d: (d.rank or 0) - (d.before or 0))
        return f"{worst.short} fell from rank {worst.before} to {worst.rank} ({shown})"
    first = min((d.rank for d in docs if d.rank is not None), default=1)
    if first > 1:
        return f"the first relevant document is at rank {first} ({_told(result, name)})"
    if k and docs:
        hits = sum(int(hit.get("grade") or 0) > 0 for hit in returned[:k])
        return f"{hits} of the first {k} {'is' if hits == 1 else 'are'} relevant ({_told(result, name)})"
    return _told(result, name)


def _without_ids(returned: Sequence[Mapping[str, Any]]) -> str:
    """Say so if no document had an id, which labels that are ids cannot match."""
    if all(str(hit.get("id", "")).startswith(MADE_UP) for hit in returned):
        return "; the documents came without an id, so theirs are made from their texts"
    return ""


def _loss(doc: RelevantDoc, k: int | None, limit: str, n_returned: int) -> str:
    if doc.rank is None:
        gone = f"not among the {n_returned} returned" if n_returned > 1 else "not the one returned"
        if doc.was_within(k):
            return f"{doc.short} fell out, was at rank {doc.before} ({gone})"
        was = f", was at rank {doc.before}" if doc.before else ""
        return f"{doc.short} was {'again ' if doc.known and not was else ''}not found{was} ({gone})"
    if doc.was_within(k):
        return f"{doc.short} fell from rank {doc.before} to {doc.rank} ({limit})"
    was = f", was {doc.before}" if doc.before not in (None, doc.rank) else ""
    return f"{doc.short} is only at rank {doc.rank}{was} ({limit})"


def _generation_fault(
    result: CaseResult, docs: Sequence[RelevantDoc], metrics: Mapping[str, MetricInfo], fault: str
) -> Diagnosis:
    """Return the cause of a bad answer: documents that fell or were not found, else the generation."""
    if not docs:
        return Diagnosis("generation", fault)
    cuts = (n for n in result.scores if n in metrics and component(metrics[n]) == "retrieval" and cutoff(metrics[n]))
    name = next(cuts, "")
    k = cutoff(metrics[name]) if name else None
    if fell := [d for d in docs if d.was_within(k) and not d.within(k)]:
        worst = max(fell, key=lambda d: (d.rank is None, d.grade))
        lost = f"was not found, was at rank {worst.before}"
        if worst.rank is not None:
            lost = f"fell from rank {worst.before} to {worst.rank} ({name} looks at {k})"
        more = f"; {plural(len(fell) - 1, 'more document')} missed" if len(fell) > 1 else ""
        return Diagnosis("retrieval", f"{worst.short} {lost}{more}, and {fault}")
    gone = [d for d in docs if d.rank is None]
    if len(gone) == len(docs):
        return Diagnosis("retrieval", f"{max(gone, key=lambda d: d.grade).short} was not found, and {fault}")
    found = len(docs) - len(gone)
    if gone:
        most_gone = found < len(gone)
        verb = "was" if most_gone and found == 1 else "were"
        told = f"{found} of {len(docs)} documents {verb} found, {'and ' if most_gone else ''}{fault}"
        return Diagnosis("retrieval" if most_gone else "generation", told)
    return Diagnosis("generation", f"{'the document was' if len(docs) == 1 else 'the documents were'} found, {fault}")


def _answer_fault(result: CaseResult, blamed: Sequence[str]) -> str:
    answer = str(result.outputs.get("answer") or "")
    if not answer.strip():
        return "the answer is empty"
    said = result.outputs.get("refused")
    response = Response(answer, metadata={} if said is None else {"refused": said})
    if is_refusal(SystemOutputs([], response)):
        return "the system refused to answer"
    for name in blamed:
        if name in result.scores and (fault := assertion_fault(result.scores[name].details, 2, quote)):
            return fault
    for name in blamed:
        if name in result.scores and (unsupported := result.scores[name].details.get("unsupported")):
            return f"the answer says what the documents do not: {quoted(unsupported, 1)} ({_told(result, blamed[0])})"
    return f"the answer falls short ({_told(result, blamed[0])})"


def _told(result: CaseResult, name: str) -> str:
    """Return the problem that names the metric."""
    return next((problem for problem in result.problems if _names(problem, name)), name)


def _names(problem: str, metric: str) -> bool:
    """Whether *problem* is about *metric* (and not about ``recall@50`` where that is ``recall@5``)."""
    return problem.startswith(metric) and problem[len(metric) : len(metric) + 1] in (" ", ":", "")
