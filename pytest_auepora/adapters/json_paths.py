"""Paths into JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import reduce
from typing import Any

from ..base.text import did_you_mean
from ..errors import SystemShapeError
from .shapes import MISSING, describe

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(-?\d+)\]|\[(['\"])(.*?)\3\]")


class JsonPath:
    """A path into JSON: ``$.choices[0].message.content``, ``hits``, ``data.0['a.b']``, ``$`` for all of it.

    Keys stand after dots or in ``['…']``; places of a list as ``[0]`` or ``.0``, counted from the end if negative.
    Raises `SystemShapeError` where it cannot be read.
    """

    def __init__(self, written: str) -> None:
        self._written = written
        self._steps: list[str | int] = []
        if not written.strip():
            raise SystemShapeError("an empty text is not a path; write $ for all of the JSON")
        rest = written.strip().removeprefix("$")
        while rest:
            step = _STEP.match(rest)
            if step is None:
                raise SystemShapeError(f"{written!r} is not a path; write $.answer, hits[0].text or data['a.b']")
            key, place, _, quoted = step.groups()
            self._steps.append(int(place) if place is not None else quoted if key is None else key)
            rest = rest[step.end() :]

    def __str__(self) -> str:
        return self._written

    @property
    def is_root(self) -> bool:
        """Whether it is all of the JSON."""
        return not self._steps

    def find(self, value: Any) -> Any:
        """Return what stands at the path, or `MISSING`."""
        return reduce(_step_into, self._steps, value)

    def missing(self, value: Any) -> str:
        """Say where the path ends in *value*, which lacks it."""
        for step in self._steps:
            if (below := _step_into(value, step)) is MISSING:
                suggestion = did_you_mean(str(step), map(str, value)) if isinstance(value, Mapping) else ""
                return f"no {step!r}{suggestion} in {describe(value)}"
            value = below
        return describe(value)


def _step_into(value: Any, step: str | int) -> Any:
    if isinstance(value, Mapping):
        return value.get(str(step), MISSING)
    with suppress(ValueError, IndexError):
        return value[int(step)] if isinstance(value, list) else MISSING
    return MISSING
