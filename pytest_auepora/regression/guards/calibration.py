"""Whether a judge's scores may fail a run: the calibration file, and the gates that it holds back.

A judged metric is *advisory* (shown, never failing) until people have agreed with the judge: a calibration of the
same metric, judge and prompt that says ``gate``.  `auepora calibrate` writes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypedDict
from urllib.parse import quote

from ...core.run import MetricInfo, Run
from ...errors import AueporaError, NotWrittenError, names_words
from ...shapes import ShapeError, check_shape
from ..compare import describe_change
from ..policy import RegressionPolicy
from .case_guard import RAISED
from .gates import GateOutcome, cases_words, why_nothing

FORMAT = 1
_NO_FILE = re.compile(r"(?<=there is no )([^;]*)/[^/;]*\.json")
FOLDER = "__calibrations__"
_Pair = Literal["yes yes", "yes no", "no yes", "no no"]


class CalibrationError(AueporaError):
    """A calibration file that cannot be read or written."""


class _Judge(TypedDict, total=False):
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Calibration:
    """What people's labels said about one judged metric.

    Attributes:
        metric: its name, as golden files spell it.
        gate: whether its scores may fail a run.
        reason: why, in a sentence.
        judge: what was calibrated: the metric's ``version`` and ``params``, which hold judge model and prompt hash.
        threshold: the score from which the judge was taken to say yes.
        statistics: agreement, biases and counts, as `auepora calibrate` prints them.
        labels: item id → (what people say, what the judge says), to compare the next judge with this one.
    """

    metric: str
    gate: bool
    reason: str
    judge: Annotated[Mapping[str, Any], _Judge]
    threshold: float = 0.5
    statistics: Mapping[str, Any] = field(default_factory=dict)
    labels: Annotated[Mapping[str, tuple[bool, bool]], Mapping[str, _Pair]] = field(default_factory=dict)

    def mismatch(self, judge: Mapping[str, Any]) -> str:
        """Say what about *judge* (a `MetricInfo.judge`) is not what was calibrated; empty where all is."""
        now: dict[str, Any] = json.loads(json.dumps(dict(judge), default=str))  # as the file has it
        if self.judge.get("version") != now.get("version"):
            return f"metric version {self.judge.get('version')} \u2192 {now.get('version')}"
        before, after = (_flat(side.get("params", {})) for side in (self.judge, now))
        changed = [key for key in sorted({*before, *after}) if before.get(key) != after.get(key)]
        return ", ".join(describe_change(key, before.get(key), after.get(key)) for key in changed)

    def dumps(self) -> str:
        """Return the file's text: sorted keys, no time of day, so that the same labels give the same bytes."""
        said = {item: " ".join("yes" if yes else "no" for yes in pair) for item, pair in self.labels.items()}
        raw = {"format": FORMAT, **asdict(self), "labels": said}
        return json.dumps(raw, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False, default=str) + "\n"


class Standing(NamedTuple):
    """Which judged metrics of a suite do not count, and why.

    Attributes:
        advisory: metric → why its scores cannot fail the run.
        broken: metric → what is wrong with its calibration file; it fails the run, lest a gate vanish unseen.
    """

    advisory: Mapping[str, str]
    broken: Mapping[str, str]


def calibration_path(folder: Path, metric: str) -> Path:
    """Return where the calibration of *metric* lies in *folder*."""
    return folder / f"{quote(metric, safe='-_.+@[]=,')}.json"


