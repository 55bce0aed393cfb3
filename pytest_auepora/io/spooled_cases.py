"""The cases of a golden file too large for the memory: of each only its id and its place in a temporary file stay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from ..core.spool import Spool
from .golden_model import GoldenCase

__all__ = ["SpooledCases"]


class SpooledCases(Sequence[GoldenCase]):
    """Cases in order; each is read when it is asked for, and is another object every time.

    Attributes:
        ids: their ids.
        rows: where each stands, by id.
        skipped: where those stand that are not run.
    """

    def __init__(self, cases: Iterable[GoldenCase] = ()) -> None:
        self.ids: list[str] = []
        self.rows: dict[str, int] = {}
        self.skipped: list[int] = []
        self._spool: Spool[GoldenCase] = Spool()
        for case in cases:
            self.append(case)

    def append(self, case: GoldenCase) -> None:
        """Put *case*, whose id is new, at the end."""
        if case.skip is not None:
            self.skipped.append(len(self.ids))
        self.rows[case.id] = len(self.ids)
        self.ids.append(case.id)
        self._spool.append(case)

    def replace(self, case: GoldenCase) -> None:
        """Put *case* in the place of the one with its id."""
        self._spool[self.rows[case.id]] = case

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, at: int) -> GoldenCase: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[GoldenCase]: ...
    def __getitem__(self, at: int | slice) -> GoldenCase | Sequence[GoldenCase]:
        return self._spool[at]

    def __iter__(self) -> Iterator[GoldenCase]:
        return iter(self._spool)
