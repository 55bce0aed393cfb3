"""BERTScore: greedy matching by hand, batches, what tells one model from another."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from pytest_auepora.errors import MissingExtraError
from pytest_auepora.metrics.generation_semantic import BertScoreMetric
from pytest_auepora.metrics.semantic.bertscore import BertMatch, TokenVectors, _batches, match, model_fingerprint

from ..samples import case, gave


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
