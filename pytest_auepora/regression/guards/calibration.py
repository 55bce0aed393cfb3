"""Whether an LLM judge's scores may fail a run: calibration files, and gates that are advisory without one.

Judged metrics are *advisory* (shown, never failing) until calibrated against human labels: by a calibration of the same
metric, judge and prompt that says ``gate``.  `auepora calibrate` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypedDict
from urllib.parse import quote

from ...base.json import known_fields
from ...core.run import MetricInfo, Run
from ...errors import AueporaError
from ...shapes import ShapeError, check_shape
from ..compare import Change, definition_changes
from ..outcomes import Advisory, GateOutcome, GateReason
from ..policy import RegressionPolicy
from .gates import missing_reason

FORMAT = 1
FOLDER = "__calibrations__"
_Pair = Literal["yes yes", "yes no", "no yes", "no no"]


class CalibrationError(AueporaError):
    """A calibration file that cannot be read, or whose judge is gone."""


class _Judge(TypedDict, total=False):
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Calibration:
    """The calibration of one judged metric against human labels.

    Attributes:
        metric: its name, as in golden files.
        gate: whether its scores may fail a run.
        reason: why, in a sentence.
        judge: what was calibrated: the metric's ``version`` and ``params``, which hold judge model and prompt hash.
        threshold: scores from here on count as a yes of the judge.
        statistics: agreement, biases and counts, as `auepora calibrate` prints them.
        labels: item id → (human label, judge's label), to compare the next judge with this one.
    """

    metric: str
    gate: bool
    reason: str
    judge: Annotated[Mapping[str, Any], _Judge]
    threshold: float = 0.5
    statistics: Mapping[str, Any] = field(default_factory=dict)
    labels: Annotated[Mapping[str, tuple[bool, bool]], Mapping[str, _Pair]] = field(default_factory=dict)

    def mismatch(self, judge: Mapping[str, Any]) -> list[Change]:
        """Return how *judge* (a `MetricInfo.judge`) differs from the calibrated one; empty if it does not."""
        current: dict[str, Any] = json.loads(json.dumps(dict(judge), default=str))  # as the file has it
        return definition_changes(self.judge, current)

    def dumps(self) -> str:
        """Return the file's text: sorted keys, no time of day, so that the same labels give the same bytes."""
        labels = {item: " ".join("yes" if yes else "no" for yes in pair) for item, pair in self.labels.items()}
        raw = {"format": FORMAT, **asdict(self), "labels": labels}
        return json.dumps(raw, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False, default=str) + "\n"


class JudgeStanding(NamedTuple):
    """Which judged metrics of a suite cannot fail the run, and why.

    Attributes:
        advisory: metric → why its scores cannot fail the run.
        broken: metric → what is wrong with its calibration file; that fails the run, so that no gate vanishes unseen.
    """

    advisory: Mapping[str, Advisory]
    broken: Mapping[str, str]


def calibration_path(folder: Path, metric: str) -> Path:
    """Return the path of the calibration of *metric* in *folder*."""
    return folder / f"{quote(metric, safe='-_.+@[]=,')}.json"


def load_calibration(path: Path) -> Calibration | None:
    """Read *path*; None if there is no such file.

    Raises:
        CalibrationError: it is not a calibration, or has another format.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as exc:
        why = exc.strerror if isinstance(exc, OSError) else f"not JSON: {exc}"
        raise CalibrationError(f"{path}: cannot be read: {why}; run auepora calibrate again") from None
    if not isinstance(raw, dict) or "format" not in raw:
        raise CalibrationError(f"{path}: not a calibration file: there is no 'format' key")
    if raw["format"] != FORMAT:
        raise CalibrationError(
            f"{path}: calibration format {raw['format']!r}, this version reads {FORMAT}; run auepora calibrate again"
        )
    try:
        check_shape(raw, Calibration)
    except ShapeError as exc:
        raise CalibrationError(f"{path}: not a calibration file: {exc}; run auepora calibrate again") from None
    labels = {item: tuple(label == "yes" for label in pair.split()) for item, pair in raw.get("labels", {}).items()}
    return Calibration(**known_fields(Calibration, raw) | {"labels": labels})


def standing_of(metrics: Mapping[str, MetricInfo], policy: RegressionPolicy, folder: Path | None) -> JudgeStanding:
    """Return which of *metrics* may not fail the run: the policy says so, or else the calibration files in *folder*."""
    advisory: dict[str, Advisory] = {}
    broken: dict[str, str] = {}
    for name, info in metrics.items():
        judge_policy = policy.for_metric(name).judge
        if not info.judge or judge_policy == "gate":
            continue
        try:
            why = Advisory("policy") if judge_policy == "advisory" else _why_advisory(info, folder)
        except CalibrationError as exc:
            broken[name], why = str(exc), Advisory("unusable", detail=str(exc))
        if why is not None:
            advisory[name] = why
    return JudgeStanding(advisory, broken)


def _why_advisory(info: MetricInfo, folder: Path | None) -> Advisory | None:
    """Return why the metric cannot fail the run; None if it is calibrated."""
    metric = str(info.judge["metric"])
    if folder is None:
        return Advisory("no calibration")
    path = calibration_path(folder, metric)
    if (calibration := load_calibration(path)) is None:
        return Advisory("no calibration", f"{path.parent.name}/{path.name}")
    if calibration.gate and _names_model(calibration.judge) and not _names_model(info.judge):
        raise CalibrationError(
            "the judge that was calibrated is not there: no model is named now; its gates count only with it"
        )
    if changed := calibration.mismatch(info.judge):
        return Advisory("another judge", changes=tuple(changed))
    return None if calibration.gate else Advisory("not good enough", detail=calibration.reason)


def _names_model(judge: Mapping[str, Any]) -> bool:
    """Whether *judge* names a model; it does not if the environment that names one is gone."""
    params = judge.get("params", {})
    labels = params.get("labels")  # of a metric that counts the labels of a judge
    return bool(params.get("judge") or (isinstance(labels, Mapping) and labels.get("judge")))


def make_advisory(gates: Iterable[GateOutcome], standing: JudgeStanding) -> None:
    """Make the outcomes of advisory metrics ``advisory``; ``would_be`` keeps their state."""
    for gate in gates:
        if gate.metric in standing.advisory and gate.state in ("passed", "failed", "inconclusive"):
            gate.would_be, gate.state = gate.state, "advisory"


def judge_outcomes(
    run: Run, gates: Iterable[GateOutcome], standing: JudgeStanding, policy: RegressionPolicy
) -> Iterator[GateOutcome]:
    """Yield one failure for each calibration file that cannot be used, and for each judge whose replies all failed.

    A judge fails so whether it is calibrated or not, unless one of *gates* failed already.
    """
    for name, why in standing.broken.items():
        reason: GateReason = "calibration unusable"
        yield GateOutcome("calibration", "failed", name, reason=reason, detail=why, owner=run.owner)
    reported = {gate.metric for gate in gates if gate.state == "failed"} | standing.broken.keys()
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
