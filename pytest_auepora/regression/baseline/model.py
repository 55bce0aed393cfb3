"""A baseline: what was accepted, a block per case, made to be committed and reviewed.

Sorted keys, four decimals, no timestamps: writing the same results again gives the same bytes.  Cases are asked again
to learn which metrics are steady: `again_plan` says how often, `note_again` whether the answers differ.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from ...core.run import CaseResult, MetricInfo, Run

FORMAT = 1
GIT_COMMIT = "git_commit"
"""The key of provenance under which the project's commit is kept: recorded, never a reason not to compare."""

RESOLUTION = 5.1e-5
"""Differences up to this are the rounding of the file (half of its fourth decimal), not a change."""

LEARNED = ("steady", "pairs")
"""What is stored of a metric beside its definition: whether answers to one case ever differed, of how many pairs."""

MOST_DATA = 20_000
"""Characters kept of what one metric aggregates in one case; a baseline is to be read by people."""

CONTRACTS = ("assertion_pass", "json_schema_valid")
"""Metrics of assertions: 0 fails the case without any threshold.  They need not be listed to be measured."""

BROKEN = "broken: "
"""What a note begins with that says why a baseline that is there cannot be read."""

AGAIN = "again"
"""Key in ``extra``: pairs of answers by metric, and the metrics in which some pair differs."""

WANTED, MOST = 100, 4
"""Pairs of answers that an update looks at, and how often one case is asked again for them at most."""

_VARIED = r'"varied": \{[^{}]*\}'  # no text of the file holds an unescaped quote
_LIST = r"\[([-+.\w\s,]*)\]"


@dataclass(slots=True)
class BaselineCase:
    """What was accepted for one case.  A score of None was n/a; ``ranks`` are of the relevant labels.

    ``repeats`` is how often the case was asked; ``varied`` has the single values of the metrics whose values were
    not all the same.  ``match`` says how the labels were matched, see `labels.check`; written only where that is not
    ``exact``.  ``data`` is what metrics aggregate that need more than values, ``concurrency`` how many calls were in
    flight.
    """

    hash: str
    state: str = "passed"
    scores: dict[str, float | None] = field(default_factory=dict)
    ranks: dict[str, int | None] = field(default_factory=dict)
    repeats: int = 1
    varied: dict[str, list[float | None]] = field(default_factory=dict)
    match: str = "exact"
    data: dict[str, Any] = field(default_factory=dict)
    concurrency: int = 1

    def values(self, metric: str) -> list[float | None]:
        """Return the single values of *metric*, one per repeat; none where it was not measured."""
        if metric in self.varied:
            return list(self.varied[metric])
        return [self.scores[metric]] * self.repeats if metric in self.scores else []

    @classmethod
    def of(cls, result: CaseResult, metrics: Mapping[str, MetricInfo]) -> BaselineCase:
        """Take what is kept of *result*: scores of baselined metrics that are numbers or n/a, and broken assertions."""
        scores = {
            name: _rounded(score.value)
            for name, score in result.scores.items()
            if score.state in ("number", "n/a") and name in metrics
            if metrics[name].baselined or (name in CONTRACTS and score.value == 0)
        }
        singles = {name: [_rounded(v) for v in result.values(name)] for name in scores}
        varied = {name: values for name, values in singles.items() if len(set(values)) > 1}
        data = {name: kept for name, info in metrics.items() if (kept := _data(result, name, info)) is not None}
        timed = any(name in scores and metrics[name].target == "LATENCY" for name in metrics)
        state = "failed" if "still_failing" in result.extra else result.state
        return cls(
            result.content_hash, state, scores, dict(result.ranks), result.repeats, varied, match_of(result),
            data, result.concurrency if timed else 1,
        )  # fmt: skip

    def raw(self) -> dict[str, Any]:
        """Return the block of the file: what repeats add is left out where there are none."""
        out: dict[str, Any] = {"hash": self.hash, "state": self.state, "scores": self.scores, "ranks": self.ranks}
        if self.repeats > 1:
            out |= {"repeats": self.repeats, "varied": self.varied}
        if self.match != "exact":
            out["match"] = self.match
        if self.data:
            out["data"] = {name: _compact(data) for name, data in self.data.items()}
        if self.concurrency > 1:
            out["concurrency"] = self.concurrency
        return out


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4) + 0.0


def _data(result: CaseResult, name: str, info: MetricInfo) -> Any:
    """Return what the metric aggregates in this case, as it is after JSON; None where a value is all, or too much."""
    score = result.scores.get(name)
    if score is None or score.state not in ("number", "aggregate") or not (info.baselined and info.interval):
        return None
    text = _compact(score.data)
    return json.loads(text) if len(text) <= MOST_DATA else None


