"""Two runs, case by case: who found the right chunk, and earlier; what the metrics did; whether it is worse.

A run serves as a baseline and a baseline as a run, so that any two of them compare in one way.  Hits are told apart by
chunk while both runs cut documents alike, else by what outlasts that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any, Literal

from ..core.metrics_base import CHUNK_KEYS, Metric
from ..core.run import CaseResult, MetricInfo, Run
from ..core.scoring import Score
from ..errors import AueporaError, NotComparableError
from ..metrics.registry import Registry
from ..regression.baseline import Baseline, BaselineCase, match_of, metric_key
from ..regression.compare import SINCE, Comparison, MetricChange, provenance_changes
from ..regression.compare import compare as pair
from ..regression.guards.calibration import Standing, hold_back, standing_of
from ..regression.guards.case_guard import guard_case
from ..regression.guards.gates import GateOutcome
from ..regression.guards.interval_guard import score_pairs
from ..regression.guards.suite_guard import judge_comparison
from ..regression.policy import RegressionPolicy
from ..regression.verdict import Word, word_of
from .aggregates import SHOWN_AS, AggregateMetrics, aggregate_of, document_of, first_rank
from .codec import rounded

Match = Literal["exact", "span", "fallback_doc"]
"""By chunk id; by passages (quotes, spans, documents) that the labels themselves name; by document."""

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
    matcher, moved = Matcher(a, b), provenance_changes(a.provenance, b.provenance)
    causes = [f"{key} {_short(old)} → {_short(new)}" for key, (old, new) in moved.items()]
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


def as_baseline(run: Run) -> Baseline:
    """Return *run* as what another is compared with; unrounded, skipped cases left out."""
    out = Baseline(run.suite, run.variant, provenance=dict(run.provenance))
    out.metrics = {
        name: metric_key(info) | ({"steady": True} if info.steady else {})
        for name, info in run.metrics.items()
        if info.baselined
    }
    for case in run.cases.values():
        if case.state != "skipped":
            scores = {
                name: score.value
                for name, score in case.scores.items()
                if score.state in ("number", "n/a") and name in out.metrics
            }
            varied = {name: case.values(name) for name, value in scores.items() if value is not None}
            data = {n: s.data for n, s in case.scores.items() if n in out.metrics and s.data is not None}
            out.cases[case.case_id] = BaselineCase(
                case.content_hash, case.state, scores, dict(case.ranks), case.repeats, varied, match_of(case), data,
                case.concurrency,
            )  # fmt: skip
    return out


def as_run(baseline: Baseline, path: str = "") -> Run:
    """Return *baseline* as a run of which only what is accepted is known: states, scores, ranks, what is steady.

    A metric that this package does not have counts as one where more is better.
    """
    registry = Registry()
    run = Run(baseline.suite, path, baseline.variant, provenance=dict(baseline.provenance))
    run.metrics = {name: _info(name, key, registry) for name, key in baseline.metrics.items()}
    run.expected_ids = tuple(baseline.cases)
    for case_id, case in baseline.cases.items():
        scores = {n: _score(v) for n, v in case.scores.items()}
        result = CaseResult(case_id, scores=scores, content_hash=case.hash, cluster=case_id, ranks=dict(case.ranks))
        if case.repeats > 1:
            result.extra["repeats"] = {name: case.values(name) for name in case.scores}
        result.state = case.state  # type: ignore[assignment]  # the file was checked
        if case.match != "exact":
            result.extra["labels"] = {"match": case.match, "labels": {}}
        run.add([result])
    return run


def _score(value: float | None) -> Score:
    return Score("n/a", reason="n/a when it was accepted") if value is None else Score("number", value)


def _info(name: str, key: dict[str, Any], registry: Registry) -> MetricInfo:
    try:
        info = MetricInfo.of(registry.get(name))
    except AueporaError:
        info = MetricInfo(name, 0, {}, "", "higher", (0.0, 1.0), True, True)
    return replace(
        info, version=key.get("version", 0), params=dict(key.get("params", {})), steady=bool(key.get("steady"))
    )


class Matcher:
    """Finds the rank of a case's first hit, the same way in both runs."""

    def __init__(self, a: Run, b: Run) -> None:
        self.same_chunks = not any(key in provenance_changes(a.provenance, b.provenance) for key in CHUNK_KEYS)
        self.documents = {} if self.same_chunks else _documents(a)
        self._strangers = not self.same_chunks and _strangers(self.documents, _documents(b))
        cases = [(i, c.expected) for run in (a, b) for i, c in run.cases.items() if "relevant" in c.expected]
        # what a label that moved was matched by holds for both runs
        self._moved = {i: said for i, said in cases if any(r.get("match") == "moved" for r in said["relevant"])}
        self._gold = {**dict(cases), **self._moved}

    def match(self, case_id: str) -> Match:
        """Return how hits of the case are found."""
        if self.same_chunks and case_id not in self._moved:
            return "exact"
        gold = self._relevant(case_id)
        return "span" if gold and all(map(self._by_passage, gold)) else "fallback_doc"

    def _by_passage(self, label: Mapping[str, Any]) -> bool:
        if label.get("match") == "moved":
            return bool(label.get("ids"))
        return "match" in label or "quote" in label or self.same_chunks

    def rank(self, result: CaseResult) -> int | None:
        """Return the 1-based rank of the first hit, or None."""
        if self.match(result.case_id) != "fallback_doc":
            return first_rank(result)
        wanted = {self._document(label) for label in self._relevant(result.case_id)}
        ranked = enumerate(result.outputs.get("retrieved", ()), 1)
        return next((rank for rank, hit in ranked if document_of(hit) in wanted), None)

    def blind(self, result: CaseResult) -> bool:
        """Whether the hits of *result* cannot be told, as what it retrieved is not stored."""
        needs = self.match(result.case_id) == "fallback_doc" and bool(result.ranks)
        return needs and result.state != "error" and "retrieved" not in result.outputs

    def unknown(self, case_id: str) -> bool:
        """Whether hits are told by document, and nobody says to which documents labels or hits belong."""
        if self.match(case_id) != "fallback_doc":
            return False
        return self._strangers or any(self._document(label) is None for label in self._relevant(case_id))

    def _document(self, label: Mapping[str, Any]) -> str | None:
        """Return the document of a label: as it says, or as the hits of the earlier run do."""
        name = str(label.get("id"))
        if "doc" in label or all(chunk == document for chunk, document in self.documents.items()):
            return document_of(label)
        return self.documents.get(name) or (name if name in self.documents.values() else None)

    def _relevant(self, case_id: str) -> list[Mapping[str, Any]]:
        labels = self._gold.get(case_id, {}).get("relevant", ())
        return [label for label in labels if label.get("grade", 1) >= 1]


def _strangers(a: Mapping[str, str], b: Mapping[str, str]) -> bool:
    """Whether two runs returned chunks, and no document of the one is known to the other: one names chunks only."""
    return bool(a and b) and set(a.values()).isdisjoint(b.values())


def _documents(run: Run) -> dict[str, str]:
    """Return the document of every chunk that *run* retrieved."""
    return {hit["id"]: document_of(hit) for c in run.cases.values() for hit in c.outputs.get("retrieved", ())}
