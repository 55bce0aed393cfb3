"""The vocabulary: outputs that compare by what was said, ids of documents that came without one."""

from __future__ import annotations

import hashlib

from pytest_auepora.core.types import Document, Response, RetrievedDocument, SystemOutputs, id_of_text


def test_outputs_are_equal_whatever_metrics_keep_in_them() -> None:
    def gave() -> SystemOutputs:
        return SystemOutputs([RetrievedDocument(Document("a", "text"), 0.5, 1)], Response("yes"), {"end_to_end": 0.1})

    one, other = gave(), gave()
    one.memo["tokens"] = ["text"]
    assert one == other
    assert "memo" not in repr(one)
    other.timings["end_to_end"] = 0.2
    assert one != other


def test_a_document_without_an_id_is_named_by_its_text() -> None:
    digest = hashlib.sha256("Grüße".encode()).hexdigest()
    assert id_of_text("Grüße") == f"sha:{digest[:12]}"
    assert id_of_text("Grüße") != id_of_text("Grüsse")
    assert id_of_text("\ud800").startswith("sha:"), "half a letter has an id as well"
