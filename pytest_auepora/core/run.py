"""`Run`: what was measured, and nothing else.

The pytest plugin, the Python API and the command line all produce a `Run`; gates, baselines, comparison
and reports read only a `Run`.  It is plain data and survives JSON unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from typing import Annotated, Any, Literal

from ..base.json import dumps
from ..base.records import Checked, Count, Place, ReadAs, Record, read_record
from .case_texts import CaseTexts, StoredTexts
from .findings import Answers, Finding, FindingStatus, OneAnswer, Value, WorstRepeat
from .metrics_base import Metric, interval_of, provenance_keys_of
from .scoring import ScoreList, StoredScore

Origin = Annotated[
    dict[str, Any],
    Checked("kind, run and taken, or nothing", lambda origin: not origin or origin.keys() >= {"kind", "run"}),
]
"""Where the answers of a run are from."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Both ends of a range, in ``Annotated``: JSON of others cannot say infinity, and has null."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        from pydantic import AllowInfNan
        from pydantic_core.core_schema import no_info_after_validator_function

        end = Annotated[float, AllowInfNan()] | None
        return no_info_after_validator_function(self._read, handler(tuple[end, end]))

    @staticmethod
    def _read(ends: tuple[float | None, float | None]) -> tuple[float, float]:
        low, high = -math.inf if ends[0] is None else ends[0], math.inf if ends[1] is None else ends[1]
        if low > high:
            raise ValueError("a lowest and a highest number")
        return low, high


CaseState = Literal["passed", "failed", "error", "skipped"]


