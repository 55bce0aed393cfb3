"""Refusals found by phrases, on answers of people and of seven models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_auepora.core.types import Response, SystemOutputs
from pytest_auepora.metrics.refusal import is_refusal

from .texts import Compared, clapnq_pairs, xquad_pairs

pytestmark = pytest.mark.shared_data

REFUSED = {
    "chatgpt": {3576, 5780},
    "claude2": {3576, 5780},
    "davinci001": {1258},
    "gpt4": {3576, 9779, 9953},
}
"""Read by a person: the model says, before anything else, that its context does not tell."""


HEDGED = {
    ("bm25_gpt_4", "231"), ("bm25_gpt_4", "290"), ("bm25_llama3_70b", "193"), ("bm25_llama3_70b", "290"),
    ("bm25_llama3_70b", "639"), ("bm25_llama3_8b", "1194"), ("bm25_mixtral_8x7b", "recreation-forum-test-797"),
    ("e5_mistral_llama3_70b", "1194"), ("e5_mistral_mixtral_8x7b", "133"), ("e5_mistral_mixtral_8x7b", "193"),
    ("e5_mistral_mixtral_8x7b", "21"), ("e5_mistral_mixtral_8x7b", "6621"),
}  # fmt: skip
"""Of systems over retrieved passages, read by a person: each opens by saying that its passages do not tell."""


def refused(text: str) -> bool:
    return bool(is_refusal(SystemOutputs([], Response(text))))


def test_answers_of_people_are_no_refusals(shared_data: Path, compared: Compared) -> None:
    answers = {text for text, _ in (*clapnq_pairs(shared_data), *xquad_pairs(shared_data))}
    assert [text for text in answers if refused(text)] == []
    compared("answers of people, none a refusal", len(answers))


def test_refusals_of_models_are_found_and_nothing_else(shared_data: Path, compared: Compared) -> None:
    found: dict[str, set[int]] = {}
    n = 0
    for path in sorted((shared_data / "refchecker-dolly-accurate").glob("dolly_*_answers.json")):
        model = path.name.split("_")[1]
        for row in json.loads(path.read_text(encoding="utf-8")):
            n += 1
            if refused(row["response"] or ""):
                found.setdefault(model, set()).add(int(row["id"]))
    assert found == REFUSED
    compared("answers of models, refusals as read by a person", n)


def test_answers_of_systems_are_hedges_where_they_are_found(shared_data: Path, compared: Compared) -> None:
    rows = json.loads((shared_data / "ragchecker-human" / "human_labeled_data.json").read_text(encoding="utf-8"))
    answers = {
        (row[m]["model_name"], row["query_id"]): row[m]["response"] for row in rows for m in ("model1", "model2")
    }
    assert {key for key, text in answers.items() if refused(text)} == HEDGED
    compared("answers of systems, hedges as read by a person", len(answers))
