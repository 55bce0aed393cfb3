"""A baseline: the accepted results of a suite, a block per case, in a file to be committed and reviewed.

Sorted keys, four decimals, no timestamps: the same results give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import quote

from ..base.json import fields_of
from ..base.records import Count, Number, Place, Record, given_fields
from ..core.findings import Answers, OneAnswer, Rank, Value
from ..core.run import CaseResult, MetricInfo

T = TypeVar("T")

FORMAT = 2
GIT_COMMIT = "git_commit"
"""Provenance key of the project's commit: recorded, and never a reason not to compare."""

RESOLUTION = 5.1e-5
"""Smaller differences are the file's rounding (half of its fourth decimal), not a change."""

MAX_DATA = 20_000
"""Characters; more data of one metric in one case is not stored, as people read baselines."""

Match = Literal["exact", "span", "fallback_doc", "none"]
"""How the labels of a case were matched, see `labels.check`."""

_MAX_NAME = 100
_LIST = r"\[\n([-+.\w\s,\"]*)\]"  # of numbers and words: no text of the file holds an unescaped line break


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


@dataclass(slots=True)
class BaselineCase(Record):
    """The accepted answers to one case.  What is derived of them (centres, what held how often) is never stored."""

    hash: str
    """Of everything that decides what a score of the case means; another hash, another case."""
    answers: Count = 1
    """How often the case was asked when it was accepted."""
    scores: dict[str, Value | list[Value]] = field(default_factory=dict)
    """By metric: one value where all answers agree, else one an answer; null is n/a."""
    assertions: dict[str, bool | list[bool]] = field(default_factory=dict)
    """By key of the golden file (must_contain, …), whether it held: in all answers alike, or in each."""
    answered: bool | list[bool] = True
    """Whether the system answered, or raised: in all answers alike, or in each."""
    ranks: dict[str, Rank | None] = field(default_factory=dict)
    """1-based ranks of the relevant labels in the first answer; null where not found."""
    match: Match = "exact"
    """How labels were matched, see `labels.check`."""
    data: dict[str, Any] = field(default_factory=dict)
    """What metrics aggregate where a number is not enough, of the first answer."""
    concurrency: Count = 1
    """Calls in flight, where times are compared."""
    documents: str = ""
    """Digest of what was retrieved, where the suite reuses answers and all accepted ones had the same; else empty."""

    def __post_init__(self) -> None:
        """Check what holds among fields: one value an answer, data that are JSON."""
        kept = {f"scores.{n}": v for n, v in self.scores.items()} | {
            f"assertions.{n}": v for n, v in self.assertions.items()
        }
        for key, stored in (*kept.items(), ("answered", self.answered)):
            if isinstance(stored, list) and len(stored) != self.answers:
                raise ValueError(f"{key} to have a value for each of {self.answers} answers")
        self.data = {n: _read_data(part, n) if isinstance(part, str) else part for n, part in self.data.items()}

    def values(self, metric: str) -> list[Value]:
        """Return the score of each accepted answer; empty if it was not measured."""
        if metric not in self.scores:
            return []
        return _spread(self.scores[metric], self.answers)

    def held(self, assertion: str) -> list[bool]:
        """Return whether *assertion* held in each accepted answer; empty if the case had none."""
        return _spread(self.assertions[assertion], self.answers) if assertion in self.assertions else []

    @property
    def every_answer(self) -> Answers:
        """The accepted answers by column, one value for each."""
        return Answers(
            {name: self.values(name) for name in self.scores}, {key: self.held(key) for key in self.assertions},
            _spread(self.answered, self.answers),
        )  # fmt: skip

    def each_answer(self) -> list[OneAnswer]:
        """Return the accepted answers one by one."""
        return self.every_answer.each()

    @property
    def varied(self) -> bool:
        """Whether its accepted answers differ in anything that was kept."""
        kept = (*self.scores.values(), *self.assertions.values(), self.answered)
        return any(isinstance(values, list) for values in kept)

    def centre(self, metric: str, worst: float, *, without: int | None = None) -> float | None:
        """Return the mean of the accepted answers, errors counted as *worst*; None where all are n/a or missing.

        The answer number *without*, counted from 0, is left out.
        """
        stored = self.scores.get(metric)
        if not isinstance(stored, list):
            return worst if stored == "error" else stored
        numbers = _counting([value for i, value in enumerate(stored) if i != without], worst)
        return math.fsum(numbers) / len(numbers) if numbers else None

    def spread(self, metric: str, worst: float) -> float:
        """Return how far apart the accepted answers are, errors counted as *worst*."""
        numbers = _counting(self.values(metric), worst)
        return max(numbers) - min(numbers) if numbers else 0.0

    @classmethod
    def of(cls, result: CaseResult, metrics: Mapping[str, MetricInfo]) -> BaselineCase:
        """Make the block of *result*: the answers' values of baselined metrics, and what its assertions did."""
        answers = result.answers or Answers.of([result.as_answer()])
        from statistics import median  # with it come fractions and decimal

        names = [name for name in answers.values if name in metrics and metrics[name].baselined]
        digits = {name: info.decimals for name, info in metrics.items()}
        values = {name: [_rounded(value, digits[name]) for value in answers.values[name]] for name in names}
        values |= {  # a variant is scored once all answers are there, see `score_variants`
            name: [_rounded(score.value, digits[name])]
            for name, score in result.scores.items()
            if score.state == "number" and name not in answers.values and name in metrics and metrics[name].baselined
        }
        for name in names:  # times differ each time, which says nothing of the answers
            if metrics[name].target == "LATENCY" and len(numbers := _numbers(values[name])) > 1:
                values[name] = [_rounded(median(numbers), digits[name])]
        scores = {name: merged(of_metric) for name, of_metric in values.items()}
        assertions = {name: merged(held) for name, held in answers.assertions.items()}
        data = {name: part for name, info in metrics.items() if (part := _stored_data(result, name, info)) is not None}
        timed = any(name in scores and metrics[name].target == "LATENCY" for name in metrics)
        return cls(
            result.content_hash, len(answers), scores, assertions, merged(answers.answered), dict(result.ranks),
            match_of(result), data, result.concurrency if timed else 1, result.context,
        )  # fmt: skip

    def without(self, metrics: Collection[str]) -> BaselineCase:
        """Return the block without what it has of *metrics*."""
        scores = {name: value for name, value in self.scores.items() if name not in metrics}
        return replace(
            self, scores=scores, data={name: data for name, data in self.data.items() if name not in metrics}
        )

    def raw(self) -> dict[str, Any]:
        """Return the block of the file; keys without content are left out."""
        data = {"data": {name: _compact(data) for name, data in self.data.items()}} if self.data else {}
        return given_fields(self, "scores", "ranks") | data


