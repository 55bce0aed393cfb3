"""Runs, results, verdicts and recorded answers as JSON text and back, number for number.

Results, recorded answers, and how each case of a verdict compares, are in compressed blocks: cases are much alike.
Answers are kept for fewer runs than results are.  A result that is recorded is stored without the texts of its answer;
what it shows of them lies with the recordings, and is found there as long as they are kept.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..core.json import dumps, encode, fields_of, loads
from ..core.run import CaseResult, Run
from ..core.scoring import Score
from ..errors import HistoryError
from ..evaluation.recording import Recording
from ..shapes import check_shape

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from ..regression.verdict import Verdict

BLOCK = 16 * 1024 * 1024
"""Bytes of JSON that make a block."""

_PIECE = 1024 * 1024  # bytes that wait for a compressor: what it takes to work is more than a small run has
_OPTIONS: Mapping[int, int] = {
    zstd.CompressionParameter.window_log: 24,
    zstd.CompressionParameter.enable_long_distance_matching: 1,
}


class Blocks:
    """Takes in JSON texts as they come, and holds them compressed: lines of JSON, about `BLOCK` bytes a block.

    Zstandard finds what a block has already said, however long ago: the same documents are returned again and again.
    """

    def __init__(self) -> None:
        self._made: list[bytes] = []
        self._waiting: list[bytes] = []
        self._waiting_size = self._size = 0
        self._parts: list[bytes] = []
        self._compressor: zstd.ZstdCompressor | None = None

    def add(self, text: bytes) -> bool:
        """Take in one JSON value, and say whether a block is full with it."""
        self._waiting.append(text)
        self._waiting_size += len(text)
        if self._waiting_size >= min(_PIECE, BLOCK):
            self._compress()
        if full := self._size >= BLOCK:
            self._close()
        return full

    def made(self) -> list[bytes]:
        """Return the blocks of what was taken in, in order."""
        self._compress()
        self._close()
        return self._made

    def _compress(self) -> None:
        if not self._waiting:
            return
        if self._compressor is None:
            self._compressor = zstd.ZstdCompressor(options=_OPTIONS)
        self._parts.append(self._compressor.compress(b"\n".join([*self._waiting, b""])))
        self._size += self._waiting_size
        self._waiting, self._waiting_size = [], 0

    def _close(self) -> None:
        if self._compressor is not None:
            self._made.append(b"".join([*self._parts, self._compressor.flush()]))
        self._parts, self._size, self._compressor = [], 0, None


def lines_of(block: bytes) -> list[bytes]:
    """Return the JSON texts that a block of `Blocks` is made of.

    Raises:
        ValueError: it is damaged.
    """
    try:
        return zstd.decompress(block).splitlines()
    except zstd.ZstdError as exc:
        raise ValueError(str(exc)) from None


def unpacked(blocks: Iterable[bytes]) -> Iterator[Any]:
    """Yield the values that `Blocks` were made of.

    Raises:
        ValueError: a block is damaged.
    """
    for block in blocks:
        yield from map(json.loads, lines_of(block))


def run_text(run: Run) -> str:
    """Return *run* without its cases."""
    raw = fields_of(run)
    del raw["cases"]
    return dumps(raw)


@dataclass(eq=False, repr=False, slots=True)
class CaseJson:
    """A result and its recorded answers as JSON, made once for the journal and the history.

    Attributes:
        case_id: of the result.
        result: all of it; what a score does not say is left out.
        bare: the result without the texts of its answer.
        shown: its outputs.
        answers: the recordings; empty where there are none.
    """

    case_id: str
    result: bytes
    bare: bytes
    shown: bytes
    answers: bytes

    @classmethod
    def of(cls, result: CaseResult, recordings: Sequence[Recording] = ()) -> CaseJson:
        """Return *result* with its *recordings*, repeats in order."""
        raw = fields_of(result)
        raw["scores"] = {name: score.to_dict() for name, score in result.scores.items()}
        del raw["outputs"]
        rest = encode(raw)[:-1]
        whole = b'%s,"outputs":%s}' % (rest, shown := encode(result.outputs))
        if not recordings:
            return cls(result.case_id, whole, whole, shown, b"")
        bare = b'%s,"outputs":%s}' % (rest, encode(_without_texts(result.outputs)))
        return cls(result.case_id, whole, bare, shown, encode(recordings))


def _without_texts(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return *outputs* of a result without the answer and texts of documents.

    Those of relevant documents stay: they tell what a label meant, longer than answers are kept.
    """
    out = {key: value for key, value in outputs.items() if key != "answer"}
    if "retrieved" in out:
        out["retrieved"] = [
            h if h.get("grade") else {k: v for k, v in h.items() if k != "text"} for h in out["retrieved"]
        ]
    return out


