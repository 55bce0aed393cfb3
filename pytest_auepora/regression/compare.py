"""Compares a run with its baseline, case by case.

Two scores are comparable if metric definition, judge and measuring settings are equal.  Changes of the system (prompt,
model, retriever, corpus) are reported and judged.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from ..base.records import Record
from ..core.metrics_base import CHUNK_KEYS
from ..core.run import CaseResult, MetricInfo, Run
from .baseline import GIT_COMMIT, Baseline, BaselineCase, match_of, metric_key
from .thresholds import Bound

Flip = Literal["newly failing", "fixed", "still failing", "unchanged", "new", "changed", "errored", "skipped"]

_PASSAGES = ("quote", "span", "doc")


class Change(NamedTuple):
    """One setting or key of the provenance that differs."""

    key: str
    before: Any
    after: Any


@dataclass(slots=True)
class Incomparable(Record):
    """Why a metric does not compare with its baseline."""

    reason: Literal["changed", "not stored", "damaged"] = "changed"
    """Another definition or provenance; the baseline lacks what it is computed from; that is damaged."""
    changes: tuple[Change, ...] = ()
    """What differs."""
    detail: str = ""
    """What is wrong with damaged data."""


def provenance_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the keys that differ, with both values; the commit is left out, it explains nothing by itself."""
    return {k: pair for k, pair in _differences(before, after).items() if k != GIT_COMMIT}


class Comparability(NamedTuple):
    """Which metrics of a run are comparable with a baseline.

    Attributes:
        incomparable: metrics that were measured differently, each with what changed.
        rechunking: what changed in how documents are chunked; empty if nothing did.
        across_chunkers: metrics that may be comparable despite that, each with its ``across_chunkers``.
        provenance: the keys of the provenance that differ, with both values.
    """

    incomparable: Mapping[str, Incomparable] = MappingProxyType({})
    rechunking: tuple[Change, ...] = ()
    across_chunkers: Mapping[str, str] = MappingProxyType({})
    provenance: Mapping[str, tuple[Any, Any]] = MappingProxyType({})

    def incomparable_in(self, result: CaseResult, before: BaselineCase) -> Collection[str]:
        """Return the metrics that are not comparable in a case.

        After a change of chunking, that depends on the labels: quotes, spans and documents are found in any chunks.
        A label whose id was found before and is gone was the id of a chunk; its document is unknown.
        """
        if not self.across_chunkers:
            return self.incomparable
        labels = [label for label in result.expected.get("relevant", ()) if label.get("grade", 1) >= 1]
        hits = result.outputs.get("retrieved", ())
        found_ids = {str(hit[key]) for hit in hits for key in ("id", "doc") if key in hit}
        is_known = {
            "passages": bool(labels) and all(label.get("match") in _PASSAGES for label in labels),
            "documents": all(
                "match" in label or "doc" in label or label["id"] in found_ids or before.ranks.get(label["id"]) is None
                for label in labels
            ),
        }
        unknown = {name for name, kind in self.across_chunkers.items() if not is_known[kind]}
        return unknown | (self.incomparable.keys() - self.across_chunkers)


_ALL_COMPARE = Comparability()


def comparability_of(run: Run, baseline: Baseline) -> Comparability:
    """Return which metrics of *run* are comparable with *baseline*; cases are not looked at."""
    changed = provenance_changes(baseline.provenance, run.provenance)
    is_known = not run.cases or run.provenance.keys() - {GIT_COMMIT}
    if not is_known and all(case.state in ("error", "skipped") for case in run.cases.values()):
        changed = {}  # the system's fixture failed, so the provenance of the run is unknown
    chunk_changes = [key for key in changed if key in CHUNK_KEYS]
    other_changes = changed.keys() - chunk_changes
    incomparable: dict[str, Incomparable] = {}
    across_chunkers: dict[str, str] = {}
    for name, info in run.metrics.items():
        if name not in baseline.metrics:
            continue
        old, new = baseline.metrics[name].key, metric_key(info)
        settings = [Change(key, *changed[key]) for key in sorted(info.provenance_keys) if key in changed]
        if differences := definition_changes(old, new) or settings:
            incomparable[name] = Incomparable(changes=tuple(differences))
        is_same_otherwise = new == old and other_changes.isdisjoint(info.provenance_keys)
        if chunk_changes and info.across_chunkers and is_same_otherwise:
            across_chunkers[name] = info.across_chunkers
    rechunking = tuple(Change(key, *changed[key]) for key in chunk_changes)
    return Comparability(incomparable, rechunking, across_chunkers, changed)


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    keys = sorted({*before, *after})
    return {k: (before.get(k), after.get(k)) for k in keys if before.get(k) != after.get(k)}


