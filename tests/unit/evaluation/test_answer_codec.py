"""An answer taken apart and put together again: equal where it is whole, and a gap says why it is one."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from pytest_auepora.core.types import Document, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.evaluation.answer_codec import Parts, plain


def outputs(**extra: Any) -> SystemOutputs:
    hits = [RetrievedDocument(Document("a", "text", {"page": 3}), 0.5, 1), RetrievedDocument(Document("b"), 0.25, 2)]
    return SystemOutputs(hits, Response("yes", {"days": 30}, {"refused": False}), {"end_to_end": 0.1}, extra)


def carried(parts: Parts) -> Parts:
    return Parts.from_dict(json.loads(json.dumps(parts.to_dict())))


def test_an_answer_survives_json() -> None:
    given = outputs(status=200, trace=[1, {"deep": None}])
    assert carried(Parts.of(given)).restore() == given


def test_what_numpy_made_becomes_what_python_has() -> None:
    assert plain({"v": np.array([1.5, 2.0]), "n": np.int64(3), "t": (1, 2)}) == {"v": [1.5, 2.0], "n": 3, "t": [1, 2]}
    with pytest.raises(TypeError, match="a set"):
        plain({"v": {1}})
    with pytest.raises(TypeError, match="keys are no texts"):
        plain({1: 2})


def test_pieces_are_what_can_go_without_losing_ids() -> None:
    assert set(Parts.of(outputs(status=200)).pieces()) == {
        ("answer",), ("structured",), ("metadata",), ("extra",), ("retrieved", 0, "text"), ("retrieved", 0, "metadata"),
    }  # fmt: skip
