"""Runs, results and verdicts as JSON text and back, number for number; a stored result as sample and outputs.

Results, and how each case of a verdict compares, are in blocks compressed by Zstandard: cases are much alike, and a
block takes half the room or less.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..core.json import dumps, encoded, taken_apart
from ..core.run import CaseResult, Run
from ..core.scoring import Score
from ..core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from ..shapes import check_shape

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from ..regression.baseline import BaselineCase
    from ..regression.compare import CaseComparison
    from ..regression.verdict import Verdict

BLOCK = 1024 * 1024
"""Bytes of JSON that make a block."""


def compressed(data: bytes) -> bytes:
    """Return *data* as a history keeps it."""
    return zstd.compress(data)


def decompressed(data: bytes) -> bytes:
    """Return what `compressed` made *data* of.

    Raises:
        ValueError: it is damaged.
    """
    try:
        return zstd.decompress(data)
    except zstd.ZstdError as exc:
        raise ValueError(str(exc)) from None


class Blocks:
    """Takes in JSON texts as they come, and holds them compressed: lists of about `BLOCK` bytes each."""

    def __init__(self) -> None:
        self._made: list[bytes] = []
        self._texts: list[bytes] = []
        self._size = 0

    def add(self, text: bytes) -> None:
        """Take in one JSON value."""
        self._texts.append(text)
        self._size += len(text)
        if self._size >= BLOCK:
            self._close()

    def made(self) -> list[bytes]:
        """Return the blocks of what was taken in, in order."""
        self._close()
        return self._made

    def _close(self) -> None:
        if self._texts:
            self._made.append(compressed(b"[%s]" % b",".join(self._texts)))
        self._texts, self._size = [], 0


def unpacked(blocks: Iterable[bytes]) -> Iterator[Any]:
    """Yield the values that `Blocks` were made of.

    Raises:
        ValueError, TypeError: a block is damaged.
    """
    for block in blocks:
        check_shape(found := json.loads(decompressed(block)), list[Any])
        yield from found


def run_text(run: Run) -> str:
    """Return *run* without its cases."""
    raw = taken_apart(run)
    del raw["cases"]
    return dumps(raw)


def result_text(result: CaseResult) -> str:
    """Return *result*; what a score does not say is left out."""
    return result_data(result).decode()


def result_data(result: CaseResult, outputs: Mapping[str, Any] | None = None) -> bytes:
    """Return `result_text` of *result* in UTF-8; with *outputs* in place of its own, if they are given."""
    raw = taken_apart(result)
    if outputs is not None:
        raw["outputs"] = outputs
    raw["scores"] = {name: score.said() for name, score in result.scores.items()}
    return encoded(raw, nulls=[*result.ranks.values()].count(None))


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
    """Return the run whose `run_text` is *text*, with its *results*, `Blocks` of `result_data`, in the suite's order.

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
