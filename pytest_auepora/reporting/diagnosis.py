"""The diagnosis of one case as data: the part at fault, what went wrong there, which document, which metric.

`wording.cases` makes the sentence of it.  A case that did not fail is diagnosed as well, where the suite lost by it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from ..base.grouping import grouped
from ..base.text import twin_of
from ..core.findings import Finding
from ..core.run import CaseResult, MetricInfo, Run
from ..core.targets import component_of
from ..core.types import MADE_UP, TargetCategory
from ..evaluation.shown_outputs import shows_refusal
from ..regression.checks import ASSERTIONS
from ..regression.compare import CaseComparison
from .relevant_docs import RelevantDoc, as_shown, grade_of, relevant_docs

Part = Literal["retrieval", "generation", "system"]
"""The part of a system that a metric measures."""

Component = Literal["retrieval", "generation", "latency", "system", "error", "timeout", "output", "metric"]
"""The part at fault; ``output``, the answer has the wrong shape; ``metric``, a metric raised."""

Fault = Literal[
    # retrieval
    "leaked", "nothing returned", "document lost", "document missed", "rank fell", "ranked low", "few relevant",
    # generation
    "empty", "refused", "answered", "did not ask back", "unsupported", "fell short",
    # any
    "assertion", "slow", "no number", "raised", "timed out", "wrong shape", "metric raised", "failed",
]  # fmt: skip
"""What went wrong: ``document lost`` was found when accepted, ``document missed`` was not, or nobody knows."""

_CUTOFF = re.compile(r"@(\d+)")
_LONG_WORD = re.compile(r"[\w:.+-]{5,}")
_SHORT_QUERY = 8


class Ranking(NamedTuple):
    """What became of the relevant documents: the one to name, how many were missed, found and wanted."""

    doc: RelevantDoc | None = None
    missed: int = 0
    found: int = 0
    wanted: int = 0
    returned: int = 0
    made_up: bool = False
    """Whether the system gave no ids, so that labels cannot match."""
    twin: str = ""
    """An id that was returned, and is that of the document in another Unicode form."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What went wrong in one case."""

    component: Component
    fault: Fault
    """What went wrong in that part."""
    metrics: tuple[str, ...] = ()
    """The metrics that say so, those of the part at fault first."""
    findings: tuple[Finding, ...] = ()
    """The checks that failed and are told by this."""
    ranking: Ranking = field(default_factory=Ranking)
    """The documents."""
    k: int | None = None
    """How deep the metric at fault looks."""
    answer: Fault | None = None
    """What is wrong with the answer, where retrieval is at fault as well."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What the metric found: unsupported, or what `ASSERTIONS` names."""
    text: str = ""
    """In other people's words: what was raised."""

    def cause(self, case: CaseResult) -> tuple[str, ...]:
        """Return what is equal for cases with one cause; of errors their text without its variable parts.

        Variable parts are the query, and ids, times and long numbers: words of five characters or more with a digit.
        An outage is one problem, not forty.
        """
        if self.component in ("error", "timeout", "metric"):
            text = self.text
            if len(query := case.query) >= _SHORT_QUERY:
                text = text.replace(query, "")
            text = _LONG_WORD.sub(lambda word: "#" if any(map(str.isdigit, word[0])) else word[0], text)
            return self.component, self.fault, *self.metrics[:1], text
        if self.component == "output":
            return self.component, self.fault
        return ()


