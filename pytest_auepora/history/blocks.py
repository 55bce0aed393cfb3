"""Recorded answers as a history keeps them: many in one compressed block, of which each can still be read alone.

Answers of one suite resemble each other, so that a block is smaller than its answers compressed one by one, and is
made in half the time.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from ..core.json_text import dumps
from ..errors import HistoryError

__all__ = ["Block", "Packing", "Recorded", "packed"]

BLOCK = 256 * 1024
"""Characters of answers that make a block: what has to be unpacked to read one of them."""

_HELD = 4  # unpacked blocks that a reader holds; cases are mostly asked for in the order they were kept

_LEVEL = 2  # of zlib: it takes as many steps as 1 does, for a tenth less room

Block = tuple[str, bytes]
"""What is in it, as JSON: ``[[case, how many texts], ...]``; and the texts, a line each, compressed."""


class Packing:
    """Takes in the recorded answers of a run as they come, and holds them compressed."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._index: list[tuple[str, int]] = []
        self._texts: list[str] = []
        self._size = 0

    def add(self, case_id: str, texts: Sequence[str]) -> None:
        """Take in all answers to a case, each one line; what comes later of the same case counts."""
        self._index.append((case_id, len(texts)))
        self._texts += texts
        self._size += sum(map(len, texts))
        if self._size >= BLOCK:
            self._close()

    def blocks(self) -> list[Block]:
        """Return what was taken in."""
        self._close()
        return self._blocks

    def _close(self) -> None:
        if self._index:
            self._blocks.append((dumps(self._index), zlib.compress("\n".join(self._texts).encode(), _LEVEL)))
        self._index, self._texts, self._size = [], [], 0


def packed(recordings: Mapping[str, Sequence[str]]) -> list[Block]:
    """Return the blocks of *recordings*, answers by case."""
    packing = Packing()
    for case_id, texts in recordings.items():
        packing.add(case_id, texts)
    return packing.blocks()


class Recorded(Mapping[str, list[str]]):
    """The answers in some blocks by case, repeats in order; a block is unpacked when one of its cases is asked for.

    Args:
        blocks: in the order they were made.

    Raises:
        HistoryError: a block is damaged; when its cases are asked for.
    """

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._packed: list[bytes] = []
        self._places: dict[str, tuple[int, int, int]] = {}
        for number, (index, data) in enumerate(blocks):
            self._packed.append(data)
            first = 0
            for case_id, count in json.loads(index):
                self._places[case_id] = number, first, first + count
                first += count
        self._texts = lru_cache(maxsize=_HELD)(self._unpack)

    def __getitem__(self, case_id: str) -> list[str]:
        number, first, end = self._places[case_id]
        texts = self._texts(number)
        if end > len(texts):
            raise HistoryError(f"recorded answers are damaged: {len(texts)} where there were {end} or more")
        return texts[first:end]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def _unpack(self, number: int) -> list[str]:
        try:
            return zlib.decompress(self._packed[number]).decode().split("\n")
        except (ValueError, zlib.error) as exc:
            raise HistoryError(f"recorded answers are damaged: {exc}") from None
