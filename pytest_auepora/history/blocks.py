"""Recorded answers as a history keeps them: many in one compressed block, of which each can still be read alone.

Answers of one suite resemble each other, so that a block is smaller than its answers compressed one by one, and is
made in half the time.  The same documents are found again and again: the text of each is kept once a run.
"""

from __future__ import annotations

import json
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..core.by_fields import ByFields
from ..core.json import dumps
from ..errors import HistoryError
from ..evaluation.document_texts import Recording, escaped, with_texts, without_texts

__all__ = ["BLOCK", "NUMBERS", "Block", "Lines", "Packing", "Recorded", "compressed", "packed"]

BLOCK = 256 * 1024
"""Characters of answers that make a block: what has to be unpacked to read one of them."""

KNOWN = 16 * 1024 * 1024
"""Characters of documents that are looked out for in later answers; they lie in memory, of writers and readers."""

_HELD = 4  # unpacked blocks of answers that a reader holds; cases are mostly asked for in the order they were kept

_HELD_TEXTS = KNOWN // BLOCK + _HELD  # and of documents: all that may be found again, and those next to the answers

_LEVEL = 2  # of zlib: it takes as many steps as 1 does, for a tenth less room

Block = tuple[str, bytes]
"""What is in it, as JSON, and compressed texts.

Of answers it is ``[[case, how many texts], ...]``, of documents how many; they have a line each.  After an answer
stand the numbers of the texts of its documents, counted over all blocks.
"""

NUMBERS = "\t"
"""What stands before the numbers in a line; JSON has none that is not escaped."""


@dataclass(eq=False, repr=False, slots=True)
class Lines(ByFields):
    """What was taken in of a case.

    Attributes:
        answers: a line each.
        first: the number of the first of the texts.
        texts: those that were not known before, as JSON has them between quotation marks.
    """

    answers: list[str]
    first: int
    texts: list[str]


class Packing:
    """Takes in the recorded answers of a run as they come, and holds them compressed."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._index: list[tuple[str, int]] = []
        self._lines: list[str] = []
        self._size = 0
        self._known: dict[str, str] = {}
        self._texts: list[str] = []
        self._texts_size = self._texts_seen = self._known_size = 0

    def add(self, case_id: str, recordings: Sequence[Recording]) -> Lines:
        """Take in all answers to a case, each one line; what comes later of the same case counts."""
        if self._size >= BLOCK:  # not once it is full: what is handed back is written down first
            self._close()
        if self._texts_size >= BLOCK:
            self._close_texts()
        self._index.append((case_id, len(recordings)))
        first, before = self._texts_seen, len(self._texts)
        lines = [self._line(one) for one in recordings]
        self._lines += lines
        self._size += sum(map(len, lines))
        return Lines(lines, first, self._texts[before:])

    def blocks(self) -> list[Block]:
        """Return what was taken in."""
        self._close()
        self._close_texts()
        return self._blocks

    def _line(self, recording: Recording) -> str:
        if isinstance(recording, str):
            rest, found = without_texts(recording)
            numbers = [self._number(json.loads(f'"{said}"') if "\\" in said else said, said) for said in found]
        else:  # no JSON to be searched; and who has a corpus finds the same object again, which is as good as known
            rest, texts = recording
            numbers = [self._known.get(text) or self._number(text) for text in texts]
        return f"{rest}{NUMBERS}{' '.join(numbers)}" if numbers else rest

    def _number(self, text: str, said: str | None = None) -> str:
        """Return the number of *text*, which JSON has as *said*."""
        if (number := self._known.get(text)) is not None:
            return number
        number = str(self._texts_seen)
        self._texts_seen += 1
        self._texts.append(escaped(text) if said is None else said)
        self._texts_size += len(text)
        if self._known_size < KNOWN:
            self._known[text] = number
            self._known_size += len(text)
        return number

    def _close(self) -> None:
        if self._index:
            self._blocks.append((dumps(self._index), compressed("\n".join(self._lines))))
        self._index, self._lines, self._size = [], [], 0

    def _close_texts(self) -> None:
        if self._texts:
            self._blocks.append((dumps(len(self._texts)), compressed("\n".join(self._texts))))
        self._texts, self._texts_size = [], 0


def compressed(text: str) -> bytes:
    """Return *text* as a block has it; `zlib.decompress` gives it back."""
    return zlib.compress(text.encode(), _LEVEL)


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
        self._firsts: list[int] = []
        self._packed_texts: list[bytes] = []
        texts = 0
        for index, data in blocks:
            held = json.loads(index)
            if isinstance(held, int):
                self._firsts.append(texts)
                self._packed_texts.append(data)
                texts += held
                continue
            first = 0
            for case_id, count in held:
                self._places[case_id] = len(self._packed), first, first + count
                first += count
            self._packed.append(data)
        self._lines = lru_cache(maxsize=_HELD)(lambda number: _lines_of(self._packed[number]))
        self._texts = lru_cache(maxsize=_HELD_TEXTS)(lambda number: _lines_of(self._packed_texts[number]))

    def __getitem__(self, case_id: str) -> list[str]:
        number, first, end = self._places[case_id]
        lines = self._lines(number)
        if end > len(lines):
            raise HistoryError(f"recorded answers are damaged: {len(lines)} where there were {end} or more")
        return [self._whole(line) for line in lines[first:end]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def _whole(self, line: str) -> str:
        rest, found, numbers = line.partition(NUMBERS)
        return with_texts(rest, [self._text(int(number)) for number in numbers.split()]) if found else line

    def _text(self, number: int) -> str:
        block = bisect_right(self._firsts, number) - 1
        try:
            return self._texts(block)[number - self._firsts[block]]
        except IndexError:
            raise HistoryError(f"recorded answers are damaged: there is no text {number} of a document") from None


def _lines_of(data: bytes) -> list[str]:
    try:
        return zlib.decompress(data).decode().split("\n")
    except (ValueError, zlib.error) as exc:
        raise HistoryError(f"recorded answers are damaged: {exc}") from None