def diagnose(
    result: CaseResult,
    comparison: CaseComparison | None,
    metrics: Mapping[str, MetricInfo],
    lost: Collection[str] = (),
) -> Diagnosis | None:
    """Return what went wrong in *result*; None where nothing did.

    *lost* are further metrics that a case which did not fail is diagnosed by, as the suite lost by them.
    """
    result = as_shown(result)
    if result.state == "skipped":
        return None
    if result.state == "error":
        return _error(result)
    findings = told_findings(result)
    blamed = [name for name in dict.fromkeys([*map(measured_by, findings), *lost]) if name in metrics]
    raised = [finding for finding in findings if finding.kind == "metric raised"]
    blamed = [name for name in blamed if all(name != finding.metric for finding in raised)]
    if not blamed:
        return _without_metric(findings)
    if leaks := [name for name in blamed if (score := result.scores.get(name)) and score.details.get("leaked")]:
        return Diagnosis("retrieval", "leaked", tuple(leaks), tuple(findings), details=result.scores[leaks[0]].details)
    docs = relevant_docs(result, comparison)
    refusals = [n for n in blamed if metrics[n].target == "NEGATIVE_REJECTION"]
    if refusals and (wanted := result.expected.get("expect", "answer")) != "answer":
        fault: Fault = "did not ask back" if wanted == "clarify" else "answered"
        fault = fault if _has_answer(result) else "empty"
        return Diagnosis("generation", fault, (refusals[0],), tuple(findings))
    parts: Mapping[Part, Sequence[str]] = grouped(
        ("generation" if name in refusals else component(metrics[name]), name) for name in blamed
    )
    of_assertions = {metric for metric, _ in ASSERTIONS.values()}
    if "generation" in parts:
        return _generation(result, docs, metrics, parts, findings, refused=bool(refusals))
    if "retrieval" in parts:
        measured = [name for name in parts["retrieval"] if name not in of_assertions]
        if not measured:
            return _assertion("retrieval", result, parts["retrieval"], findings)
        fault, ranking, k = _ranking_fault(result, docs, metrics[measured[0]])
        return Diagnosis("retrieval", fault, tuple(parts["retrieval"]), tuple(findings), ranking, k)
    names = tuple(parts["system"])
    if of_assertions.issuperset(names):
        return _assertion("system", result, names, findings)
    if all(metrics[name].target == "LATENCY" for name in names):
        return Diagnosis("latency", "slow", names, tuple(findings))
    return Diagnosis("system", _only_kind(findings), names, tuple(findings))


def measured_by(finding: Finding) -> str:
    """Return the metric that a finding is about, also where it names an assertion; empty for the system."""
    return ASSERTIONS[finding.metric][0] if finding.kind == "assertion" else finding.metric


def told_findings(result: CaseResult) -> list[Finding]:
    """Return the findings that explain a case: of those that fail it, the ones that are worse than when accepted.

    What fails today as it failed then is no cause, unless nothing else failed.  Of a case that passed, those that vary
    or still fail.
    """
    failures = distinct(result.failures)
    if worse := [finding for finding in failures if finding.is_worse]:
        return worse
    return failures or distinct(result.with_status("still failing", "varies", "suspect"))


def distinct(findings: Sequence[Finding]) -> list[Finding]:
    """Return *findings* without those on a metric that only counts the assertions which are among them."""
    counted = {measured_by(finding) for finding in findings if finding.kind == "assertion"}
    return [finding for finding in findings if finding.kind == "assertion" or finding.metric not in counted]


def group_by_cause(
    cases: Iterable[CaseResult], run: Run, compared: Mapping[str, CaseComparison]
) -> list[tuple[Diagnosis | None, list[CaseResult]]]:
    """Group *cases*, largest drop since the baseline first, whose errors, or whose metrics' errors, have one cause.

    Each group comes with the diagnosis of its first case.
    """
    groups: dict[tuple[str, ...], tuple[Diagnosis | None, list[CaseResult]]] = {}
    for case in sorted(cases, key=lambda case: compared[case.case_id].worst if case.case_id in compared else 0.0):
        diagnosis = diagnose(case, compared.get(case.case_id), run.metrics)
        key = diagnosis.cause(case) if diagnosis is not None else ()
        groups.setdefault(key or ("", case.case_id), (diagnosis, []))[1].append(case)
    return [*groups.values()]


