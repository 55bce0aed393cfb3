"""Recorded answers of a run: blocks of answers, and blocks of the texts of their documents, each text once.

Answers of one suite resemble each other, so that a block is smaller than its answers compressed one by one.  The same
documents are found again and again: an answer has the numbers of its texts, counted over all blocks of texts.  A result
is stored without the texts that its recording has (`spared`), and gets them from there when it is read (`filled`).
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..core.json import encoded, loads
from ..core.result_shapes import Place
from ..core.run import CaseResult
from ..errors import HistoryError
from ..evaluation.answer_codec import TEXT
from ..evaluation.answer_summary import cropped
from ..evaluation.recording import ERRORED, Recording
from ..shapes import check_shape
from .codec import BLOCK, Blocks, compressed, decompressed, result_data
from .database import Statements, blob

RECORDINGS = "eval_recordings"
"""The table of these blocks."""

KNOWN = 16 * 1024 * 1024
"""Characters of documents that are looked out for in later answers; they lie in memory, of writers and readers."""

_HELD = 4  # unpacked blocks of answers that a reader holds; cases are mostly asked for in the order they were kept

_HELD_TEXTS = KNOWN // BLOCK + _HELD  # and of texts: all that may be found again, and those next to the answers

Block = tuple[str, bytes]
"""What is in it, as JSON, and a compressed JSON list.

