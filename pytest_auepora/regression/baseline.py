"""A baseline: the accepted results of a suite, a block per case, in a file to be committed and reviewed.

Sorted keys, four decimals, no timestamps: the same results give the same bytes.

A baseline moves with every accepted change, and each step down may be too small to fail.  The *anchor* is an older
baseline that stays, so that many small steps add up to one that fails.  It is written on request only.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypedDict
from urllib.parse import quote

from ..base.files import RepeatedKeyError, locked, unique_keys
from ..base.git import CONFLICT, conflict_line
from ..base.json import fields_of, known_fields
from ..core.result_shapes import Count, Place, Rank
from ..core.run import CaseResult, CaseState, MetricInfo, run_title
from ..errors import BaselineError, NotWrittenError
from ..shapes import Kind, ShapeError, check_shape, is_number

FORMAT = 1
GIT_COMMIT = "git_commit"
"""Provenance key of the project's commit: recorded, and never a reason not to compare."""

RESOLUTION = 5.1e-5
"""Smaller differences are the file's rounding (half of its fourth decimal), not a change."""

MAX_DATA = 20_000
"""Characters; more data of one metric in one case is not stored, as people read baselines."""

STILL_FAILING = "still_failing"
"""Key in a result's ``extra``: assertions that fail, and failed in the accepted baseline too: listed, not red."""

CONTRACTS = ("assertion_pass", "json_schema_valid")
"""Assertion metrics: 0 fails the case without any threshold.  They are measured without being listed."""

BROKEN = "broken: "
"""Prefix of a note that says why an existing baseline cannot be read."""

_MAX_NAME = 100
_ACCEPT = "run the whole suite with --auepora-update"
_Values = Annotated[
    list[float | None],
    Kind(
        "a list of finite numbers or null",
        lambda value: isinstance(value, list) and bool(value) and all(v is None or is_number(v) for v in value),
    ),
]
_VARIED = r'"varied": \{[^{}]*\}'  # no text of the file holds an unescaped quote
_LIST = r"\[([-+.\w\s,]*)\]"


@dataclass(slots=True)
class BaselineCase:
    """The accepted result of one case.  A score of None was n/a; ``ranks`` are of the relevant labels.

    ``repeats`` is how often the case was asked; ``varied`` has the single values of metrics whose repeats differ.
    ``match`` says how the labels were matched, see `labels.check`; written only if that is not ``exact``.  ``data`` is
    for metrics that aggregate more than values, ``concurrency`` is the number of calls in flight.
    """

    hash: str
    state: Annotated[str, CaseState] = "passed"
    scores: dict[str, float | None] = field(default_factory=dict)
    ranks: dict[str, Annotated[int | None, Rank]] = field(default_factory=dict)
    repeats: Annotated[int, Count] = 1
    varied: dict[str, _Values] = field(default_factory=dict)
    match: Annotated[str, Literal["exact", "span", "fallback_doc", "none"]] = "exact"
    data: dict[str, Any] = field(default_factory=dict)
    concurrency: Annotated[int, Count] = 1

    def values(self, metric: str) -> list[float | None]:
        """Return the single values of *metric*, one per repeat; empty if it was not measured."""
        if metric in self.varied:
            return list(self.varied[metric])
        return [self.scores[metric]] * self.repeats if metric in self.scores else []

    @classmethod
    def of(cls, result: CaseResult, metrics: Mapping[str, MetricInfo]) -> BaselineCase:
        """Make the block of *result*: scores of baselined metrics that are numbers or n/a, and failed assertions."""
        scores = {
            name: _rounded(score.value)
            for name, score in result.scores.items()
            if score.state in ("number", "n/a") and name in metrics
            if metrics[name].baselined or (name in CONTRACTS and score.value == 0)
        }
        singles = {name: [_rounded(v) for v in result.values(name)] for name in scores}
        varied = {name: values for name, values in singles.items() if len(set(values)) > 1}
        data = {name: part for name, info in metrics.items() if (part := _stored_data(result, name, info)) is not None}
        timed = any(name in scores and metrics[name].target == "LATENCY" for name in metrics)
        state = "failed" if STILL_FAILING in result.extra else result.state
        return cls(
            result.content_hash, state, scores, dict(result.ranks), result.repeats, varied, match_of(result),
            data, result.concurrency if timed else 1,
        )  # fmt: skip

    def raw(self) -> dict[str, Any]:
        """Return the block of the file; keys for repeats are left out if there are none."""
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
    steady: bool
    pairs: Place


@dataclass(slots=True)
class Baseline:
    """The accepted results of one suite under one configuration."""

    suite: str
    variant: str = ""
    metrics: dict[str, Annotated[dict[str, Any], _Metric]] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    cases: MutableMapping[str, BaselineCase] = field(default_factory=dict)

    @property
    def steady(self) -> frozenset[str]:
        """Deterministic metrics: those that were repeated, and scored all answers to a case the same."""
        return frozenset(name for name, stored in self.metrics.items() if stored.get("steady"))

    def dumps(self) -> str:
        """Return the file's text."""
        cases = {name: case.raw() for name, case in self.cases.items()}
        raw = {"format": FORMAT, **fields_of(self), "cases": cases}
        text = json.dumps(raw, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
        return re.sub(_VARIED, _join_lists, text)


def _join_lists(block: re.Match[str]) -> str:
    """Put the values of each metric on one line, as they change together."""
    return re.sub(_LIST, lambda values: f"[{' '.join(values[1].split())}]", block[0])


def match_of(result: CaseResult) -> str:
    """Return how the labels of *result* were matched: ``exact``, ``span``, ``fallback_doc`` or ``none``."""
    return str(result.extra.get("labels", {}).get("match", "exact"))


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


def _case_of(raw: Mapping[str, Any], case_id: str) -> BaselineCase:
    """Read the block of one case; keys of newer versions are ignored."""
    values = known_fields(BaselineCase, raw)
    values["data"] = {n: _read_data(text, f"cases.{case_id}.data.{n}") for n, text in raw.get("data", {}).items()}
    return BaselineCase(**values)


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
        return Anchor(problem=str(exc).replace("--auepora-update", "--auepora-update=anchor"))
