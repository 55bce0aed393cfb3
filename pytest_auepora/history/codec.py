"""Runs, results, verdicts and recorded answers as JSON text and back, number for number.

Results, recorded answers and the comparisons of a verdict's cases are in compressed blocks: cases are much alike.
Answers are kept for fewer runs than results.  A recorded result is stored without the texts of its answer: its full
outputs are stored with the recordings, and can be read as long as these are kept.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..base.json import dumps, encode, encode_finite, fields_of, loads
from ..core.run import CaseResult, Run
from ..core.scoring import Score
from ..errors import HistoryError
from ..evaluation.case_result import without_text
from ..evaluation.recording import Recording
from ..shapes import check_shape

if TYPE_CHECKING:
    from ..regression.verdict import Verdict

BLOCK_SIZE = 16 * 1024 * 1024
"""Bytes of JSON that make a block."""

_CHUNK_SIZE = 256 * 1024  # bytes collected before the compressor starts: its memory is larger than a small run


def _zstd() -> Any:
    """Return the module, which a Python may be built without: a run that keeps nothing does without."""
    return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


class BlockWriter:
    """Compresses JSON texts as they come: lines of JSON, about `BLOCK_SIZE` bytes a block.

    Zstandard finds repeats within 4 MiB: the same documents are returned again and again.  It keeps as much in memory;
    with 16 MiB answers shrink by a fifth more, and 10,000 cases break their budget of memory.
    """

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._waiting: list[bytes] = []
        self._waiting_size = self._size = 0
        self._parts: list[bytes] = []
        self._compressor: Any = None

    def add(self, text: bytes) -> bool:
        """Add one JSON value; return whether it completes a block."""
        self._waiting.append(text)
        self._waiting_size += len(text)
        if self._waiting_size >= min(_CHUNK_SIZE, BLOCK_SIZE):
            self._compress()
        if full := self._size >= BLOCK_SIZE:
            self._close()
        return full

    def finish(self) -> list[bytes]:
        """Return all blocks, in order."""
        self._compress()
        self._close()
        return self._blocks

    def _compress(self) -> None:
        if not self._waiting:
            return
        if self._compressor is None:
            zstd = _zstd()
            parameters = zstd.CompressionParameter
            options = {parameters.window_log: 22, parameters.enable_long_distance_matching: 1}
            self._compressor = zstd.ZstdCompressor(options=options)
        self._parts.append(self._compressor.compress(b"\n".join([*self._waiting, b""])))
        self._size += self._waiting_size
        self._waiting, self._waiting_size = [], 0

    def _close(self) -> None:
        if self._compressor is not None:
            self._blocks.append(b"".join([*self._parts, self._compressor.flush()]))
        self._parts, self._size, self._compressor = [], 0, None


def block_lines(block: bytes) -> list[bytes]:
    """Return the JSON texts in a block of `BlockWriter`; raises ValueError where it is damaged."""
    zstd = _zstd()
    try:
        lines: list[bytes] = zstd.decompress(block).splitlines()
    except zstd.ZstdError as exc:
        raise ValueError(str(exc)) from None
    return lines


def decode_blocks(blocks: Iterable[bytes]) -> Iterator[Any]:
    """Yield the values in blocks of `BlockWriter`; raises ValueError where one is damaged."""
    for block in blocks:
        yield from map(json.loads, block_lines(block))


def encode_run(run: Run) -> str:
    """Return *run* without its cases."""
    raw = fields_of(run)
    del raw["cases"]
    return dumps(raw)


@dataclass(eq=False, repr=False, slots=True)
class CaseJson:
    """A result and its recorded answers as JSON, encoded once for the journal and the history.

    Attributes:
        case_id: of the result.
        result: all of it; empty fields of scores are left out.
        result_without_texts: the result without the texts of its answer.
        texts: those of the result, complete, with which ``result`` ends.
        outputs: those of the texts.
        answers: the recordings; empty where there are none.
    """

    case_id: str
    result: bytes
    result_without_texts: bytes
    texts: bytes
    outputs: bytes
    answers: bytes

    @classmethod
    def of(cls, result: CaseResult, recordings: Sequence[Recording] = ()) -> CaseJson:
        """Return *result* with its *recordings*, repeats in order."""
        raw = fields_of(result)
        raw["scores"] = {name: score.to_dict() for name, score in result.scores.items()}
        del raw["texts"]
        other_fields, texts = encode(raw)[:-1], result.texts.read()
        head, outputs = encode({"query": texts.query, "expected": texts.expected})[:-1], encode(texts.outputs)
        all_texts = b'%s,"outputs":%s}' % (head, outputs)
        complete = b'%s,"texts":%s}' % (other_fields, all_texts)
        if not recordings:
            return cls(result.case_id, complete, complete, all_texts, outputs, b"")
        reduced = b'%s,"outputs":%s}' % (head, encode(_without_texts(texts.outputs)))
        without_texts = b'%s,"texts":%s}' % (other_fields, reduced)
        return cls(result.case_id, complete, without_texts, all_texts, outputs, encode(recordings))


def _without_texts(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return *outputs* without answer and texts, except of relevant documents: they tell what a label meant."""
    reduced = {key: value for key, value in outputs.items() if key != "answer"}
    if "retrieved" in reduced:
        reduced["retrieved"] = [hit if hit.get("grade") else without_text(hit) for hit in reduced["retrieved"]]
    return reduced


