"""A run beside a baseline, case by case: what compares, what moved, what is new, what is gone, and why.

Two scores of one metric compare where its definition, its judge and the ruler that it is read off are equal: scores
under two rulers say nothing about each other.  What a system is made of (prompt, model, retriever, corpus) is what a
run measures, so a change of it is shown and judged.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from ..core.metrics_base import CHUNK_KEYS
from ..core.run import CaseResult, MetricInfo, Run
from .baseline import GIT_COMMIT, RESOLUTION, Baseline, BaselineCase, match_of, metric_key
from .determinism import AGAIN

SINCE = "since the baseline"
"""In the problems of a case that is worse than its baseline, and in no others."""

Flip = Literal["newly failing", "fixed", "still failing", "unchanged", "new", "changed", "errored", "skipped"]

_MOST = 40
_FINGERPRINT = re.compile(r"\w+:[0-9a-f]{16}")
_HASHES = re.compile(r": \w+:[0-9a-f]{8}\b[^,]*")
_PASSAGES = ("quote", "span", "doc")


def provenance_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return what differs, with both values; the commit does so nearly always and explains nothing by itself."""
    return {k: pair for k, pair in _differences(before, after).items() if k != GIT_COMMIT}


def changed_since(baseline: Baseline, run: Run) -> dict[str, tuple[Any, Any]]:
    """Return what is said of the provenance of *run* otherwise than of the baseline's.

    Nothing for a run that never got to its system, as its fixture failed: nothing is known of what it would have been.
    """
    unknown = run.cases and not run.provenance.keys() - {GIT_COMMIT}
    if unknown and all(case.state in ("error", "skipped") for case in run.cases.values()):
        return {}
    return provenance_changes(baseline.provenance, run.provenance)


class Comparability(NamedTuple):
    """Which metrics of a run compare with a baseline.

    Attributes:
        incomparable: metrics that were measured differently, each with what changed: ``k 5 → 10``.
        recut: how documents are cut otherwise than for the baseline; empty where they are not.
        survives: metrics that may compare even so, each with its ``survives``.
    """

    incomparable: Mapping[str, str] = MappingProxyType({})
    recut: str = ""
    survives: Mapping[str, str] = MappingProxyType({})

    def holds(self, name: str, result: CaseResult, before: BaselineCase) -> bool:
        """Whether metric *name* compares in a case.

        Where documents are cut otherwise, by what its labels are: a quote, a span and a document are found in whatever
        chunks there are.  A label that was found by its id before and is no more was that of a chunk; nobody says to
        which document it belongs.
        """
        if name not in self.survives:
            return name not in self.incomparable
        labels = [label for label in result.expected.get("relevant", ()) if label.get("grade", 1) >= 1]
        if self.survives[name] == "passages":
            return bool(labels) and all(label.get("match") in _PASSAGES for label in labels)
        hits = result.outputs.get("retrieved", ())
        there = {str(hit[key]) for hit in hits for key in ("id", "doc") if key in hit}
        return all(
            "match" in label or "doc" in label or label["id"] in there or before.ranks.get(label["id"]) is None
            for label in labels
        )


_ALL_COMPARE = Comparability()


def comparability_of(run: Run, baseline: Baseline) -> Comparability:
    """Return what of *run* compares with *baseline*; cases are not looked at."""
    moved = changed_since(baseline, run)
    recut = [key for key in moved if key in CHUNK_KEYS]
    incomparable: dict[str, str] = {}
    survives: dict[str, str] = {}
    for name, info in run.metrics.items():
        if (old := baseline.metrics.get(name)) is None:
            continue
        new = metric_key(info)
        if old.get("version") != new["version"]:
            incomparable[name] = f"metric version {old.get('version')} \u2192 {new['version']}"
        elif changed := list(_told(old.get("params", {}), new["params"])):
            incomparable[name] = ", ".join(changed)
        elif others := [key for key in sorted(info.ruler) if key in moved]:
            incomparable[name] = ", ".join(_arrow(key, *moved[key]) for key in others)
        if recut and info.survives and new.items() <= old.items() and not (moved.keys() - recut) & set(info.ruler):
            survives[name] = info.survives
    return Comparability(incomparable, ", ".join(_arrow(key, *moved[key]) for key in recut), survives)


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    keys = sorted({*before, *after})
    return {k: (before.get(k), after.get(k)) for k in keys if before.get(k) != after.get(k)}


