"""``auepora runs``: what was kept, listed and deleted; and what is said where there is nothing."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from pytest_auepora.history.settings import FOLDER
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.regression.outcomes import GateOutcome

from ..history.recordings import said
from ..reporting.builders import run_of, verdict_of
from .conftest import GOOD, WORSE, Shell


def test_runs_are_listed_latest_first(shell: Shell, ids: list[str]) -> None:
    said = shell("runs")
    lines = said.out.splitlines()
    assert said.code == 0
    assert [line.split()[0] for line in lines[2:]] == ids[::-1]
    assert "failed" in lines[2]
    assert "abcdef12" in lines[2]
    told = json.loads(shell("runs", "--json", "--limit", "1").out)
    assert [one["run_id"] for one in told] == [ids[1]]
    assert told[0]["aggregate"]["mrr"] == 0.0


def test_runs_are_found_from_a_directory_below(shell: Shell, ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (shell.path / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(shell.path / "deep" / "er")
    assert ids[0] in shell("runs").out


def test_runs_can_be_deleted(shell: Shell, ids: list[str]) -> None:
    assert shell("runs", "--delete", "last").out == f"deleted {ids[1]}\n"
    assert [one["run_id"] for one in json.loads(shell("runs", "--json").out)] == ids[:1]


def test_a_run_gets_a_name_that_stands_for_its_id_and_a_note(shell: Shell, ids: list[str]) -> None:
    assert shell("runs", "--name", ids[0], "before the new index").out == f"name of {ids[0]}: before the new index\n"
    assert shell("runs", "--note", "before the new index", "k1 = 1.2").out == f"note of {ids[0]}: k1 = 1.2\n"
    told = json.loads(shell("runs", "--json").out)
    assert [(one["name"], one["note"]) for one in told] == [("", ""), ("before the new index", "k1 = 1.2")]
    assert " before" in shell("runs").out.splitlines()[3]
    assert shell("runs", "--name", "before the new index", "").out == f"name of {ids[0]}: taken back\n"
    assert shell("report", "before the new index").code == 2


def test_a_run_that_is_named_twice_is_deleted_once(shell: Shell, ids: list[str]) -> None:
    said = shell("runs", "--delete", "last", ids[1])
    assert (said.code, said.out, said.err) == (0, f"deleted {ids[1]}\n", "")


def test_nothing_is_deleted_where_one_of_the_names_is_wrong(shell: Shell, ids: list[str]) -> None:
    said = shell("runs", "--delete", ids[0], "XX")
    assert (said.code, said.out, said.err.startswith("auepora: no run ")) == (2, "", True)
    assert len(json.loads(shell("runs", "--json").out)) == 2


def test_old_runs_can_be_pruned(shell: Shell, ids: list[str]) -> None:
    assert shell("runs", "--prune", "2", "--suite", "billing").out == "deleted 0 runs\n"
    assert shell("runs", "--prune", "1").out == "deleted 1 run\n"
    assert [one["run_id"] for one in json.loads(shell("runs", "--json").out)] == ids[1:]


@pytest.mark.parametrize("args", [("--prune", "0"), ("--prune", "-1"), ("--limit", "all"), ("--limit", "1.5")])
def test_numbers_that_are_none(shell: Shell, ids: list[str], args: tuple[str, ...]) -> None:
    said = shell("runs", *args)
    assert (said.code, said.out) == (2, "")
    assert f"argument {args[0]}: " in said.err


def test_some_runs_all_or_those_of_a_suite(shell: Shell, ids: list[str]) -> None:
    run = run_of([GOOD], suite="travel")
    HistoryStore(shell.path / FOLDER / "history.sqlite").add(run, verdict_of(run))
    for args, n in ((["--limit=1"], 1), (["--limit=0"], 3), (["--suite=billing"], 2), (["--suite=travel"], 1)):
        assert len(json.loads(shell("runs", "--json", *args).out)) == n


@pytest.mark.parametrize("args", [(), ("--json",), ("--prune", "1")])
def test_a_suite_that_never_ran(shell: Shell, ids: list[str], args: tuple[str, ...]) -> None:
    said = shell("runs", "--suite", "biling", *args)
    place = shell.path / FOLDER / "history.sqlite"
    known = f"no suite 'biling' in {place} (did you mean 'billing'?); auepora runs lists what there is"
    assert said == (2, "", f"auepora: {known}\n")
    assert len(json.loads(shell("runs", "--json").out)) == 2


def test_what_is_said_of_each_run(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    cases = [GOOD, WORSE.with_(id="two", thresholds={"recall@5": 1})]
    run = run_of(cases, variant="dense", expected=["one", "two", "three"])
    run.origin = {"run": "20260101-000000-aaaa", "kind": "replayed", "taken": 2}
    HistoryStore(shell.path / FOLDER / "history.sqlite").add(run, verdict_of(run), git_commit="abcdef123456")
    head, _, line = shell("runs").out.splitlines()
    assert head.split() == [
        "run", "started", "suite", "verdict", "cases", "failed", "recall@5", "mrr@10", "token_f1", "commit"
    ]  # fmt: skip
    assert "billing[dense]" in line
    assert "failed, partial, replayed" in line
    assert line.split()[-1] == "abcdef12"
    assert "0.500" in line


@pytest.mark.parametrize(("outcome", "told"), [("inconclusive", "inconclusive"), ("failed", "failed, inconclusive")])
def test_outcome_and_word_are_said_once_where_alike(shell: Shell, outcome: str, told: str) -> None:
    gate = GateOutcome("regression", "inconclusive", "mrr@10", word="inconclusive")
    run = run_of([GOOD])
    verdict = verdict_of(run)
    verdict.gates.append(gate)
    verdict.failed_cases = int(outcome == "failed")
    HistoryStore(shell.path / FOLDER / "history.sqlite").add(run, verdict)
    line = shell("runs").out.splitlines()[2]
    assert f"  {told}  " in line


@pytest.mark.parametrize(("cost", "told"), [(0.25, "0.25"), (None, "1,500 tokens")])
def test_what_the_judge_cost(shell: Shell, cost: float | None, told: str) -> None:
    run = run_of([GOOD])
    spent = {"requests": 3, "prompt_tokens": 1000, "completion_tokens": 500, "cost": cost}
    run.cases["one"].judge_usage = {"llm_faithfulness": spent}
    HistoryStore(shell.path / FOLDER / "history.sqlite").add(run, verdict_of(run))
    head, _, line = shell("runs").out.splitlines()
    assert "judge" in head
    assert told in line


@pytest.mark.parametrize(("cost", "told"), [({"cost": 0.25}, "0.25"), ({}, "1,500 tokens")])
def test_what_the_system_cost(shell: Shell, cost: dict[str, float], told: str) -> None:
    run = run_of([GOOD])
    run.cases["one"].system_usage = {"m": {"calls": 3, "input_tokens": 1000, "output_tokens": 500, **cost}}
    HistoryStore(shell.path / FOLDER / "history.sqlite").add(run, verdict_of(run))
    head, _, line = shell("runs").out.splitlines()
    assert "system" in head
    assert "judge" not in head
    assert told in line


@pytest.mark.parametrize(
    ("spent", "code", "told"),
    [({"requests": 2, "fees": 1}, 0, ""), ({"cost": "1"}, 3, "aggregate.judge.cost"), ({"requests": [1]}, 3, "judge")],
)
def test_usage_that_was_edited(shell: Shell, spent: dict[str, object], code: int, told: str) -> None:
    run, path = run_of([GOOD]), shell.path / FOLDER / "history.sqlite"
    HistoryStore(path).add(run, verdict_of(run))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE eval_runs SET aggregate_json = ?", (json.dumps({"judge": spent}),))
    said = shell("runs")
    assert (said.code, told in said.err) == (code, True)


def test_no_history_is_said_and_not_made(shell: Shell) -> None:
    said = shell("runs")
    assert said.code == 3
    assert "pytest --auepora" in said.err
    assert not (shell.path / FOLDER).exists()


def test_a_damaged_history_cannot_be_judged(shell: Shell) -> None:
    shell.write(f"{FOLDER}/history.sqlite", "no database" * 100)
    said = shell("runs")
    assert (said.code, "history" in said.err) == (3, True)


def test_runs_are_deleted_or_pruned_not_both(shell: Shell, ids: list[str]) -> None:
    said = shell("runs", "--prune", "1", "--delete", ids[0])
    assert (said.code, "not allowed" in said.err) == (2, True)


def test_runs_with_recorded_answers(shell: Shell, ids: list[str]) -> None:
    none = shell("runs", "--recorded")
    assert (none.code, "recorded" in none.err) == (3, True)
    run = run_of([GOOD])
    store = HistoryStore(shell.path / FOLDER / "history.sqlite")
    run_id = store.add(run, verdict_of(run), recordings={"one": [said("x")]})
    told = shell("runs", "--recorded", "--json")
    assert (told.code, [one["run_id"] for one in json.loads(told.out)]) == (0, [run_id])
    assert shell("runs", "--recorded", "--suite", "billing", "--limit", "1").code == 0