def _compact(data: Any) -> str:
    """Return *data* on one line, six decimals."""
    return json.dumps(_shorter(data), sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def _shorter(data: Any) -> Any:
    if isinstance(data, float):
        return round(data, 6) + 0.0
    if isinstance(data, (list, tuple)):
        return [_shorter(part) for part in data]
    return {str(k): _shorter(v) for k, v in data.items()} if isinstance(data, Mapping) else data


@dataclass(slots=True)
class Baseline:
    """The accepted results of one suite under one configuration."""

    suite: str
    variant: str = ""
    metrics: dict[str, dict[str, Any]] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    cases: MutableMapping[str, BaselineCase] = field(default_factory=dict)

    @property
    def steady(self) -> frozenset[str]:
        """The metrics in which no answer to a case differed from another; what nobody asked again is not known."""
        return frozenset(name for name, told in self.metrics.items() if told.get("steady"))

    def dumps(self) -> str:
        """Return the file's text."""
        raw = {
            "format": FORMAT,
            "suite": self.suite,
            "variant": self.variant,
            "metrics": self.metrics,
            "provenance": self.provenance,
            "cases": {name: case.raw() for name, case in self.cases.items()},
        }
        text = json.dumps(raw, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
        return re.sub(_VARIED, _a_line_each, text)


def _a_line_each(block: re.Match[str]) -> str:
    """Put the values of one metric on one line: they change together."""
    return re.sub(_LIST, lambda values: f"[{' '.join(values[1].split())}]", block[0])


def match_of(result: CaseResult) -> str:
    """Return how the labels of *result* were matched: ``exact``, ``span``, ``fallback_doc`` or ``none``."""
    return str(result.extra.get("labels", {}).get("match", "exact"))


def metric_key(info: MetricInfo) -> dict[str, Any]:
    """What must be equal for stored and new scores of one metric to compare, as it looks after JSON."""
    params: dict[str, Any] = json.loads(json.dumps(info.params, default=str))
    return {"version": info.version, "params": params}


def case_of(raw: Mapping[str, Any]) -> BaselineCase:
    """Read the block of one case, whose shape was checked; keys of newer versions are passed over."""
    known = {f.name: raw[f.name] for f in fields(BaselineCase) if f.name in raw}
    if "data" in known:
        known["data"] = {name: json.loads(text) for name, text in known["data"].items()}
    return BaselineCase(**known)


class AskedAgain(NamedTuple):
    """Pairs of answers to one case, by metric, and the metrics in which any pair differs."""

    pairs: Counter[str]
    varied: frozenset[str]


def again_plan(ids: Iterable[str], most: int | None = None) -> dict[str, int]:
    """Return how many more answers to ask for, by case; cases that are left out need none.

    A hundred in all: every case of a suite below a hundred as often as that takes, up to four times; of a larger one
    a hundred cases once, chosen by a hash of their ids so that every run chooses the same.  *most* is a lower limit for
    each case; 0 asks nothing.
    """
    names = list(ids)
    if not names or most == 0:
        return {}
    if len(names) < WANTED:
        times = min(MOST, math.ceil(WANTED / len(names)))
        return dict.fromkeys(names, times if most is None else min(times, most))
    chosen = sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())[:WANTED]
    return dict.fromkeys(chosen, 1)


def note_again(result: CaseResult, answers: Sequence[CaseResult], metrics: Mapping[str, MetricInfo]) -> None:
    """Note in *result* how the *answers* to its case, two or more, differ; those that errored say nothing.

    Also by how much the first, which counts, is ahead of the mean of the others.
    """
    sound = [one for one in answers if one.state not in ("error", "skipped")]
    pairs: dict[str, int] = {}
    varied: list[str] = []
    ahead: dict[str, float] = {}
    for name in metrics if len(sound) > 1 else ():
        scores = [one.scores[name] for one in sound if name in one.scores and one.scores[name].state != "error"]
        values = [score.value for score in scores]
        if len(scores) < 2 or (all(v is None for v in values) and all(score.data is None for score in scores)):
            continue
        pairs[name] = len(scores) - 1
        first = scores[0]
        if any(_differ(first.value, one.value) or first.data != one.data for one in scores[1:]):
            varied.append(name)
            numbers = [value for value in values if value is not None]
            if len(numbers) == len(values):
                ahead[name] = numbers[0] - sum(numbers[1:]) / (len(numbers) - 1)
    if pairs:
        result.extra[AGAIN] = {"pairs": pairs, "varied": varied} | ({"ahead": ahead} if ahead else {})


def asked_again(run: Run) -> AskedAgain:
    """Return what the cases of *run* show together."""
    pairs, varied = Counter[str](), set[str]()
    for case in run.having(AGAIN):
        pairs.update(case.extra[AGAIN]["pairs"])
        varied.update(case.extra[AGAIN]["varied"])
    return AskedAgain(pairs, frozenset(varied))


def _differ(a: float | None, b: float | None) -> bool:
    return a != b and (a is None or b is None or abs(a - b) > RESOLUTION)
