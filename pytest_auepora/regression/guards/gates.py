"""Suite thresholds: one gate, one aggregate, one answer."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from operator import itemgetter
from typing import Literal

from ...core.metrics_base import Metric, nearest_rank
from ...core.run import CaseResult, Run
from ...core.scoring import ScoreList, aggregate
from ...errors import without_case
from ..compare import MetricChange
from ..policy import RegressionPolicy
from ..statistics.significance import Outcome
from ..thresholds import Bound, Gate

GateKind = Literal["threshold", "regression", "coverage", "baseline", "calibration", "anchor"]
GateState = Literal["passed", "failed", "inconclusive", "not judged", "advisory"]
GateWord = Literal["", "worse", "better", "same", "inconclusive"]
REGRESSION = "regression: "
"""What the title of an outcome against the baseline begins with; behind it stands its part."""


@dataclass(slots=True)
class GateOutcome:
    """One judgement on a whole suite, and the sentence that explains it.

    A judge that is not calibrated gives the state ``advisory``; ``would_be`` is then what it would have been.
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
    """How often chance alone would give so clear a drop, this metric taken alone; None where it was not tested."""
    culprits: tuple[str, ...] = ()
    """Ids of the cases that cost most, worst first."""
    before: float | None = None
    """What ``value`` is held against, where that is a number of an earlier run."""
    would_be: str = ""
    mde: float | None = None
    """Smallest true loss that these cases would show in four of five runs, if it was tested for chance; where no case
    differs, by the usual spread of scores."""
    warning: str = ""
    """What is said where ``mde`` exceeds the margin."""
    n_worse: int = 0
    n_better: int = 0
    """How many cases went down and up, if it was tested for chance."""
    word: GateWord = ""
    """Against a baseline: whether the metric is worse, better, the same, or nobody can tell; else empty."""
    part: str = ""
    """The metric, slice or statistic that it is about, as lists name it; else the title."""
    subject: str = ""
    """What the message begins with if it names the part: ``mrr `` or ``mrr: ``."""
    finding: str = ""
    """The message without the arithmetic, if it failed and has some."""
    brief: str = ""
    """The message without what stands beside it: the numbers of a table, or why a judge cannot fail the run."""

    def __post_init__(self) -> None:
        """Name it by its title where it is about no metric."""
        self.part = self.part or self.title

    @property
    def reason(self) -> str:
        """The message without the name that it may begin with."""
        return self.message.removeprefix(self.subject)

    def tell(self, reason: str, subject: str = "") -> None:
        """Set the message to *reason*, behind the *subject* if it names the part."""
        self.message, self.subject = subject + reason, subject

    @property
    def is_of_whole(self) -> bool:
        """Whether it says that a metric got worse over the whole suite, and not over a slice of it."""
        return self.kind == "regression" and self.part == self.metric

    @property
    def is_of_slice(self) -> bool:
        """Whether it says so of a slice."""
        return self.kind == "regression" and not self.is_of_whole


def regression_outcome(
    run: Run, part: str, metric: str, shown: MetricChange | None = None, *, n: int = 0, dropped: Sequence[str] = ()
) -> GateOutcome:
    """Begin the outcome about a metric, or a slice of it, over *n* cases of which some *dropped*, worst first."""
    before, after = (shown.before, shown.after) if shown is not None else (None, None)
    return GateOutcome(
        f"{REGRESSION}{part}", "regression", "passed", "", metric, after, n=n, total=len(run.cases),
        owner=run.owner_of(metric), culprits=tuple(dropped[:5]), before=before, part=part,
    )  # fmt: skip


def decide(gate: GateOutcome, outcome: Outcome, policy: RegressionPolicy) -> None:
    """Set state and word of *gate* by the *outcome* of its test; the policy says what an inconclusive one does."""
    words: dict[Outcome, GateWord] = {"fail": "worse", "better": "better", "inconclusive": "inconclusive"}
    gate.word = words.get(outcome, "same")
    if outcome == "fail":
        gate.state = "failed"
    elif outcome == "inconclusive":
        gate.state = "inconclusive"
        if policy.on_inconclusive == "fail":
            gate.state, gate.finding = "failed", "inconclusive (on_inconclusive: fail)"
            gate.tell(f"{gate.finding}: {gate.message}")


def in_slice(case: CaseResult, part: Mapping[str, str]) -> bool:
    """Whether the labels of *case* have every value of *part*.

    ``tag`` is in a case's tags; a label that a case does not have is ``none``.
    """
    return all(str(value) in label_values(case, key, "none") for key, value in part.items())


def label_values(case: CaseResult, key: str, missing: str = "") -> list[str]:
    """Return the values that *case* has for a label: of ``tag`` several, else one, or none."""
    if key == "tag":
        return [str(tag) for tag in case.labels.get("tags", ())]
    value = str(case.labels.get(key, missing))
    return [value] if value else []


