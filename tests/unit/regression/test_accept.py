"""Accepting: merging, and two writers at once."""

from __future__ import annotations

import json
import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.errors import BaselineError
from pytest_auepora.regression.accept import Acceptance, Falls, accept, merge
from pytest_auepora.regression.baseline_file import load_baseline

from .runs import accepted, case, run

ALL = Acceptance({"all"})


def test_only_executed_cases_are_touched(tmp_path: Path) -> None:
    path = tmp_path / "b" / "suite.json"
    first = accept(path, run(case("a", mrr=1.0), case("b", mrr=0.5)), ALL)
    assert (first.written, first.added) == (True, ["a", "b"])
    second = accept(path, run(case("b", mrr=0.25), expected=("a", "b")), ALL)
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
    old, _ = merge(None, run(case("a", mrr=0.5)), ALL)
    new, _ = merge(old, run(case("a", mrr=0.7), case("b", mrr=1.0)), Acceptance(intents))
    assert {i: c.scores["mrr"] for i, c in new.cases.items()} == kept


def test_improved_wants_no_score_to_drop() -> None:
    old, _ = merge(None, run(case("a", mrr=0.5, recall_at_1=1.0)), ALL)
    new, done = merge(old, run(case("a", mrr=1.0, recall_at_1=0.0)), Acceptance({"improved"}))
    assert new.cases["a"] == old.cases["a"]
    assert (done.refused, done.not_selected) == ({}, 1)


def test_improved_wants_no_score_to_be_lost() -> None:
    old, _ = merge(None, run(case("a", mrr=0.5, recall_at_1=1.0)), ALL)
    new, done = merge(old, run(case("a", mrr=1.0, recall_at_1=None)), Acceptance({"improved"}))
    assert new.cases["a"] == old.cases["a"]
    assert done.not_selected == 1


def test_another_commit_alone_changes_no_byte(tmp_path: Path) -> None:
    path = tmp_path / "suite.json"
    first = {"git_commit": "1" * 40, "model": "m"}
    assert accept(path, run(case("b", mrr=1.0), case("a", mrr=0.5), provenance=first), ALL).written
    text = path.read_bytes()
    assert text.index(b'"a": {') < text.index(b'"b": {'), "sorted, whatever order they ran in"
    later = {"git_commit": "2" * 40, "model": "m"}
    assert not accept(path, run(case("a", mrr=0.5), case("b", mrr=1.0), provenance=later), ALL).written
    assert path.read_bytes() == text
    assert accept(path, run(case("a", mrr=0.6), case("b", mrr=1.0), provenance=later), ALL).written
    assert json.loads(path.read_text())["provenance"] == later


def test_errors_and_skips_are_refused() -> None:
    old, _ = merge(None, run(case("a", mrr=0.5)), ALL)
    broken = case("a", state="error", mrr="boom")
    new, done = merge(old, run(broken), ALL)
    assert new.cases == old.cases
    assert done.refused == {"a": "raised"}
    assert merge(old, run(case("a", state="skipped")), ALL)[0].cases == old.cases


def test_a_changed_definition_needs_a_full_run() -> None:
    old, _ = merge(None, run(case("a", mrr=0.5), case("b", mrr=0.5)), ALL)
    old.metrics["mrr"] = replace(old.metrics["mrr"], version=9)
    with pytest.raises(BaselineError, match="mrr changed its definition"):
        merge(old, run(case("a", mrr=1.0), expected=("a", "b")), ALL)
    new, _ = merge(old, run(case("a", mrr=1.0), case("b", mrr=1.0)), ALL)
    assert new.metrics["mrr"].version < 9


def test_pruning_needs_a_full_run() -> None:
    old, _ = merge(None, run(case("a", mrr=0.5), case("gone", mrr=0.5)), ALL)
    assert "gone" in merge(old, run(expected=("a",)), Acceptance((), prune=True))[0].cases
    new, done = merge(old, run(case("a", mrr=0.5)), Acceptance((), prune=True))
    assert set(new.cases) == {"a"}
    assert done.removed == ["gone"]


def sampled(*scores: float, asserted: bool | list[bool] = True, **more: object) -> list[CaseResult]:
    """A case that varies, and nineteen that do not."""
    steady = [case(f"c{i:02}", mrr=[0.5] * 5) for i in range(19)]
    return [case("a", mrr=list(scores), asserted=asserted, **more), *steady]  # type: ignore[arg-type]


