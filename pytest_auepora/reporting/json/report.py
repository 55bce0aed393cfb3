"""The whole result as JSON: every run with every case, and its verdict.  Written and read back.

What is in it is described by `report_schema`.  Other reports can be made from it alone, without a run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any, TypedDict, TypeVar

from ...core.run import MetricInfo, Run
from ...core.scoring import Aggregate
from ...errors import AueporaError, Problem
from ...regression.baseline.model import BaselineCase
from ...regression.compare.cases import CaseComparison, Comparison, MetricChange, ScoreChange
from ...regression.guards.gates import GateOutcome
from ...regression.guards.steadiness import VarianceSplit
from ...regression.verdict import Outcome, Verdict, Word
from ...shapes import ShapeError, check_shape
from ..judge_usage import judge_usage_dict
from ..side_by_side.data import SuiteData, side_by_side_dict
from ..side_by_side.table import SideBySide, side_by_sides
from ..tally import Kind, headline, overall_outcome, tally

FORMAT = 1
"""Raised when a reader of the former format would misread the new one; keys may be added without."""

T = TypeVar("T")


class SuiteReport(TypedDict):
    """One judged run."""

    title: str
    outcome: Outcome
    word: Word
    counts: dict[Kind, int]
    judge: dict[str, Any]
    run: Run
    verdict: dict[str, Any]


class _EveryReport(TypedDict):
    format: int
    outcome: Outcome
    headline: str
    suites: list[SuiteReport]


class ReportData(_EveryReport, total=False):
    """The whole report; `report_schema` is derived from it.  Of what there is none the key is absent."""

    side_by_side: list[SuiteData]
    mistakes: list[dict[str, Any]]


def json_report(
    runs: Sequence[Run],
    verdicts: Sequence[Verdict],
    *,
    compared: Sequence[SideBySide] | None = None,
    mistakes: Sequence[Problem] = (),
) -> str:
    """Return the report as JSON text in one line; the same runs give the same bytes.

    Numbers are unrounded.  What JSON cannot say (infinity, NaN) is null: an open end of a metric's range, a value
    that was not measured.  *compared* saves working out `side_by_sides`; *mistakes* are those in golden files that
    could not be read.
    """
    raw: ReportData = {
        "format": FORMAT,
        "outcome": overall_outcome(verdicts, mistakes),
        "headline": headline(verdicts, runs, mistakes),
        "suites": [_suite(run, verdict) for run, verdict in zip(runs, verdicts, strict=True)],
    }
    if compared := side_by_sides(runs) if compared is None else compared:
        raw["side_by_side"] = [side_by_side_dict(one) for one in compared]
    if mistakes:
        raw["mistakes"] = [one._asdict() for one in mistakes]
    try:
        text = json.dumps(raw, ensure_ascii=False, allow_nan=False, default=_plain)
    except (TypeError, ValueError):  # a key that is no text, a number that is none
        text = json.dumps(_finite(raw), ensure_ascii=False, allow_nan=False)
    return text + "\n"


def read_json_report(text: str) -> tuple[list[Run], list[Verdict], list[Problem]]:
    """Read what `json_report` wrote, and the mistakes in golden files that could not be read.

    Raises:
        AueporaError: the text is no such report, or one of a newer format.
    """
    with _no_report():
        raw = _read(text)
        suites, told = raw["suites"], raw.get("mistakes", ())
        mistakes = [Problem(m["path"], m["line"], m["col"], m["message"]) for m in told]
        return [Run.from_dict(s["run"]) for s in suites], [read_verdict(s["verdict"]) for s in suites], mistakes


def _read(text: str) -> dict[str, Any]:
    raw = json.loads(text)
    if not isinstance(raw, dict) or "format" not in raw:
        raise AueporaError("not an auepora report: there is no 'format' key")
    if raw["format"] != FORMAT:
        raise AueporaError(f"report format {raw['format']!r}, this version reads {FORMAT}")
    check_shape(raw, _Readable)
    return raw


class _Judged(TypedDict):
    run: Run
    verdict: dict[str, Any]


class _Suites(TypedDict):
    suites: list[_Judged]


class _Readable(_Suites, total=False):
    mistakes: list[Problem]


@contextmanager
def _no_report() -> Iterator[None]:
    try:
        yield
    except (json.JSONDecodeError, ShapeError) as exc:
        raise AueporaError(f"not an auepora report: {exc}") from None
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, RecursionError) as exc:
        raise AueporaError(f"not an auepora report: {type(exc).__name__}: {exc}") from None


@contextmanager
def from_outside(name: str = "the report") -> Iterator[None]:
    """Around the use of the report called *name*, which anybody may have written.

    Raises:
        AueporaError: instead of whatever values that no report holds make go wrong.
    """
    try:
        yield
    except AueporaError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as exc:
        raise AueporaError(f"{name} holds what no run does: {type(exc).__name__}: {exc}") from exc


def _suite(run: Run, verdict: Verdict) -> SuiteReport:
    return {
        "title": run.title,
        "outcome": verdict.outcome,
        "word": verdict.word,
        "counts": dict(tally(run, verdict)),
        "judge": judge_usage_dict(run),
        "run": run,
        "verdict": {"outcome": verdict.outcome, **_plain(verdict)},
    }


def _plain(value: Any) -> Any:
    """Return one level of *value* as JSON knows it; text for what it does not know."""
    if isinstance(value, Mapping):  # the results of a large run
        return dict(value)
    if not is_dataclass(value):
        return str(value)
    out = {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, MetricInfo):
        out["range"] = [end if math.isfinite(end) else None for end in value.range]
    return out


def _finite(value: Any) -> Any:
    """Return *value* as plain data, with null for what JSON has no number for."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    return _finite(_plain(value))