def _told(before: Mapping[str, Any], after: Mapping[str, Any], inside: str = "") -> Iterator[str]:
    """Yield what differs between two mappings; of mappings within them what differs there: ``judge model a → b``."""
    for key, (old, new) in _differences(before, after).items():
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _told(old, new, f"{inside}{key} ")
        else:
            yield changed_words(f"{inside}{key}", old, new)


def changed_words(key: str, old: Any, new: Any) -> str:
    """Return ``k 5 → 10``; of prompts, of which only version and hash are known, ``another prompt: 1:0f… → 1:a3…``."""
    if all(map(_are_fingerprints, (old, new))):
        return f"another prompt: {_short_hash(old)} \u2192 {_short_hash(new)}"
    return _arrow(key, old, new)


def without_hashes(told: str) -> str:
    """Return what differs without the hashes of prompts: ``another prompt``."""
    return _HASHES.sub("", told)


def _are_fingerprints(value: Any) -> bool:
    some = value if isinstance(value, list) else [value]
    return bool(some) and all(isinstance(one, str) and _FINGERPRINT.fullmatch(one) for one in some)


def _short_hash(value: Any) -> str:
    return " ".join(one[: one.index(":") + 9] for one in (value if isinstance(value, list) else [value]))


def _arrow(key: str, old: Any, new: Any) -> str:
    return f"{key} {_short(old)} \u2192 {_short(new)}"


def _short(value: Any) -> str:
    if value is None:
        return "(nothing)"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"


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

    ``flip`` says what happened to its pass/fail state.  ``changes`` has the scores that compare, equal
    ones included; ``lost`` the metrics that were numbers and no longer are, with the reason; ``apart`` says why
    its metrics of retrieval do not compare.
    """

    case_id: str
    flip: Flip
    changes: dict[str, ScoreChange] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    apart: str = ""
    before: BaselineCase | None = None

    @property
    def paired(self) -> bool:
        """Whether the case may be compared with its baseline at all."""
        return self.flip not in ("new", "changed", "skipped")

    def note_state(self, result: CaseResult) -> None:
        """Note what happened to the state of the case, now that *result* is judged."""
        if self.before is not None and self.paired:
            self.flip = flip_of(self.before, result)

    @property
    def gains(self) -> list[float]:
        """The gains in all metrics that compare."""
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
    """One metric over the *n* cases that compare: means before and after, and the mean signed gain."""

    n: int
    before: float
    after: float
    gain: float
    dropped: tuple[str, ...] = ()


@dataclass(slots=True)
class Comparison:
    """A run against a baseline.

    ``vanished`` are baseline cases that the golden suite no longer has, with the id of a new case of the same content
    where there is one.  ``incomparable`` are metrics with what changed about them, ``former`` the means that the
    baseline has of these.  ``aggregates`` are the changes of
    metrics whose aggregate is no mean; see `measurements`.  ``steady`` are the metrics that gave the same number
    whenever a case was asked again, ``unsteady`` those that did so until this run.
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

    @property
    def lost(self) -> dict[str, dict[str, str]]:
        """What metrics of which cases were numbers and no longer are, with the reasons."""
        return {i: c.lost for i, c in self.cases.items() if c.lost}

    @property
    def apart(self) -> dict[str, str]:
        """Why the metrics of retrieval of which cases do not compare."""
        return {i: c.apart for i, c in self.cases.items() if c.apart}

    def count(self) -> Counter[str]:
        """How many cases are newly failing, fixed, unchanged, …"""
        return Counter(c.flip for c in self.cases.values())

    def metric(self, name: str) -> MetricChange | None:
        """The change of one metric over the cases that compare; None where none does."""
        return self.aggregates.get(name) or self.metric_of_cases(name)

    def metric_of_cases(self, name: str) -> MetricChange | None:
        """The mean change of the values that single cases have; None where none compares."""
        pairs = self.changes_of(name)
        return change_over(pairs) if pairs else None

    def changes_of(self, name: str) -> Mapping[str, ScoreChange]:
        """The changes of one metric, by case."""
        return {i: c.changes[name] for i, c in self.cases.items() if name in c.changes}


