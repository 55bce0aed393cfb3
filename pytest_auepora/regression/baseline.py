"""A baseline: the accepted results of a suite, a block per case, in a file to be committed and reviewed.

Sorted keys, four decimals, no timestamps: the same results give the same bytes.

A baseline moves with every accepted change, and each step down may be too small to fail.  The *anchor* is an older
baseline that stays, so that many small steps add up to one that fails.  It is written on request only.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypedDict, TypeVar
from urllib.parse import quote

from ..base.files import RepeatedKeyError, locked, unique_keys
from ..base.git import CONFLICT, conflict_line
from ..base.json import fields_of, known_fields
from ..core.findings import RECORD, Answers, Value
from ..core.result_shapes import Count, Place, Rank
from ..core.run import CaseResult, MetricInfo, run_title
from ..core.scoring import Score
from ..errors import BaselineError, NotWrittenError
from ..shapes import ShapeError, check_shape, is_number

T = TypeVar("T")

FORMAT = 2
GIT_COMMIT = "git_commit"
"""Provenance key of the project's commit: recorded, and never a reason not to compare."""

RESOLUTION = 5.1e-5
"""Smaller differences are the file's rounding (half of its fourth decimal), not a change."""

MAX_DATA = 20_000
"""Characters; more data of one metric in one case is not stored, as people read baselines."""

_MAX_NAME = 100
_ACCEPT = "run the whole suite with --auepora-update"
_LIST = r"\[\n([-+.\w\s,\"]*)\]"  # of numbers and words: no text of the file holds an unescaped line break


@dataclass(slots=True)
class BaselineCase:
    """The accepted answers to one case.  What is derived of them (centres, what held how often) is never stored."""

    __pydantic_config__: ClassVar[dict[str, Any]] = RECORD

    hash: str
    """Of everything that decides what a score of the case means; another hash, another case."""
    answers: Annotated[int, Count] = 1
    """How often the case was asked when it was accepted."""
    scores: dict[str, Value | list[Value]] = field(default_factory=dict)
    """By metric: one value where all answers agree, else one an answer; null is n/a."""
    assertions: dict[str, bool | list[bool]] = field(default_factory=dict)
    """By key of the golden file (must_contain, …), whether it held: in all answers alike, or in each."""
    answered: bool | list[bool] = True
    """Whether the system answered, or raised: in all answers alike, or in each."""
    ranks: dict[str, Annotated[int | None, Rank]] = field(default_factory=dict)
    """1-based ranks of the relevant labels in the first answer; null where not found."""
    match: Literal["exact", "span", "fallback_doc", "none"] = "exact"
    """How labels were matched, see `labels.check`."""
    data: dict[str, Any] = field(default_factory=dict)
    """What metrics aggregate where a number is not enough, of the first answer."""
    concurrency: Annotated[int, Count] = 1
    """Calls in flight, where times are compared."""

    def values(self, metric: str) -> list[Value]:
        """Return the score of each accepted answer; empty if it was not measured."""
        if metric not in self.scores:
            return []
        return _spread(self.scores[metric], self.answers)

    def held(self, assertion: str) -> list[bool]:
        """Return whether *assertion* held in each accepted answer; empty if the case had none."""
        return _spread(self.assertions[assertion], self.answers) if assertion in self.assertions else []

    @property
    def was_answered(self) -> list[bool]:
        """Whether the system answered, in each accepted answer."""
        return _spread(self.answered, self.answers)

    @property
    def varied(self) -> bool:
        """Whether its accepted answers differ in anything that was kept."""
        kept = (*self.scores.values(), *self.assertions.values(), self.answered)
        return any(isinstance(values, list) for values in kept)

    def centre(self, metric: str, worst: float) -> float | None:
        """Return the mean of the accepted answers, errors counted as *worst*; None where all are n/a or missing."""
        stored = self.scores.get(metric)
        if not isinstance(stored, list):
            return worst if stored == "error" else stored
        numbers = [worst if value == "error" else value for value in stored if value is not None]
        return math.fsum(numbers) / len(numbers) if numbers else None

    @classmethod
    def of(cls, result: CaseResult, metrics: Mapping[str, MetricInfo]) -> BaselineCase:
        """Make the block of *result*: the answers' values of baselined metrics, and what its assertions did."""
        answers = result.answers or Answers(
            {name: [_value_of(score)] for name, score in result.scores.items() if score.state != "aggregate"},
            {}, [result.state != "error"],
        )  # fmt: skip
        names = [name for name in answers.values if name in metrics and metrics[name].baselined]
        scores = {name: _merged([_rounded(value) for value in answers.values[name]]) for name in names}
        assertions = {name: _merged(held) for name, held in answers.assertions.items()}
        data = {name: part for name, info in metrics.items() if (part := _stored_data(result, name, info)) is not None}
        timed = any(name in scores and metrics[name].target == "LATENCY" for name in metrics)
        return cls(
            result.content_hash, len(answers), scores, assertions, _merged(answers.answered), dict(result.ranks),
            match_of(result), data, result.concurrency if timed else 1,
        )  # fmt: skip

    def raw(self) -> dict[str, Any]:
        """Return the block of the file; keys without content are left out."""
        out: dict[str, Any] = {"hash": self.hash, "scores": self.scores, "ranks": self.ranks}
        if self.answers > 1:
            out["answers"] = self.answers
        if self.assertions:
            out["assertions"] = self.assertions
        if self.answered is not True:
            out["answered"] = self.answered
        if self.match != "exact":
            out["match"] = self.match
        if self.data:
            out["data"] = {name: _compact(data) for name, data in self.data.items()}
        if self.concurrency > 1:
            out["concurrency"] = self.concurrency
        return out