def definition_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Return how two definitions of a metric differ in version, else in params; empty if they do not."""
    if before.get("version") != after.get("version"):
        return [Change("metric version", before.get("version"), after.get("version"))]
    return [*_nested_changes(before.get("params", {}), after.get("params", {}))]


def _nested_changes(before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = "") -> Iterator[Change]:
    """Yield each difference, also within nested mappings: ``judge model``."""
    for key, (old, new) in _differences(before, after).items():
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _nested_changes(old, new, f"{prefix}{key} ")
        else:
            yield Change(f"{prefix}{key}", old, new)


@dataclass(slots=True)
class ScoreChange(Record):
    """One score, before and after.  ``gain`` is signed so that a drop is negative in either direction.

    Not frozen, because that would double the cost of making one; not changed.
    """

    before: float
    """The centre of the accepted answers."""
    after: float
    """Today's value."""
    gain: float
    """Negative where the score got worse, whichever direction is better."""
    errored: bool = False
    """Whether it errored today, and counts as the worst value."""


@dataclass(slots=True)
class CaseComparison(Record):
    """One case against its baseline."""

    case_id: str
    """Its id."""
    flip: Flip
    """What happened to its checks."""
    changes: dict[str, ScoreChange] = field(default_factory=dict)
    """The comparable scores, equal ones included."""
    lost: dict[str, str] = field(default_factory=dict)
    """Metrics of which every accepted answer had a number and today's has none, with the reason."""
    not_comparable: tuple[Change, ...] = ()
    """What keeps its retrieval metrics from being compared."""
    before: BaselineCase | None = None
    """What was accepted; null for a new case."""
    incomparable: list[str] = field(default_factory=list)
    """All metrics that do not compare in this case."""

    @property
    def paired(self) -> bool:
        """Whether the case may be compared with its baseline at all."""
        return self.flip not in ("new", "changed", "skipped")

    def note_state(self, result: CaseResult) -> None:
        """Update ``flip``, now that *result* is judged."""
        if self.before is not None and self.paired:
            self.flip = flip_of(self.before, result)

    @property
    def gains(self) -> list[float]:
        """The gains in all comparable metrics."""
        return [change.gain for change in self.changes.values()]

    @property
    def worst(self) -> float:
        """The largest drop (negative), or 0."""
        return min([0.0, *self.gains])

    @property
    def best(self) -> float:
        """The largest gain, or 0."""
        return max([0.0, *self.gains])


@dataclass(frozen=True, slots=True)
class MetricChange(Record):
    """One metric over the comparable cases."""

    n: int
    """Comparable cases."""
    before: float
    """The mean of what was accepted."""
    after: float
    """Today's mean."""
    gain: float
    """The mean gain; negative for a loss, whichever direction is better."""
    dropped: tuple[str, ...] = ()
    """The cases that lost, worst first."""


@dataclass(slots=True)
class Comparison(Record):
    """A run against a baseline."""

    cases: dict[str, CaseComparison] = field(default_factory=dict)
    """By id."""
    vanished: dict[str, str | None] = field(default_factory=dict)
    """Baseline cases that the golden suite no longer has, with the id of a new case of the same content."""
    incomparable: dict[str, Incomparable] = field(default_factory=dict)
    """Metrics that do not compare, and why."""
    former: dict[str, float] = field(default_factory=dict)
    """Their means in the baseline."""
    lost_metrics: tuple[str, ...] = ()
    """Metrics of the baseline that were not measured."""
    aggregates: dict[str, MetricChange] = field(default_factory=dict)
    """Changes of metrics whose aggregate is not a mean."""
    steady: tuple[str, ...] = ()
    """Metrics of which accepted answers never differed."""
    unsteady: tuple[str, ...] = ()
    """Those of them that differ in this run."""
    provenance: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    """What differs of the system, before and after."""
    pass_rate: dict[str, ScoreChange] = field(default_factory=dict)
    """By case, the share of answers that hold all checks."""
    has_number: dict[str, dict[str, ScoreChange]] = field(default_factory=dict)
    """By metric and case, the share of answers with a number."""
    varied: int = 0
    """Checks that held in some accepted answers, not in all."""

    def metric(self, name: str) -> MetricChange | None:
        """The change of one metric over the comparable cases; None if there are none."""
        if (aggregate := self.aggregates.get(name)) is not None:
            return aggregate
        return mean_change(changes) if (changes := self.changes_of(name)) else None

    def changes_of(self, name: str) -> Mapping[str, ScoreChange]:
        """The changes of one metric, by case."""
        return {i: c.changes[name] for i, c in self.cases.items() if name in c.changes}


def mean_change(changes: Mapping[str, ScoreChange]) -> MetricChange:
    """Return the means of one metric over one or more cases, and the cases that dropped, worst first."""
    n, values = len(changes), changes.values()
    before, after = sum([change.before for change in values]) / n, sum([change.after for change in values]) / n
    dropped = sorted([i for i, change in changes.items() if change.gain < 0], key=lambda i: changes[i].gain)
    return MetricChange(n, before, after, sum([change.gain for change in values]) / n, tuple(dropped))


