"""Labels that are given on the page are what ``auepora calibrate`` reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.calibration.labels import read_label_file
from pytest_auepora.cli.view.library import label_path, labels_of, put_label
from pytest_auepora.errors import AueporaError

from .histories import Stored

EVIDENCE = ["Refunds take a month."]


def test_labels_are_read_by_calibrate(history: Stored, tmp_path: Path) -> None:
    run = history.library.pair(history.worse).run
    path = label_path(tmp_path / "labels", run.suite, "helpful")
    for case_id, label in (("steady", True), ("fell-out", False), ("wrong-answer", False)):
        put_label(path, run, run.cases[case_id], "helpful", person="anna", label=label, evidence=EVIDENCE)
    put_label(path, run, run.cases["steady"], "helpful", person="ben", label=True)
    found = read_label_file(path)
    assert found.scale == "boolean"
    assert [(item.case, item.people, item.score, item.model) for item in found.items] == [
        ("steady", [True, True], 0.8, "m-9"),
        ("fell-out", [False], 0.8, "m-9"),
        ("wrong-answer", [False], 0.8, "m-9"),
    ]
    assert found.items[1].texts == EVIDENCE


def test_a_label_is_changed_and_taken_back(history: Stored, tmp_path: Path) -> None:
    run = history.library.pair(history.good).run
    case, path = run.cases["steady"], tmp_path / "l.jsonl"
    assert put_label(path, run, case, "helpful", person=" anna ", label=True) == {"anna": True}
    assert put_label(path, run, case, "helpful", person="anna", label=False) == {"anna": False}
    assert labels_of(path, case) == {"anna": False}
    other = history.library.pair(history.worse).run.cases["wrong-answer"]
    assert labels_of(path, other) == {}, "another answer to the case is another item"
    assert put_label(path, run, case, "helpful", person="anna", label=None) == {}
    assert path.read_text() == ""


def test_what_cannot_be_labelled_is_said(history: Stored, tmp_path: Path) -> None:
    run = history.library.pair(history.worse).run
    path = tmp_path / "l.jsonl"
    with pytest.raises(AueporaError, match="a label needs the name"):
        put_label(path, run, run.cases["steady"], "helpful", person="  ", label=True)
    with pytest.raises(AueporaError, match="not scored by an LLM judge"):
        put_label(path, run, run.cases["steady"], "recall@5", person="anna", label=True)
    with pytest.raises(AueporaError, match="no stored answer"):
        put_label(path, run, run.cases["raises"], "helpful", person="anna", label=True)
    path.write_bytes(b"\xff\n")
    with pytest.raises(AueporaError, match=r"l\.jsonl: cannot be read"):
        put_label(path, run, run.cases["steady"], "helpful", person="anna", label=True)
    path.write_text('{"id": "1", "label": 4}\n')
    with pytest.raises(AueporaError, match=r"l\.jsonl:1: expected a label that was given in auepora view"):
        put_label(path, run, run.cases["steady"], "helpful", person="anna", label=True)


def test_a_name_of_a_file_has_no_way_out_of_its_folder(tmp_path: Path) -> None:
    assert label_path(tmp_path, "../../etc/x", "a b/c").parent == tmp_path
