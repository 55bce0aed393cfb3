"""Embeddings of texts, and BERTScore's token vectors: batches, names of models, matching."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pytest_auepora.errors import MetricError, MissingExtraError
from pytest_auepora.metrics.generation_semantic import BertScoreMetric, EmbeddingSimilarity
from pytest_auepora.metrics.vectors import (
    BertEncoder,
    BertMatch,
    Embedder,
    TokenVectors,
    _batches,
    fingerprint,
    load_model,
    match,
    model_fingerprint,
)

from .samples import case, gave


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


def test_bertscore_without_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bert_score.utils", None)
    monkeypatch.setitem(sys.modules, "bert_score", None)
    with pytest.raises(MissingExtraError, match=r"pytest-auepora\[bertscore\]"):
        BertScoreMetric(num_layers=3).measure(case("a"), gave("b"))


def vectors(rows: list[list[float]], weights: list[float]) -> TokenVectors:
    return TokenVectors(np.array(rows, np.float32), np.array(weights, np.float32))


def test_greedy_matching_by_hand() -> None:
    reference = vectors([[1, 0], [0, 1]], [1, 1])
    answer = vectors([[1, 0], [0.6, 0.8], [0, 1]], [1, 1, 0])
    found = match(reference, answer)
    assert found.precision == pytest.approx((1 + 0.8) / 2)
    assert found.recall == pytest.approx(1)
    assert found.f1 == pytest.approx(2 * 0.9 / 1.9)
    assert match(reference, vectors([[1, 0]], [0])) == BertMatch(0, 0, 0)
    opposite = match(vectors([[1, 0]], [1]), vectors([[-1, 0]], [1]))
    assert opposite.f1 == 0


def test_a_text_that_fails_leaves_the_others_known() -> None:
    asked: list[str] = []

    def embed(texts: list[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[1.0 / (text != "bad")] for text in texts]

    class Encoder(BertEncoder):
        def _encode(self, texts: list[str]) -> Iterator[tuple[str, TokenVectors]]:
            return ((text, vectors([row], [1])) for text, row in zip(texts, embed(texts), strict=True))

    for known in (Embedder(embed), Encoder("m")):
        keep: dict[str, Any] = {"keep": ["reference"]} if isinstance(known, Encoder) else {}
        known.vectors(["reference"], **keep)
        with pytest.raises(ZeroDivisionError):
            known.vectors(["reference", "bad"], **keep)
        known.vectors(["reference"], **keep)
    assert asked == ["reference", "bad"] * 2


def test_batches_keep_the_budget_and_lose_nothing() -> None:
    ids = {f"t{i}": [1] * (i % 700) for i in range(2000)}
    batches = list(_batches(ids))
    assert sorted(t for b in batches for t in b) == sorted(ids)
    assert all(max(len(ids[t]) for t in b) * len(b) <= 8192 for b in batches)


def test_a_folder_is_known_by_its_weights_not_by_its_place(tmp_path: Path) -> None:
    for home in ("a", "b", "c"):
        folder = tmp_path / home / "model"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}", encoding="utf-8")
        (folder / "model.safetensors").write_bytes(b"1" if home != "c" else b"2")
    same, moved, other = (model_fingerprint(str(tmp_path / h / "model")) for h in "abc")
    assert same == moved != other
    assert same.startswith("model@")
    assert model_fingerprint("some/model") == "some/model"
