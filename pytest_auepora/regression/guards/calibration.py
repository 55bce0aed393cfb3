"""Whether an LLM judge's scores may fail a run: calibration files, and gates that are advisory without one.

Judged metrics are *advisory* (shown, never failing) until calibrated against human labels: by a calibration of the same
metric, judge and prompt that says ``gate``.  `auepora calibrate` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

from ...base.records import Checked, Free, Number, Place, Record, load_record
from ...core.run import MetricInfo, Run
from ...errors import AueporaError
from ..compare import Change, definition_changes
from ..outcomes import Advisory, GateOutcome, GateReason
from ..policy import RegressionPolicy
from .gates import missing_reason

_ALPHA = 0.05
FOLDER = "__calibrations__"
LabelPair = Literal["yes yes", "yes no", "no yes", "no no"]
IntervalMethod = Literal["bootstrap", "Wilson", "none"]


class CalibrationError(AueporaError):
    """A calibration file that cannot be read."""


def _has_params(judge: Mapping[str, Any]) -> bool:
    return isinstance(judge.get("params", {}), Mapping)


@dataclass(frozen=True, slots=True)
class Estimate(Record):
    """A figure of agreement with its 95 % interval."""

    value: Number | None
    """Null where it cannot be told."""
    low: Number | None = None
    """The lower end of the interval; null where there is none."""
    high: Number | None = None
    """The upper end."""
    interval: IntervalMethod = "none"
    """How the interval was computed."""
    n: Place = 0
    """Of how many items."""

    def rounded(self) -> Estimate:
        """Return it with four decimals, as files have it."""
        value, low, high = (None if v is None else round(v, 4) + 0.0 for v in (self.value, self.low, self.high))
        return Estimate(value, low, high, self.interval, self.n)


@dataclass(frozen=True, slots=True)
class JudgeChange(Record):
    """How the judge compares with the one calibrated before, on the items that both have judged."""

    n: Place
    """Items that both have judged, with the same human label."""
    fixed: Place
    """Those that were wrong before and are right now."""
    broken: Place
    """Those that were right before and are wrong now."""
    p: Number
    """Two-sided mid-p value of McNemar's test."""

    @property
    def outcome(self) -> Literal["better", "worse", "no clear difference"]:
        """``better``, ``worse``, or ``no clear difference``."""
        if self.p > _ALPHA:
            return "no clear difference"
        return "better" if self.fixed > self.broken else "worse"


_PAIRS: dict[LabelPair, tuple[bool, bool]] = {
    "yes yes": (True, True), "yes no": (True, False), "no yes": (False, True), "no no": (False, False)
}  # fmt: skip


def pair_of(people: bool, judge: bool) -> LabelPair:
    """Return two labels of an item as the file has them."""
    return next(words for words, pair in _PAIRS.items() if pair == (people, judge))


@dataclass(frozen=True, slots=True)
class Calibration(Record):
    """The calibration of one judged metric against human labels."""

    metric: str
    """Its name, as in golden files."""
    gate: bool
    """Whether its scores may fail a run."""
    reason: str
    """Why, in a sentence."""
    judge: Annotated[dict[str, Free], Checked("a mapping with the judge's params", _has_params)]
    """What was calibrated: the metric's ``version`` and ``params``, which hold judge model and prompt hash."""
    threshold: Number = 0.5
    """Scores from here on count as a yes of the judge."""
    figures: dict[str, Estimate] = field(default_factory=dict)
    """Agreement and counts, by name."""
    remarks: list[str] = field(default_factory=list)
    """What else is to be known."""
    change: JudgeChange | None = None
    """How the judge compares with the one before; null where there was none."""
    labels: dict[str, LabelPair] = field(default_factory=dict)
    """Item id → human label and judge's label, to compare the next judge with this one."""
    format: Literal[1] = 1
    """Raised when a key changes its meaning."""

    @property
    def pairs(self) -> dict[str, tuple[bool, bool]]:
        """Item id → (human label, judge's label)."""
        return {item: _PAIRS[words] for item, words in self.labels.items()}

    def mismatch(self, judge: Mapping[str, Any]) -> list[Change]:
        """Return how *judge* (a `MetricInfo.judge`) differs from the calibrated one; empty if it does not."""
        current: dict[str, Any] = json.loads(json.dumps(dict(judge), default=str))  # as the file has it
        return definition_changes(self.judge, current)


