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

from ..core.metrics_base import CHUNK_KEYS, Metric
from ..core.run import CaseResult, MetricInfo, Run
from ..core.scoring import Score
from ..errors import AueporaError, NotComparableError
from ..metrics.registry import Registry
from ..regression.baseline import CONTRACTS, Baseline, BaselineCase, match_of, metric_key
from ..regression.compare import SINCE, Comparison, MetricChange, describe_change, provenance_changes
from ..regression.compare import compare as compare_with_baseline
from ..regression.guards.calibration import make_advisory, standing_of
from ..regression.guards.case_guard import VARIES, failed_assertions, guard_case
from ..regression.guards.gates import GateOutcome
from ..regression.guards.interval_guard import score_pairs
from ..regression.guards.suite_guard import judge_comparison
from ..regression.policy import RegressionPolicy
from ..regression.verdict import Word, word_of
from .aggregates import DISPLAY_NAMES, AggregateMetrics, compute_aggregate, document_id, first_rank, storable

Match = Literal["exact", "span", "fallback_doc"]
"""By chunk id; by passages (quotes, spans, documents) that the labels themselves name; by document."""

_NO_REASON = "no reason is stored"


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
class QueryComparison:
    """One case in two runs.  Ranks are 1-based, None for a miss; ``note`` names possible causes."""

    query_id: str
    kind: ComparisonKind
    a_hit_rank: int | None = None
    b_hit_rank: int | None = None
    note: str | None = None


@dataclass(slots=True)
class CompareReport:
    """Run *b* against run *a*.

    Attributes:
        run_a, run_b: names of the two runs.
        title: the suite and configuration of *b*.
        aggregate_a, aggregate_b: over the comparable cases.
        deltas: ``b - a`` of every figure of the aggregates, None where one is undefined, and
            ``chunker_version_match``, which says how hits were identified.
        per_query: every comparable case, in the order of *b*.
        metrics: the metrics of the suite over the comparable cases; ``gain`` is negative for a drop.
        incomparable: metrics that were measured differently, with what changed.
        former: the means of those in both runs, where they have any.
        gates: the outcome of the suite guard for each metric.
        problems: messages of the case guard, by case.
        causes: differences of provenance: ``chunker_version 3 → 4``.
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
    incomparable: dict[str, str] = field(default_factory=dict)
    former: dict[str, tuple[float, float]] = field(default_factory=dict)
    gates: list[GateOutcome] = field(default_factory=list)
    problems: dict[str, list[str]] = field(default_factory=dict)
    causes: list[str] = field(default_factory=list)
    not_comparable: dict[str, str] = field(default_factory=dict)
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()

    @property
    def outcome(self) -> Word:
        """*b* compared with *a*: worse, better, same, inconclusive, mixed or not judged."""
        return word_of(self.gates, list(self.problems))

    def count(self) -> Counter[ComparisonKind]:
        """How many cases there are of each kind."""
        return Counter(q.kind for q in self.per_query)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able data, four decimals."""
        counts = self.count()
        return {
            **storable(asdict(self)),
            "aggregate_a": self.aggregate_a.to_dict(),
            "aggregate_b": self.aggregate_b.to_dict(),
            "outcome": self.outcome,
            "counts": {kind.value: counts[kind] for kind in ComparisonKind},
        }


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
    causes = [describe_change(key, old, new) for key, (old, new) in changes.items()]
    if a.suite != b.suite:
        raise NotComparableError(f"{names[0]} is a run of {a.suite!r}, {names[1]} of {b.suite!r}")
    if strict_chunker_version and not matcher.same_chunks:
        reason = ", ".join(c for c in causes if c.startswith(CHUNK_KEYS))
        raise NotComparableError(f"not comparable: {reason} (--strict-chunker-version)")
    shared = [(a.cases[i], case) for i, case in b.cases.items() if i in a.cases]
    not_comparable = {new.case_id: reason for old, new in shared if (reason := _exclusion_reason(old, new, matcher))}
    pairs = [(old, new) for old, new in shared if new.case_id not in not_comparable]
    if not pairs:
        reason = f": {next(iter(not_comparable.values()))}" if not_comparable else ""
        raise NotComparableError(f"{names[0]} and {names[1]} share no comparable case{reason}")
    score_pairs(a, _metrics(a))
    score_pairs(b, metrics := _metrics(b))
    comparison = compare_with_baseline(b, as_baseline(a))
    not_known = {name for name in steady if name not in a.metrics or a.metrics[name].steady is None}
    comparison.steady = tuple(sorted({*comparison.steady, *not_known}))
    ids = {new.case_id for _, new in pairs}
    before, after = (compute_aggregate(run, ids, matcher.rank, matcher.documents) for run in (a, b))
    weakest_match = max((matcher.match(i) for i in ids), key=get_args(Match).index)
    policy = policy or RegressionPolicy()
    standing = standing_of(b.metrics, policy, calibrations)
    gates = judge_comparison(b, comparison, policy, metrics, standing.advisory)
    make_advisory(gates, standing)
    values = {name: [v for v in b.scores_of(name).values if v is not None] for name in comparison.former}
    return CompareReport(
        *names, b.title, before, after, _deltas(before, after, weakest_match),
        per_query=[_compare_query(old, new, matcher, comparison, causes) for old, new in pairs],
        metrics={name: change for name in b.metrics if (change := comparison.metric(name)) is not None},
        incomparable=comparison.incomparable,
        former={n: (mean, sum(values[n]) / len(values[n])) for n, mean in comparison.former.items() if values[n]},
        gates=gates, problems=_problems(b, comparison, policy), causes=causes, not_comparable=not_comparable,
        only_a=tuple(i for i in a.cases if i not in b.cases), only_b=tuple(i for i in b.cases if i not in a.cases),
    )  # fmt: skip


