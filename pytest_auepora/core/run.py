"""`Run`: what was measured, and nothing else.

The pytest plugin, the Python API and the command line all produce a `Run`; gates, baselines, comparison
and reports read only a `Run`.  It is plain data and survives JSON unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from numbers import Real
from typing import Annotated, Any, Literal

from ..base.json import known_fields
from ..errors import NotMeasuredError
from .case_texts import CaseTexts, StoredTexts
from .metrics_base import Metric, interval_of, provenance_keys_of
from .result_shapes import Count, Extra, Origin, Range, Rank, StoredScore
from .scoring import Aggregate, Score, ScoreList

CaseState = Literal["passed", "failed", "error", "skipped"]


@dataclass(slots=True)
class CaseResult:
    """One golden case, run once (or its repeats merged).

    ``texts`` are ``query``, ``expected`` and ``outputs``, which reports show, or the place of them in a file; they are
    redacted and capped in size before.  ``outputs`` has ``answer``, ``retrieved`` (a list of
    ``{"id", "score", "grade"}`` in rank order) and ``timings`` in seconds.  ``ranks`` maps each relevant label to the
    1-based rank it was found at, or None.
    """

    case_id: str
    state: CaseState = "passed"
    scores: dict[str, Annotated[Score, StoredScore]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    error: str = ""
    where: str = ""
    content_hash: str = ""
    cluster: str = ""
    labels: dict[str, Any] = field(default_factory=dict)
    texts: Annotated[CaseTexts | StoredTexts, CaseTexts] = field(default_factory=CaseTexts)
    ranks: dict[str, Annotated[int | None, Rank]] = field(default_factory=dict)
    seconds: float = 0.0
    concurrency: Annotated[int, Count] = 1
    extra: Annotated[dict[str, Any], Extra] = field(default_factory=dict)

    @property
    def query(self) -> str:
        """What is asked."""
        return self.texts.read().query

    @query.setter
    def query(self, query: str) -> None:
        self.texts = replace(self.texts.read(), query=query)

    @property
    def expected(self) -> dict[str, Any]:
        """What the case expects."""
        return self.texts.read().expected

    @expected.setter
    def expected(self, expected: dict[str, Any]) -> None:
        self.texts = replace(self.texts.read(), expected=expected)

    @property
    def outputs(self) -> dict[str, Any]:
        """What is shown of the answer."""
        return self.texts.read().outputs

    @outputs.setter
    def outputs(self, outputs: dict[str, Any]) -> None:
        self.texts = replace(self.texts.read(), outputs=outputs)

    @property
    def expected_to_fail(self) -> bool:
        """Whether the golden file or a pytest mark expects the failure (``xfail``)."""
        return "xfail" in self.extra

    @property
    def error_line(self) -> str:
        """The exception without its frames; empty without one."""
        return next(iter(self.error.splitlines()), "")

    @property
    def repeats(self) -> int:
        """How often the case was asked."""
        return max(map(len, self.extra.get("repeats", {}).values()), default=1)

    def values(self, metric: str) -> list[float | None]:
        """Return the single values of *metric*, one per repeat, None where it was n/a; none where it has no score."""
        if (repeats := self.extra.get("repeats", {}).get(metric)) is not None:
            return list(repeats)
        score = self.scores.get(metric)
        return [] if score is None or score.value is None else [score.value]

    def quarantined(self) -> bool:
        """Whether the golden file excuses the case from the case guard today: up to its date, that day included."""
        until = str(self.extra.get("quarantine", ""))
        return bool(until) and date.today().isoformat() <= until

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-able data."""
        return asdict(replace(self, texts=self.texts.read()))

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> CaseResult:
        """Read what `to_dict` gave; keys of newer versions are ignored."""
        data = known_fields(cls, raw)
        data["scores"] = {name: Score(**score) for name, score in raw.get("scores", {}).items()}
        data["texts"] = CaseTexts(**known_fields(CaseTexts, raw.get("texts", {})))
        return cls(**data)