@dataclass(slots=True)
class CaseResult(Record):
    """One golden case, run once (or its repeats merged).  ``texts`` may be the place of them in a file."""

    case_id: str
    """Its id in the golden file."""
    state: CaseState = "passed"
    """What became of it."""
    scores: dict[str, StoredScore] = field(default_factory=dict)
    """By metric."""
    error: str = ""
    """The exception, first line first, or why it was skipped; else empty."""
    path: str = ""
    """The golden file."""
    line: Place = 0
    """1-based line of the case in it; 0 where that is not known."""
    content_hash: str = ""
    """Of everything that decides what its scores mean."""
    cluster: str = ""
    """Cases of one cluster are not independent of each other."""
    labels: dict[str, Any] = field(default_factory=dict)
    """Its labels and tags."""
    texts: Annotated[CaseTexts | StoredTexts, ReadAs(CaseTexts)] = field(default_factory=CaseTexts)
    """What it asks and expects, and what reports show of the answer; redacted, and capped in size."""
    ranks: dict[str, Count | None] = field(default_factory=dict)
    """By relevant label, the 1-based rank it was found at; null where it was not found."""
    seconds: float = 0.0
    """How long the system took."""
    concurrency: Count = 1
    """Calls in flight."""
    findings: list[Finding] = field(default_factory=list)
    """The checks that failed in the first answer, and what became of them."""
    assertions: dict[str, bool] = field(default_factory=dict)
    """By key of the golden file (must_contain, …), whether it held in the first answer."""
    timed_out: bool = False
    """Whether its error is that the system took too long."""
    wrong_shape: bool = False
    """Whether its error is that what the system gave is no answer."""
    accepted: str = ""
    """The shapes of systems or answers that are read, where its error is about one that is not."""
    attempts: Count = 1
    """How often the system was called until its error was taken."""
    errored: int = 0
    """In how many of its repeats the system raised."""
    thresholds: dict[str, list[tuple[Literal["min", "max"], float]]] = field(default_factory=dict)
    """The bounds of the golden file on its own scores."""
    must_pass: bool = False
    """Whether it may not fail, whatever the suite tolerates."""
    quarantine: str = ""
    """ISO date until which no check fails it."""
    xfail: str | None = None
    """Why it is expected to fail; null where it is not."""
    moved: dict[str, Any] | None = None
    """How labels were matched whose chunks have other ids now; null where every label is where it was."""
    repeats: Count = 1
    """How many of its answers the scores are the mean of."""
    answers: Answers | None = None
    """Its answers one by one, where it was asked several times: the first `repeats` make the scores."""
    ranks_of_repeats: list[dict[str, Count | None]] = field(default_factory=list)
    """The ranks in each repeat, where they differ."""
    worst_repeat: WorstRepeat | None = None
    """Of a failed case that was repeated, the answer that failures show."""
    judge_usage: dict[str, Any] = field(default_factory=dict)
    """Tokens and cost of LLM judges, by metric."""
    system_usage: dict[str, Any] = field(default_factory=dict)
    """Tokens and cost of the system's models, by model."""
    recorded_in: str = ""
    """The run whose recorded answer was scored."""
    context: str = ""
    """Digest of what was retrieved, where that is compared and was the same for all its answers."""
    reused: bool = False
    """Whether the accepted answers serve, as the generator would have been asked the same."""
    looks: Place = 0
    """How many of its recorded answers, the last ones, are further looks at the suite; of such an answer: which look it
    is."""

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
    def where(self) -> str:
        """``file:line``; the file alone where the line is not known."""
        return f"{self.path}:{self.line}" if self.line else self.path

    @property
    def expected_to_fail(self) -> bool:
        """Whether the golden file or a pytest mark expects the failure (``xfail``)."""
        return self.xfail is not None

    @property
    def failures(self) -> list[Finding]:
        """The findings that fail it."""
        return [finding for finding in self.findings if finding.fails]

    def with_status(self, *statuses: FindingStatus) -> list[Finding]:
        """Return the findings in one of *statuses*."""
        return [finding for finding in self.findings if finding.status in statuses]

    @property
    def raised_at_first(self) -> bool:
        """Whether the system raised in the first answer, whatever it did when it was asked again."""
        return self.state == "error" or any(finding.kind in ("raised", "timed out") for finding in self.findings)

    @property
    def n_answers(self) -> int:
        """How often the system was asked, looks at the suite left out."""
        return len(self.answers) if self.answers is not None else 1

    def each_answer(self) -> list[OneAnswer]:
        """Return its answers one by one."""
        return [self.as_answer()] if self.answers is None else self.answers.each()

    def as_answer(self) -> OneAnswer:
        """Return what checks look at of the result of one call."""
        values: dict[str, Value] = {
            name: "error" if score.state == "error" else score.value
            for name, score in self.scores.items()
            if score.state != "aggregate"
        }
        return OneAnswer(values, self.assertions, self.state != "error", self.timed_out)

    @property
    def error_line(self) -> str:
        """The exception without its frames; empty without one."""
        return next(iter(self.error.splitlines()), "")

    def values(self, metric: str) -> list[float | None]:
        """Return the single values of *metric*, one per repeat, None where it has no number; none without a score."""
        if self.answers is not None and metric in self.answers.values:
            singles = self.answers.values[metric][: self.repeats]
            return [None if value == "error" else value for value in singles]
        score = self.scores.get(metric)
        return [] if score is None or score.value is None else [score.value]

    def quarantined(self) -> bool:
        """Whether the golden file excuses the case from its checks today: up to its date, that day included."""
        return bool(self.quarantine) and date.today().isoformat() <= self.quarantine

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-able data."""
        return asdict(replace(self, texts=self.texts.read()))


@dataclass(slots=True)
class MetricInfo(Record):
    """What must be equal for two scores of one metric to compare, and how to read them."""

    name: str
    """As people type it."""
    version: int
    """Of its definition."""
    params: dict[str, Any]
    """Its options."""
    target: str
    """Target category of the Auepora framework."""
    direction: Literal["higher", "lower"]
    """Whether higher or lower is better."""
    range: Annotated[tuple[float, float], Ends()]
    """Lowest and highest value; null where there is no bound."""
    deterministic: bool
    """Whether one answer always gets one score."""
    baselined: bool
    """Whether its scores are part of baselines."""
    judge: dict[str, Any] = field(default_factory=dict)
    """The judge that has to be calibrated: metric, version and params; empty without an LLM judge."""
    provenance_keys: list[str] = field(default_factory=list)
    """Provenance that must be equal for scores to compare."""
    owner: str = ""
    """Who answers for it, if not who answers for the suite."""
    interval: str = ""
    """How the confidence interval of its aggregate is computed; empty for means."""
    across_chunkers: str = ""
    """Comparable across chunkers if labels are passages, or if their documents are known."""
    steady: bool | None = None
    """Whether accepted answers to a case never differed in it; null where no baseline says so."""
    decimals: int = 4
    """Of its values, which baselines keep."""

    @classmethod
    def of(cls, metric: Metric) -> MetricInfo:
        """Describe *metric*."""
        judge = metric.scored_by or metric
        return cls(
            metric.name, metric.version, metric.params(), metric.target.name, metric.direction, metric.range,
            metric.deterministic, metric.baselined,
            {"metric": judge.name, "version": judge.version, "params": judge.params()} if metric.judged else {},
            list(provenance_keys_of(metric)), interval=interval_of(metric), across_chunkers=metric.across_chunkers,
            decimals=metric.decimals,
        )  # fmt: skip

    @property
    def worst(self) -> float:
        """The worst possible value."""
        return self.range[0] if self.direction == "higher" else self.range[1]

    @property
    def resolution(self) -> float:
        """Smaller differences are the rounding of a baseline (half of its last decimal), not a change."""
        return 0.51 * 10.0**-self.decimals

    def gain(self, before: float, after: float) -> float:
        """Return by how much *after* is better than *before*; a drop is negative in either direction."""
        return after - before if self.direction == "higher" else before - after


def run_title(suite: str, variant: str) -> str:
    """Return ``billing`` or ``billing[bm25]``."""
    return f"{suite}[{variant}]" if variant else suite


@dataclass(slots=True)
class Run(Record):
    """One suite measured by one configuration of the system."""

    suite: str
    """Name of the golden suite."""
    path: str = ""
    """The golden file."""
    variant: str = ""
    """Configuration of a parametrized system, or empty."""
    cases: dict[str, CaseResult] = field(default_factory=dict)
    """By id."""
    metrics: dict[str, MetricInfo] = field(default_factory=dict)
    """By name."""
    expected_ids: tuple[str, ...] = ()
    """All cases of the suite, also those that did not run, so that a partial run knows that it is one."""
    provenance: dict[str, Any] = field(default_factory=dict)
    """What the project said of corpus, chunker, model."""
    owner: str = ""
    """Who answers for the suite."""
    origin: Origin = field(default_factory=dict)
    """The earlier run that answers are from (run), whether all were replayed or the rest was asked for when it was
    resumed (kind), and how many (taken); empty where every answer is new."""
    owners: dict[str, str] = field(default_factory=dict)
    """Who answers for what no metric measures: error_rate, pass_rate."""

    @property
    def title(self) -> str:
        """``billing`` or ``billing[bm25]``."""
        return run_title(self.suite, self.variant)

    def owner_of(self, metric: str) -> str:
        """Who answers for *metric*: its own owner, else that of the suite."""
        info = self.metrics.get(metric)
        own = info.owner if info is not None else self.owners.get(metric)
        return own or self.owner

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
        """Read what `to_dict` gave; keys of newer versions are passed over.

        Raises:
            ValueError: it is not that, with the key, what was expected and what was found.
        """
        return read_record(cls, dumps(raw), by_hand=False)