def _exclusion_reason(old: CaseResult, new: CaseResult, matcher: HitMatcher) -> str:
    if "skipped" in (old.state, new.state):
        return "skipped"
    if old.content_hash != new.content_hash:
        return "the golden case was edited"
    return matcher.obstacle(old, new)


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
    old: CaseResult, new: CaseResult, matcher: HitMatcher, comparison: Comparison, causes: list[str]
) -> QueryComparison:
    before, after = matcher.rank(old), matcher.rank(new)
    kind = _comparison_kind(before, after)
    notes = [_flip_note(old, new, comparison), *(causes if kind is not ComparisonKind.DRAW else ())]
    return QueryComparison(new.case_id, kind, before, after, "; ".join(filter(None, notes)) or None)


def _comparison_kind(before: int | None, after: int | None) -> ComparisonKind:
    if before == after:
        return ComparisonKind.DRAW
    if after is None:
        return ComparisonKind.REGRESSION
    return ComparisonKind.WIN if before is None or after < before else ComparisonKind.LOSS


def _flip_note(old: CaseResult, new: CaseResult, comparison: Comparison) -> str:
    if new.state == "error":
        return f"errored: {new.error_line or _NO_REASON}"
    if old.state == "error":
        return f"errored in the earlier run: {old.error_line or _NO_REASON}"
    pair = comparison.cases.get(new.case_id)
    if pair is None or pair.flip not in ("newly failing", "fixed"):
        return ""
    return f"{pair.flip}: {new.problems[0]}" if new.problems else pair.flip


def _metrics(run: Run) -> dict[str, Metric]:
    """Return the metrics of *run* that this package has, without those a project defines."""
    registry, metrics = Registry(), {}
    for name in run.metrics:
        with suppress(AueporaError):
            metrics[name] = registry.get(name)
    return metrics