def judge_gate(run: Run, gate: Gate, metrics: Mapping[str, Metric]) -> GateOutcome:
    """Judge one threshold over the cases of its slice.  Nothing measured is a failure, never a pass.

    Where every case of the slice was skipped, nothing is judged.
    """
    cases = [case for case in run.cases.values() if in_slice(case, gate.slice)]
    ran = [case for case in cases if case.state != "skipped"]
    out = GateOutcome(
        gate.title, "threshold", "passed", "", gate.metric, bound=str(gate.bound), total=len(ran),
        owner=gate.owner or run.owner_of(gate.metric), line=gate.line,
    )  # fmt: skip
    if not ran and cases:
        reasons = dict.fromkeys(case.error for case in cases if case.error)
        told = f" ({'; '.join([*reasons][:2])})" if reasons else ""
        out.state = "not judged"
        out.tell(f"every case was skipped{told}", f"{gate.title}: ")
        return out
    if not ran:
        return _fail(out, f"no case ran in the slice {dict(gate.slice)}" if gate.slice else "no case ran")
    if gate.metric in ("error_rate", "pass_rate"):
        guilty = ("error",) if gate.metric == "error_rate" else ("error", "failed")
        out.culprits = tuple(case.case_id for case in ran if case.state in guilty)
        counted = "error" if gate.metric == "error_rate" else "passed"
        out.n, out.value = len(ran), sum(case.state == counted for case in ran) / len(ran)
        return _judged_by(out, gate.bound)
    return _judge_metric(out, gate, metrics[gate.metric], run)


def _judge_metric(out: GateOutcome, gate: Gate, metric: Metric, run: Run) -> GateOutcome:
    scores = run.scores_of(gate.metric, lambda case: in_slice(case, gate.slice))
    out.n = len(scores.measured)
    n_error = sum(s.state == "error" for s in scores)
    if not out.n:
        return _fail(out, f"nothing was measured: {why_nothing(scores)}")
    # what there is to count with: numbers, and errors as the worst value
    values = {
        i: metric.worst if s.value is None else s.value
        for i, s in zip(scores.ids, scores, strict=True)
        if s.state == "error" or s.value is not None
    }
    out.value = aggregate(metric, scores).gated if gate.stat == "aggregate" else _statistic(gate, values, run)
    if out.value is None:
        return _fail(out, f"{cases_words(n_error)} errored, and an error has no worst {gate.metric} to count with")
    sign = 1 if metric.direction == "higher" else -1
    short = ((sign * value, i) for i, value in values.items() if not gate.bound.holds(value))
    out.culprits = tuple(i for _, i in nsmallest(5, short, key=itemgetter(0)))
    return _judged_by(out, gate.bound, n_error)


def why_nothing(scores: ScoreList) -> str:
    """Return why none of *scores* is a number; an error, if there is one: it explains more than missing labels."""
    failed = ((i, s) for i, s in zip(scores.ids, scores, strict=True) if s.state == "error")
    errors = Counter(without_case(s.reason.partition("\n")[0], i) for i, s in failed)
    if errors:
        most = min(errors, key=lambda told: (-errors[told], told))
        return most.removeprefix("pytest_auepora.errors.")
    reasons = sorted({s.reason for s in scores if s.reason})
    return "; ".join(reasons[:2]) or "the metric gave no score"


def cases_words(n: int) -> str:
    """Return how many cases, as '1 case' or '2 cases'."""
    return f"{n} case{'s' * (n != 1)}"


def errored_words(n_error: int) -> str:
    """Return what is said of *n_error* errored cases beside a value that counts them."""
    return f"{n_error} errored and {'counts' if n_error == 1 else 'count'} as the worst value"


def _statistic(gate: Gate, values: Mapping[str, float], run: Run) -> float | None:
    ordered = sorted(values.values())
    if not ordered or not all(map(math.isfinite, ordered)):
        return None
    if gate.stat == "pass_rate":
        return sum(_keeps(value, run.cases[i], gate.metric) for i, value in values.items()) / len(values)
    if gate.stat == "mean":
        return sum(ordered) / len(ordered)
    quantile = {"min": 0.0, "median": 0.5, "max": 1.0}.get(gate.stat)
    return nearest_rank(ordered, quantile if quantile is not None else int(gate.stat[1:]) / 100)


def _keeps(value: float, case: CaseResult, metric: str) -> bool:
    """Whether *value* keeps the case's own thresholds."""
    return all(Bound(*said).holds(value) for said in case.extra.get("thresholds", {}).get(metric, ()))


def _judged_by(out: GateOutcome, bound: Bound, n_error: int = 0) -> GateOutcome:
    assert out.value is not None
    out.state = "passed" if bound.holds(out.value) else "failed"
    word = "is" if out.state == "passed" else "is not"
    errors = f", {errored_words(n_error)}" if n_error else ""
    out.tell(f"{bound.shown(out.value)} {word} {bound} (over {out.n} of {out.total} cases{errors})", f"{out.title} ")
    return out


def _fail(out: GateOutcome, why: str) -> GateOutcome:
    out.state = "failed"
    out.tell(why, f"{out.title}: ")
    return out
