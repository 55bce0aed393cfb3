"""Compares a run with its baseline, case by case.

Two scores are comparable if metric definition, judge and measuring settings are equal.  Changes of the system (prompt,
model, retriever, corpus) are reported and judged.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from ..base.text import shorten
from ..core.metrics_base import CHUNK_KEYS
from ..core.run import CaseResult, MetricInfo, Run
from .baseline import CONTRACTS, GIT_COMMIT, RESOLUTION, STILL_FAILING, Baseline, BaselineCase, match_of, metric_key
from .determinism import AGAIN

SINCE = "since the baseline"
"""Part of every problem that reports a drop below the baseline, and of no other."""

Flip = Literal["newly failing", "fixed", "still failing", "unchanged", "new", "changed", "errored", "skipped"]

_MAX_CHARS = 40
_FINGERPRINT = re.compile(r"\w+:[0-9a-f]{16}")
_HASHES = re.compile(r": \w+:[0-9a-f]{8}\b[^,]*")
_PASSAGES = ("quote", "span", "doc")


def provenance_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the keys that differ, with both values; the commit is left out, it explains nothing by itself."""
    return {k: pair for k, pair in _differences(before, after).items() if k != GIT_COMMIT}


class Comparability(NamedTuple):
    """Which metrics of a run are comparable with a baseline.

    Attributes:
        incomparable: metrics that were measured differently, each with what changed: ``k 5 → 10``.
        rechunking: what changed in how documents are chunked; empty if nothing did.
        across_chunkers: metrics that may be comparable despite that, each with its ``across_chunkers``.
        provenance: the keys of the provenance that differ, with both values.
    """

    incomparable: Mapping[str, str] = MappingProxyType({})
    rechunking: str = ""
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
    incomparable: dict[str, str] = {}
    across_chunkers: dict[str, str] = {}
    for name, info in run.metrics.items():
        if (old := baseline.metrics.get(name)) is None:
            continue
        new = metric_key(info)
        if why := definition_change(old, new):
            incomparable[name] = why
        elif settings := [key for key in sorted(info.provenance_keys) if key in changed]:
            incomparable[name] = ", ".join(_before_after(key, *changed[key]) for key in settings)
        is_same_otherwise = new.items() <= old.items() and other_changes.isdisjoint(info.provenance_keys)
        if chunk_changes and info.across_chunkers and is_same_otherwise:
            across_chunkers[name] = info.across_chunkers
    rechunking = ", ".join(_before_after(key, *changed[key]) for key in chunk_changes)
    return Comparability(incomparable, rechunking, across_chunkers, changed)


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    keys = sorted({*before, *after})
    return {k: (before.get(k), after.get(k)) for k in keys if before.get(k) != after.get(k)}


def definition_change(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return how two definitions of a metric differ in version and params; empty if they do not."""
    if before.get("version") != after.get("version"):
        return f"metric version {before.get('version')} \u2192 {after.get('version')}"
    return ", ".join(_describe_differences(before.get("params", {}), after.get("params", {})))


def _describe_differences(before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield a text for each difference, also within nested mappings: ``judge model a → b``."""
    for key, (old, new) in _differences(before, after).items():
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _describe_differences(old, new, f"{prefix}{key} ")
        else:
            yield describe_change(f"{prefix}{key}", old, new)


def describe_change(key: str, old: Any, new: Any) -> str:
    """Return ``k 5 → 10``; for prompts, known by version and hash only, ``another prompt: 1:0f… → 1:a3…``."""
    old_hashes, new_hashes = _short_hashes(old), _short_hashes(new)
    if old_hashes and new_hashes:
        return f"another prompt: {old_hashes} \u2192 {new_hashes}"
    return _before_after(key, old, new)


def without_hashes(text: str) -> str:
    """Return the text of a difference without the hashes of prompts: ``another prompt``."""
    return _HASHES.sub("", text)


def _short_hashes(value: Any) -> str:
    """Return the fingerprints of one or more prompts, shortened; empty if *value* is anything else."""
    prints = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) and _FINGERPRINT.fullmatch(text) for text in prints):
        return ""
    return " ".join(text[: text.index(":") + 9] for text in prints)


def _before_after(key: str, old: Any, new: Any) -> str:
    return f"{key} {_value_text(old)} \u2192 {_value_text(new)}"


def _value_text(value: Any) -> str:
    if value is None:
        return "(nothing)"
    return shorten(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str), _MAX_CHARS)


@dataclass(slots=True)
class ScoreChange:
    """One score, before and after.  ``gain`` is signed so that a drop is negative in either direction.

    Not frozen, because that would double the cost of making one; not changed.
    """

    before: float
    after: float
    gain: float
    errored: bool = False