def _problems(b: Run, comparison: Comparison, policy: RegressionPolicy) -> dict[str, list[str]]:
    """Return by case what the case guard says: scores that fell, assertions that no longer hold, new errors."""
    problems = {}
    for case_id, case in comparison.cases.items():
        now, before = b.cases[case_id], case.before
        if before is None or not case.paired or now.expected_to_fail:
            continue
        messages: list[str] = []
        if not now.quarantined() and VARIES not in now.extra:  # it did not pass when it was asked again
            always = "must_pass" in now.extra
            messages += guard_case(case, b.metrics, policy, steady=comparison.steady, always=always)
            if policy.assertions == "fail":
                failed = failed_assertions(now, now.extra.get("thresholds", ()))
                messages += [line for name, line in failed.items() if before.scores.get(name) != 0]
        if case.flip == "errored" and before.state != "error":
            messages.append(f"errored: {now.error_line or _NO_REASON}")
        if messages:
            problems[case_id] = [line.replace(f" {SINCE}", "") for line in messages]
    return problems


def as_baseline(run: Run) -> Baseline:
    """Return *run* as a baseline; not rounded, without skipped cases."""
    baseline = Baseline(run.suite, run.variant, provenance=dict(run.provenance))
    baseline.metrics = {
        name: metric_key(info) | ({"steady": True} if info.steady else {})
        for name, info in run.metrics.items()
        if info.baselined
    }
    for case in run.cases.values():
        if case.state != "skipped":
            scores = {
                name: score.value
                for name, score in case.scores.items()
                if score.state in ("number", "n/a")
                if name in baseline.metrics or (name in CONTRACTS and score.value == 0)
            }
            repeated = {name: case.values(name) for name, value in scores.items() if value is not None}
            data = {n: s.data for n, s in case.scores.items() if n in baseline.metrics and s.data is not None}
            baseline.cases[case.case_id] = BaselineCase(
                case.content_hash, case.state, scores, dict(case.ranks), case.repeats, repeated, match_of(case), data,
                case.concurrency,
            )  # fmt: skip
    return baseline


def as_run(baseline: Baseline, path: str = "") -> Run:
    """Return *baseline* as a run with the accepted data alone; metrics that are not known count as higher-is-better."""
    registry = Registry()
    run = Run(baseline.suite, path, baseline.variant, provenance=dict(baseline.provenance))
    run.metrics = {name: _accepted_metric(name, key, registry) for name, key in baseline.metrics.items()}
    run.expected_ids = tuple(baseline.cases)
    for case_id, case in baseline.cases.items():
        scores = {
            name: Score("n/a", reason="n/a when it was accepted") if value is None else Score("number", value)
            for name, value in case.scores.items()
        }
        result = CaseResult(case_id, scores=scores, content_hash=case.hash, cluster=case_id, ranks=dict(case.ranks))
        if case.repeats > 1:
            result.extra["repeats"] = {name: case.values(name) for name in case.scores}
        result.state = case.state  # type: ignore[assignment]  # the file was checked
        if case.match != "exact":
            result.extra["labels"] = {"match": case.match, "labels": {}}
        run.add([result])
    return run


def _accepted_metric(name: str, key: dict[str, Any], registry: Registry) -> MetricInfo:
    try:
        info = MetricInfo.of(registry.get(name))
    except AueporaError:
        info = MetricInfo(name, 0, {}, "", "higher", (0.0, 1.0), True, True)
    return replace(
        info, version=key.get("version", 0), params=dict(key.get("params", {})), steady=bool(key.get("steady"))
    )


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

    def obstacle(self, old: CaseResult, new: CaseResult) -> str:
        """Return why the hits of a case cannot be identified in both runs; an empty string if they can."""
        if self.match(new.case_id) != "fallback_doc":
            return ""
        if any(r.ranks and r.state != "error" and "retrieved" not in r.outputs for r in (old, new)):
            return "the chunks have new ids, and what was retrieved is not stored"
        if self._share_no_document or any(self._label_document(label) is None for label in self._labels(new.case_id)):
            return "the chunks have new ids, and labels or hits do not say their document: {id: …, doc: …} does"
        return ""

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