def component(info: MetricInfo) -> Part:
    """Return the part of a RAG system that a metric measures."""
    part = component_of(TargetCategory[info.target]) if info.target in TargetCategory.__members__ else "system"
    return "retrieval" if part == "retrieval" else "generation" if part == "generation" else "system"


def cutoff(info: MetricInfo) -> int | None:
    """Return the k of a metric that looks at the top k, else None."""
    k = info.params.get("k")
    if isinstance(k, int):
        return k
    return int(match[1]) if (match := _CUTOFF.search(info.name)) else None


def blamed_metrics(result: CaseResult, metrics: Mapping[str, MetricInfo]) -> list[str]:
    """Return the metrics that the findings of a case are about, without those that raised."""
    findings = result.failures or result.with_status("still failing", "varies", "suspect")
    names = dict.fromkeys(measured_by(finding) for finding in findings if finding.kind != "metric raised")
    return [name for name in names if name in metrics]


def _error(result: CaseResult) -> Diagnosis:
    component: Component = "timeout" if result.timed_out else "output" if result.wrong_shape else "error"
    fault: Fault = "timed out" if result.timed_out else "wrong shape" if result.wrong_shape else "raised"
    return Diagnosis(component, fault, findings=tuple(result.findings), text=result.error_line)


def _without_metric(findings: Sequence[Finding]) -> Diagnosis | None:
    """Return the diagnosis of a case whose findings are about no metric that measured it."""
    if not findings:
        return None
    first = findings[0]
    if first.kind == "metric raised":
        return Diagnosis("metric", "metric raised", (first.metric,), tuple(findings), text=first.reason)
    return Diagnosis("system", _only_kind(findings), tuple(f.metric for f in findings), tuple(findings))


def _only_kind(findings: Sequence[Finding]) -> Fault:
    return "no number" if findings and all(finding.kind == "no number" for finding in findings) else "failed"


def _ranking_fault(
    result: CaseResult, docs: Sequence[RelevantDoc], info: MetricInfo
) -> tuple[Fault, Ranking, int | None]:
    """Return what is wrong with the ranking that the metric of *info* measures."""
    returned = result.outputs.get("retrieved") or ()
    k = cutoff(info)
    found = sum(doc.rank is not None for doc in docs)
    if not returned:
        return "nothing returned", Ranking(wanted=len(docs)), k
    lost = [d for d in docs if not d.within(k)]
    fell = [d for d in docs if d.within(k) and d.fell]
    if lost and not (fell and all(d.known and not d.was_within(k) for d in lost)):  # not if all were lost before
        worst = min(lost, key=lambda d: (not d.was_within(k), -d.grade, d.rank or len(returned) + 1))
        missed = min(len(lost), k) if k else len(lost)  # more than k have no room in the top k
        made_up = all(str(hit.get("id", "")).startswith(MADE_UP) for hit in returned)
        twin = twin_of(worst.label, (str(hit.get("id")) for hit in returned)) or ""
        ranking = Ranking(worst, missed, found, len(docs), len(returned), made_up, twin)
        return ("document lost" if worst.was_within(k) else "document missed"), ranking, k
    if fell:
        worst = max(fell, key=lambda d: d.fell)
        return "rank fell", Ranking(worst, 0, found, len(docs), len(returned)), k
    first = min((d for d in docs if d.rank is not None), key=lambda d: d.rank or 0, default=None)
    if first is not None and (first.rank or 0) > 1:
        return "ranked low", Ranking(first, 0, found, len(docs), len(returned)), k
    if k and docs:
        hits = sum(grade_of(hit) > 0 for hit in returned[:k])
        return "few relevant", Ranking(None, 0, hits, len(docs), len(returned)), k
    return "failed", Ranking(None, 0, found, len(docs), len(returned)), k