@dataclass(slots=True)
class MetricInfo:
    """What must be equal for two scores of one metric to compare, and how to read them.

    ``judge`` identifies the calibration that a judge's scores need: metric, version and params; empty without a judge.
    ``provenance_keys`` must be equal in the provenance of both runs as well; ``owner`` is the owner of this metric, if
    not that of the suite; ``interval`` and ``across_chunkers`` are those of `Metric`.  ``steady`` says whether repeated
    answers to a case never differed in it, where a baseline has that.
    """

    name: str
    version: int
    params: dict[str, Any]
    target: str
    direction: Annotated[str, Literal["higher", "lower"]]
    range: Annotated[tuple[float, float], Range]
    deterministic: bool
    baselined: bool
    judge: dict[str, Any] = field(default_factory=dict)
    provenance_keys: list[str] = field(default_factory=list)
    owner: str = ""
    interval: str = ""
    across_chunkers: str = ""
    steady: bool | None = None

    @classmethod
    def of(cls, metric: Metric) -> MetricInfo:
        """Describe *metric*."""
        judge = metric.scored_by or metric
        return cls(
            metric.name, metric.version, metric.params(), metric.target.name, metric.direction, metric.range,
            metric.deterministic, metric.baselined,
            {"metric": judge.name, "version": judge.version, "params": judge.params()} if metric.judged else {},
            list(provenance_keys_of(metric)), interval=interval_of(metric), across_chunkers=metric.across_chunkers,
        )  # fmt: skip

    @property
    def worst(self) -> float:
        """The worst possible value."""
        return self.range[0] if self.direction == "higher" else self.range[1]

    def gain(self, before: float, after: float) -> float:
        """Return by how much *after* is better than *before*; a drop is negative in either direction."""
        return after - before if self.direction == "higher" else before - after

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> MetricInfo:
        """Read plain data; keys of newer versions are ignored."""
        low, high = raw["range"]  # null where a report could not say infinity
        ends = (-math.inf if low is None else low, math.inf if high is None else high)
        return cls(**{**known_fields(cls, raw), "range": ends})


def run_title(suite: str, variant: str) -> str:
    """Return ``billing`` or ``billing[bm25]``."""
    return f"{suite}[{variant}]" if variant else suite


