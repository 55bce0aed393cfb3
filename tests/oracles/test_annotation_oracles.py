"""The label metrics reproduce what an independent count takes straight from human labels of 700 real answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.types import EvaluationSample, Response, SystemOutputs
from pytest_auepora.metrics.annotation.labelled import Contradiction, GroundingPresence, UnsupportedClaim
from pytest_auepora.metrics.annotation.labels import AnnotationFile

from .texts import Compared

pytestmark = pytest.mark.shared_data

METRICS = {"Entailment": GroundingPresence, "Neutral": UnsupportedClaim, "Contradiction": Contradiction}


def responses(data: Path) -> dict[str, list[dict[str, Any]]]:
    files = sorted((data / "refchecker-dolly-accurate").glob("dolly_*_answers.json"))
    return {f.stem: json.loads(f.read_text(encoding="utf-8")) for f in files}


def annotated(rows: list[dict[str, Any]], file: Path) -> AnnotationFile:
    with file.open("w", encoding="utf-8") as stream:
        for row in rows:
            claims = [{"text": c["triplet"], "label": c["human_label"]} for c in row["claude2_response_kg"]]
            json.dump({"case": row["id"], "answer": row["response"], "claims": claims}, stream)
            stream.write("\n")
    return AnnotationFile(file)


def test_claim_rates_are_those_of_the_data(shared_data: Path, tmp_path: Path, compared: Compared) -> None:
    models = responses(shared_data)
    assert len(models) == 7
    n = 0
    for model, rows in models.items():
        source = annotated(rows, tmp_path / f"{model}.jsonl")
        samples = [EvaluationSample(row["id"], "q") for row in rows]
        outputs = [SystemOutputs([], Response(row["response"])) for row in rows]
        for human_label, metric in METRICS.items():
            result = metric(labels=source).compute(samples, outputs)
            with_label = sum(any(c["human_label"] == human_label for c in row["claude2_response_kg"]) for row in rows)
            assert result.details["num_samples"] == 100
            assert result.value == pytest.approx(with_label / 100, abs=1e-12)
            n += 1
    compared("counts in RefChecker's human labels", n)


def test_every_single_answer_has_its_own_label(shared_data: Path, tmp_path: Path, compared: Compared) -> None:
    n, supported, unsupported, contradicted = 0, 0, 0, 0
    for model, rows in responses(shared_data).items():
        source = annotated(rows, tmp_path / f"{model}.jsonl")
        for row in rows:
            labels = {c["human_label"] for c in row["claude2_response_kg"]}
            sample, outputs = EvaluationSample(row["id"], "q"), SystemOutputs([], Response(row["response"]))
            for human_label, metric in METRICS.items():
                seen: Any = metric(labels=source).measure(sample, outputs)
                assert seen.value == (human_label in labels)
                n += 1
            supported += "Entailment" in labels
            unsupported += "Neutral" in labels
            contradicted += "Contradiction" in labels
    assert n == 3 * 700
    assert min(supported, unsupported, contradicted) > 80
    compared("single answers in RefChecker's human labels", n)


def test_labels_of_one_model_are_not_reused_for_another(shared_data: Path, tmp_path: Path) -> None:
    models = responses(shared_data)
    labelled, other = models["dolly_gpt4_answers"], models["dolly_falcon_40B_instruct_answers"]
    source = annotated(labelled, tmp_path / "gpt4.jsonl")
    texts = {row["id"]: " ".join(row["response"].split()) for row in labelled}
    metric = UnsupportedClaim(labels=source)
    changed = 0
    for row in other:
        seen: Any = metric.measure(EvaluationSample(row["id"], "q"), SystemOutputs([], Response(row["response"])))
        if texts.get(row["id"]) != " ".join(row["response"].split()):
            assert seen.reason == "label is for another answer"
            changed += 1
    assert changed > 90
