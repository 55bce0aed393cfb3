"""The baseline of a large suite: read case by case, kept in a temporary file."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import Any, TextIO

from ...core.spool import Held
from .model import BaselineCase, case_of

__all__ = ["SpooledBaseline", "read_by_case"]

_fields_of: Callable[[BaselineCase], tuple[Any, ...]] = attrgetter(*[f.name for f in fields(BaselineCase)])
_CASES, _END_OF_CASES = ' "cases": {\n', "\n }"
_END_OF_CASE = "\n  }"
_NEXT_CASE = f"{_END_OF_CASE},\n"
_PIECE = 64 * 1024  # characters


class _Blocks(Held[BaselineCase]):
    def _taken_apart(self, value: BaselineCase) -> tuple[Any, ...]:
        return _fields_of(value)

    def _made(self, kept: tuple[Any, ...]) -> BaselineCase:
        return BaselineCase(*kept)


class SpooledBaseline(MutableMapping[str, BaselineCase]):
    """What was accepted, by case; a block is read when it is asked for.

    Args:
        rows: the cases that are most probably in it, numbered from 0; held, not copied.
    """

    def __init__(self, rows: Mapping[str, int]) -> None:
        self._rows = rows
        self._places = array("q", [-1]) * len(rows)
        self._others: dict[str, int] = {}
        self._blocks = _Blocks()

    def __setitem__(self, case_id: str, case: BaselineCase) -> None:
        if (row := self._rows.get(case_id)) is not None:
            self._places[row] = len(self._blocks)
        else:
            self._others[case_id] = len(self._blocks)
        self._blocks.append(case)

    def _place(self, case_id: object) -> int:
        row = self._rows.get(case_id)  # type: ignore[call-overload]
        return self._others.get(case_id, -1) if row is None else self._places[row]  # type: ignore[call-overload,no-any-return]

    def __getitem__(self, case_id: str) -> BaselineCase:
        if (place := self._place(case_id)) < 0:
            raise KeyError(case_id)
        return self._blocks.at(place)

    def __delitem__(self, case_id: str) -> None:
        if self._place(case_id) < 0:
            raise KeyError(case_id)
        if (row := self._rows.get(case_id)) is not None:
            self._places[row] = -1
        else:
            del self._others[case_id]

    def __contains__(self, case_id: object) -> bool:
        return self._place(case_id) >= 0

    def __iter__(self) -> Iterator[str]:
        yield from (case_id for case_id, row in self._rows.items() if self._places[row] >= 0)
        yield from self._others

    def __len__(self) -> int:
        return sum(place >= 0 for place in self._places) + len(self._others)


def read_by_case(path: Path, rows: Mapping[str, int]) -> tuple[dict[str, Any], SpooledBaseline] | None:
    """Read a baseline file as this package writes it; None of any other, however sound or broken it is.

    What is around the cases and any number of cases in a row are JSON by themselves, so that the file is as well.

    Returns:
        What the file says, its cases left out, and those.
    """
    cases = SpooledBaseline(rows)
    around: list[str] = []
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                around.append(line)
                if line == _CASES:
                    around.append(_take(file, cases))
                    break
            around.append(file.read())
        text = "".join(around)
        raw = json.loads(text)
        return (raw, cases) if isinstance(raw, dict) and raw.get("cases") == {} and text.count(_CASES) == 1 else None
    except (OSError, KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        return None


def _take(file: TextIO, cases: SpooledBaseline) -> str:
    """Put the *cases* in, some at a time, and return what was read behind them."""
    text = ""
    while (end := text.find(_END_OF_CASES)) < 0:
        if (cut := text.rfind(_NEXT_CASE)) >= 0:
            _put(cases, f"{text[:cut]}{_END_OF_CASE}")
            text = text[cut + len(_NEXT_CASE) :]
        # as much again as there is: else a long case would be searched for its end with every piece of it
        if not (more := file.read(max(_PIECE, len(text)))):
            raise ValueError("cut short")
        text += more
    _put(cases, text[:end])
    return text[end:]


def _put(cases: SpooledBaseline, text: str) -> None:
    for case_id, said in json.loads(f"{{{text}}}").items():
        cases[case_id] = case_of(said)
