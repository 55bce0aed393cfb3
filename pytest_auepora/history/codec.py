"""Runs, results, verdicts and recorded answers as JSON text and back, number for number.

A case is a row: its result as JSON; its texts without those of the answer, compressed; all texts with the recorded
answers, compressed, which are kept for fewer runs.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..base.garbage import garbage_collection_paused
from ..base.json import dumps, encode, encode_finite, fields_of
from ..base.records import Record, given_fields, read_record
from ..core.case_texts import CaseTexts, StoredTexts, TextSource
from ..core.run import CaseResult, Run
from ..core.scoring import Score
from ..errors import HistoryError
from ..evaluation.recording import Recording
from ..evaluation.shown_outputs import without_text
from ..regression.compare import CaseComparison
from ..regression.verdict import Verdict

_LEVEL = 3  # of compression: little more bytes than at the usual one, in half the time


def encode_run(run: Run) -> str:
    """Return *run* without its cases."""
    raw = fields_of(run)
    del raw["cases"]
    return dumps(raw)


class CaseRow(NamedTuple):
    """A case in the history.

    ``result`` is JSON without texts, and without fields that have their default.  ``texts`` are `CaseTexts`, without
    those of the answer if ``answers`` are there, which are `CaseAnswers`: both compressed JSON, the latter with the
    former as its dictionary, so that no text is there twice.
    """

    case_id: str
    result: str
    texts: bytes
    answers: bytes


@dataclass(slots=True)
class CaseAnswers(Record):
    """The texts of a case and what was recorded of its answers."""

    texts: CaseTexts
    """What is shown of it, in full."""
    answers: list[Recording]
    """Repeats in order."""


@dataclass(slots=True)
class _Answers(Record):
    answers: list[Recording] = field(default_factory=list)


def read_answers(text: str | bytes) -> list[Recording]:
    """Return what is under ``answers`` of a JSON object; raises `RecordError` where it is damaged."""
    return read_record(_Answers, text, by_hand=False).answers


@dataclass(eq=False, repr=False, slots=True)
class CaseJson:
    """A result and its recorded answers as JSON, encoded once for the journal and the history.

    Attributes:
        case_id: of the result.
        fields: of the result, without its texts and its closing brace; empty fields of scores are left out.
        texts: all of them.
        reduced: the texts without those of the answer.
        answers: the recordings; empty where there are none.
    """

    case_id: str
    fields: bytes
    texts: bytes
    reduced: bytes
    answers: bytes

    @classmethod
    def of(cls, result: CaseResult, recordings: Sequence[Recording] = ()) -> CaseJson:
        """Return *result* with its *recordings*, repeats in order."""
        raw = given_fields(result)
        if result.scores:
            raw["scores"] = {name: score.to_dict() for name, score in result.scores.items()}
        raw.pop("texts", None)
        texts = result.texts.read()
        all_texts = encode_finite(texts)
        reduced = encode_finite(replace(texts, outputs=_without_texts(texts.outputs))) if recordings else all_texts
        answers = encode_finite(recordings) if recordings else b""
        return cls(result.case_id, encode(raw)[:-1], all_texts, reduced, answers)

    @property
    def result(self) -> bytes:
        """The whole result; it ends with its texts."""
        return b'%s,"texts":%s}' % (self.fields, self.texts)

    def row(self) -> CaseRow:
        """Return what the history keeps."""
        answers = b""
        if self.answers:
            compressor = zlib.compressobj(_LEVEL, zdict=self.reduced)
            answers = (
                compressor.compress(b'{"texts":%s,"answers":%s}' % (self.texts, self.answers)) + compressor.flush()
            )
        return CaseRow(self.case_id, f"{self.fields.decode()}}}", zlib.compress(self.reduced, _LEVEL), answers)


def rows_of(results: Iterable[CaseResult], recordings: Mapping[str, Sequence[Recording]]) -> Iterator[CaseRow]:
    """Yield the rows of *results* with their *recordings* by case."""
    return (CaseJson.of(result, recordings.get(result.case_id, ())).row() for result in results)


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


def decode_run(text: str, rows: Iterable[CaseRow], *, packed: bool = False) -> Run:
    """Return the run of *text* with the cases of *rows* in the suite's order; their texts stay *packed* until read.

    Raises:
        ValueError: one is damaged.
    """
    run, rows = read_record(Run, text, by_hand=False), list(rows)
    texts = PackedTexts(rows)
    with garbage_collection_paused():
        for place, row in enumerate(rows):
            case = run.cases[row.case_id] = read_record(CaseResult, row.result, by_hand=False)
            case.texts = StoredTexts(texts, place) if packed else _unpack_texts(row)
    places = {case_id: i for i, case_id in enumerate(run.expected_ids)}
    run.cases = dict(sorted(run.cases.items(), key=lambda item: places.get(item[0], len(places))))
    return run


class PackedTexts(TextSource):
    """The texts of the cases of a stored run, by the place of their row."""

    def __init__(self, rows: Sequence[CaseRow]) -> None:
        self._rows = rows

    def read_texts(self, start: int, length: int) -> CaseTexts:  # noqa: ARG002 - a row has them all
        """Read those of the row at *start*; raises `HistoryError` where they are damaged."""
        row = self._rows[start]
        try:
            return _unpack_texts(row)
        except ValueError as exc:
            raise HistoryError(f"the texts of {row.case_id} are damaged: {exc}") from None


def _unpack_texts(row: CaseRow) -> CaseTexts:
    if row.answers:
        return _unpack_answers(row).texts
    return read_record(CaseTexts, _decompressed(row.texts), by_hand=False)


def _unpack_answers(row: CaseRow) -> CaseAnswers:
    return read_record(CaseAnswers, _decompressed(row.answers, _decompressed(row.texts)), by_hand=False)


def _decompressed(data: bytes, dictionary: bytes = b"") -> bytes:
    """Return what *data* were before; raises ValueError where they are damaged."""
    decompressor = zlib.decompressobj(zdict=dictionary)
    try:
        text = decompressor.decompress(data)
    except zlib.error as exc:
        raise ValueError(str(exc)) from None
    if not decompressor.eof:
        raise ValueError("compressed data are cut short")
    return text


def encode_verdict(verdict: Verdict) -> str:
    """Return *verdict* without its cases, and without answers: these are stored for as long as the project says."""
    raw = fields_of(verdict)
    if (cause := verdict.cause) is not None:
        silent = {case_id: replace(case, answer=None) for case_id, case in cause.cases.items()}
        raw["cause"] = replace(cause, cases=silent)
    if verdict.comparison is not None:
        raw["comparison"] = fields_of(verdict.comparison)
        del raw["comparison"]["cases"]
    return dumps(raw)


@dataclass(slots=True)
class _Compared(Record):
    cases: dict[str, CaseComparison] = field(default_factory=dict)


def decode_verdict(text: str, compared: Mapping[str, str]) -> Verdict:
    """Return a verdict, of its *text* and the comparisons of its cases as JSON; raises ValueError where damaged."""
    verdict = read_record(Verdict, text, by_hand=False)
    if verdict.comparison is not None:
        cases = ",".join(f"{dumps(case_id)}:{case}" for case_id, case in compared.items())
        with garbage_collection_paused():
            verdict.comparison.cases = read_record(_Compared, f'{{"cases":{{{cases}}}}}', by_hand=False).cases
    return verdict


class RecordedAnswers(Mapping[str, list[Recording]]):
    """The recorded answers of a run by case, repeats in order; those of a case are read when they are asked for.

    Args:
        rows: of the run; those without answers are left out.

    Raises:
        HistoryError: they are damaged; raised when they are read.
    """

    def __init__(self, rows: Iterable[CaseRow]) -> None:
        self._rows = {row.case_id: row for row in rows if row.answers}

    def __getitem__(self, case_id: str) -> list[Recording]:
        try:
            return _unpack_answers(self._rows[case_id]).answers
        except ValueError as exc:
            raise HistoryError(f"the recorded answer to {case_id} is damaged: {exc}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)
