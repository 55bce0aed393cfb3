"""Where labels come from: annotation files and judges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.types import Document
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.annotation.labelled import (
    Helpfulness,
    MisleadingRateAtK,
    SufficiencyHitAtK,
    TopicalPrecisionAtK,
)
from pytest_auepora.metrics.annotation.labels import AnnotationFile, answer_hash
from pytest_auepora.metrics.registry import Registry

from ..samples import case, gave, got, is_na, value

# --- annotation files


def written(folder: Path, *rows: dict[str, Any] | str) -> Path:
    file = folder / "annotations.jsonl"
    text = "\n".join(r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in rows)
    file.write_text(text + "\n\n", encoding="utf-8")
    return file


def test_an_annotation_file(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        {"case": "case", "chunk": "a", "topically_relevant": True, "annotator": "p1"},
        {"case": "case", "chunk": "b", "labels": {"topically_relevant": False, "misleading": True}},
        {"case": "other", "chunk": "b", "topically_relevant": True},
        {"case": "case", "doc": "m", "quote": "30 days", "evidence_sufficient": 1, "note": "see page 3"},
        {"case": "case", "answer": "thirty", "helpful": True},
        {"answer_hash": answer_hash("anywhere"), "labels": {"helpful": False}},
    )
    source = AnnotationFile(file)
    outputs = gave("thirty", Document("b"), Document("a"), Document("m1", "in 30 days", {"doc": "m"}))
    assert value(TopicalPrecisionAtK(2, labels=source), case(), outputs) == 1 / 2
    assert value(MisleadingRateAtK(2, labels=str(file)), case(), outputs) == 1 / 2
    assert value(SufficiencyHitAtK(3, labels=source), case(), outputs) == 1
    assert value(Helpfulness(labels=source), case(), outputs) == 1
    assert value(Helpfulness(labels=source), case(), gave("anywhere")) == 0
    assert is_na(Helpfulness(labels=source), case(), gave("forty"))
    elsewhere = case()
    elsewhere.sample_id = "nobody"
    assert is_na(Helpfulness(labels=source), elsewhere, gave("forty"))
    assert is_na(TopicalPrecisionAtK(2, labels=source), elsewhere, outputs)
    assert Helpfulness(labels=source).name == "helpfulness[labels=AnnotationFile]"


def test_the_majority_of_annotators_counts_a_draw_is_nothing(tmp_path: Path) -> None:
    votes = [("a", [1, 1, 0]), ("b", [0, 0, 1]), ("c", [1, 0])]
    rows = [{"case": "case", "chunk": c, "topically_relevant": bool(v)} for c, said in votes for v in said]
    answers = [{"case": "case", "answer": "x", "helpful": v} for v in (True, False)]
    source = AnnotationFile(written(tmp_path, *rows, *answers))
    seen = TopicalPrecisionAtK(3, labels=source).measure(case(), got("a", "b", "c"))
    assert seen == Measurement(1 / 3, details={"judged@3": 2 / 3})
    assert is_na(Helpfulness(labels=source), case(), gave("x"))


def test_every_bad_line_is_named(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        {"case": "c", "chunk": "a", "misleading": True},
        "{not json",
        {"chunk": "a", "misleading": True},
        {"case": "c", "chunk": "a", "helpfull": True},
        {"case": "c", "answer": "x", "helpfull": True},
        "[1]",
        {"case": "c", "chunk": "a", "labels": [1]},
        {"case": "c", "answer": "x", "claims": 5},
    )
    with pytest.raises(MetricError) as caught:
        AnnotationFile(file)
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[0].rsplit(":", 1)[1] for line in lines] == ["2", "3", "4", "5", "6", "7", "8"]
    assert "'helpful'" in lines[3]


@pytest.mark.parametrize("said", ["x", ["x"], 1, [1]])
def test_labels_of_a_case_that_are_no_mappings(said: Any) -> None:
    with pytest.raises(MetricError, match="chunk_labels of case: expected a mapping or a list of mappings, got"):
        TopicalPrecisionAtK(3).measure(case(chunk_labels=said), got("a"))
    with pytest.raises(MetricError, match="answer_labels of case: expected a mapping or a list of mappings, got"):
        Helpfulness().measure(case(answer_labels=said), gave("x"))


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(MetricError, match="cannot be read"):
        Registry().get(f"helpfulness[labels={tmp_path / 'missing.jsonl'}]")
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"\n")
    with pytest.raises(MetricError, match="holds no annotation"):
        AnnotationFile(empty)
    latin = tmp_path / "latin.jsonl"
    latin.write_bytes(b'{"case": "\xe9"}')
    with pytest.raises(MetricError, match="cannot be read"):
        AnnotationFile(latin)
    with pytest.raises(MetricError, match="labels must be"):
        Helpfulness(labels="people")


# --- judges


def test_the_judge_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUEPORA_JUDGE_URL", raising=False)
    assert Registry().get("helpfulness[labels=judge]").params()["labels"]["judge"] == {}
    monkeypatch.setenv("AUEPORA_JUDGE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("AUEPORA_JUDGE_MODEL", "m")
    metric = Registry().get("helpfulness[labels=judge]")
    assert metric.params()["labels"]["judge"]["model"] == "m"
    assert not metric.deterministic
