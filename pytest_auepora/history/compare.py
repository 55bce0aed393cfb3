"""Comparison of two runs, case by case: rank of the first hit, changes of the metrics, and the verdict.

A run can be a baseline and a baseline a run, so that any two of them compare in one way.  Hits are identified by chunk
if both runs have the same chunking, else by passage or document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any, Literal, get_args

from ..core.findings import Answers, Finding
from ..core.metrics_base import CHUNK_KEYS, Metric
from ..core.run import CaseResult, MetricInfo, Run
from ..core.scoring import Score
from ..errors import AueporaError, NotComparableError
from ..metrics.registry import Registry
from ..regression.baseline import Baseline, BaselineCase, BaselineMetric, match_of, merged, metric_key
from ..regression.checks import accepted_checks, case_rules
from ..regression.compare import Change, Comparison, Flip, Incomparable, MetricChange, provenance_changes
from ..regression.compare import compare as compare_with_baseline
from ..regression.guards.calibration import advisory_metrics, make_advisory
from ..regression.guards.interval_guard import score_pairs
from ..regression.guards.suite_guard import judge_comparison, note_shares
from ..regression.outcomes import GateOutcome
from ..regression.policy import RegressionPolicy
from ..regression.verdict import Word, word_of
from .aggregates import DISPLAY_NAMES, AggregateMetrics, compute_aggregate, document_id, first_rank

Match = Literal["exact", "span", "fallback_doc"]
"""By chunk id; by passages (quotes, spans, documents) that the labels themselves name; by document."""

NotComparable = Literal["skipped", "edited", "documents not stored", "documents not named"]
"""Why a case that both runs have does not compare."""

WHY_NOT: Mapping[NotComparable, str] = {
    "skipped": "skipped",
    "edited": "the golden case was edited",
    "documents not stored": "the chunks have new ids, and what was retrieved is not stored",
    "documents not named": (
        "the chunks have new ids, and labels or hits do not say their document: {id: …, doc: …} does"
    ),
}
"""The same in words."""


class ComparisonKind(str, Enum):
    """How the first hit of a case changed."""

    WIN = "Win"
    """Found after a miss, or at a better rank."""
    LOSS = "Loss"
    """Found at a worse rank."""
    DRAW = "Draw"
    """The same rank, or missed in both runs."""
    REGRESSION = "Regression"
    """Missed after a hit."""


@dataclass(slots=True)
class QueryNote:
    """What else is known of a case: what became of its checks, and errors.

    ``flip`` is ``newly failing``, ``fixed``, ``errored`` (in *b*) or empty; ``error`` is the exception of *b*, or else
    ``error_before`` that of *a*; ``changed`` says whether the hits differ, so that what changed may be the cause.
    """

    flip: Flip | Literal[""] = ""
    error: str = ""
    error_before: str = ""
    changed: bool = False


@dataclass(slots=True)
class QueryComparison:
    """One case in two runs.  Ranks are 1-based, None for a miss; ``note`` says what may be the cause."""

    query_id: str
    kind: ComparisonKind
    a_hit_rank: int | None = None
    b_hit_rank: int | None = None
    note: QueryNote | None = None


@dataclass(slots=True)
class CompareReport:
    """Run *b* against run *a*.

    Attributes:
        run_a, run_b: names of the two runs.
        run: the later one.
        title: the suite and configuration of *b*.
        aggregate_a, aggregate_b: over the comparable cases.
        deltas: ``b - a`` of every figure of the aggregates, None where one is undefined, and
            ``chunker_version_match``, which says how hits were identified.
        per_query: every comparable case, in the order of *b*.
        metrics: the metrics of the suite over the comparable cases; ``gain`` is negative for a drop.
        incomparable: metrics that were measured differently, and how.
        former: the means of those in both runs, where they have any.
        gates: the outcome of the suite guard for each metric.
        findings: by case the checks that *b* fails and *a* held; only those that the run of *b* confirmed, by asking
            again or by what it had accepted, are ``failed``, as one answer each decides nothing.
        causes: what the provenances differ in.
        not_comparable: cases in both runs that are not comparable, and why.
        only_a, only_b: cases that only one of them has.
    """

    run_a: str
    run_b: str
    title: str
    aggregate_a: AggregateMetrics
    aggregate_b: AggregateMetrics
    deltas: dict[str, Any]
    per_query: list[QueryComparison] = field(default_factory=list)
    metrics: dict[str, MetricChange] = field(default_factory=dict)
    incomparable: dict[str, Incomparable] = field(default_factory=dict)
    former: dict[str, tuple[float, float]] = field(default_factory=dict)
    gates: list[GateOutcome] = field(default_factory=list)
    findings: dict[str, list[Finding]] = field(default_factory=dict)
    causes: list[Change] = field(default_factory=list)
    not_comparable: dict[str, NotComparable] = field(default_factory=dict)
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()
    run: Run = field(default_factory=lambda: Run(""), repr=False)

    @property
    def outcome(self) -> Word:
        """*b* compared with *a* in a word, which is that of a run against its baseline."""
        return word_of(self.gates, self.regressed_cases)

    @property
    def regressed_cases(self) -> list[str]:
        """The cases that are worse by themselves, whatever the suite is."""
        return [case_id for case_id, found in self.findings.items() if any(finding.is_worse for finding in found)]

    def count(self) -> Counter[ComparisonKind]:
        """How many cases there are of each kind; all kinds are there."""
        counts = Counter(q.kind for q in self.per_query)
        return Counter({kind: counts[kind] for kind in ComparisonKind})


def compare(
    a: Run,
    b: Run,
    *,
    names: tuple[str, str] = ("a", "b"),
    strict_chunker_version: bool = False,
    policy: RegressionPolicy | None = None,
    calibrations: Path | None = None,
    steady: Collection[str] = (),
) -> CompareReport:
    """Compare run *b* with the earlier run *a*; *names* are what the report calls them.

    *strict_chunker_version* refuses runs whose chunks have different ids, instead of matching passages or documents.
    *policy* says how strictly the metrics are judged, by default as golden files do; *calibrations* is the folder that
    says which judges' scores count.  *steady* are deterministic metrics, as a baseline lists them; not needed if *a*
    is a baseline.

    Raises:
        NotComparableError: they are of different suites, share no case, or are refused.
    """
    matcher, changes = HitMatcher(a, b), provenance_changes(a.provenance, b.provenance)
    causes = [Change(key, old, new) for key, (old, new) in changes.items()]
    if a.suite != b.suite:
        raise NotComparableError(f"{names[0]} is a run of {a.suite!r}, {names[1]} of {b.suite!r}")
    if strict_chunker_version and not matcher.same_chunks:
        keys = ", ".join(f"{c.key} {c.before} → {c.after}" for c in causes if c.key in CHUNK_KEYS)
        raise NotComparableError(f"not comparable: {keys} (--strict-chunker-version)")
    pairs, not_comparable = _shared_cases(a, b, matcher, names)
    score_pairs(a, _metrics(a))
    score_pairs(b, metrics := _metrics(b))
    comparison = compare_with_baseline(b, as_baseline(a))
    not_known = {name for name in steady if name not in a.metrics or a.metrics[name].steady is None}
    comparison.steady = tuple(sorted({*comparison.steady, *not_known}))
    ids = {new.case_id for _, new in pairs}
    before, after = (compute_aggregate(run, ids, matcher.rank, matcher.documents) for run in (a, b))
    weakest_match = max((matcher.match(i) for i in ids), key=get_args(Match).index)
    policy = policy or RegressionPolicy()
    advisory = advisory_metrics(b.metrics, policy, calibrations)
    note_shares(b, comparison, policy, advisory)
    gates = judge_comparison(b, comparison, policy, metrics, advisory).gates
    make_advisory(gates, advisory)
    findings = _findings(b, comparison, policy, advisory)
    values = {name: [v for v in b.scores_of(name).values if v is not None] for name in comparison.former}
    return CompareReport(
        *names, b.title, before, after, _deltas(before, after, weakest_match),
        per_query=[
            _compare_query(old, new, matcher, comparison, failing=new.case_id in findings) for old, new in pairs
        ],
        metrics={name: change for name in b.metrics if (change := comparison.metric(name)) is not None},
        incomparable=comparison.incomparable,
        former={n: (mean, sum(values[n]) / len(values[n])) for n, mean in comparison.former.items() if values[n]},
        gates=gates, findings=findings, causes=causes,
        not_comparable=not_comparable,
        only_a=tuple(i for i in a.cases if i not in b.cases), only_b=tuple(i for i in b.cases if i not in a.cases),
        run=b,
    )  # fmt: skip


def _shared_cases(
    a: Run, b: Run, matcher: HitMatcher, names: tuple[str, str]
) -> tuple[list[tuple[CaseResult, CaseResult]], dict[str, NotComparable]]:
    """Return the cases that compare, as they were and as they are, and why others of both do not.

    Raises:
        NotComparableError: no case compares.
    """
    shared = [(a.cases[i], case) for i, case in b.cases.items() if i in a.cases]
    not_comparable = {new.case_id: reason for old, new in shared if (reason := matcher.obstacle(old, new))}
    pairs = [(old, new) for old, new in shared if new.case_id not in not_comparable]
    if not pairs:
        why = f": {WHY_NOT[next(iter(not_comparable.values()))]}" if not_comparable else ""
        raise NotComparableError(f"{names[0]} and {names[1]} share no comparable case{why}")
    return pairs, not_comparable


def _deltas(a: AggregateMetrics, b: AggregateMetrics, match: Match) -> dict[str, Any]:
    before, after = asdict(a), asdict(b)
    changed = {
        DISPLAY_NAMES.get(name, name): _delta(before[name], after[name]) for name in before if before[name] != {}
    }
    return {"chunker_version_match": match, **changed}


def _delta(before: Any, after: Any) -> Any:
    if isinstance(before, dict):
        return {str(k): _delta(v, after[k]) for k, v in before.items() if k in after}
    return None if before is None or after is None else after - before


def _compare_query(
    old: CaseResult, new: CaseResult, matcher: HitMatcher, comparison: Comparison, *, failing: bool
) -> QueryComparison:
    before, after = matcher.rank(old), matcher.rank(new)
    kind, pair = _comparison_kind(before, after), comparison.cases.get(new.case_id)
    note = QueryNote(changed=kind is not ComparisonKind.DRAW)
    if new.state == "error":
        note.flip, note.error = "errored", new.error_line
    elif old.state == "error":
        note.error_before = old.error_line or "raised"
    elif failing:
        note.flip = "newly failing"
    elif pair is not None and pair.flip == "fixed":
        note.flip = "fixed"
    return QueryComparison(new.case_id, kind, before, after, note if note != QueryNote() else None)


def _comparison_kind(before: int | None, after: int | None) -> ComparisonKind:
    if before == after:
        return ComparisonKind.DRAW
    if after is None:
        return ComparisonKind.REGRESSION
    return ComparisonKind.WIN if before is None or after < before else ComparisonKind.LOSS


def _metrics(run: Run) -> dict[str, Metric]:
    """Return the metrics of *run* that this package has, without those a project defines."""
    registry, metrics = Registry(), {}
    for name in run.metrics:
        with suppress(AueporaError):
            metrics[name] = registry.get(name)
    return metrics


def _findings(
    b: Run, comparison: Comparison, policy: RegressionPolicy, advisory: Collection[str]
) -> dict[str, list[Finding]]:
    """Return by case the checks that fail in *b* and held in every answer of the earlier run."""
    out: dict[str, list[Finding]] = {}
    for case_id, case in comparison.cases.items():
        now = b.cases[case_id]
        if case.before is None or not case.paired or now.expected_to_fail:
            continue
        rules = case_rules(now, case, b.metrics, policy, advisory=advisory)
        accepted = accepted_checks(rules, case.before)
        confirmed = {(f.kind, f.metric, f.op) for f in now.findings if f.fails or f.status == "still failing"}
        for key, finding in rules.failing(now.as_answer()).items():
            if accepted.held(key) < accepted.answers or finding.metric in advisory:
                continue
            if now.quarantined() and finding.kind not in ("raised", "timed out"):
                continue
            finding.status = "failed" if key in confirmed else "varies"
            finding.held = finding.accepted = accepted.answers
            score = now.scores.get(finding.metric)
            finding.reason = score.reason if score is not None else now.error_line
            out.setdefault(case_id, []).append(finding)
    return out


def as_baseline(run: Run) -> Baseline:
    """Return *run* as a baseline, its answers as if they were accepted; not rounded, without skipped cases."""
    baseline = Baseline(run.suite, run.variant, provenance=dict(run.provenance))
    baseline.metrics = {n: BaselineMetric(**metric_key(info)) for n, info in run.metrics.items() if info.baselined}
    for case in run.cases.values():
        if case.state != "skipped":
            answers = Answers.of(case.each_answer())
            data = {n: s.data for n, s in case.scores.items() if n in baseline.metrics and s.data is not None}
            baseline.cases[case.case_id] = BaselineCase(
                case.content_hash, len(answers),
                {name: merged(values) for name, values in answers.values.items() if name in baseline.metrics},
                {key: merged(held) for key, held in answers.assertions.items()}, merged(answers.answered),
                dict(case.ranks), match_of(case), data, case.concurrency,
            )  # fmt: skip
    return baseline


def as_run(baseline: Baseline, path: str = "") -> Run:
    """Return *baseline* as a run with the accepted data alone; metrics that are not known count as higher-is-better."""
    registry, steady = Registry(), baseline.steady
    run = Run(baseline.suite, path, baseline.variant, provenance=dict(baseline.provenance))
    for name, key in baseline.metrics.items():
        run.metrics[name] = replace(_accepted_metric(name, key, registry), steady=name in steady)
    run.expected_ids = tuple(baseline.cases)
    for case_id, case in baseline.cases.items():
        result = CaseResult(case_id, content_hash=case.hash, cluster=case_id, ranks=dict(case.ranks))
        result.answers = case.every_answer
        result.repeats, result.state = case.answers, "passed" if any(result.answers.answered) else "error"
        result.assertions = {key: held[0] for key, held in result.answers.assertions.items()}
        for name in case.scores:
            info = run.metrics.get(name)
            centre = case.centre(name, info.worst if info is not None else 0.0)
            result.scores[name] = Score("n/a") if centre is None else Score("number", centre)
        result.findings = [
            Finding("assertion", key, "still failing", accepted=case.answers, asked=case.answers)
            for key in case.assertions
            if not any(case.held(key))
        ]
        if case.match != "exact":
            result.moved = {"match": case.match, "labels": {}}
        run.add([result])
    return run


def _accepted_metric(name: str, stored: BaselineMetric, registry: Registry) -> MetricInfo:
    try:
        info = MetricInfo.of(registry.get(name))
    except AueporaError:
        info = MetricInfo(name, 0, {}, "", "higher", (0.0, 1.0), True, True)
    return replace(info, version=stored.version, params=dict(stored.params))


class HitMatcher:
    """Finds the rank of the first hit of a case in the same way in both runs."""

    def __init__(self, a: Run, b: Run) -> None:
        self.same_chunks = not any(key in provenance_changes(a.provenance, b.provenance) for key in CHUNK_KEYS)
        self.documents = {} if self.same_chunks else _retrieved_documents(a)
        documents_of_b = set() if self.same_chunks else set(_retrieved_documents(b).values())
        shared_documents = documents_of_b.intersection(self.documents.values())
        # one of the runs names chunks only
        self._share_no_document = bool(self.documents and documents_of_b and not shared_documents)
        cases = [(i, c.expected) for run in (a, b) for i, c in run.cases.items() if "relevant" in c.expected]
        # what a moved label was matched by holds for both runs
        self._moved_labels = {
            i: fields for i, fields in cases if any(r.get("match") == "moved" for r in fields["relevant"])
        }
        self._expected = {**dict(cases), **self._moved_labels}

    def match(self, case_id: str) -> Match:
        """Return how hits of the case are identified."""
        if self.same_chunks and case_id not in self._moved_labels:
            return "exact"
        gold = self._labels(case_id)
        return "span" if gold and all(map(self._matches_passage, gold)) else "fallback_doc"

    def _matches_passage(self, label: Mapping[str, Any]) -> bool:
        if label.get("match") == "moved":
            return bool(label.get("ids"))
        return "match" in label or "quote" in label or self.same_chunks

    def rank(self, result: CaseResult) -> int | None:
        """Return the 1-based rank of the first hit, or None."""
        if self.match(result.case_id) != "fallback_doc":
            return first_rank(result)
        documents = {self._label_document(label) for label in self._labels(result.case_id)}
        ranked = enumerate(result.outputs.get("retrieved", ()), 1)
        return next((rank for rank, hit in ranked if document_id(hit) in documents), None)

    def obstacle(self, old: CaseResult, new: CaseResult) -> NotComparable | None:
        """Return why a case does not compare, or its hits cannot be identified in both runs; None if they can."""
        if "skipped" in (old.state, new.state):
            return "skipped"
        if old.content_hash != new.content_hash:
            return "edited"
        if self.match(new.case_id) != "fallback_doc":
            return None
        if any(r.ranks and r.state != "error" and "retrieved" not in r.outputs for r in (old, new)):
            return "documents not stored"
        if self._share_no_document or any(self._label_document(label) is None for label in self._labels(new.case_id)):
            return "documents not named"
        return None

    def _label_document(self, label: Mapping[str, Any]) -> str | None:
        """Return the document of a label: its own, or that of the same chunk in the earlier run."""
        name = str(label.get("id"))
        if "doc" in label or all(chunk == document for chunk, document in self.documents.items()):
            return document_id(label)
        return self.documents.get(name) or (name if name in self.documents.values() else None)

    def _labels(self, case_id: str) -> list[Mapping[str, Any]]:
        labels = self._expected.get(case_id, {}).get("relevant", ())
        return [label for label in labels if label.get("grade", 1) >= 1]


def _retrieved_documents(run: Run) -> dict[str, str]:
    """Return the document of every chunk that *run* retrieved."""
    return {hit["id"]: document_id(hit) for c in run.cases.values() for hit in c.outputs.get("retrieved", ())}