def compare(run: Run, baseline: Baseline) -> Comparison:
    """Pair *run* with *baseline*, case by case."""
    comparability = comparability_of(run, baseline)
    steady, varied_now = baseline.steady, _varied_now(run)
    out = Comparison(
        incomparable=dict(comparability.incomparable),
        provenance=dict(comparability.provenance),
        steady=tuple(sorted(steady - varied_now)),
        unsteady=tuple(sorted(steady & varied_now)),
    )
    out.cases = {
        case_id: compare_case(result, baseline.cases.get(case_id), run.metrics, comparability)
        for case_id, result in run.cases.items()
    }
    _explain_rechunking(out, comparability)
    for name in out.incomparable:  # over the cases that are still the same
        same = [case.before for case in out.cases.values() if case.paired and case.before is not None]
        worst = run.metrics[name].worst
        if values := [centre for before in same if (centre := before.centre(name, worst)) is not None]:
            out.former[name] = sum(values) / len(values)
    suite_ids = run.cases if run.is_full else set(run.expected_ids or run.cases)
    new_by_hash = {r.content_hash: i for i, r in run.cases.items() if i not in baseline.cases}
    out.vanished = {i: new_by_hash.get(case.hash) for i, case in baseline.cases.items() if i not in suite_ids}
    out.lost_metrics = tuple(m for m in baseline.metrics if m not in run.metrics)
    return out


def _varied_now(run: Run) -> set[str]:
    """Return the metrics of which answers of *run* to one case differ by more than the rounding of a baseline."""
    return {
        name
        for case in run.cases.values()
        if case.answers is not None
        for name, values in case.answers.values.items()
        if len({v if isinstance(v, str) or v is None else round(v, run.metrics[name].decimals) for v in values}) > 1
    }


def _explain_rechunking(out: Comparison, comparability: Comparability) -> None:
    """Keep metrics that are comparable in some cases, and say in the other cases why they are not."""
    for name in comparability.across_chunkers:
        scored = [c for c in out.cases.values() if c.before is not None and c.before.scores.get(name) is not None]
        unmatched = [c for c in scored if c.paired and name not in c.changes]
        if any(name in case.changes for case in scored):
            out.incomparable.pop(name, None)
            for case in unmatched:
                case.not_comparable = case.not_comparable or comparability.rechunking
        elif unmatched:
            out.incomparable.setdefault(name, Incomparable(changes=comparability.rechunking))


def compare_case(
    result: CaseResult,
    before: BaselineCase | None,
    metrics: Mapping[str, MetricInfo],
    comparability: Comparability = _ALL_COMPARE,
) -> CaseComparison:
    """Pair one case with its baseline block, if it has one."""
    if result.state == "skipped":
        return CaseComparison(result.case_id, "skipped", before=before)
    if before is None:
        return CaseComparison(result.case_id, "new")
    if before.hash != result.content_hash:
        return CaseComparison(result.case_id, "changed", before=before)
    out = CaseComparison(result.case_id, flip_of(before, result), before=before)
    if result.state != "error" and before.match != (match := match_of(result)):
        out.not_comparable = (Change("chunker_version_match", before.match, match),)
    incomparable = comparability.incomparable_in(result, before)
    for name, stored in before.scores.items():
        score, info = result.scores.get(name), metrics.get(name)
        if score is None or info is None or not info.baselined:
            continue
        moved = bool(out.not_comparable) and info.target.startswith("RETRIEVAL")
        is_timed_otherwise = info.target == "LATENCY" and before.concurrency != result.concurrency
        if name in incomparable or moved or is_timed_otherwise:
            out.incomparable.append(name)
            continue
        if stored is None:
            continue
        if score.state == "n/a":
            if not (isinstance(stored, list) and None in stored):
                out.lost[name] = score.reason
            continue
        errored = score.state == "error"
        old, new = before.centre(name, info.worst), info.worst if errored else score.value
        if old is not None and new is not None and math.isfinite(old) and math.isfinite(new):
            out.changes[name] = ScoreChange(old, new, gain_of(info, old, new), errored)
    return out


def flip_of(before: BaselineCase, result: CaseResult) -> Flip:
    """Return what happened to the checks of a comparable case since *before*."""
    if result.state == "error":
        return "errored"
    if any(finding.is_worse for finding in result.findings):
        return "newly failing"
    if result.state == "failed" or result.with_status("still failing"):
        return "still failing"
    return "fixed" if _failed_before(before, result) else "unchanged"


def _failed_before(before: BaselineCase, result: CaseResult) -> bool:
    """Whether a check that holds now failed in all accepted answers."""
    if any(held is False for held in before.assertions.values()):
        return True
    for name, bounds in result.thresholds.items():
        numbers = [value for value in before.values(name) if isinstance(value, (int, float))]
        if numbers and any(not any(Bound(*bound).holds(number) for number in numbers) for bound in bounds):
            return True
    return False


def gain_of(info: MetricInfo, before: float, after: float) -> float:
    """Return the gain in a metric; 0 if the difference is the file's rounding."""
    gain = info.gain(before, after)
    return 0.0 if abs(gain) <= info.resolution else gain