def change_over(pairs: Mapping[str, ScoreChange]) -> MetricChange:
    """Return the means of one metric over some cases, at least one."""
    n = len(pairs)
    return MetricChange(
        n,
        sum([p.before for p in pairs.values()]) / n,
        sum([p.after for p in pairs.values()]) / n,
        sum([p.gain for p in pairs.values()]) / n,
        tuple(sorted([i for i, p in pairs.items() if p.gain < 0], key=lambda i: pairs[i].gain)),
    )


def compare(run: Run, baseline: Baseline) -> Comparison:
    """Pair *run* with *baseline*, case by case."""
    comparability = comparability_of(run, baseline)
    varied = {name for case in run.having(AGAIN) for name in case.extra[AGAIN]["varied"]}
    out = Comparison(
        incomparable=dict(comparability.incomparable),
        provenance=changed_since(baseline, run),
        steady=tuple(sorted(baseline.steady - varied)),
        unsteady=tuple(sorted(baseline.steady & varied)),
    )
    out.cases = {
        case_id: compare_case(result, baseline.cases.get(case_id), run.metrics, comparability)
        for case_id, result in run.cases.items()
    }
    _explain_recut(out, comparability)
    out.former = {name: mean for name in out.incomparable if (mean := _former(out, name)) is not None}
    known = run.cases if run.is_full else set(run.expected_ids or run.cases)
    if vanished := [case_id for case_id in baseline.cases if case_id not in known]:
        by_hash = {r.content_hash: i for i, r in run.cases.items() if i not in baseline.cases}
        out.vanished = {case_id: by_hash.get(baseline.cases[case_id].hash) for case_id in vanished}
    out.lost_metrics = tuple(m for m in baseline.metrics if m not in run.metrics)
    return out


def _explain_recut(out: Comparison, comparability: Comparability) -> None:
    """A metric that compares in some cases does compare, and the other cases say why they do not."""
    for name in comparability.survives:
        was = [c for c in out.cases.values() if c.before is not None and c.before.scores.get(name) is not None]
        without = [c for c in was if c.paired and name not in c.changes]
        if any(name in case.changes for case in was):
            out.incomparable.pop(name, None)
            for case in without:
                case.apart = case.apart or comparability.recut
        elif without:
            out.incomparable.setdefault(name, comparability.recut)


def _former(out: Comparison, name: str) -> float | None:
    """Return the mean that the baseline has of a metric, over the cases that are still the same."""
    before = [case.before.scores.get(name) for case in out.cases.values() if case.paired and case.before is not None]
    values = [value for value in before if value is not None]
    return sum(values) / len(values) if values else None


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
        out.apart = f"chunker_version_match {before.match} → {match}"
    for name, old in before.scores.items():
        score, info = result.scores.get(name), metrics.get(name)
        if old is None or score is None or info is None:
            continue
        if not info.baselined or not comparability.holds(name, result, before):
            continue
        if out.apart and info.target.startswith("RETRIEVAL"):
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
    """Return those problems of *result* that say what fell since the baseline."""
    return [line for line in result.problems if SINCE in line]


def broke(result: CaseResult) -> bool:
    """Whether *result* failed as it is worse than its baseline."""
    return result.state == "failed" and bool(drops_of(result))


def flip_of(before: BaselineCase, result: CaseResult) -> Flip:
    """Return what happened to the state of a case that compares with what it was *before*.

    One that failed before, and now fails as it fell since, is newly failing.
    """
    if result.state == "error":
        return "errored"
    if broke(result):
        return "newly failing"
    if "still_failing" in result.extra:
        return "still failing"
    if before.state == "passed":
        return "unchanged" if result.state == "passed" else "newly failing"
    return "fixed" if result.state == "passed" else "still failing"


def gain_of(info: MetricInfo, before: float, after: float) -> float:
    """Return the gain in a metric; 0 where the difference is the rounding of the file."""
    gain = info.gain(before, after)
    return 0.0 if abs(gain) <= RESOLUTION else gain
