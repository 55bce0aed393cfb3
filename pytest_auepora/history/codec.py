"""Runs, results and verdicts as JSON text and back, number for number; a stored result as sample and outputs.

Results, recorded answers, and how each case of a verdict compares, are in compressed blocks: cases are much alike.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..core.json import dumps, encoded, taken_apart
from ..core.run import CaseResult, Run
from ..core.scoring import Score
from ..core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from ..evaluation.recording import Recording
from ..shapes import check_shape

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from ..regression.baseline import BaselineCase
    from ..regression.compare import CaseComparison
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
    raw = taken_apart(run)
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
        raw = taken_apart(result)
        raw["scores"] = {name: score.said() for name, score in result.scores.items()}
        del raw["outputs"]
        rest = encoded(raw, nulls=[*result.ranks.values()].count(None))[:-1]
        whole = b'%s,"outputs":%s}' % (rest, shown := encoded(result.outputs))
        if not recordings:
            return cls(result.case_id, whole, whole, shown, b"")
        bare = b'%s,"outputs":%s}' % (rest, encoded(_without_texts(result.outputs)))
        return cls(result.case_id, whole, bare, shown, encoded(recordings))


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
    raw = taken_apart(verdict)
    if verdict.comparison is not None:
        raw["comparison"] = taken_apart(verdict.comparison)
        del raw["comparison"]["cases"]
    return dumps(raw)


def compared_blocks(verdict: Verdict) -> list[bytes]:
    """Return how the cases of *verdict* compare with the baseline: `Blocks` of pairs, case and comparison."""
    blocks = Blocks()
    for case_id, case in verdict.comparison.cases.items() if verdict.comparison is not None else ():
        blocks.add(b"[%s,%s]" % (encoded(case_id), _compared(case)))
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


def _compared(case: CaseComparison) -> bytes:
    raw = taken_apart(case)
    nulls = _nulls(before := raw["before"])
    # thousands of them: `taken_apart` would take a third longer
    raw["changes"] = {
        name: {"before": change.before, "after": change.after, "gain": change.gain, "errored": change.errored}
        for name, change in raw["changes"].items()
    }
    if before is not None:
        raw["before"] = taken_apart(before)
    return encoded(raw, nulls=nulls)


def _nulls(before: BaselineCase | None) -> int:
    """Count what is mostly all that is None in a case that was *before*."""
    if before is None:
        return 1
    return [*before.ranks.values()].count(None) + [*before.scores.values()].count(None)


def restored(result: CaseResult) -> tuple[EvaluationSample, SystemOutputs] | None:
    """Return the sample and the outputs of a stored case; None where it has no outputs.

    Texts of retrieved documents are the stored beginnings, and everything is as it was after redaction.
    """
    if "answer" not in result.outputs:  # nothing was kept, or no text: of a very large run
        return None
    return _sample(result), _outputs(result.outputs)


def _sample(result: CaseResult) -> EvaluationSample:
    said = result.expected
    labels = {k: v for k, v in result.labels.items() if k != "tags"}
    labels |= {k: said[k] for k in ("expect", "must_contain", "forbidden") if k in said}
    relevant = [_gold(r) for r in said["relevant"]] if "relevant" in said else None
    reference = None
    if "reference" in said:
        reference = Response(said["reference"], metadata={"alternatives": list(said.get("references", ()))[1:]})
    return EvaluationSample(result.case_id, result.query, relevant, None, reference, labels)


def _gold(raw: Mapping[str, Any]) -> Document:
    metadata: dict[str, Any] = {"grade": raw.get("grade", 1)}
    if "quote" in raw or "match" in raw:
        metadata["match"] = raw.get("match", "quote")
    if span := raw.get("span"):
        metadata["start"], metadata["end"] = span
    if raw.get("match") == "moved":
        metadata["ids"] = tuple(raw.get("ids", ()))
    if "doc" in raw:
        metadata["document_id"] = raw["doc"]
    return Document(raw["id"], raw.get("quote", ""), metadata)


def _outputs(raw: Mapping[str, Any]) -> SystemOutputs:
    retrieved = [
        RetrievedDocument(
            Document(hit["id"], hit.get("text", ""), {"document_id": hit["doc"]} if "doc" in hit else {}),
            hit.get("score") or 0.0,
            rank,
        )
        for rank, hit in enumerate(raw.get("retrieved", ()), 1)
    ]
    metadata = {k: raw[k] for k in ("refused", "grounded", "citations") if k in raw}
    return SystemOutputs(retrieved, Response(raw.get("answer", ""), metadata=metadata), dict(raw.get("timings", {})))