def calibration_path(folder: Path, metric: str) -> Path:
    """Return the path of the calibration of *metric* in *folder*."""
    return folder / f"{quote(metric, safe='-_.+@[]=,')}.json"


def load_calibration(path: Path) -> Calibration | None:
    """Read *path*; None if there is no such file.

    Raises:
        CalibrationError: it is not a calibration, or has another format.
    """
    try:
        return load_record(Calibration, path, CalibrationError)
    except CalibrationError as exc:
        raise CalibrationError(f"{exc}; run auepora calibrate again") from None


def advisory_metrics(
    metrics: Mapping[str, MetricInfo], policy: RegressionPolicy, folder: Path | None
) -> dict[str, Advisory]:
    """Return which of *metrics* may not fail the run, and why: the policy says so, or the files in *folder*."""
    found = {name: _standing(info, policy.for_metric(name), folder) for name, info in metrics.items() if info.judge}
    return {name: why for name, why in found.items() if why is not None}


def _standing(info: MetricInfo, policy: RegressionPolicy, folder: Path | None) -> Advisory | None:
    if policy.judge != "calibrated":
        return Advisory("policy") if policy.judge == "advisory" else None
    try:
        return _why_advisory(info, folder)
    except CalibrationError as exc:
        return Advisory("unusable", detail=str(exc))


def _why_advisory(info: MetricInfo, folder: Path | None) -> Advisory | None:
    """Return why the metric cannot fail the run; None if it is calibrated."""
    metric = str(info.judge["metric"])
    if folder is None:
        return Advisory("no calibration")
    path = calibration_path(folder, metric)
    if (calibration := load_calibration(path)) is None:
        return Advisory("no calibration", f"{path.parent.name}/{path.name}")
    if calibration.gate and _names_model(calibration.judge) and not _names_model(info.judge):
        return Advisory("judge gone")
    if changed := calibration.mismatch(info.judge):
        return Advisory("another judge", changes=tuple(changed))
    return None if calibration.gate else Advisory("not good enough", detail=calibration.reason)


def _names_model(judge: Mapping[str, Any]) -> bool:
    """Whether *judge* names a model; it does not if the environment that names one is gone."""
    params = judge.get("params", {})
    labels = params.get("labels")  # of a metric that counts the labels of a judge
    return bool(params.get("judge") or (isinstance(labels, Mapping) and labels.get("judge")))


def make_advisory(gates: Iterable[GateOutcome], advisory: Collection[str]) -> None:
    """Make the outcomes of *advisory* metrics ``advisory``; ``would_be`` keeps their state."""
    for gate in gates:
        if gate.metric in advisory and gate.state in ("passed", "failed", "inconclusive"):
            gate.would_be, gate.state = gate.state, "advisory"


def judge_outcomes(
    run: Run, gates: Iterable[GateOutcome], advisory: Mapping[str, Advisory], policy: RegressionPolicy
) -> Iterator[GateOutcome]:
    """Yield one failure for each calibration file that cannot be used, and for each judge whose replies all failed.

    A judge fails so whether it is calibrated or not, unless one of *gates* failed already.
    """
    broken = {name: why for name, why in advisory.items() if why.reason in ("unusable", "judge gone")}
    for name, why in broken.items():  # so that no gate vanishes unseen
        reason: GateReason = "judge gone" if why.reason == "judge gone" else "calibration unusable"
        yield GateOutcome("calibration", "failed", name, reason=reason, detail=why.detail, owner=run.owner)
    reported = {gate.metric for gate in gates if gate.state == "failed"} | broken.keys()
    for name, info in run.metrics.items():
        if not info.judge or name in reported or policy.for_metric(name).judge == "advisory":
            continue
        scores = run.scores_of(name, lambda case: case.state != "error" or bool(case.outputs))
        failed = [i for i, score in zip(scores.ids, scores, strict=True) if score.state == "error"]
        if failed and not scores.measured:
            yield GateOutcome(
                "calibration", "failed", name, reason="judge silent", n=len(failed), detail=missing_reason(scores),
                owner=run.owner_of(name),
            )  # fmt: skip