def read_verdict(raw: Mapping[str, Any]) -> Verdict:
    """Return the verdict that *raw* is the plain data of, as a report or a history has it.

    Raises:
        ShapeError: it holds what no verdict does.
    """
    check_shape(raw, Verdict, {"VarianceSplit": VarianceSplit})
    out = _made(Verdict, raw)
    out.gates = [_made(GateOutcome, {**g, "culprits": tuple(g.get("culprits", ()))}) for g in raw.get("gates", ())]
    out.aggregates = {name: _made(Aggregate, a) for name, a in raw.get("aggregates", {}).items()}
    out.noise = {name: _made(VarianceSplit, split) for name, split in raw.get("noise", {}).items()}
    out.comparison = None if raw.get("comparison") is None else _comparison(raw["comparison"])
    return out


def _comparison(raw: Mapping[str, Any]) -> Comparison:
    out = _made(Comparison, raw)
    out.cases = {case_id: _case(case) for case_id, case in raw.get("cases", {}).items()}
    out.lost_metrics, out.steady = tuple(raw.get("lost_metrics", ())), tuple(raw.get("steady", ()))
    out.unsteady = tuple(raw.get("unsteady", ()))
    changes = raw.get("aggregates", {}).items()
    out.aggregates = {n: _made(MetricChange, {**c, "dropped": tuple(c.get("dropped", ()))}) for n, c in changes}
    out.provenance = {key: (before, after) for key, (before, after) in raw.get("provenance", {}).items()}
    return out


def _case(raw: Mapping[str, Any]) -> CaseComparison:
    out = _made(CaseComparison, raw)
    out.changes = {name: _made(ScoreChange, change) for name, change in raw.get("changes", {}).items()}
    out.before = None if raw.get("before") is None else _made(BaselineCase, raw["before"])
    return out


def _made(kind: type[T], raw: Mapping[str, Any]) -> T:
    """Make a dataclass of the keys it knows; those of newer versions are ignored."""
    known = {f.name for f in fields(kind)}  # type: ignore[arg-type]
    return kind(**{k: v for k, v in raw.items() if k in known})