def load_calibration(path: Path) -> Calibration | None:
    """Read *path*; None where there is no such file.

    Raises:
        CalibrationError: it is no calibration, or one of another version.
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
    return _from_raw(raw, path)


def _from_raw(raw: Mapping[str, Any], path: Path) -> Calibration:
    try:
        check_shape(raw, Calibration)
    except ShapeError as exc:
        raise CalibrationError(f"{path}: not a calibration file: {exc}; run auepora calibrate again") from None
    labels = {item: tuple(said == "yes" for said in pair.split()) for item, pair in raw.get("labels", {}).items()}
    known = {f.name: raw[f.name] for f in fields(Calibration) if f.name in raw}
    return Calibration(**known | {"labels": labels})


def save_calibration(path: Path, calibration: Calibration) -> None:
    """Write *calibration*; a reader sees the old file or the new one.

    Raises:
        CalibrationError: it cannot be written.
    """
    from ...core.files import write_atomically

    try:
        write_atomically(path, calibration.dumps())
    except NotWrittenError as exc:
        raise CalibrationError(str(exc)) from None


def standing_of(metrics: Mapping[str, MetricInfo], policy: RegressionPolicy, folder: Path | None) -> Standing:
    """Say which of *metrics* may not fail the run.

    Args:
        metrics: those of the suite; only the judged ones are looked at.
        policy: its ``judge`` may lift or impose the restriction.
        folder: where calibration files lie; None is a folder without any.
    """
    advisory: dict[str, str] = {}
    broken: dict[str, str] = {}
    for name, info in metrics.items():
        stance = policy.for_metric(name).judge
        if not info.judge or stance == "gate":
            continue
        try:
            why = "the golden file says judge: advisory" if stance == "advisory" else _why_not(info, folder)
        except CalibrationError as exc:
            broken[name] = why = str(exc)
        if why:
            advisory[name] = why
    return Standing(advisory, broken)


def _why_not(info: MetricInfo, folder: Path | None) -> str:
    metric = str(info.judge["metric"])
    if folder is None:
        return "judge not calibrated: there is no calibration; see auepora calibrate"
    path = calibration_path(folder, metric)
    if (found := load_calibration(path)) is None:
        return f"judge not calibrated: there is no {path.parent.name}/{path.name}; see auepora calibrate"
    if found.gate and _named(found.judge) and not _named(info.judge):
        raise CalibrationError(
            "the judge that was calibrated is not there: no model is named now; its gates count only with it"
        )
    if changed := found.mismatch(info.judge):
        return f"judge not calibrated: another one was ({changed}); run auepora calibrate again"
    return "" if found.gate else f"judge not calibrated: {found.reason}"


def _named(judge: Mapping[str, Any]) -> bool:
    """Whether *judge* says which model judges; it does not where the environment that names one is gone."""
    params = judge.get("params", {})
    labels = params.get("labels")  # where a judge labels, metrics count its labels
    return bool(params.get("judge") or (isinstance(labels, Mapping) and labels.get("judge")))


def _flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """Return nested mappings as one: ``{"judge.model": …}``."""
    if not isinstance(value, Mapping):
        return {prefix: value}
    out: dict[str, Any] = {}
    for key, inner in value.items():
        out.update(_flat(inner, f"{prefix}.{key}" if prefix else str(key)))
    return out


def hold_back(gates: Iterable[GateOutcome], standing: Standing) -> None:
    """Make the outcomes of advisory metrics ``advisory``; what they would have been stays beside it."""
    for gate in gates:
        why = standing.advisory.get(gate.metric)
        if why is None or gate.state not in ("passed", "failed", "inconclusive"):
            continue
        gate.would_be, gate.state, gate.brief = gate.state, "advisory", f"advisory: {gate.message}"
        if gate.would_be == "failed":
            named = gate.message if gate.subject else f"{gate.part}: {gate.message}"
            gate.brief = f"advisory: would fail: {named}"
        gate.tell(f"{gate.brief}; {why}")


def broken_outcomes(run: Run, standing: Standing) -> list[GateOutcome]:
    """Return one failure for each calibration that is there and cannot be read."""
    return [
        GateOutcome(f"calibration: {name}", "calibration", "failed", why, metric=name, owner=run.owner)
        for name, why in standing.broken.items()
    ]


def silent_judges(run: Run, gates: Iterable[GateOutcome], policy: RegressionPolicy) -> list[GateOutcome]:
    """Return one failure for each judge of which every reply failed, calibrated or not, unless a gate tells it."""
    told = {gate.metric for gate in gates if gate.state == "failed"}
    out = []
    for name, info in run.metrics.items():
        if not info.judge or name in told or policy.for_metric(name).judge == "advisory":
            continue
        scores = run.scores_of(name, lambda case: case.state != "error" or bool(case.outputs))
        failed = [i for i, score in zip(scores.ids, scores, strict=True) if score.state == "error"]
        if failed and not scores.measured:
            why = f"every reply of the judge failed, in {cases_words(len(failed))}: {why_nothing(scores)}"
            owner = run.owner_of(name)
            out.append(GateOutcome(f"judge: {name}", "calibration", "failed", why, metric=name, owner=owner))
    return out


def advisory_notes(run: Run, gates: Iterable[GateOutcome], standing: Standing) -> list[str]:
    """Say which metrics are advisory and why, and what they would have failed."""
    by: dict[str, dict[str, str]] = {}
    for name, why in standing.advisory.items():  # those of which no file is there are told together
        by.setdefault(_NO_FILE.sub(r"\1/<metric>.json", why), {})[name] = why
    would = [gate for gate in gates if gate.would_be == "failed"]
    whole = [gate for gate in would if not gate.is_of_slice]
    notes = [gate.brief for gate in whole]
    if slices := [gate.part for gate in would if gate not in whole]:
        notes.append(f"advisory: would fail in slices: {names_words(slices, 3)}")
    if cases := _would_fail(run, gates):
        told = [
            f"{f'{len(ids)} cases ({names_words(ids, 2)})' if len(ids) > 1 else ids[0]}: {line}"
            for line, ids in cases.items()
        ]
        more = sum(map(len, list(cases.values())[3:]))
        notes.append(f"advisory: would fail cases: {'; '.join(told[:3])}{f' and {more} more' if more else ''}")
    for shared, of in by.items():
        why = shared if len(of) > 1 else next(iter(of.values()))
        notes.append(f"advisory: cannot fail the run: {', '.join(of)} ({why})")
    return notes


def _would_fail(run: Run, gates: Iterable[GateOutcome]) -> dict[str, list[str]]:
    """Return what judges would fail cases for, and which; without the errors of judges that a failed gate tells."""
    silent = tuple(f"{gate.metric}{RAISED}" for gate in gates if gate.title == f"judge: {gate.metric}")
    out: dict[str, list[str]] = {}
    for case in run.having("advisory"):
        for line in case.extra["advisory"]:
            if not (silent and line.startswith(silent)):
                out.setdefault(line, []).append(case.case_id)
    return out