def _spread(stored: T | list[T], answers: int) -> list[T]:
    return list(stored) if isinstance(stored, list) else [stored] * answers


def _counting(values: Sequence[Value], worst: float) -> list[float]:
    return [worst if value == "error" else value for value in values if value is not None]


def merged(values: list[T]) -> T | list[T]:
    """Return one value where all are equal."""
    return values[0] if all(value == values[0] for value in values) else values


def _numbers(values: list[Value]) -> list[float]:
    return [value for value in values if isinstance(value, (int, float))]


def _rounded(value: Value, digits: int) -> Value:
    return round(value, digits) + 0.0 if isinstance(value, (int, float)) else value


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


@dataclass(slots=True)
class BaselineMetric(Record):
    """What must be equal for stored and new scores of a metric to compare, and how its mean moved."""

    version: Count
    """Of the metric."""
    params: dict[str, Any] = field(default_factory=dict)
    """Its options."""
    falls: Place = 0
    """How many accepted updates in a row lowered its mean."""
    fell_from: Number | None = None
    """The mean before the first of them."""

    @property
    def key(self) -> dict[str, Any]:
        """Version and parameters, as `metric_key` has them."""
        return {"version": self.version, "params": self.params}


@dataclass(slots=True)
class Baseline(Record):
    """The accepted results of one suite under one configuration."""

    suite: str
    """Its name."""
    variant: str = ""
    """The configuration, or empty."""
    metrics: dict[str, BaselineMetric] = field(default_factory=dict)
    """What was measured."""
    provenance: dict[str, Any] = field(default_factory=dict)
    """What the project said of corpus, chunker, model."""
    cases: dict[str, BaselineCase] = field(default_factory=dict)
    """The accepted answers, by case id."""
    format: int = FORMAT
    """Of the file that it was read from: the first one held one answer to most cases."""

    @property
    def is_old(self) -> bool:
        """Whether an earlier version wrote it, which asked most cases once."""
        return self.format < FORMAT

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
        raw = fields_of(self) | {"format": FORMAT}
        raw["metrics"] = {name: given_fields(metric, "params") for name, metric in self.metrics.items()}
        raw["cases"] = {name: case.raw() for name, case in self.cases.items()}
        text = json.dumps(raw, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
        return re.sub(_LIST, lambda values: f"[{' '.join(values[1].split())}]", text)  # they change together


def match_of(result: CaseResult) -> Match:
    """Return how the labels of *result* were matched: ``exact``, ``span``, ``fallback_doc`` or ``none``."""
    return result.moved["match"] if result.moved is not None else "exact"


def metric_key(info: MetricInfo) -> dict[str, Any]:
    """Return what must be equal for stored and new scores to be comparable, as read from JSON."""
    params: dict[str, Any] = json.loads(json.dumps(info.params, default=str))
    return {"version": info.version, "params": params}


def _read_data(text: Any, name: str) -> Any:
    try:
        return json.loads(text, parse_float=_finite, parse_int=_finite, parse_constant=_finite)
    except (TypeError, ValueError, RecursionError):
        raise ValueError(f"data.{name} to be a text that is JSON of finite numbers") from None


def _finite(text: str) -> float:
    number = int(text) if text.lstrip("-").isdigit() else float(text)
    if not math.isfinite(number) or abs(number) > 1e300:
        raise ValueError(text)
    return number
