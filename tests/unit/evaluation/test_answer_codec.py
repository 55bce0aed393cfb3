"""An answer as plain data and back: equal where it is whole, and what is not is listed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pytest_auepora.base.json import encode
from pytest_auepora.base.records import read_record
from pytest_auepora.core.types import Document, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.evaluation.answer_codec import RecordedOutputs, plain


def outputs(**extra: Any) -> SystemOutputs:
    hits = [RetrievedDocument(Document("a", "text", {"page": 3}), 0.5, 1), RetrievedDocument(Document("b"), 0.25, 2)]
    return SystemOutputs(hits, Response("yes", {"days": 30}, {"refused": False}), {"end_to_end": 0.1}, extra)


def carried(given: SystemOutputs) -> RecordedOutputs:
    return read_record(RecordedOutputs, encode(RecordedOutputs.of(given)))


def test_an_answer_survives_json() -> None:
    given = outputs(status=200, trace=[1, {"deep": None}])
    assert carried(given).restore() == given
    assert carried(given).lost == {}


@pytest.mark.parametrize("score", [0, -1e-300, 0.1 + 0.2, math.inf, -math.inf, np.float32(0.5), None])
def test_every_score_comes_back(score: Any) -> None:
    given = outputs()
    given.retrieved[0].score = score
    back = carried(given)
    assert back.restore().retrieved[0].score == score
    assert back.lost == {}


def test_what_numpy_made_becomes_what_python_has() -> None:
    assert plain({"v": np.array([1.5, 2.0]), "n": np.int64(3), "t": (1, 2)}) == {"v": [1.5, 2.0], "n": 3, "t": [1, 2]}
    for odd in ({"v": {1}}, {1: 2}, {"v": math.nan}):
        with pytest.raises(TypeError):
            plain(odd)


def test_what_json_cannot_carry_is_left_out_and_listed() -> None:
    given = outputs(client=object(), status=200)
    given.timings["first"] = math.nan
    given.retrieved[0].doc.metadata["node"] = object()
    back = carried(given)
    assert back.lost == dict.fromkeys(("timings", "extra", "document_metadata"), "not JSON")
    assert (back.extra, back.timings, back.retrieved[0].metadata) == ({"status": 200}, {"end_to_end": 0.1}, {"page": 3})


@pytest.mark.parametrize(
    ("cap", "lost", "lengths"),
    [
        (10_000, set(), (300, 200, 3)),
        (400, {"answer", "documents"}, (153, 153, 3)),
        (140, {"answer", "documents", "extra"}, (33, 33, 3)),
        (1, {"answer", "documents", "extra", "metadata", "structured", "document_metadata"}, (1, 1, 1)),
    ],
)
def test_what_is_longest_is_cut_first(cap: int, lost: set[str], lengths: tuple[int, ...]) -> None:
    given = outputs(trace="t" * 40)
    given.response.text = "a" * 300
    given.retrieved[0].doc.text, given.retrieved[1].doc.text = "b" * 200, "c" * 3
    kept = RecordedOutputs.of(given)
    kept.cut(cap)
    assert set(kept.lost) == lost
    assert set(kept.lost.values()) <= {"cut"}
    texts = [kept.answer, *(hit.text for hit in kept.retrieved)]
    assert tuple(len(text or "") for text in texts) == lengths
    assert [(r.doc.doc_id, r.score) for r in kept.restore().retrieved] == [("a", 0.5), ("b", 0.25)]


def test_what_labels_are_matched_by_is_never_cut() -> None:
    given = outputs()
    given.retrieved[0].doc.metadata = {"source": "refunds.md", "start": 3, "end": 9, "summary": "s" * 500}
    kept = RecordedOutputs.of(given)
    kept.cut(10)
    assert kept.retrieved[0].metadata == {"source": "refunds.md", "start": 3, "end": 9}