def without_answer_texts(result: CaseResult) -> CaseResult:
    """Return a copy of *result* without texts of the system: ids, ranks, times and numbers stay."""
    outputs = {key: value for key, value in result.outputs.items() if key in ("timings", "refused", "grounded")}
    if "retrieved" in result.outputs:
        outputs["retrieved"] = [without_text(hit) for hit in result.outputs["retrieved"]]
    scores = {
        name: Score(score.state, score.value, score.reason, score.data if _is_number(score.data) else None)
        for name, score in result.scores.items()
    }
    without = replace(result, scores=scores)
    without.outputs = outputs
    return without


def _is_number(data: Any) -> bool:
    """Whether *data* has numbers only; metrics that compare answers keep their texts there."""
    return all(map(_is_number, data)) if isinstance(data, (list, tuple)) else isinstance(data, (int, float))


def decode_run(text: str, results: Iterable[bytes]) -> Run:
    """Return the run of *text* with *results* in the suite's order; raises ValueError or TypeError where damaged."""
    run = Run.from_dict(check_shape(json.loads(text), Run))
    run.add(CaseResult.from_dict(check_shape(result, CaseResult)) for result in decode_blocks(results))
    places = {case_id: i for i, case_id in enumerate(run.expected_ids)}
    run.cases = dict(sorted(run.cases.items(), key=lambda item: places.get(item[0], len(places))))
    return run


def encode_verdict(verdict: Verdict) -> str:
    """Return *verdict* without its cases."""
    raw = fields_of(verdict)
    if verdict.comparison is not None:
        raw["comparison"] = fields_of(verdict.comparison)
        del raw["comparison"]["cases"]
    return dumps(raw)


def encode_comparisons(verdict: Verdict) -> list[bytes]:
    """Return how the cases of *verdict* compare with the baseline: blocks of pairs of case id and comparison."""
    blocks = BlockWriter()
    for case_id, case in verdict.comparison.cases.items() if verdict.comparison is not None else ():
        blocks.add(encode_finite((case_id, case)))
    return blocks.finish()


def decode_verdict(text: str, blocks: Iterable[bytes]) -> dict[str, Any]:
    """Return a verdict, of its *text* and *blocks*, as plain data; raises ValueError or TypeError where damaged."""
    verdict: dict[str, Any] = json.loads(text)
    cases = dict(decode_blocks(blocks))
    if (comparison := verdict.get("comparison")) is not None:
        verdict["comparison"] = {"cases": cases, **comparison}
    return verdict


_CACHED_BLOCKS = 2  # cases are mostly read in the order they were stored

AnswerBlock = tuple[str, bytes]
"""A JSON list of case ids, and a block with a line for each case: its outputs and all its recordings."""

_Line = tuple[dict[str, Any], list[tuple[str, list[str]]]]


class ResultPacker:
    """Compresses the results of a run, the cases ``case_ids``, and their recorded answers as they come."""

    def __init__(self) -> None:
        self.case_ids: set[str] = set()
        self._results = BlockWriter()
        self._answers = BlockWriter()
        self._cases: list[list[str]] = [[]]

    @classmethod
    def of(cls, results: Iterable[CaseResult], recordings: Mapping[str, Sequence[Recording]]) -> ResultPacker:
        """Return a packer with *results* and their *recordings* by case."""
        packer = cls()
        for result in results:
            packer.add(CaseJson.of(result, recordings.get(result.case_id, ())))
        return packer

    def add(self, case: CaseJson) -> None:
        """Add a result and all answers to its case; the last one of a case counts."""
        self._results.add(case.result_without_texts)
        if case.answers or case.case_id in self.case_ids:  # replaces its earlier outputs
            self._cases[-1].append(case.case_id)
            if self._answers.add(b"[%s,%s]" % (case.outputs, case.answers or b"[]")):
                self._cases.append([])
        self.case_ids.add(case.case_id)

    def results(self) -> list[bytes]:
        """Return the results, as `decode_run` reads them."""
        return self._results.finish()

    def answers(self) -> list[AnswerBlock]:
        """Return the answers, as `RecordedAnswers` reads them."""
        return [(dumps(cases), block) for cases, block in zip(self._cases, self._answers.finish(), strict=False)]


class RecordedAnswers(Mapping[str, list[Recording]]):
    """The answers in blocks by case, repeats in order; a block is opened when one of its cases is read.

    Args:
        blocks: in the order they were written.

    Raises:
        ValueError, TypeError: the list of cases of a block is damaged.
        HistoryError: a block is damaged; raised when one of its cases is read.
    """

    def __init__(self, blocks: Iterable[AnswerBlock]) -> None:
        self._blocks: list[bytes] = []
        self._places: dict[str, tuple[int, int]] = {}
        for names, block in blocks:
            cases = check_shape(json.loads(names), list[str])
            self._places.update({case_id: (len(self._blocks), line) for line, case_id in enumerate(cases)})
            self._blocks.append(block)
        self._lines = lru_cache(maxsize=_CACHED_BLOCKS)(lambda number: block_lines(self._blocks[number]))

    def __getitem__(self, case_id: str) -> list[Recording]:
        return [(answer, texts) for answer, texts in self._line(case_id)[1]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def with_outputs(self, case: CaseResult) -> CaseResult:
        """Return *case*, which was stored without texts, with its complete outputs if they are kept."""
        if case.case_id not in self._places:
            return case
        complete = replace(case)
        complete.outputs = self._line(case.case_id)[0]
        return complete

    def _line(self, case_id: str) -> _Line:
        block, number = self._places[case_id]
        try:
            line: _Line = check_shape(loads(self._lines(block)[number]), _Line)
        except (ValueError, LookupError, TypeError, RecursionError) as exc:
            raise HistoryError(f"the recorded answer to {case_id} is damaged: {exc}") from None
        return line
