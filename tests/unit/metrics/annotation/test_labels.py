"""Metrics over labels: each of them, as the registry and code make it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Metric
from pytest_auepora.metrics.annotation.labels import ANSWER_LABELS, CHUNK_LABELS
from pytest_auepora.metrics.annotation.measures import (
    CitationPresence,
    ConditionalFabrication,
    Contradiction,
    GroundingPresence,
    Helpfulness,
    Incompleteness,
    LabelMRRAtK,
    MisleadingRateAtK,
    NDCGLabelledAtK,
    OnTopic,
    ProperAction,
    SufficiencyHitAtK,
    SufficiencyRateAtK,
    TopicalPrecisionAtK,
    UnsafeContent,
    UnsupportedClaim,
)
from pytest_auepora.metrics.registry import Registry

from ..samples import ANSWER, SAMPLE, case, gave, got, reason, value

ALL_CHUNK: list[Any] = [
    TopicalPrecisionAtK,
    SufficiencyHitAtK,
    SufficiencyRateAtK,
    MisleadingRateAtK,
    LabelMRRAtK,
    NDCGLabelledAtK,
]
ALL_ANSWER: list[Any] = [
    GroundingPresence,
    UnsupportedClaim,
    Contradiction,
    CitationPresence,
    ConditionalFabrication,
    ProperAction,
    OnTopic,
    Helpfulness,
    Incompleteness,
    UnsafeContent,
]


@pytest.mark.parametrize("kind", [*ALL_CHUNK, *ALL_ANSWER], ids=lambda k: k.__name__)
def test_names_of_metrics_made_in_code_are_accepted(kind: Any, tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text('{"case": "c", "chunk": "a", "misleading": true}\n', encoding="utf-8")
    k = {"k": 3} if kind in ALL_CHUNK else {}
    made: list[Metric] = [kind(**k), kind(**k, labels=str(file))]
    if k:
        made.append(kind(**k, unjudged="skip"))
    for metric in made:
        again = Registry().get(metric.name)
        assert type(again) is kind
        assert (again.name, again.params()) == (metric.name, metric.params())
        assert metric.formula
        assert metric.source
        assert metric.oracle
        assert metric.deterministic
    assert made[1].params()["labels"] == "labels.jsonl"


def test_every_label_has_its_metric() -> None:
    wanted = {name for kind in (*ALL_CHUNK, *ALL_ANSWER) for name in kind.label_names}
    assert wanted == {*CHUNK_LABELS, *ANSWER_LABELS} - {"refused"}, "refused is what the refusal metrics ask for"


def test_each_answer_label_has_its_rate() -> None:
    for kind in ALL_ANSWER:
        for said in (True, False):
            labels = dict.fromkeys(kind.label_names, said)
            if kind is ConditionalFabrication:
                labels["source_cited"] = True
            sample = case(answer_labels={"answer": ANSWER, **labels})
            assert value(kind(), sample, gave(ANSWER)) == said
    lower = {k for k in ALL_ANSWER if k.direction == "lower"}
    assert lower == {
        UnsupportedClaim,
        Contradiction,
        ConditionalFabrication,
        Incompleteness,
        UnsafeContent,
    }


def test_nothing_retrieved() -> None:
    for kind in ALL_CHUNK:
        if kind is MisleadingRateAtK:
            assert "labelled" in reason(kind(3), SAMPLE, got())
        else:
            assert value(kind(3), SAMPLE, got()) == 0


def test_not_labelled_at_all() -> None:
    for kind in ALL_CHUNK:
        assert reason(kind(3), case(), got("a")) == "no chunk is labelled"
    only = case(chunk_labels=[{"id": "a", "misleading": True}])
    assert reason(TopicalPrecisionAtK(3), only, got("a")) == "no chunk is labelled topically_relevant"
    unknown = case(chunk_labels=[{"id": "a", "misleading": None}])
    assert reason(MisleadingRateAtK(3), unknown, got("a")) == "no chunk is labelled misleading"
