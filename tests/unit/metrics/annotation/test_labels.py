"""Metrics over labels: each of them, as the registry and code make it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Metric
from pytest_auepora.metrics.annotation.labelled import (
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
from pytest_auepora.metrics.annotation.labels import ANSWER_LABELS, CHUNK_LABELS
from pytest_auepora.metrics.registry import Registry

from ..samples import ANSWER, SAMPLE, case, gave, got, is_na, reason, value

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


@pytest.mark.parametrize("kind", ALL_ANSWER, ids=lambda k: k.__name__)
def test_each_label_moves_its_own_rate_and_no_other(kind: Any) -> None:
    names = [name for name in ANSWER_LABELS if name != "refused"]
    labels = {name: name == kind.label_names[-1] or name == "source_cited" for name in names}
    labels["source_cited"] = labels["source_cited"] and kind in (CitationPresence, ConditionalFabrication)
    rows = [labels, dict.fromkeys(names, False), labels, dict.fromkeys(names, False) | {"source_cited": True}]
    samples = [case(answer_labels={"answer": ANSWER, **row}) for row in rows]
    for other in ALL_ANSWER:
        expected = 0.5 if other is kind else 0.0
        if other is CitationPresence:
            expected = 0.75 if kind in (CitationPresence, ConditionalFabrication) else 0.25
        elif other is kind is ConditionalFabrication:
            expected = 2 / 3  # of the three answers that cite
        assert other().compute(samples, [gave(ANSWER)] * 4).value == pytest.approx(expected), other


def test_the_page_names_every_label_and_its_metrics() -> None:
    page = (Path(__file__).resolve().parents[4] / "docs/pages/how-to/human-labels.md").read_text(encoding="utf-8")
    stems = [kind.stem.replace("{k}", "k") for kind in (*ALL_CHUNK, *ALL_ANSWER)]
    assert len([*CHUNK_LABELS, *ANSWER_LABELS]) == 13 + 1  # and refused
    assert [name for name in (*CHUNK_LABELS, *ANSWER_LABELS, *stems) if f"`{name}`" not in page] == []
    assert f"{len(stems)} metrics".replace("16", "sixteen") in page


def test_nothing_retrieved() -> None:
    for kind in ALL_CHUNK:
        if kind is MisleadingRateAtK:
            assert "labelled" in reason(kind(3), SAMPLE, got())
        else:
            assert value(kind(3), SAMPLE, got()) == 0


def test_not_labelled_at_all() -> None:
    for kind in ALL_CHUNK:
        assert is_na(kind(3), case(), got("a"))
    only = case(chunk_labels=[{"id": "a", "misleading": True}])
    assert is_na(TopicalPrecisionAtK(3), only, got("a"))
    unknown = case(chunk_labels=[{"id": "a", "misleading": None}])
    assert is_na(MisleadingRateAtK(3), unknown, got("a"))
