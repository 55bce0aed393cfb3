"""``auepora mutate``: the table, and which recorded run it breaks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_auepora.history.settings import FOLDER
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.regression.verdict import Verdict

from ...cause.accepting import AcceptedSystem, accept_system
from ...cause.test_mutate import N, steady_rag, suite_of
from ..conftest import Shell


@pytest.fixture
def accepted(shell: Shell) -> AcceptedSystem:
    return accept_system(suite_of(shell.path, ["recall@2", "token_f1"]), steady_rag)


def store(shell: Shell, accepted: AcceptedSystem, *, failed: int = 0) -> str:
    run = accepted.source.run
    run.path = "days.golden.yaml"
    history = HistoryStore(shell.path / FOLDER / "history.sqlite")
    return history.add(run, Verdict(run.title, failed_cases=failed), recordings=accepted.source.recordings)


def test_the_table_says_what_is_seen_by_what(shell: Shell, accepted: AcceptedSystem) -> None:
    run_id = store(shell, accepted)
    said = shell("mutate", "days.golden.yaml", "--runs", "2")
    assert said.code == 0
    assert f"days: {2 * N} recorded answers to {N} cases (run {run_id})" in said.out
    assert " 0 of 2 " in said.out, "runs in which nothing is broken"
    (refusals,) = (line for line in said.out.splitlines() if line.startswith("refusals"))
    assert refusals.split("  ")[-1].strip() == "token_f1"
    assert "texts cut" in said.out


def test_json_has_every_rate(shell: Shell, accepted: AcceptedSystem) -> None:
    store(shell, accepted)
    told = json.loads(shell("mutate", "days.golden.yaml", "--runs", "1", "--json").out)
    assert len(told["detections"]) == 1 + 7 * 3  # one, two and four of twenty cases
    assert {"kind", "share", "cases", "runs", "seen", "checks", "gates"} == set(told["detections"][1])


@pytest.mark.slow
def test_the_passed_run_with_most_answers_is_broken(shell: Shell, accepted: AcceptedSystem) -> None:
    best = store(shell, accepted)
    failed = store(shell, accept_system(shell.path / "days.golden.yaml", steady_rag, times=5), failed=3)
    store(shell, accept_system(shell.path / "days.golden.yaml", steady_rag, times=1))
    assert f"(run {best})" in shell("mutate", "days.golden.yaml", "--runs", "1").out
    assert f"(run {failed})" in shell("mutate", "days.golden.yaml", "--runs", "1", "--run", failed).out


def test_without_recorded_answers_it_says_how_to_get_them(shell: Shell, tmp_path: Path) -> None:
    suite_of(tmp_path, ["recall@2"])
    said = shell("mutate", "days.golden.yaml")
    assert said.code == 2
    assert "recorded answers" in said.err
    assert "--auepora-update" in said.err
