"""Suite gates: the outcome of a judgement, and the thresholds of a suite."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Literal

from ...base.text import without_case
from ...core.metrics_base import Metric, nearest_rank
from ...core.run import CaseResult, Run
from ...core.scoring import ScoreList, aggregate
from ..compare import MetricChange
from ..policy import RegressionPolicy
from ..statistics.precision import cases_words
from ..statistics.significance import Outcome
from ..thresholds import PSEUDO_METRICS, Bound, Gate

GateKind = Literal["threshold", "regression", "coverage", "baseline", "calibration", "anchor"]
GateState = Literal["passed", "failed", "inconclusive", "not judged", "advisory"]
GateWord = Literal["", Outcome]
REGRESSION = "regression: "
"""Prefix of the title of an outcome against the baseline; its part follows."""


@dataclass(slots=True)
class GateOutcome:
    """One judgement on a whole suite, and the sentence that explains it.

    The state of a judge that is not calibrated is ``advisory``; ``would_be`` is then the state without that.
    """

    title: str
    kind: GateKind
    state: GateState
    message: str
    metric: str = ""
    value: float | None = None
    bound: str = ""
    n: int = 0
    total: int = 0
    owner: str = ""
    line: int = 0
    p: float | None = None
    """One-sided p-value of the drop, not corrected for other metrics; None if not tested."""
    worst_cases: tuple[str, ...] = ()
    """Ids of the cases that lost most, worst first."""
    before: float | None = None
    """The value of the earlier run that ``value`` is compared with."""
    would_be: str = ""
    mde: float | None = None
    """Minimum detectable drop (80 % power); if no case differs, for a typical spread of scores."""
    warning: str = ""
    """Says so if ``mde`` exceeds the margin."""
    n_worse: int = 0
    n_better: int = 0
    """How many cases went down and up, if tested."""
    word: GateWord = ""
    """Against a baseline: worse, better, same or inconclusive; else empty."""
    part: str = ""
    """The metric, slice or statistic that is judged, as lists name it; else the title."""
    subject: str = ""
    """Prefix of the message if it names the part: ``mrr `` or ``mrr: ``."""
    finding: str = ""
    """The message of a failure without its arithmetic; empty if it has none."""
    brief: str = ""
    """The message without the numbers that a table shows, or without why a judge cannot fail the run."""

    def __post_init__(self) -> None:
        """Use the title if there is no part."""
        self.part = self.part or self.title

    @property
    def reason(self) -> str:
        """The message without its ``subject``."""
        return self.message.removeprefix(self.subject)

    @property
    def costliest(self) -> tuple[str, ...]:
        """Up to five worst_cases, except those of coverage: its message names them, and they cost nothing."""
        return () if self.kind == "coverage" else self.worst_cases[:5]

    def set_message(self, reason: str, subject: str = "") -> None:
        """Set the message to *subject*, which names the part or is empty, and *reason*."""
        self.message, self.subject = subject + reason, subject

    @property
    def is_of_whole(self) -> bool:
        """Whether it compares a metric over the whole suite with the baseline."""
        return self.kind == "regression" and self.part == self.metric

    @property
    def is_of_slice(self) -> bool:
        """Whether it compares a slice with the baseline."""
        return self.kind == "regression" and not self.is_of_whole


def regression_outcome(
    run: Run, part: str, metric: str, shown: MetricChange | None = None, *, n: int = 0, dropped: Sequence[str] = ()
) -> GateOutcome:
    """Create the outcome of a metric or a slice of it, over *n* cases of which some *dropped*, worst first."""
    before, after = (shown.before, shown.after) if shown is not None else (None, None)
    return GateOutcome(
        f"{REGRESSION}{part}", "regression", "passed", "", metric, after, n=n, total=len(run.cases),
        owner=run.owner_of(metric), worst_cases=tuple(dropped[:5]), before=before, part=part,
    )  # fmt: skip


def apply_outcome(gate: GateOutcome, outcome: Outcome, policy: RegressionPolicy) -> None:
    """Set state and word of *gate* by the *outcome* of its test; the policy says what an inconclusive one does."""
    gate.word = outcome
    if outcome == "worse":
        gate.state = "failed"
    elif outcome == "inconclusive" and policy.on_inconclusive == "fail":
        gate.state, gate.finding = "failed", "inconclusive (on_inconclusive: fail)"
        gate.set_message(f"{gate.finding}: {gate.message}")
    elif outcome == "inconclusive":
        gate.state = "inconclusive"


def in_slice(case: CaseResult, slice_labels: Mapping[str, str]) -> bool:
    """Whether *case* has every label value of *slice_labels*.

    ``tag`` is in a case's tags; a label that a case does not have is ``none``.
    """
    return all(str(value) in label_values(case, key, "none") for key, value in slice_labels.items())


def label_values(case: CaseResult, key: str, missing: str = "") -> list[str]:
    """Return the values of a label of *case*: several for ``tag``, else one or none."""
    if key == "tag":
        return [str(tag) for tag in case.labels.get("tags", ())]
    value = str(case.labels.get(key, missing))
    return [value] if value else []


def judge_gate(run: Run, gate: Gate, metrics: Mapping[str, Metric]) -> GateOutcome:
    """Judge one threshold over the cases of its slice: failed if none was measured, not judged if all were skipped."""
    cases = [case for case in run.cases.values() if in_slice(case, gate.slice)]
    ran = [case for case in cases if case.state != "skipped"]
    out = GateOutcome(
        gate.title, "threshold", "failed", "", gate.metric, bound=str(gate.bound), total=len(ran),
        owner=gate.owner or run.owner_of(gate.metric), line=gate.line,
    )  # fmt: skip
    problem, n_error = "", 0
    if not ran and cases:
        reasons = dict.fromkeys(case.error for case in cases if case.error)
        out.state, why = "not judged", f" ({'; '.join([*reasons][:2])})" if reasons else ""
        problem = f"every case was skipped{why}"
    elif not ran:
        problem = f"no case ran in the slice {dict(gate.slice)}" if gate.slice else "no case ran"
    elif gate.metric in PSEUDO_METRICS:
        counted = [case for case in ran if is_counted(case, gate.metric)]
        bad = counted if gate.metric == "error_rate" else [case for case in ran if case.state != "passed"]
        out.worst_cases = tuple(case.case_id for case in bad)
        out.n, out.value = len(ran), len(counted) / len(ran)
    else:
        problem, n_error = _measure(out, gate, metrics[gate.metric], run)
    if out.value is None:
        out.set_message(problem, f"{out.title}: ")
        return out
    word = "is not"
    if gate.bound.holds(out.value):
        out.state, word = "passed", "is"
    extent = f"over {out.n} of {out.total} cases{f', {errored_words(n_error)}' if n_error else ''}"
    out.set_message(f"{gate.bound.shown(out.value)} {word} {gate.bound} ({extent})", f"{out.title} ")
    return out


def is_counted(case: CaseResult, rate: str) -> bool:
    """Whether a case that ran counts in ``error_rate`` or ``pass_rate``; the error of an ``xfail`` case does not."""
    return case.state == "error" and not case.expected_to_fail if rate == "error_rate" else case.state == "passed"


def _measure(out: GateOutcome, gate: Gate, metric: Metric, run: Run) -> tuple[str, int]:
    """Set the value of *out*; return why it has none, and how many errors it counts."""
    scores = run.scores_of(gate.metric, lambda case: in_slice(case, gate.slice))
    out.n = len(scores.measured)
    n_error = sum(s.state == "error" for s in scores)
    if not out.n:
        return f"nothing was measured: {missing_reason(scores)}", 0
    values = {
        i: metric.worst if s.value is None else s.value  # an error counts as the worst value
        for i, s in zip(scores.ids, scores, strict=True)
        if s.state == "error" or s.value is not None
    }
    if gate.stat == "aggregate":
        total = aggregate(metric, scores)
        if total.problem:
            return total.problem, 0
        out.value = total.gated
    else:
        out.value = _statistic(gate, values, run)
    if out.value is None:
        return f"{cases_words(n_error)} errored, and an error has no worst {gate.metric} to count with", 0
    sign = 1 if metric.direction == "higher" else -1
    failing = (i for i, value in values.items() if not gate.bound.holds(value))
    out.worst_cases = tuple(nsmallest(5, failing, key=lambda i: sign * values[i]))
    return "", n_error


def missing_reason(scores: ScoreList) -> str:
    """Return why none of *scores* is a number: the most frequent error, or else why they are n/a."""
    failed = ((i, s) for i, s in zip(scores.ids, scores, strict=True) if s.state == "error")
    errors = Counter(without_case(s.reason.partition("\n")[0], i) for i, s in failed)
    if errors:
        most_frequent = min(errors, key=lambda error: (-errors[error], error))
        return most_frequent.removeprefix("pytest_auepora.errors.")
    reasons = sorted({s.reason for s in scores if s.reason})
    return "; ".join(reasons[:2]) or "the metric gave no score"


def errored_words(n_error: int) -> str:
    """Return the remark on *n_error* errored cases that a value counts."""
    return f"{n_error} errored and {'counts' if n_error == 1 else 'count'} as the worst value"


def _statistic(gate: Gate, values: Mapping[str, float], run: Run) -> float | None:
    ordered = sorted(values.values())
    if not ordered or not all(map(math.isfinite, ordered)):
        return None
    if gate.stat == "pass_rate":  # of the cases' own thresholds
        bounds = {i: run.cases[i].extra.get("thresholds", {}).get(gate.metric, ()) for i in values}
        return sum(all(Bound(*b).holds(value) for b in bounds[i]) for i, value in values.items()) / len(values)
    if gate.stat == "mean":
        return sum(ordered) / len(ordered)
    quantile = {"min": 0.0, "median": 0.5, "max": 1.0}.get(gate.stat)
    return nearest_rank(ordered, quantile if quantile is not None else int(gate.stat[1:]) / 100)