def _generation(
    result: CaseResult, docs: Sequence[RelevantDoc], metrics: Mapping[str, MetricInfo],
    parts: Mapping[Part, Sequence[str]], findings: Sequence[Finding], *, refused: bool,
) -> Diagnosis:  # fmt: skip
    """Return the diagnosis of a bad answer: retrieval is at fault where a document is missing that was found before.

    Where the documents are as they were when accepted, the answer is what changed.
    """
    names = parts["generation"]
    fault, details = ("refused", {}) if refused else _answer_fault(result, names)
    of_retrieval = [name for name in (*parts.get("retrieval", ()), *_rankings(result, metrics)) if name in metrics]
    retrieval_fault, ranking, k = _ranking_fault(result, docs, metrics[of_retrieval[0]]) if of_retrieval else (
        _found_fault(result, docs)
    )  # fmt: skip
    known = any(doc.known for doc in docs)
    is_as_before = known and all(doc.known and doc.rank == doc.before for doc in docs)
    at_fault = bool(parts.get("retrieval")) or retrieval_fault == "document lost"
    if not known and not at_fault:
        at_fault = retrieval_fault == "nothing returned" or (bool(docs) and ranking.found * 2 < len(docs))
    if at_fault and not (is_as_before and not parts.get("retrieval")):
        blamed = (*parts.get("retrieval", ()), *names)
        return Diagnosis("retrieval", retrieval_fault, blamed, tuple(findings), ranking, k, fault, details)
    found = sum(doc.rank is not None for doc in docs)
    fell = max((doc for doc in docs if doc.fell), key=lambda doc: doc.fell, default=None)
    shown = Ranking(fell, len(docs) - found, found, len(docs), ranking.returned)
    return Diagnosis("generation", fault, tuple(names), tuple(findings), shown, None, None, details)


def _found_fault(result: CaseResult, docs: Sequence[RelevantDoc]) -> tuple[Fault, Ranking, int | None]:
    """Return what is wrong with the documents where no metric measures the ranking."""
    returned = result.outputs.get("retrieved") or ()
    missing = [doc for doc in docs if doc.rank is None]
    lost = [doc for doc in missing if doc.before]
    found = len(docs) - len(missing)
    worst = max(lost or missing, key=lambda doc: doc.grade, default=None)
    ranking = Ranking(worst, len(lost or missing), found, len(docs), len(returned))
    return ("document lost" if lost else "document missed" if missing else "failed"), ranking, None


def _rankings(result: CaseResult, metrics: Mapping[str, MetricInfo]) -> list[str]:
    """Return the metrics of *result* that look at its top k, the deepest first."""
    cuts = {name: k for name in result.scores if name in metrics and (k := cutoff(metrics[name])) is not None}
    names = [name for name in cuts if component(metrics[name]) == "retrieval"]
    return sorted(names, key=lambda name: -cuts[name])


def _has_answer(result: CaseResult) -> bool:
    return bool(str(result.outputs.get("answer") or "").strip())


def _answer_fault(result: CaseResult, blamed: Sequence[str]) -> tuple[Fault, Mapping[str, Any]]:
    if not _has_answer(result):
        return "empty", {}
    if shows_refusal(result.outputs):
        return "refused", {}
    if broken := _broken_assertion(result, blamed):
        return "assertion", broken
    details = [result.scores[name].details for name in blamed if name in result.scores]
    return next((("unsupported", one) for one in details if one.get("unsupported")), ("fell short", {}))


def _assertion(part: Part, result: CaseResult, names: Sequence[str], findings: Sequence[Finding]) -> Diagnosis:
    """Return the diagnosis of a case whose assertions alone fail, none of them on the answer."""
    return Diagnosis(part, "assertion", tuple(names), tuple(findings), details=_broken_assertion(result, names))


def _broken_assertion(result: CaseResult, blamed: Sequence[str]) -> Mapping[str, Any]:
    """Return the details of the first of *blamed* that says what is wrong with an assertion; empty if none does."""
    details = [result.scores[name].details for name in blamed if name in result.scores]
    return next((one for one in details if any(one.get(detail) for _, detail in ASSERTIONS.values())), {})
