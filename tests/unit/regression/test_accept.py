"""Accepting: merging, and two writers at once."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest

from pytest_auepora.errors import BaselineError
from pytest_auepora.regression.accept import accept, merge
from pytest_auepora.regression.baseline import load_baseline

from .runs import case, run


def test_only_executed_cases_are_touched(tmp_path: Path) -> None:
    path = tmp_path / "b" / "suite.json"
    first = accept(path, run(case("a", mrr=1.0), case("b", mrr=0.5)), {"all"})
    assert (first.written, first.added) == (True, ["a", "b"])
    second = accept(path, run(case("b", mrr=0.25), expected=("a", "b")), {"all"})
    assert (second.changed, second.added) == (["b"], [])
    raw = json.loads(path.read_text())["cases"]
    assert raw["a"]["scores"]["mrr"] == 1.0
    assert raw["b"]["scores"]["mrr"] == 0.25
    assert [p.name for p in path.parent.iterdir()] == ["suite.json"]


@pytest.mark.parametrize(
    ("intents", "kept"),
    [
        ({"new"}, {"a": 0.5, "b": 1.0}),
        ({"improved"}, {"a": 0.7}),
        ({"new", "improved"}, {"a": 0.7, "b": 1.0}),
        ({"all"}, {"a": 0.7, "b": 1.0}),
    ],
)
def test_intents(intents: set[str], kept: dict[str, float]) -> None:
    old, _ = merge(None, run(case("a", mrr=0.5)), {"all"})
    new, _ = merge(old, run(case("a", mrr=0.7), case("b", mrr=1.0)), intents)
    assert {i: c.scores["mrr"] for i, c in new.cases.items()} == kept


def test_improved_wants_no_score_to_drop() -> None:
    old, _ = merge(None, run(case("a", mrr=0.5, recall_at_1=1.0)), {"all"})
    new, done = merge(old, run(case("a", mrr=1.0, recall_at_1=0.0)), {"improved"})
    assert new.cases["a"] == old.cases["a"]
    assert (done.refused, done.not_selected) == ({}, 1)


def test_improved_wants_no_score_to_be_lost() -> None:
    old, _ = merge(None, run(case("a", mrr=0.5, recall_at_1=1.0)), {"all"})
    new, done = merge(old, run(case("a", mrr=1.0, recall_at_1=None)), {"improved"})
    assert new.cases["a"] == old.cases["a"]
    assert done.not_selected == 1


def test_another_commit_alone_changes_no_byte(tmp_path: Path) -> None:
    path = tmp_path / "suite.json"
    first = {"git_commit": "1" * 40, "model": "m"}
    assert accept(path, run(case("b", mrr=1.0), case("a", mrr=0.5), provenance=first), {"all"}).written
    text = path.read_bytes()
    assert text.index(b'"a": {') < text.index(b'"b": {'), "sorted, whatever order they ran in"
    later = {"git_commit": "2" * 40, "model": "m"}
    assert not accept(path, run(case("a", mrr=0.5), case("b", mrr=1.0), provenance=later), {"all"}).written
    assert path.read_bytes() == text
    assert accept(path, run(case("a", mrr=0.6), case("b", mrr=1.0), provenance=later), {"all"}).written
    assert json.loads(path.read_text())["provenance"] == later


def test_errors_and_skips_are_refused() -> None:
    old, _ = merge(None, run(case("a", mrr=0.5)), {"all"})
    new, done = merge(old, run(case("a", state="error", mrr="boom")), {"all"})
    assert new.cases == old.cases
    assert done.refused["a"].startswith("errored")
    assert merge(old, run(case("a", state="skipped")), {"all"})[0].cases == old.cases


def test_a_changed_definition_needs_a_full_run() -> None:
    old, _ = merge(None, run(case("a", mrr=0.5), case("b", mrr=0.5)), {"all"})
    old.metrics["mrr"] = {"version": 0, "params": {}}
    with pytest.raises(BaselineError, match="mrr changed its definition"):
        merge(old, run(case("a", mrr=1.0), expected=("a", "b")), {"all"})
    new, _ = merge(old, run(case("a", mrr=1.0), case("b", mrr=1.0)), {"all"})
    assert new.metrics["mrr"]["version"] > 0


def test_pruning_needs_a_full_run() -> None:
    old, _ = merge(None, run(case("a", mrr=0.5), case("gone", mrr=0.5)), {"all"})
    assert "gone" in merge(old, run(expected=("a",)), set(), prune=True)[0].cases
    new, done = merge(old, run(case("a", mrr=0.5)), set(), prune=True)
    assert set(new.cases) == {"a"}
    assert done.removed == ["gone"]


def _writer(path: Path, prefix: str, n: int) -> None:
    for i in range(n):
        accept(path, run(case(f"{prefix}{i}", mrr=1.0), expected=("everything",)), {"all"})


def test_two_runs_updating_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "suite.json"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_writer, args=(path, p, 15)) for p in "xy"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    found = load_baseline(path, "suite")
    assert found is not None
    assert set(found.cases) == {f"{p}{i}" for p in "xy" for i in range(15)}