@dataclass(slots=True)
class CaseComparison:
    """One case against its baseline.

    ``flip`` says what happened to its pass/fail state.  ``changes`` has the comparable scores, equal ones included;
    ``lost`` the metrics that were numbers and no longer are, with the reason; ``not_comparable`` says why its retrieval
    metrics are not comparable.
    """

    case_id: str
    flip: Flip
    changes: dict[str, ScoreChange] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    not_comparable: str = ""
    before: BaselineCase | None = None

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
class MetricChange:
    """One metric over *n* comparable cases: means before and after, and the mean signed gain."""

    n: int
    before: float
    after: float
    gain: float
    dropped: tuple[str, ...] = ()


@dataclass(slots=True)
class Comparison:
    """A run against a baseline.

    ``vanished`` are baseline cases that the golden suite no longer has, with the id of a new case of the same content
    where there is one.  ``incomparable`` are metrics with what changed about them, ``former`` their means in the
    baseline.  ``aggregates`` are the changes of metrics whose aggregate is not a mean, see `interval_guard`.
    ``steady`` are the deterministic metrics, ``unsteady`` those that were deterministic until this run.
    """

    cases: dict[str, CaseComparison] = field(default_factory=dict)
    vanished: dict[str, str | None] = field(default_factory=dict)
    incomparable: dict[str, str] = field(default_factory=dict)
    former: dict[str, float] = field(default_factory=dict)
    lost_metrics: tuple[str, ...] = ()
    aggregates: dict[str, MetricChange] = field(default_factory=dict)
    steady: tuple[str, ...] = ()
    unsteady: tuple[str, ...] = ()
    provenance: dict[str, tuple[Any, Any]] = field(default_factory=dict)

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
    varied = {name for case in run.having(AGAIN) for name in case.extra[AGAIN]["varied"]}
    out = Comparison(
        incomparable=dict(comparability.incomparable),
        provenance=dict(comparability.provenance),
        steady=tuple(sorted(baseline.steady - varied)),
        unsteady=tuple(sorted(baseline.steady & varied)),
    )
    out.cases = {
        case_id: compare_case(result, baseline.cases.get(case_id), run.metrics, comparability)
        for case_id, result in run.cases.items()
    }
    _explain_rechunking(out, comparability)
    for name in out.incomparable:  # over the cases that are still the same
        same = [case.before.scores.get(name) for case in out.cases.values() if case.paired and case.before is not None]
        if values := [value for value in same if value is not None]:
            out.former[name] = sum(values) / len(values)
    suite_ids = run.cases if run.is_full else set(run.expected_ids or run.cases)
    new_by_hash = {r.content_hash: i for i, r in run.cases.items() if i not in baseline.cases}
    out.vanished = {i: new_by_hash.get(case.hash) for i, case in baseline.cases.items() if i not in suite_ids}
    out.lost_metrics = tuple(m for m in baseline.metrics if m not in run.metrics)
    return out


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
            out.incomparable.setdefault(name, comparability.rechunking)


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
        out.not_comparable = f"chunker_version_match {before.match} → {match}"
    incomparable = comparability.incomparable_in(result, before)
    for name, old in before.scores.items():
        score, info = result.scores.get(name), metrics.get(name)
        if old is None or score is None or info is None or not info.baselined or name in incomparable:
            continue
        if out.not_comparable and info.target.startswith("RETRIEVAL"):
            continue
        if info.target == "LATENCY" and before.concurrency != result.concurrency:
            continue
        if score.state == "n/a":
            out.lost[name] = score.reason
            continue
        errored = score.state == "error"
        new = info.worst if errored and math.isfinite(info.worst) else score.value
        if new is not None:
            out.changes[name] = ScoreChange(old, new, gain_of(info, old, new), errored)
    return out


def drops_of(result: CaseResult) -> list[str]:
    """Return the problems of *result* that report a drop since the baseline, or an assertion that held there."""
    return [line for line in result.problems if SINCE in line or line.partition(":")[0] in CONTRACTS]


def has_regressed(result: CaseResult) -> bool:
    """Whether *result*, of a comparable case, failed because it is worse than its baseline."""
    return result.state == "failed" and bool(drops_of(result))


def flip_of(before: BaselineCase, result: CaseResult) -> Flip:
    """Return what happened to the state of a comparable case since *before*.

    A case that failed before and now fails because of a new drop is newly failing.
    """
    if result.state == "error":
        return "errored"
    if has_regressed(result):
        return "newly failing"
    if STILL_FAILING in result.extra:
        return "still failing"
    if before.state == "passed":
        return "unchanged" if result.state == "passed" else "newly failing"
    return "fixed" if result.state == "passed" else "still failing"


def gain_of(info: MetricInfo, before: float, after: float) -> float:
    """Return the gain in a metric; 0 if the difference is the file's rounding."""
    gain = info.gain(before, after)
    return 0.0 if abs(gain) <= RESOLUTION else gain