def _spread(stored: T | list[T], answers: int) -> list[T]:
    return list(stored) if isinstance(stored, list) else [stored] * answers


def _merged(values: list[T]) -> T | list[T]:
    """Return one value where all are equal."""
    return values[0] if all(value == values[0] for value in values) else values


def _value_of(score: Score) -> Value:
    return "error" if score.state == "error" else score.value


def _rounded(value: Value) -> Value:
    return round(value, 4) + 0.0 if isinstance(value, (int, float)) else value


def _stored_data(result: CaseResult, name: str, info: MetricInfo) -> Any:
    """Return the data that the metric aggregates, as read from JSON; None if its value is enough, or it is too long."""
    score = result.scores.get(name)
    if score is None or score.state not in ("number", "aggregate") or not (info.baselined and info.interval):
        return None
    text = _compact(score.data)
    return json.loads(text) if len(text) <= MAX_DATA else None


def _compact(data: Any) -> str:
    """Return *data* on one line, six decimals."""
    return json.dumps(_rounded_data(data), sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def _rounded_data(data: Any) -> Any:
    if isinstance(data, float):
        return round(data, 6) + 0.0
    if isinstance(data, (list, tuple)):
        return [_rounded_data(part) for part in data]
    return {str(k): _rounded_data(v) for k, v in data.items()} if isinstance(data, Mapping) else data


class _MetricKeys(TypedDict):
    version: Annotated[int, Count]
    params: dict[str, Any]


class _Metric(_MetricKeys, total=False):
    falls: Place
    fell_from: float


@dataclass(slots=True)
class Baseline:
    """The accepted results of one suite under one configuration."""

    __pydantic_config__: ClassVar[dict[str, Any]] = RECORD

    suite: str
    """Its name."""
    variant: str = ""
    """The configuration, or empty."""
    metrics: dict[str, Annotated[dict[str, Any], _Metric]] = field(default_factory=dict)
    """By metric its version and parameters; how often in a row its mean fell when accepted, and from where."""
    provenance: dict[str, Any] = field(default_factory=dict)
    """What the project said of corpus, chunker, model."""
    cases: MutableMapping[str, BaselineCase] = field(default_factory=dict)
    """The accepted answers, by case id."""
    is_old: bool = False
    """Whether an earlier version wrote it, which asked most cases once; no key of the file."""

    @property
    def steady(self) -> frozenset[str]:
        """The metrics of which no two accepted answers to a case differ; none where every case was asked once."""
        repeated = [case for case in self.cases.values() if case.answers > 1]
        known = {name for case in repeated for name in case.scores}
        varied = {name for case in repeated for name, value in case.scores.items() if isinstance(value, list)}
        return frozenset(known - varied)

    def centre(self, metric: str, worst: float) -> float | None:
        """Return the mean of the centres of *metric* over all cases; None where no case has one."""
        centres = [centre for case in self.cases.values() if (centre := case.centre(metric, worst)) is not None]
        return math.fsum(centres) / len(centres) if centres else None

    def dumps(self) -> str:
        """Return the file's text."""
        cases = {name: case.raw() for name, case in self.cases.items()}
        raw = {"format": FORMAT, **fields_of(self), "cases": cases}
        del raw["is_old"]
        text = json.dumps(raw, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
        return re.sub(_LIST, lambda values: f"[{' '.join(values[1].split())}]", text)  # they change together


def match_of(result: CaseResult) -> str:
    """Return how the labels of *result* were matched: ``exact``, ``span``, ``fallback_doc`` or ``none``."""
    return str(result.moved["match"]) if result.moved is not None else "exact"


def metric_key(info: MetricInfo) -> dict[str, Any]:
    """Return what must be equal for stored and new scores to be comparable, as read from JSON."""
    params: dict[str, Any] = json.loads(json.dumps(info.params, default=str))
    return {"version": info.version, "params": params}


def baseline_path(golden: Path, suite: str, variant: str, override: Path | None = None) -> Path:
    """Return the path of the baseline of *suite*: ``__baselines__/<suite>.json`` next to the golden file.

    *override* is a directory to use instead, or the file itself if it ends in ``.json``.
    Each configuration of a parametrized system has its own file.
    """
    if override is not None and override.suffix == ".json":
        return override
    folder = override if override is not None else golden.parent / "__baselines__"
    name = quote(variant, safe="-_.+ ")
    if len(name) > _MAX_NAME:  # file names may have some 255 bytes
        name = f"{name[: _MAX_NAME - 13]}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"
    return folder / (f"{suite}@{name}.json" if variant else f"{suite}.json")


@contextmanager
def lock_baseline(path: Path) -> Iterator[None]:
    """Hold the lock of the baseline at *path*, so that no other run changes it between reading and writing.

    Raises:
        BaselineError: another run holds the lock too long, or the baseline cannot be written.
    """
    try:
        with locked(path):
            yield
    except NotWrittenError as exc:
        raise BaselineError(str(exc)) from exc


def load_baseline(path: Path, suite: str, variant: str = "") -> Baseline | None:
    """Read *path*, which should be the baseline of *suite* in this *variant*; None if there is no such file.

    Raises:
        BaselineError: as `read_baseline`, or it belongs to another suite or configuration.
    """
    baseline = read_baseline(path)
    if baseline is not None and (baseline.suite, baseline.variant) != (suite, variant):
        raise BaselineError(
            f"{path}: the baseline of {run_title(baseline.suite, baseline.variant)!r}, "
            f"wanted is {run_title(suite, variant)!r}; give --auepora-baseline a directory when there is more than one"
        )
    return baseline


def read_baseline(path: Path) -> Baseline | None:
    """Read *path*, the baseline of whatever suite; None if there is no such file.

    Raises:
        BaselineError: the file is not a baseline, is cut short, has conflict markers or a newer format.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as exc:
        raise BaselineError(f"{path}: not UTF-8 ({exc.reason} at byte {exc.start})") from None
    except OSError as exc:
        raise BaselineError(f"{path}: cannot be read: {exc.strerror or exc}") from None
    return parse_baseline(text, str(path))


def parse_baseline(text: str, path: str) -> Baseline:
    """Read the text of a baseline; *path* is for messages.  Raises `BaselineError`."""
    if line := conflict_line(text):
        raise BaselineError(f"{path}:{line}: {CONFLICT}, or {_ACCEPT}")
    try:
        raw = json.loads(text, object_pairs_hook=unique_keys)
    except json.JSONDecodeError as exc:
        hint = "" if text.rstrip().endswith("}") else " (the file seems cut short)"
        raise BaselineError(
            f"{path}:{exc.lineno}:{exc.colno}: not JSON: {exc.msg}{hint}; restore it from version control, or {_ACCEPT}"
        ) from None
    except RepeatedKeyError as exc:
        key = exc.args[0]
        raise BaselineError(f"{path}: {key!r} is there twice, as a merge leaves it: keep one, or {_ACCEPT}") from None
    except (ValueError, RecursionError) as exc:  # thousands of digits, or of nested brackets
        raise _not_a_baseline(path, f"{type(exc).__name__}: {exc}") from None
    for key in ("format", "cases"):
        if not isinstance(raw, dict) or key not in raw:
            raise _not_a_baseline(path, f"there is no {key!r} key")
    if raw["format"] == 1:
        raw = _from_first_format(raw)
    if raw["format"] != FORMAT:
        raise BaselineError(
            f"{path}: baseline format {raw['format']!r}, this version reads {FORMAT}; "
            f"it was written by another version of pytest-auepora: install that one, or {_ACCEPT}"
        )
    try:
        check_shape(raw, Baseline)
        cases = {case_id: _case_of(case, case_id) for case_id, case in raw["cases"].items()}
    except ShapeError as exc:
        raise _not_a_baseline(path, str(exc)) from None
    return Baseline(**known_fields(Baseline, raw) | {"cases": cases})


_FIRST_ASSERTIONS = {"assertion_pass": ("must_contain", "forbidden"), "json_schema_valid": ("answer_schema",)}


def _from_first_format(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a file of the first format in the present one; what is not of its shape stays, to be complained of."""
    cases = raw["cases"]
    if isinstance(cases, dict):
        cases = {name: _first_case(case) if isinstance(case, dict) else case for name, case in cases.items()}
    metrics = raw.get("metrics")
    if isinstance(metrics, dict):
        metrics = {
            name: {key: keys[key] for key in ("version", "params") if key in keys} if isinstance(keys, dict) else keys
            for name, keys in metrics.items()
        }
    return {**raw, "format": FORMAT, "cases": cases, "metrics": metrics or {}, "is_old": True}


def _first_case(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a block of the first format: one score a metric, the single values where repeats differed."""
    out = {key: value for key, value in raw.items() if key not in ("state", "repeats", "varied")}
    scores, varied, answers = raw.get("scores"), raw.get("varied", {}), raw.get("repeats", 1)
    if isinstance(scores, dict) and isinstance(varied, dict):
        kept = {name: values for name, values in varied.items() if not isinstance(values, list) or len(values) == answers}
        out |= {"scores": {**scores, **kept}, "answers": answers}
        out["assertions"] = {
            key: scores[name] != 0 for name, keys in _FIRST_ASSERTIONS.items() if name in scores for key in keys
        }
    return out


def _case_of(raw: Mapping[str, Any], case_id: str) -> BaselineCase:
    """Read the block of one case; keys of newer versions are ignored."""
    values = known_fields(BaselineCase, raw)
    values["data"] = {n: _read_data(text, f"cases.{case_id}.data.{n}") for n, text in raw.get("data", {}).items()}
    case = BaselineCase(**values)
    kept = {f"scores.{n}": v for n, v in case.scores.items()} | {f"assertions.{n}": v for n, v in case.assertions.items()}
    for key, stored in (*kept.items(), ("answered", case.answered)):
        if isinstance(stored, list) and len(stored) != case.answers:
            raise ShapeError(f"cases.{case_id}.{key}: expected one value for each of {case.answers} answers, found {len(stored)}")
    return case


def _read_data(text: Any, key: str) -> Any:
    try:
        return json.loads(text, parse_float=_finite, parse_int=_finite, parse_constant=_finite)
    except (TypeError, ValueError, RecursionError):
        raise ShapeError(f"{key}: expected a text that is JSON of finite numbers, found {repr(text)[:60]}") from None


def _finite(text: str) -> float:
    number = int(text) if text.lstrip("-").isdigit() else float(text)
    if not is_number(number):
        raise ValueError(text)
    return number


def _not_a_baseline(path: str, why: str) -> BaselineError:
    return BaselineError(
        f"{path}: not a baseline file: {why}; if it should be one, restore it from version control, or {_ACCEPT}"
    )


class Anchor(NamedTuple):
    """What was read from the path of the anchor: a baseline, nothing, or a file that cannot be read (``problem``)."""

    baseline: Baseline | None = None
    problem: str = ""


def anchor_path(baseline: Path) -> Path:
    """Return the path of the anchor of *baseline*: ``shop.anchor.json`` for ``shop.json``."""
    return baseline.with_name(f"{baseline.name.removesuffix('.json')}.anchor.json")


def load_anchor(baseline: Path, suite: str, variant: str = "") -> Anchor:
    """Read the anchor of *baseline*, if there is one."""
    try:
        return Anchor(load_baseline(anchor_path(baseline), suite, variant))
    except BaselineError as exc:
        return Anchor(problem=str(exc).replace("--auepora-update", "--auepora-update anchor"))
