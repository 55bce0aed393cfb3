"""Models by name: nothing of a local folder is run unasked."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.generation_semantic import EmbeddingSimilarity
from pytest_auepora.metrics.semantic.embedding import fingerprint, load_model


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that sentence-transformers was asked for."""
    names: list[str] = []

    def load(name: str, **_: Any) -> None:
        names.append(name)

    module = ModuleType("sentence_transformers")
    module.__dict__["SentenceTransformer"] = load
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    return names


def model(folder: Path, *kinds: str) -> str:
    folder.mkdir()
    modules = [{"idx": i, "name": str(i), "path": "", "type": kind} for i, kind in enumerate(kinds)]
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    return str(folder)


def test_a_folder_with_code_of_its_own_is_refused(tmp_path: Path, loaded: list[str]) -> None:
    name = model(tmp_path / "m", "sentence_transformers.models.Transformer", "evil.Layer")
    with pytest.raises(MetricError, match=r"code of its own \(evil\.Layer\).*embed_fn"):
        load_model(name)
    assert loaded == []


def test_a_folder_of_plain_modules_is_loaded(tmp_path: Path, loaded: list[str]) -> None:
    name = model(tmp_path / "m", "sentence_transformers.models.Transformer")
    load_model(name)
    assert loaded == [name]


def test_a_name_that_is_no_folder_is_left_to_the_library(loaded: list[str]) -> None:
    load_model("all-MiniLM-L6-v2")
    assert loaded == ["all-MiniLM-L6-v2"]


def embed(texts: list[str], model: str = "small") -> list[list[float]]:
    return [[float(len(model))] for _ in texts]


def of_model(model: str) -> Any:
    return lambda texts: embed(texts, model)


class Client:
    def __init__(self, model: str, api_key: str = "") -> None:
        self.model, self.api_key = model, api_key

    def embed(self, texts: list[str]) -> list[list[float]]:
        return embed(texts, self.model)

    __call__ = embed


def test_two_functions_do_not_share_a_fingerprint() -> None:
    told = [
        embed,
        partial(embed, model="large"),
        of_model("small"),
        of_model("large"),
        lambda texts: embed([*texts]),
        lambda texts: embed(texts[::-1]),
        Client("small").embed,
        Client("large").embed,
        Client("small"),
    ]
    prints = [fingerprint(one) for one in told]
    assert len(set(prints)) == len(prints)
    assert prints[0] == "embed"


def test_what_differs_by_machine_is_no_part_of_it() -> None:
    assert fingerprint(Client("small", "key 1").embed) == fingerprint(Client("small", "key 2").embed)
    assert fingerprint(of_model("small")) == fingerprint(of_model("small"))
    params = EmbeddingSimilarity(of_model("small")).params()
    assert params == EmbeddingSimilarity(of_model("small")).params()
    assert params != EmbeddingSimilarity(of_model("large")).params()
