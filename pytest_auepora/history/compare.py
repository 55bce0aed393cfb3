"""Two runs, case by case: who found the right chunk, and earlier; what the metrics did; whether it is worse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from ..core.metrics_base import CHUNK_KEYS, Metric
from ..core.run import CaseResult, Run
from ..errors import AueporaError, NotComparableError
from ..metrics.registry import Registry
from ..regression.compare import SINCE, Comparison, MetricChange
from ..regression.compare import compare as pair
from ..regression.guards.calibration import Standing, hold_back, standing_of
from ..regression.guards.case_guard import guard_case
from ..regression.guards.gates import GateOutcome
from ..regression.guards.interval_guard import score_pairs
from ..regression.guards.suite_guard import judge_comparison
from ..regression.policy import RegressionPolicy
from ..regression.verdict import Word, word_of
from .aggregates import SHOWN_AS, AggregateMetrics, aggregate_of
from .baselines import as_baseline
from .codec import rounded
from .matching import Match, Matcher, changes

_UNTOLD = "no reason is stored"


class ComparisonKind(str, Enum):
    """What became of the first hit of a case."""

    WIN = "Win"
    """Found where it was missed, or further up."""
    LOSS = "Loss"
    """Still found, further down."""
    DRAW = "Draw"
    """The same rank, or missed both times."""
    REGRESSION = "Regression"
    """Missed where it was found."""


@dataclass(slots=True)
class QueryComparison:
    """One case in two runs.  Ranks are 1-based, None for a miss; ``note`` says what may be behind a difference."""

    query_id: str
    kind: ComparisonKind
    a_hit_rank: int | None = None
    b_hit_rank: int | None = None
    note: str | None = None


@dataclass(slots=True)
class CompareReport:
    """Run *b* against run *a*.

    Attributes:
        run_a, run_b: what the two are called.
        title: the suite and configuration of *b*.
        aggregate_a, aggregate_b: over the cases that compare.
        deltas: ``b - a`` of every figure of the aggregates, None where one is undefined, and
            ``chunker_version_match``, which says how hits were found.
        per_query: every case that compares, in the order of *b*.
        metrics: the suite's own metrics over the cases that compare; ``gain`` is negative for a drop.
        incomparable: metrics that were measured differently, with what changed.
        former: their means in both runs all the same, where they have any.
        gates: the suite guard's judgement on each metric.
        problems: what the case guard says, by case.
        causes: what else differs between the two runs: ``chunker_version 3 → 4``.
        not_comparable: cases in both runs that do not compare, and why.
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
        """What *b* is beside *a*: worse, better, same, inconclusive, mixed or not judged."""
        return word_of(self.gates, list(self.problems))

    def count(self) -> Counter[ComparisonKind]:
        """How many cases there are of each kind."""
        return Counter(q.kind for q in self.per_query)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able data, four decimals."""
        counts = self.count()
        return {
            **_rounded(asdict(self)),
            "aggregate_a": self.aggregate_a.to_dict(),
            "aggregate_b": self.aggregate_b.to_dict(),
            "outcome": self.outcome,
            "counts": {kind.value: counts[kind] for kind in ComparisonKind},
        }


def _rounded(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return rounded(value)
    if isinstance(value, dict):
        return {str(k): _rounded(v) for k, v in value.items()}
    return [_rounded(v) for v in value] if isinstance(value, (list, tuple)) else value


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
    """Compare run *b* with the earlier run *a*.

    Args:
        a: what is compared with.
        b: what is asked about.
        names: what to call them.
        strict_chunker_version: refuse where the chunks of the two have different ids, instead of matching passages
            or documents.
        policy: how strictly the metrics are judged; that of a golden file that says nothing by default.
        calibrations: the folder that says which judges' scores count.
        steady: metrics that give the same number whenever a case is asked again, as a baseline knows; where *a* is
            one, it knows itself.

    Raises:
        NotComparableError: they are of different suites, share no case, or are refused.
    """
    matcher, moved = Matcher(a, b), changes(a, b)
    causes = [f"{key} {_short(old)} \u2192 {_short(new)}" for key, (old, new) in moved.items()]
    if a.suite != b.suite:
        raise NotComparableError(f"{names[0]} is a run of {a.suite!r}, {names[1]} of {b.suite!r}")
    if strict_chunker_version and not matcher.same_chunks:
        why = ", ".join(c for c in causes if c.startswith(CHUNK_KEYS))
        raise NotComparableError(f"not comparable: {why} (--strict-chunker-version)")
    shared = [(a.cases[i], case) for i, case in b.cases.items() if i in a.cases]
    apart = {new.case_id: why for old, new in shared if (why := _why_not(old, new, matcher))}
    pairs = [(old, new) for old, new in shared if new.case_id not in apart]
    if not pairs:
        why = f": {next(iter(apart.values()))}" if apart else ""
        raise NotComparableError(f"{names[0]} and {names[1]} share no case that compares{why}")
    for run in (a, b):
        score_pairs(run, _metrics(run))
    comparison = pair(b, as_baseline(a))
    known = {name for name, info in a.metrics.items() if info.steady is not None}
    comparison.steady = tuple(sorted({*comparison.steady, *steady} - (known - {*comparison.steady})))
    ids = {new.case_id for _, new in pairs}
    before, after = (aggregate_of(run, ids, matcher.rank, matcher.documents) for run in (a, b))
    out = CompareReport(*names, b.title, before, after, _deltas(before, after, _match(matcher, ids)))
    out.per_query = [_query(old, new, matcher, comparison, causes) for old, new in pairs]
    out.causes, out.not_comparable = causes, apart
    out.only_a = tuple(i for i in a.cases if i not in b.cases)
    out.only_b = tuple(i for i in b.cases if i not in a.cases)
    policy = policy or RegressionPolicy()
    _judge(out, b, comparison, policy, standing_of(b.metrics, policy, calibrations))
    return out


def _why_not(old: CaseResult, new: CaseResult, matcher: Matcher) -> str:
    if "skipped" in (old.state, new.state):
        return "skipped"
    if old.content_hash != new.content_hash:
        return "the golden case was edited"
    if matcher.blind(old) or matcher.blind(new):
        return "the chunks have new ids, and what was retrieved is not stored"
    if matcher.unknown(new.case_id):
        return "the chunks have new ids, and labels or hits do not say their document: {id: …, doc: …} does"
    return ""


def _match(matcher: Matcher, ids: Iterable[str]) -> Match:
    seen = {matcher.match(i) for i in ids}
    return "fallback_doc" if "fallback_doc" in seen else "span" if "span" in seen else "exact"


def _deltas(a: AggregateMetrics, b: AggregateMetrics, match: Match) -> dict[str, Any]:
    before, after = asdict(a), asdict(b)
    changed = {SHOWN_AS.get(name, name): _delta(before[name], after[name]) for name in before if before[name] != {}}
    return {"chunker_version_match": match, **changed}


def _delta(before: Any, after: Any) -> Any:
    if isinstance(before, dict):
        return {str(k): _delta(v, after[k]) for k, v in before.items() if k in after}
    return None if before is None or after is None else after - before


def _query(
    old: CaseResult, new: CaseResult, matcher: Matcher, comparison: Comparison, causes: list[str]
) -> QueryComparison:
    before, after = matcher.rank(old), matcher.rank(new)
    kind = _kind(before, after)
    said = [_flip(old, new, comparison)]
    if kind is not ComparisonKind.DRAW:
        said += causes
    note = "; ".join(filter(None, said)) or None
    return QueryComparison(new.case_id, kind, before, after, note)


def _kind(before: int | None, after: int | None) -> ComparisonKind:
    if before == after:
        return ComparisonKind.DRAW
    if after is None:
        return ComparisonKind.REGRESSION
    return ComparisonKind.WIN if before is None or after < before else ComparisonKind.LOSS


def _flip(old: CaseResult, new: CaseResult, comparison: Comparison) -> str:
    if new.state == "error":
        return f"errored: {new.error_line or _UNTOLD}"
    if old.state == "error":
        return f"errored in the earlier run: {old.error_line or _UNTOLD}"
    found = comparison.cases.get(new.case_id)
    if found is None or found.flip not in ("newly failing", "fixed"):
        return ""
    return f"{found.flip}: {new.problems[0]}" if new.problems else found.flip


def _metrics(run: Run) -> dict[str, Metric]:
    """Return the metrics of *run* that this package has; those of a project are known to its own runs only."""
    registry, out = Registry(), {}
    for name in run.metrics:
        with suppress(AueporaError):
            out[name] = registry.get(name)
    return out


def _judge(out: CompareReport, b: Run, comparison: Comparison, policy: RegressionPolicy, standing: Standing) -> None:
    out.incomparable = comparison.incomparable
    for name, mean in comparison.former.items():
        if values := [value for value in b.scores_of(name).values if value is not None]:
            out.former[name] = mean, sum(values) / len(values)
    out.gates = judge_comparison(b, comparison, policy, _metrics(b), standing.advisory)
    out.metrics = {n: found for n in b.metrics if (found := comparison.metric(n)) is not None}
    hold_back(out.gates, standing)
    for case_id, case in comparison.cases.items():
        told = guard_case(case, b.metrics, policy, steady=comparison.steady) if case.paired else []
        if case.flip == "errored" and case.before is not None and case.before.state != "error":
            told.append(f"errored: {b.cases[case_id].error_line or _UNTOLD}")
        if told:
            out.problems[case_id] = [line.replace(f" {SINCE}", "") for line in told]


def _short(value: Any) -> str:
    text = "(nothing)" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
