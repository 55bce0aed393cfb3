"""Embeddings of texts, names of models, and what bert-score is asked."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from pytest_auepora.core.metrics_base import Measurement, NotApplicable
from pytest_auepora.errors import MetricError, MissingExtraError
from pytest_auepora.metrics.generation_semantic import (
    BertScoreMetric,
    Embedder,
    EmbeddingSimilarity,
    bert_scorer,
    fingerprint,
    load_model,
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
    monkeypatch.setitem(sys.modules, "bert_score", None)
    bert_scorer.cache_clear()
    with pytest.raises(MissingExtraError, match=r"pytest-auepora\[bertscore\]"):
        BertScoreMetric(num_layers=3).measure(case("a"), gave("b"))


def test_a_text_that_fails_leaves_the_others_known() -> None:
    asked: list[str] = []

    def embed(texts: list[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[1.0 / (text != "bad")] for text in texts]

    known = Embedder(embed)
    known.vectors(["reference"])
    with pytest.raises(ZeroDivisionError):
        known.vectors(["reference", "bad"])
    known.vectors(["reference"])
    assert asked == ["reference", "bad"]


class Scorer:
    """Stands in for bert-score's: every score is the share of equal letters."""

    made: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, **options: Any) -> None:
        self.made.append(options)

    def score(self, answers: list[str], references: list[str]) -> tuple[Any, Any, Any]:
        shares = np.array([len({*a} & {*r}) / len({*a} | {*r}) for a, r in zip(answers, references, strict=True)])
        return shares / 2, shares, shares * 2 - 1


@pytest.fixture
def bert_score(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Scorer]]:
    module = ModuleType("bert_score")
    module.__dict__.update(BERTScorer=Scorer, utils=SimpleNamespace(model2layers={"known": 7}))
    monkeypatch.setitem(sys.modules, "bert_score", module)
    bert_scorer.cache_clear()
    Scorer.made.clear()
    yield Scorer
    bert_scorer.cache_clear()


def test_bertscore_is_of_the_best_reference(bert_score: type[Scorer]) -> None:
    metric = BertScoreMetric("m", 3, device="cpu")
    samples = [case(["xy", "abc"]), case(), case("ab"), case("z")]
    best, missing, empty, worst = metric.measure_many(samples, [gave("abc"), gave("a"), gave(" "), gave("a")])
    assert best == Measurement(1.0, details={"precision": 0.5, "recall": 1.0, "f1": 1.0})
    assert isinstance(missing, NotApplicable)
    assert isinstance(empty, Measurement)
    assert (empty.value, [*empty.details]) == (0.0, ["note"])
    assert worst == Measurement(0.0, details={"precision": 0.0, "recall": 0.0, "f1": -1.0})
    assert BertScoreMetric("m", 3, score_type="p", device="cpu").measure(case("abc"), gave("abc")) == Measurement(
        0.5, details={"precision": 0.5, "recall": 1.0, "f1": 1.0}
    )
    assert bert_score.made == [{"model_type": "m", "num_layers": 3, "device": "cpu"}]


def test_bertscore_takes_the_layer_that_bert_score_knows(bert_score: type[Scorer]) -> None:
    BertScoreMetric("known").measure(case("a"), gave("a"))
    assert bert_score.made == [{"model_type": "known", "num_layers": 7, "device": None}]
    with pytest.raises(MetricError, match="bert-score knows no layer for 'unknown'; give num_layers"):
        BertScoreMetric("unknown").measure(case("a"), gave("a"))


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