def without_answer(result: CaseResult) -> CaseResult:
    """Return a copy of *result* without what the system said: ids, ranks, times and numbers stay."""
    outputs: dict[str, Any] = {
        key: result.outputs[key] for key in ("timings", "refused", "grounded") if key in result.outputs
    }
    if "retrieved" in result.outputs:
        outputs["retrieved"] = [{k: v for k, v in hit.items() if k != "text"} for hit in result.outputs["retrieved"]]
    scores = {
        name: Score(score.state, score.value, score.reason, score.data if _is_number(score.data) else None)
        for name, score in result.scores.items()
    }
    return replace(result, outputs=outputs, scores=scores)


def _is_number(data: Any) -> bool:
    """Whether *data* is of numbers alone; a metric that compares answers has their texts there."""
    return all(map(_is_number, data)) if isinstance(data, (list, tuple)) else isinstance(data, (int, float))


def run_of(text: str, results: Iterable[bytes]) -> Run:
    """Return the run whose `run_text` is *text*, with its *results*, `Blocks` of its JSON, in the suite's order.

    Raises:
        ValueError, TypeError: it is damaged.
    """
    run = Run.from_dict(checked(json.loads(text), Run))
    run.add(CaseResult.from_dict(checked(result, CaseResult)) for result in unpacked(results))
    places = {case_id: i for i, case_id in enumerate(run.expected_ids)}
    run.cases = dict(sorted(run.cases.items(), key=lambda item: places.get(item[0], len(places))))
    return run


def checked(raw: Any, kind: type) -> dict[str, Any]:
    """Return *raw*, which was read from JSON, if it has the shape of *kind*.

    Raises:
        ShapeError: with the key, what was expected and what was found.
    """
    check_shape(raw, kind)
    found: dict[str, Any] = raw
    return found


def rounded(value: float | None) -> float | None:
    """Return *value* as it is stored: four decimals, no negative zero, None for what is no number."""
    return None if value is None or not math.isfinite(value) else round(value, 4) + 0.0


def verdict_text(verdict: Verdict) -> str:
    """Return *verdict* without its cases."""
    raw = fields_of(verdict)
    if verdict.comparison is not None:
        raw["comparison"] = fields_of(verdict.comparison)
        del raw["comparison"]["cases"]
    return dumps(raw)


def compared_blocks(verdict: Verdict) -> list[bytes]:
    """Return how the cases of *verdict* compare with the baseline: `Blocks` of pairs, case and comparison."""
    blocks = Blocks()
    for case_id, case in verdict.comparison.cases.items() if verdict.comparison is not None else ():
        blocks.add(encode((case_id, case)))
    return blocks.made()


def verdict_of(text: str, blocks: Iterable[bytes]) -> dict[str, Any]:
    """Return a verdict, of which `verdict_text` gave *text* and `compared_blocks` the *blocks*, as plain data.

    Raises:
        ValueError, TypeError: it is damaged.
    """
    found: dict[str, Any] = json.loads(text)
    cases = dict(unpacked(blocks))
    if (comparison := found.get("comparison")) is not None:
        found["comparison"] = {"cases": cases, **comparison}
    return found


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
        self._results.add(case.bare)
        if case.answers or case.case_id in self.case_ids:  # what it showed before counts no more
            self._cases[-1].append(case.case_id)
            if self._answers.add(b"[%s,%s]" % (case.shown, case.answers or b"[]")):
                self._cases.append([])
        self.case_ids.add(case.case_id)

    def results(self) -> list[bytes]:
        """Return the results that were taken in, as `run_of` reads them."""
        return self._results.made()

    def answers(self) -> list[Block]:
        """Return the answers that were taken in, as `Recorded` reads them."""
        blocks = self._answers.made()
        if self._cases[-1]:
            self._cases.append([])
        return [(encode(cases).decode(), block) for cases, block in zip(self._cases, blocks, strict=False)]


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
