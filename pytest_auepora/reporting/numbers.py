"""Formatting of numbers for people.

Rounding is for display only.  Three rules hold everywhere: zero has no sign; a value that is not zero is not shown as
zero (down to the fourth decimal, the precision of files); a value that breaks a bound never reads as one that keeps it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

from ..core.run import MetricInfo
from ..regression.thresholds import Bound

if TYPE_CHECKING:
    from ..regression.statistics.intervals import Difference

NOT_MEASURED = "n/a"
"""Shown instead of a number where nothing was measured."""

_MOST_PLACES = 15
_VISIBLE_PLACES = 4  # as many at most, until a digit is not zero


def number(value: float, places: int = 3, bound: Bound | None = None) -> str:
    """Return *value* with *places* decimals, or more where it would otherwise read on the wrong side of *bound*.

    ``number(0.79996, 2, Bound("min", 0.8))`` is ``"0.79996"``, not ``"0.80"``.  Infinite and undefined values come
    out as ``inf``, ``-inf``, ``nan``.
    """
    if not math.isfinite(value):
        return str(float(value))
    text = _faithful_text(value, places, bound)
    return text if bound is not None or float(text) else f"{0:.{places}f}"


def score(value: float | None, places: int = 3, bound: Bound | None = None) -> str:
    """Return a score, ``n/a`` for None.  Values of 100 and more get one decimal at most."""
    if value is None:
        return NOT_MEASURED
    return number(value, places if -100 < value < 100 else min(places, 1), bound)


def change(difference: float, places: int = 3) -> str:
    """Return *difference* with its sign; one too small for *places* gets more of them, up to four.

    Below the fourth decimal, a difference is rounding of the baseline file: ``0.000``.
    """
    if not math.isfinite(difference):
        return f"{difference:+}"
    text = number(difference, places)
    return f"+{text}" if difference > 0 and float(text) else text


def seconds(value: float, bound: Bound | None = None) -> str:
    """Return a duration: ``0.4 ms``, ``350 ms``, ``1.25 s``, ``2 min 05 s``.  *bound* is in seconds."""
    if not math.isfinite(value):
        return f"{float(value)} s"
    size, whole = abs(value), round(value)
    near = bound is not None and (bound.holds(float(whole)) != bound.holds(value) or whole == bound.limit)
    if size >= 119.5 and not near:
        minutes, rest = divmod(round(size), 60)
        return f"{'-' if value < 0 else ''}{minutes} min {rest:02d} s"
    if size >= 0.9995:
        return _faithful_text(value, 2, bound) + " s"
    places = 0 if size >= 0.00995 or not value else 1
    return _faithful_text(value, places, bound, scale=1000) + " ms"


def percent(share: float, places: int = 1) -> str:
    """Return a share of 1 as a percentage; only exactly 0 is ``0 %`` and only exactly 1 is ``100 %``."""
    value, smallest = share * 100, 10.0**-places
    if share in (0.0, 1.0):
        return f"{value:.0f} %"
    if 0 < value < smallest / 2:
        return f"< {smallest:.{places}f} %"
    if 100 - smallest / 2 <= value < 100:
        return f"> {100 - smallest:.{places}f} %"
    return f"{_without_zero_sign(f'{value:.{places}f}')} %"


def sign(value: float) -> int:
    """Return 1 for a positive *value*, -1 for a negative one, else 0."""
    return (value > 0) - (value < 0)


def plural(n: int, singular: str, plural_form: str = "") -> str:
    """Return ``1 case``, ``3 cases``."""
    return f"{n:,} {singular if n == 1 else plural_form or singular + 's'}"


class _Unit(Protocol):
    """A metric, as far as its numbers are formatted by it."""

    @property
    def target(self) -> str: ...

    @property
    def decimals(self) -> int: ...


def metric_value(value: float | None, info: _Unit | None, bound: Bound | None = None) -> str:
    """Return a value of a metric in the metric's unit: times as durations, others as scores."""
    if value is not None and info is not None and info.target == "LATENCY":
        return seconds(value, bound)
    return score(value, _places_of(value, info), bound)


def metric_change(difference: float, info: _Unit | None) -> str:
    """Return the signed difference of two values of a metric, in the metric's unit."""
    if info is None or info.target != "LATENCY":
        return change(difference, _places_of(difference, info))
    return f"{'+' if difference > 0 else ''}{seconds(difference)}"


def _places_of(value: float | None, info: _Unit | None) -> int:
    finer = value and info is not None and info.decimals > _VISIBLE_PLACES
    return places_of(value, 3, info.decimals) if finer and value and info is not None else 3


def places_of(value: float, least: int, most: int = 9) -> int:
    """Return with how many decimals *value* has three digits that count, from *least* to *most*."""
    if not value or not math.isfinite(value):
        return least
    return min(most, max(least, 2 - math.floor(math.log10(abs(value)))))


def metric_gain(gain: float, info: MetricInfo | None) -> str:
    """Return a gain (positive is better) as the signed difference of two values of a metric."""
    return metric_change(-gain if info is not None and info.direction == "lower" else gain, info)


def with_interval(difference: Difference, info: _Unit | None) -> str:
    """Return ``+0.120 [+0.040, +0.200]``: a difference, which has a value, and its interval, if it has one."""
    parts = (difference.value, difference.low, difference.high)
    value, *ends = [metric_change(part, info) for part in parts if part is not None]
    return f"{value} [{', '.join(ends)}]" if len(ends) == 2 else value


def _faithful_text(value: float, places: int, bound: Bound | None, *, scale: float = 1.0) -> str:
    """Return *value* with as many decimals as it takes to be on its side of *bound*."""
    is_kept = bound.holds(value) if bound is not None else True
    for p in range(places, _MOST_PLACES + 1):
        text = _without_zero_sign(f"{value * scale:.{p}f}")
        if value and p < _VISIBLE_PLACES and not float(text):
            continue
        if bound is None or bound.holds(float(text) / scale) == is_kept:
            return text
    return repr(value * scale)


def _without_zero_sign(text: str) -> str:
    return text[1:] if text.startswith("-") and not float(text) else text