Of answers it is ``[[case, how many answers], ...]``, with ``[answer, numbers of its texts]`` for each answer in the
list; of texts it is how many, with the texts in the list.
"""


_Index = list[tuple[str, Place]] | Place
_Answer = tuple[str, list[Place]]


class Packing:
    """Takes in the results of a run with their recorded answers as they come, and holds them compressed.

    Attributes:
        case_ids: the cases that were taken in.
    """

    def __init__(self) -> None:
        self.case_ids: set[str] = set()
        self._results = Blocks()
        self._blocks: list[Block] = []
        self._index: list[tuple[str, int]] = []
        self._answers: list[tuple[str, list[int]]] = []
        self._size = 0
        self._known: dict[str, int] = {}
        self._texts: list[str] = []
        self._texts_size = self._texts_seen = self._known_size = 0

    @classmethod
    def of(cls, results: Iterable[CaseResult], recordings: Mapping[str, Sequence[Recording]]) -> Packing:
        """Return a packing that has taken *results* in, with their *recordings* by case."""
        out = cls()
        for result in results:
            out.add(result, recordings.get(result.case_id, ()))
        return out

    def add(self, result: CaseResult, recordings: Sequence[Recording]) -> None:
        """Take in a result and all answers to its case; what comes later of the same case counts."""
        self.case_ids.add(result.case_id)
        self._results.add(result_data(result, spared(result.outputs, recordings)))
        if recordings:
            self._take(result.case_id, recordings)

    def results(self) -> list[bytes]:
        """Return the results that were taken in, as `run_of` reads them."""
        return self._results.made()

    def _take(self, case_id: str, recordings: Sequence[Recording]) -> None:
        self._index.append((case_id, len(recordings)))
        for answer, texts in recordings:
            self._answers.append((answer, [self._number(text) for text in texts]))
            self._size += len(answer)
        if self._size >= BLOCK:
            self._close()
        if self._texts_size >= BLOCK:
            self._close_texts()

    def answers(self) -> list[Block]:
        """Return the answers that were taken in, as `Recorded` reads them."""
        self._close()
        self._close_texts()
        return self._blocks

    def _number(self, text: str) -> int:
        if (number := self._known.get(text)) is not None:
            return number
        number = self._texts_seen
        self._texts_seen += 1
        self._texts.append(text)
        self._texts_size += len(text)
        if self._known_size < KNOWN:
            self._known[text] = number
            self._known_size += len(text)
        return number

    def _close(self) -> None:
        if self._index:
            self._blocks.append((encoded(self._index).decode(), compressed(encoded(self._answers))))
        self._index, self._answers, self._size = [], [], 0

    def _close_texts(self) -> None:
        if self._texts:
            self._blocks.append((str(len(self._texts)), compressed(encoded(self._texts))))
        self._texts, self._texts_size = [], 0


class Recorded(Mapping[str, list[Recording]]):
    """The answers in some blocks by case, repeats in order; a block is unpacked when one of its cases is asked for.

    Args:
        blocks: in the order they were made.

    Raises:
        ValueError, TypeError: the index of a block is damaged.
        HistoryError: a block is damaged; when its cases are asked for.
    """

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._packed: list[bytes] = []
        self._places: dict[str, tuple[int, int, int]] = {}
        self._firsts: list[int] = []
        self._packed_texts: list[bytes] = []
        texts = 0
        for index, data in blocks:
            check_shape(held := json.loads(index), _Index)
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
        self._answers = lru_cache(maxsize=_HELD)(lambda number: _unpacked(self._packed[number], list[_Answer]))
        self._texts = lru_cache(maxsize=_HELD_TEXTS)(lambda number: _unpacked(self._packed_texts[number], list[str]))

    def __getitem__(self, case_id: str) -> list[Recording]:
        number, first, end = self._places[case_id]
        answers = self._answers(number)
        if end > len(answers):
            raise HistoryError(f"recorded answers are damaged: {len(answers)} where there were {end} or more")
        return [(answer, [self._text(number) for number in numbers]) for answer, numbers in answers[first:end]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def _text(self, number: int) -> str:
        block = bisect_right(self._firsts, number) - 1
        try:
            return str(self._texts(block)[number - self._firsts[block]])
        except IndexError:
            raise HistoryError(f"recorded answers are damaged: there is no text {number} of a document") from None


def _unpacked(data: bytes, hint: Any) -> list[Any]:
    try:
        check_shape(found := loads(decompressed(data)), hint)
    except (ValueError, RecursionError) as exc:
        raise HistoryError(f"recorded answers are damaged: {exc}") from None
    made: list[Any] = found
    return made


def spared(outputs: Mapping[str, Any], recordings: Sequence[Recording]) -> Mapping[str, Any]:
    """Return *outputs* of a result without the texts that *recordings*, the answers to its case, give back as they are.

    Those of relevant documents stay: they tell what a label meant, longer than answers are kept.
    """
    if not recordings or "answer" not in outputs:
        return outputs
    spare = {**outputs, "answer": "", _SPARED: True}
    if "retrieved" in outputs:
        spare["retrieved"] = [h if h.get("grade") else {**h, "text": ""} for h in outputs["retrieved"]]
    with suppress(HistoryError):  # who reads the answer says that it is damaged
        if _filled(spare, recordings) == outputs:
            return spare
    return outputs


def filled(result: CaseResult, recordings: Sequence[Recording]) -> CaseResult:
    """Return *result* with the texts that `spared` left out; without a trace of them where they are no longer kept.

    Raises:
        HistoryError: the recording is damaged.
    """
    return replace(result, outputs=_filled(result.outputs, recordings)) if _SPARED in result.outputs else result


_SPARED = "spared"
"""Key of outputs whose texts are in a recording, and are empty here."""


def _filled(outputs: Mapping[str, Any], recordings: Sequence[Recording]) -> dict[str, Any]:
    answer, texts = _texts_of(recordings)
    out = {key: value for key, value in outputs.items() if key != _SPARED}
    hits = out.get("retrieved", ())
    if answer is None or len(texts) < len(hits):
        del out["answer"]
        if "retrieved" in out:
            out["retrieved"] = [{k: v for k, v in h.items() if k != "text" or h.get("grade")} for h in hits]
        return out
    out["answer"] = answer
    if "retrieved" in out:
        pairs = zip(hits, texts, strict=False)
        out["retrieved"] = [h if h.get("grade") else {**h, "text": text} for h, text in pairs]
    return cropped(out)


def _texts_of(recordings: Sequence[Recording]) -> tuple[str | None, list[str]]:
    """Return answer and texts of documents of the first recording."""
    if not recordings or (text := recordings[0][0]).startswith(ERRORED):
        return None, []
    try:
        parts = loads(text[1:])["parts"]
        texts = [recordings[0][1][hit[TEXT]] if hit[TEXT] is not None else "" for hit in parts["retrieved"] or ()]
        return parts["answer"], texts
    except (ValueError, LookupError, TypeError, AttributeError) as exc:
        raise HistoryError(f"a recorded answer is damaged: {exc}") from None


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