def test_an_unchanged_system_that_samples_changes_no_byte(tmp_path: Path) -> None:
    path = tmp_path / "suite.json"
    accept(path, run(*sampled(1.0, 0.5, 1.0, 0.5, 1.0, asserted=[True, True, False, True, True])), ALL)
    text = path.read_bytes()
    again = accept(path, run(*sampled(0.5, 0.5, 0.5, 1.0, 1.0, asserted=[False, True, True, True, True])), ALL)
    assert (again.written, again.kept, again.unchanged) == (False, ["a"], 19)
    assert path.read_bytes() == text
    anew = Acceptance({"anew"})
    assert accept(path, run(*sampled(0.5, 0.5, 0.5, 1.0, 1.0)), anew).changed == ["a"]


def test_a_preview_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "suite.json"
    done = accept(path, run(case("a", mrr=1.0)), Acceptance({"all"}, preview=True))
    assert (done.written, done.added, path.exists()) == (True, ["a"], False)


@pytest.mark.parametrize("then", [True, False])
def test_a_check_that_turned_over_is_written(then: bool) -> None:
    old = accepted(run(*sampled(1.0, 0.5, 1.0, 0.5, 1.0, asserted=then)))
    _, done = merge(old, run(*sampled(1.0, 0.5, 1.0, 0.5, 0.5, asserted=not then)), ALL)
    assert done.changed == ["a"]


def test_a_case_that_answered_alike_and_now_differs_is_written() -> None:
    old = accepted(run(*sampled(1.0, 1.0, 1.0, 1.0, 1.0)))
    assert merge(old, run(*sampled(0.9, 0.9, 0.9, 0.9, 0.9)), ALL)[1].changed == ["a"]


def test_a_steady_score_that_differs_is_written() -> None:
    old = accepted(run(*(case(f"c{i}", mrr=[0.5, 1.0], recall_at_1=[1.0, 1.0]) for i in range(12))))
    now = [case(f"c{i}", mrr=[0.5 + i % 2 / 2, 0.5], recall_at_1=[float(i > 0)] * 2) for i in range(12)]
    assert merge(old, run(*now), ALL)[1].changed == ["c0"]


def test_everything_is_written_where_the_suite_is_better_or() -> None:
    def suite(score: float, **more: object) -> Run:
        return run(*(case(f"c{i:02}", mrr=[score, score + 0.1]) for i in range(12)), **more)  # type: ignore[arg-type]

    old = accepted(suite(0.5))
    better = merge(old, suite(0.6), ALL)[1]
    assert len(better.changed) == 12
    flipped = run(*(case(f"c{i:02}", mrr=[0.5, 0.5] if i % 2 else [0.6, 0.6]) for i in range(12)))
    assert len(merge(old, flipped, ALL)[1].kept) == 12
    flipped.provenance = {"model": "m2"}
    assert len(merge(old, flipped, ALL)[1].changed) == 12


def test_three_accepted_falls_in_a_row_add_up() -> None:
    def suite(score: float) -> Run:
        return run(*(case(f"c{i:02}", mrr=[score, score]) for i in range(12)))

    baseline = accepted(suite(0.9))
    falls: dict[str, Falls] = {}
    for score in (0.88, 0.86, 0.84):
        baseline, done = merge(baseline, suite(score), ALL)
        falls = done.falls
    (fell,) = falls.values()
    assert (fell.times, fell.before) == (3, 0.9)
    assert fell.after == pytest.approx(0.84)
    assert (baseline.metrics["mrr"].falls, baseline.metrics["mrr"].fell_from) == (3, 0.9)
    baseline, done = merge(baseline, suite(0.85), ALL)
    assert (baseline.metrics["mrr"].falls, done.falls) == (0, {})


def _writer(path: Path, prefix: str, n: int) -> None:
    for i in range(n):
        accept(path, run(case(f"{prefix}{i}", mrr=1.0), expected=("everything",)), ALL)


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


def test_after_a_conflict_an_update_tells_what_it_changes(tmp_path: Path) -> None:
    """Not that everything was added: the side that was merged into is the one that is updated."""
    path = tmp_path / "suite.json"
    accept(path, run(case("a", mrr=1.0), case("b", mrr=0.5)), ALL)
    ours = path.read_text(encoding="utf-8")
    line = next(line for line in ours.splitlines(keepends=True) if '"mrr": 0.5' in line)
    marked = f"<<<<<<< HEAD\n{line}=======\n{line.replace('0.5', '0.75')}>>>>>>> branch\n"
    path.write_text(ours.replace(line, marked), encoding="utf-8")
    done = accept(path, run(case("a", mrr=1.0), case("b", mrr=0.25), case("c", mrr=1.0)), ALL)
    assert (done.added, done.changed, done.unchanged, done.written) == (["c"], ["b"], 1, True)
    assert load_baseline(path, "suite") is not None
