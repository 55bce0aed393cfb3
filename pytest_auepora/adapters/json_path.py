"""Dotted paths into JSON: ``$.choices[0].message.content``, ``hits``, ``data.0.text``, ``$`` for all of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ..errors import SystemShapeError, did_you_mean
from .shapes import describe

NOT_THERE: Final[Any] = object()
"""What `Path.find` returns where there is nothing; null is something."""

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(-?\d+)\]|\[(['\"])(.*?)\3\]")


class Path:
    """A path: keys after dots or in ``['…']``, places of a list as ``[0]`` or ``.0``, counted from the end if negative.

    Raises:
        SystemShapeError: it cannot be read.
    """

    def __init__(self, written: str) -> None:
        self._written = written
        self._steps: list[str | int] = []
        rest = written.strip().removeprefix("$")
        while rest:
            step = _STEP.match(rest)
            if step is None:
                raise SystemShapeError(f"{written!r} is no path; write $.answer, hits[0].text or data['a.b']")
            key, place, _, quoted = step.groups()
            self._steps.append(int(place) if place is not None else quoted if key is None else key)
            rest = rest[step.end() :]
        if not written.strip():
            raise SystemShapeError("an empty text is no path; write $ for all of the JSON")

    def __str__(self) -> str:
        return self._written

    @property
    def top(self) -> str:
        """The first key, or an empty string."""
        return str(self._steps[0]) if self._steps else ""

    def find(self, value: Any) -> Any:
        """Return what stands at the path, or `NOT_THERE`."""
        for step in self._steps:
            value = _down(value, step)
            if value is NOT_THERE:
                break
        return value

    def missing(self, value: Any) -> str:
        """Say where the path ends in *value*, which lacks it."""
        for step in self._steps:
            below = _down(value, step)
            if below is NOT_THERE:
                near = did_you_mean(str(step), map(str, value)) if isinstance(value, Mapping) else ""
                return f"no {step!r}{near} in {describe(value)}"
            value = below
        return describe(value)


def _down(value: Any, step: str | int) -> Any:
    if isinstance(value, Mapping):
        return value.get(str(step), NOT_THERE)
    if isinstance(value, list):
        try:
            return value[int(step)]
        except (ValueError, IndexError):
            return NOT_THERE
    return NOT_THERE
