"""Recorded answers of a run, and what its results show of them: compressed blocks, a line for each case.

Answers are kept for fewer runs than results are.  A result that is recorded is stored without the texts of its answer;
what it shows of them lies with the recordings, and is found there as long as they are kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..core.json import encoded, loads
from ..core.run import CaseResult
from ..errors import HistoryError
from ..evaluation.recording import Recording
from ..shapes import check_shape
from .codec import Blocks, CaseJson, lines_of
from .database import Statements, blob

RECORDINGS = "eval_recordings"
"""The table of these blocks."""

_HELD = 2  # blocks that a reader holds; cases are mostly asked for in the order they were kept

Block = tuple[str, bytes]
"""The cases in it, a JSON list, and for each a line: the outputs that its result shows, and all its recordings."""

_Line = tuple[dict[str, Any], list[tuple[str, list[str]]]]


class Packing:
    """Takes in the results of a run with their recorded answers as they come, and holds them compressed.

    Attributes:
        case_ids: the cases that were taken in.
    """

    def __init__(self) -> None:
        self.case_ids: set[str] = set()
        self._results = Blocks()
        self._answers = Blocks()
        self._cases: list[list[str]] = [[]]

    @classmethod
    def of(cls, results: Iterable[CaseResult], recordings: Mapping[str, Sequence[Recording]]) -> Packing:
        """Return a packing that has taken *results* in, with their *recordings* by case."""
        out = cls()
        for result in results:
            out.add(CaseJson.of(result, recordings.get(result.case_id, ())))
        return out

    def add(self, case: CaseJson) -> None:
        """Take in a result and all answers to its case; what comes later of the same case counts."""
        self.case_ids.add(case.case_id)
        self._results.add(case.bare)
        if case.answers:
            self._cases[-1].append(case.case_id)
            if self._answers.add(b"[%s,%s]" % (case.shown, case.answers)):
                self._cases.append([])

    def results(self) -> list[bytes]:
        """Return the results that were taken in, as `run_of` reads them."""
        return self._results.made()

    def answers(self) -> list[Block]:
        """Return the answers that were taken in, as `Recorded` reads them."""
        blocks = self._answers.made()
        if self._cases[-1]:
            self._cases.append([])
        return [(encoded(cases).decode(), block) for cases, block in zip(self._cases, blocks, strict=False)]


class Recorded(Mapping[str, list[Recording]]):
    """The answers in some blocks by case, repeats in order; a block is opened when one of its cases is asked for.

    Args:
        blocks: in the order they were made.

    Raises:
        ValueError, TypeError: the list of cases of a block is damaged.
        HistoryError: a block is damaged; when its cases are asked for.
    """

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._blocks: list[bytes] = []
        self._places: dict[str, tuple[int, int]] = {}
        for names, block in blocks:
            check_shape(cases := json.loads(names), list[str])
            self._places.update({case_id: (len(self._blocks), line) for line, case_id in enumerate(cases)})
            self._blocks.append(block)
        self._lines = lru_cache(maxsize=_HELD)(lambda number: lines_of(self._blocks[number]))

    def __getitem__(self, case_id: str) -> list[Recording]:
        return [(answer, texts) for answer, texts in self._line(case_id)[1]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def shown(self, case: CaseResult) -> CaseResult:
        """Return *case*, which was stored without texts, with what it shows of its answer, as far as that is kept."""
        return replace(case, outputs=self._line(case.case_id)[0]) if case.case_id in self._places else case

    def _line(self, case_id: str) -> _Line:
        block, number = self._places[case_id]
        try:
            check_shape(found := loads(self._lines(block)[number]), _Line)
        except (ValueError, LookupError, TypeError, RecursionError) as exc:
            raise HistoryError(f"the recorded answer to {case_id} is damaged: {exc}") from None
        line: _Line = found
        return line


def keep_recordings(open_: Statements, run_id: str, blocks: Iterable[Block]) -> None:
    """Write down the answers of a run."""
    open_.run_many(
        f"INSERT INTO {RECORDINGS} (run_id, place, cases, recordings) VALUES (:run_id, :place, :cases, :recordings)",
        (
            {"run_id": run_id, "place": i, "cases": cases, "recordings": data}
            for i, (cases, data) in enumerate(blocks)
        ),
    )  # fmt: skip


def recordings_of(open_: Statements, run_id: str) -> Recorded:
    """Return the answers of a run by case, repeats in order."""
    sql = f"SELECT cases, recordings FROM {RECORDINGS} WHERE run_id = :id ORDER BY place"
    return Recorded((cases, blob(data)) for cases, data in open_.rows(sql, {"id": run_id}))
