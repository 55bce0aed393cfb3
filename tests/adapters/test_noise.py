"""Noise in the form of each framework's own documents."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.adapters.own_documents import converter_for
from pytest_auepora.core.types import Document


def langchain() -> Any:
    return pytest.importorskip("langchain_core.documents").Document(
        page_content="right", metadata={"source": "s"}, id="r"
    )


def haystack() -> Any:
    return pytest.importorskip("haystack").Document(content="right", id="r", meta={"page": 1})


def llamaindex() -> Any:
    schema = pytest.importorskip("llama_index.core.schema")
    return schema.NodeWithScore(node=schema.TextNode(text="right", id_="r"), score=1.0)


@pytest.mark.parametrize(
    ("own", "text_of"),
    [
        (langchain, lambda d: d.page_content),
        (haystack, lambda d: d.content),
        (llamaindex, lambda d: d.node.get_content()),
    ],
)
def test_noise_is_a_document_like_the_others(own: Any, text_of: Any) -> None:
    first = own()
    made = converter_for([first])(Document("n", "noise"))
    assert type(made) is type(first)
    assert (text_of(made), text_of(first)) == ("noise", "right")