@dataclass(slots=True)
class Run:
    """One suite measured by one configuration of the system.

    ``cases`` are the results by case id.  ``expected_ids`` are all case ids of the golden suite, whether they ran or
    not, so a partial run knows that it is one.  ``provenance`` holds what the user said about corpus, chunker, model.
    ``owner`` answers for the suite; a metric may have one of its own.  ``origin`` is empty where every answer is new;
    else it names the earlier run (``run``), whether all were ``replayed`` or the rest was asked for when it was
    ``resumed`` (``kind``), and how many cases were ``taken`` from there.
    """

    suite: str
    path: str = ""
    variant: str = ""
    cases: dict[str, CaseResult] = field(default_factory=dict)
    metrics: dict[str, MetricInfo] = field(default_factory=dict)
    expected_ids: tuple[str, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)
    owner: str = ""
    origin: Annotated[dict[str, Any], Origin] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """``billing`` or ``billing[bm25]``."""
        return run_title(self.suite, self.variant)

    def owner_of(self, metric: str) -> str:
        """Who answers for *metric*: its own owner, else that of the suite."""
        info = self.metrics.get(metric)
        return (info.owner if info is not None else "") or self.owner

    @property
    def missing_ids(self) -> tuple[str, ...]:
        """Cases of the suite that did not run."""
        return tuple(i for i in self.expected_ids if i not in self.cases)

    @property
    def is_full(self) -> bool:
        """Whether every case of the suite was run (a skipped case counts as seen)."""
        return not self.missing_ids

    @property
    def clusters(self) -> dict[str, str]:
        """The clusters by case, for cases in a cluster of more than themselves; computed on each access."""
        return {i: case.cluster for i, case in self.cases.items() if case.cluster not in ("", i)}

    def add(self, results: Iterable[CaseResult]) -> None:
        """Add results; a later one of the same case replaces the earlier (reruns)."""
        for result in results:
            self.cases[result.case_id] = result

    def having(self, key: str) -> Iterator[CaseResult]:
        """Yield the results that have *key* in their ``extra``, in order."""
        return (case for case in self.cases.values() if key in case.extra)

    def in_state(self, *states: CaseState) -> Iterator[CaseResult]:
        """Yield the results in one of *states*, in order."""
        return (case for case in self.cases.values() if case.state in states)

    def scores_of(self, metric: str, wanted: Callable[[CaseResult], bool] | None = None) -> ScoreList:
        """Return the scores of *metric* in the cases that have one, were not skipped and are *wanted*."""
        cases = [c for c in self.cases.values() if c.state != "skipped" and (wanted is None or wanted(c))]
        cases = [c for c in cases if metric in c.scores]
        return ScoreList([c.scores[metric] for c in cases], [c.case_id for c in cases])

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-able data."""
        cases = {case_id: case.to_dict() for case_id, case in self.cases.items()}
        return {**asdict(replace(self, cases={})), "cases": cases, "expected_ids": list(self.expected_ids)}

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> Run:
        """Read what `to_dict` gave, also after a trip through JSON."""
        data = known_fields(cls, raw)
        data["cases"] = {k: CaseResult.from_dict(v) for k, v in raw.get("cases", {}).items()}
        data["metrics"] = {k: MetricInfo.from_dict(v) for k, v in raw.get("metrics", {}).items()}
        data["expected_ids"] = tuple(raw.get("expected_ids", ()))
        return cls(**data)


@dataclass(frozen=True, slots=True, eq=False)
class ComparableScore:
    """One metric of a run (``run["recall@5"]``) or of a case (``auepora_case["token_f1"]``).

    It is used as a number.  ``value`` is None where nothing was measured; using it then raises `NotMeasuredError`
    with ``reason``, so a missing score can never pass for a good or a bad one.  Over a run, errored cases count as the
    metric's worst value.
    """

    name: str
    value: float | None
    reason: str = ""
    run: Run | None = None
    case: CaseResult | None = None
    info: MetricInfo | None = None
    aggregate: Aggregate | None = None

    def __float__(self) -> float:
        if self.value is None:
            raise self._not_measured()
        return self.value

    def __bool__(self) -> bool:
        """Return whether the value is not 0; what was not measured is neither true nor false."""
        if self.aggregate is not None and self.aggregate.value is None:  # else the worst value of errors might be true
            raise self._not_measured()
        return bool(float(self))

    def _not_measured(self) -> NotMeasuredError:
        return NotMeasuredError(f"{self.name} has no value: {self.reason or 'nothing was measured'}")

    def __lt__(self, other: float | ComparableScore) -> bool:
        return float(self) < other

    def __le__(self, other: float | ComparableScore) -> bool:
        return float(self) <= other

    def __gt__(self, other: float | ComparableScore) -> bool:
        return float(self) > other

    def __ge__(self, other: float | ComparableScore) -> bool:
        return float(self) >= other

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (int, float, ComparableScore)):
            return float(self) == float(other)
        return NotImplemented

    def __add__(self, other: float | ComparableScore) -> float:
        return float(self) + other

    def __sub__(self, other: float | ComparableScore) -> float:
        return float(self) - other

    def __mul__(self, other: float | ComparableScore) -> float:
        return float(self) * other

    def __truediv__(self, other: float | ComparableScore) -> float:
        return float(self) / other

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: float | ComparableScore) -> float:
        return other - float(self)

    def __rtruediv__(self, other: float | ComparableScore) -> float:
        return other / float(self)

    def __neg__(self) -> float:
        return -float(self)

    def __abs__(self) -> float:
        return abs(float(self))

    def __round__(self, ndigits: int | None = None) -> float:
        return round(float(self), ndigits)

    def __hash__(self) -> int:
        return hash((self.name, self.value))

    def __repr__(self) -> str:
        if self.value is None:
            return f"<{self.name}: no value, {self.reason}>"
        return f"<{self.name} {self.value:.4f}>"


Real.register(ComparableScore)  # for `pytest.approx`
