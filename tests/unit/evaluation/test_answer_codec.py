"""An answer taken apart and put together again: equal where it is whole, and a gap says why it is one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pytest_auepora.core.types import Document, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.errors import NotRecordedError
from pytest_auepora.evaluation.answer_codec import PartialMapping, Parts, plain


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
    with pytest.raises(TypeError, match="keys are not texts"):
        plain({1: 2})


def test_pieces_are_what_can_go_without_losing_ids() -> None:
    assert set(Parts.of(outputs(status=200)).pieces()) == {
        ("answer",), ("structured",), ("metadata",), ("extra",), ("retrieved", 0, "text"), ("retrieved", 0, "metadata"),
    }  # fmt: skip


def test_what_json_cannot_carry_is_a_gap_that_is_told_when_read() -> None:
    parts = carried(Parts.of(outputs(client=object(), status=200)))
    extra = parts.restore().extra
    assert extra["status"] == 200
    for read in (lambda: extra["client"], lambda: extra.get("client"), lambda: "client" in extra, lambda: dict(extra)):
        with pytest.raises(NotRecordedError, match=r"was not recorded: a object is nothing that JSON can carry"):
            read()
    assert extra.get("nothing", 1) == 1, "what was never there is not there"


@pytest.mark.parametrize(
    ("path", "read"),
    [
        (("answer",), lambda o: o.response.text),
        (("structured",), lambda o: o.response.structured["days"]),
        (("metadata",), lambda o: o.response.metadata["refused"]),
        (("retrieved",), lambda o: len(o.retrieved)),
        (("retrieved", 0, "text"), lambda o: o.retrieved[0].doc.text),
        (("retrieved", 0, "metadata"), lambda o: o.retrieved[0].doc.metadata["page"]),
        (("timings",), lambda o: o.timings["end_to_end"]),
        (("extra",), lambda o: o.extra["status"]),
    ],
)
def test_every_part_can_be_taken_out_for_a_reason(path: tuple[Any, ...], read: Callable[[SystemOutputs], Any]) -> None:
    parts = Parts.of(outputs(status=200))
    parts.drop(path, "was too large")
    with pytest.raises(NotRecordedError, match="was too large"):
        read(carried(parts).restore())
    if path != ("retrieved",):
        assert [(r.doc.doc_id, r.score) for r in parts.restore().retrieved] == [("a", 0.5), ("b", 0.25)]


def test_known_keys_may_stay_and_unknown_parts_are_refused() -> None:
    parts = Parts.of(outputs(status=200, trace="long"))
    parts.drop(("extra",), "was too large", {"status": 200})
    extra = parts.restore().extra
    assert isinstance(extra, PartialMapping)
    assert extra["status"] == 200
    with pytest.raises(NotRecordedError, match=r"extra\['trace'\] was too large"):
        extra.get("trace")
    with pytest.raises(KeyError):
        parts.drop(("colour",), "never there")
