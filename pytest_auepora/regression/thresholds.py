"""Thresholds: what people write, read into bounds and gates.

A *bound* is a limit on one number.  A *gate* is a bound on a statistic of one metric over a suite or a slice of it.
These are the same gate of recall@5::

    recall@5: 0.8                  the metric's direction decides: higher is better, so at least
    recall@5: ">= 0.8"
    recall@5: {min: 0.8}

A list holds several.  ``{min: …, max: …}`` makes two gates; ``stat``, ``slice`` and ``owner`` are further keys.
``p10(recall@5): 0.3`` is short for ``recall@5: {stat: p10, min: 0.3}``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from ..base.text import decimal_text, did_you_mean
from ..core.metrics_base import Direction
from ..errors import ThresholdError

PSEUDO_METRICS: Mapping[str, Direction] = {"error_rate": "lower", "pass_rate": "higher"}
"""What gates may name beside metrics: the share of cases that errored, and that passed."""

STATS = ("aggregate", "mean", "median", "min", "max", "pass_rate")
"""Statistics by name; ``p1`` to ``p99`` are the nearest-rank percentiles."""

Op = Literal["min", "max"]
_KEYS = ("min", "max", "stat", "slice", "owner")
_OPERATORS: Mapping[str, Op] = {">=": "min", "≥": "min", "<=": "max", "≤": "max"}
_COMPARISON = r"\s*(>=|<=|≥|≤|>|<|==|=)?\s*(\S+?)\s*(%)?\s*"  # compiled where a file has thresholds at all
_CALL = r"(?s)\s*(\w+)\s*\(\s*(.+?)\s*\)\s*"
_SYNONYMS = {**_OPERATORS, "gte": "min", "ge": "min", "lte": "max", "le": "max", "at_least": "min",
             "at_most": "max", "minimum": "min", "maximum": "max", "above": "min", "below": "max"}  # fmt: skip


class Bound(NamedTuple):
    """A lowest (``"min"``) or highest (``"max"``) allowed value; the limit itself is allowed."""

    op: Op
    limit: float

    def holds(self, value: float) -> bool:
        """Whether the unrounded *value* keeps the bound; NaN never does."""
        return value >= self.limit if self.op == "min" else value <= self.limit

    def shown(self, value: float, places: int = 4) -> str:
        """Return *value* with that many decimals, or as many as it takes for 0.79996 not to read as 0.8."""
        for n in range(places, 17):
            if self.holds(float(text := f"{value:.{n}f}")) == self.holds(value):
                return text
        return repr(value)

    def __str__(self) -> str:
        return f"{'>=' if self.op == 'min' else '<='} {decimal_text(self.limit)}"


@dataclass(frozen=True, slots=True)
class Gate:
    """A bound on one statistic of one metric, over all cases or those whose labels match ``slice``.

    ``stat`` is ``aggregate`` (the metric's own aggregation, usually the mean), ``mean``, ``median``, ``min``,
    ``max``, ``p1`` … ``p99`` (nearest rank) or ``pass_rate`` (share of cases that keep their own threshold on the
    metric).  ``line`` and ``col`` are 1-based places in the golden file; 0 when the gate comes from elsewhere.
    """

    metric: str
    bound: Bound
    stat: str = "aggregate"
    slice: Mapping[str, str] = field(default_factory=dict, hash=False)
    owner: str = ""
    line: int = 0
    col: int = 0

    @property
    def title(self) -> str:
        """``recall@5``, ``p10(recall@5)``, ``ndcg@10{scenario=typo}``."""
        return part_title(self.metric, self.stat, self.slice)


def part_title(metric: str, stat: str, slice_labels: Mapping[str, str]) -> str:
    """Return how a statistic of a metric over a slice is written: ``p10(ndcg@10){scenario=typo}``."""
    name = metric if stat == "aggregate" else f"{stat}({metric})"
    return f"{name}{{{slice_name(slice_labels)}}}" if slice_labels else name


def slice_name(slice_labels: Mapping[str, str]) -> str:
    """Return ``scenario=typo``."""
    return ",".join(f"{k}={v}" for k, v in slice_labels.items())


def split_stat(spelling: str) -> tuple[str, str]:
    """Split ``"p10(recall@5)"`` into ``("recall@5", "p10")``; a plain name has the stat ``"aggregate"``.

    Raises:
        ThresholdError: the word before the parenthesis is no statistic.
    """
    call = re.fullmatch(_CALL, spelling)
    if call is None:
        return spelling, "aggregate"
    return call[2], _read_stat(call[1])


def read_comparison(text: str, worse: Op = "min") -> Bound:
    """Read a bound that is written as text, ``">= 0.8"``; a number alone bounds the *worse* side.

    Raises:
        ThresholdError: it is anything else, or the number is not finite.
    """
    match = re.fullmatch(_COMPARISON, text)
    try:
        limit = float(match[2]) if match else math.nan
    except ValueError:
        limit = math.nan
    if match is None or not math.isfinite(limit):
        raise ThresholdError(f"{text!r} is not a threshold; write 0.8, '>= 0.8' or '<= 1.2'")
    operator, percent = match[1], match[3]
    if operator is not None and operator not in _OPERATORS:
        raise ThresholdError(f"{text!r}: only >= and <= are known; write '>= {match[2]}' or '<= {match[2]}'")
    if percent:
        raise ThresholdError(
            f"{text!r}: scores are not percentages; write '{f'{operator} ' if operator else ''}{limit / 100:g}'"
        )
    return Bound(_OPERATORS[operator] if operator else worse, limit)


def read_gates(metric_name: str, raw: Any, direction: Direction) -> list[Gate]:
    """Read *raw*, written in any form that the module shows under one key of ``thresholds``.

    *metric_name* is the key; *direction* says which side a bare number bounds: with ``"higher"`` it is the least.

    Raises:
        ThresholdError: anything that cannot be read, is empty, or bounds the same thing twice.
    """
    metric, stat = split_stat(metric_name)
    entries = raw if isinstance(raw, (list, tuple)) else [raw]
    if not entries:
        raise ThresholdError(f"{metric_name}: an empty list bounds nothing")
    gates = [gate for entry in entries for gate in _read_entry(metric, stat, entry, direction)]
    seen: set[tuple[str, str]] = set()
    for gate in gates:
        if (gate.title, gate.bound.op) in seen:
            raise ThresholdError(f"{gate.title}: {gate.bound.op} is given twice")
        seen.add((gate.title, gate.bound.op))
    return gates


def check_range(bound: Bound, metric: str, low: float, high: float) -> None:
    """Refuse a limit outside [*low*, *high*], the range of *metric*: no value could change the outcome.

    Raises:
        ThresholdError: says the range, and what was probably meant (0.80 for 80).
    """
    if low <= bound.limit <= high:
        return
    share = f"{bound.limit / 100:.4f}".rstrip("0").ljust(4, "0")
    hint = f"; did you mean {share}?" if high == 1.0 < bound.limit <= 100 else ""
    span = f"from {low:g} to {high:g}" if math.isfinite(high) else f"{low:g} or more"
    raise ThresholdError(f"{metric} is {span}, so a bound of {decimal_text(bound.limit)} decides nothing{hint}")


def _read_entry(metric: str, stat: str, raw: Any, direction: Direction) -> Iterator[Gate]:
    keys = raw if isinstance(raw, Mapping) else {}
    _check_keys(keys)
    if "stat" in keys:
        if stat != "aggregate":
            raise ThresholdError(f"{stat}({metric}): the statistic is given twice, in the name and as stat")
        stat = _read_stat(keys["stat"])
    labels = read_slice(keys["slice"]) if "slice" in keys else {}
    owner = keys.get("owner", "")
    if "owner" in keys and not (isinstance(owner, str) and owner.strip()):
        raise ThresholdError(f"owner must be a name, got {owner!r}")
    is_share = stat == "pass_rate"  # of good cases, whatever the metric's own direction
    for bound in _read_bounds(raw, "min" if direction == "higher" or is_share else "max"):
        yield Gate(metric, bound, stat, labels, owner)


def _read_bounds(raw: Any, worse: Op) -> list[Bound]:
    if isinstance(raw, str):
        return [read_comparison(raw, worse)]
    if not isinstance(raw, Mapping):
        return [Bound(worse, _read_number(raw, "a threshold"))]
    bounds = [Bound(op, _read_number(raw[op], op)) for op in ("min", "max") if op in raw]
    if not bounds:
        raise ThresholdError("no bound is given; write min: or max:")
    if len(bounds) == 2 and bounds[0].limit > bounds[1].limit:
        raise ThresholdError(f"min {raw['min']!r} is above max {raw['max']!r}: nothing can pass")
    return bounds


def _read_number(raw: Any, what: str) -> float:
    if isinstance(raw, bool) or not isinstance(raw, (int, float)):
        raise ThresholdError(f"{what} must be a number, got {raw!r}" if raw is not None else f"{what} has no number")
    try:
        value = float(raw)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise ThresholdError(f"{what} must be a finite number, got {value}")
    return value


def _check_keys(raw: Mapping[Any, Any]) -> None:
    for key in raw:
        if key not in _KEYS:
            synonym = _SYNONYMS.get(str(key))
            hint = f" (did you mean {synonym!r}?)" if synonym else did_you_mean(str(key), _KEYS)
            raise ThresholdError(f"unknown key {key!r}{hint}; available: {', '.join(_KEYS)}")


def _read_stat(raw: Any) -> str:
    if isinstance(raw, str) and (raw in STATS or re.fullmatch(r"p[1-9]\d?", raw)):
        return raw
    examples = [*STATS, "p10", "p50", "p90"]
    raise ThresholdError(
        f"unknown statistic {raw!r}{did_you_mean(str(raw), examples)}; available: {', '.join(STATS)}, p1 … p99"
    )


def read_slice(raw: Any) -> dict[str, str]:
    """Read the labels and values of a slice.  Raises `ThresholdError` for anything else."""
    if not isinstance(raw, Mapping) or not raw:
        raise ThresholdError("slice takes labels and their values: {scenario: typo}")
    out: dict[str, str] = {}
    for key, value in raw.items():
        if not isinstance(key, str) or not isinstance(value, (str, int, float)):
            raise ThresholdError(f"slice takes labels and their values, each a single word, got {key!r}: {value!r}")
        out[key] = str(value)
    return out
