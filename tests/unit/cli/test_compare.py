"""``auepora compare``: two runs judged, several side by side."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from pytest_auepora.base.files import write_atomically
from pytest_auepora.base.records import record_text
from pytest_auepora.cli.compare import policy_of
from pytest_auepora.history.settings import FOLDER
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.regression.guards.calibration import Calibration, calibration_path
from pytest_auepora.reporting.formats.json_report import json_report
from pytest_auepora.reporting.report import Report

from ..reporting.builders import baseline_of, run_of, system, verdict_of
from .conftest import GOOD, WORSE, Shell, write_report

THREE = [system("", hits) for hits in (0.5, 0.75, 0.8)]


@pytest.mark.parametrize("sides", [(), ("last~1",), ("last~1", "last")])
def test_a_worse_run_fails(shell: Shell, ids: list[str], sides: tuple[str, ...]) -> None:
    said = shell("compare", *sides)
    assert said.code == 1
    assert said.out.startswith("billing: worse")
    assert f"{ids[0]} → {ids[1]}" in said.out
    assert "model m-1 → m-2" in said.out


def test_a_better_run_passes(shell: Shell, ids: list[str]) -> None:
    said = shell("compare", ids[1], ids[0], "--json")
    assert said.code == 0
    assert json.loads(said.out)["counts"]["Win"] == 1


def test_a_comparison_goes_to_a_file(shell: Shell, ids: list[str]) -> None:
    assert shell("compare", "--out", "worse.md").out == ""
    assert (shell.path / "worse.md").read_text(encoding="utf-8").startswith("## billing")


def test_strict_runs_of_other_chunks_are_not_judged(shell: Shell) -> None:
    store = HistoryStore(shell.path / FOLDER / "history.sqlite")
    for version in (3, 4):
        run = run_of([GOOD], provenance={"chunker_version": version})
        store.add(run, verdict_of(run))
    said = shell("compare", "--strict-chunker-version")
    assert (said.code, "chunker_version 3 → 4" in said.err) == (3, True)
    assert "by document" in shell("compare").out


@pytest.mark.parametrize(("accepted", "beside", "code"), [(2, 1, 1), (1, 2, 0)])
def test_a_baseline_knows_itself_what_is_steady(shell: Shell, accepted: int, beside: int, code: int) -> None:
    cases = [GOOD.with_(id=f"c{i}") for i in range(5)]
    before, now = run_of(cases), run_of([WORSE.with_(id="c0"), *cases[1:]])
    shell.write("golden/__baselines__/billing.json", baseline_of(now, answers=beside).dumps())
    shell.write("released.json", baseline_of(before, answers=accepted).dumps())
    HistoryStore(shell.path / FOLDER / "history.sqlite").add(now, verdict_of(now))
    assert shell("compare", "released.json", "last").code == code


@pytest.mark.parametrize(("calibrated", "code"), [(True, 1), (False, 3)])
@pytest.mark.parametrize("folder", ["golden/__calibrations__", "judges"])
def test_a_calibrated_judge_counts(shell: Shell, calibrated: bool, code: int, folder: str) -> None:
    if folder == "judges":
        shell.write("pytest.ini", "[pytest]\nauepora_calibrations = judges\n")
    judge = {"metric": "token_f1", "version": 1, "params": {"judge": "m-1"}}
    runs = [run_of([case.with_(id=f"c{i}") for i in range(20)], names=["token_f1"]) for case in (GOOD, WORSE)]
    for run in runs:
        run.metrics["token_f1"] = replace(run.metrics["token_f1"], judge=judge)
        HistoryStore(shell.path / FOLDER / "history.sqlite").add(run, verdict_of(run))
    path = calibration_path(shell.path / folder, "token_f1")
    write_atomically(path, record_text(Calibration("token_f1", calibrated, "agreement is 0.4", judge)))
    said = shell("compare")
    assert (said.code, "advisory" in said.out) == (code, not calibrated)


@pytest.fixture
def three(shell: Shell) -> list[str]:
    """Three runs, each better than the one before."""
    store = HistoryStore(shell.path / FOLDER / "history.sqlite")
    return [store.add(run, verdict_of(run)) for run in THREE]


def test_three_runs_stand_side_by_side(shell: Shell, three: list[str]) -> None:
    said = shell("compare", "last~2", "last~1", "last")
    assert said.code == 0
    assert said.out.startswith("billing side")
    assert ", ".join(three) in said.out
    assert "20 cases" not in said.out
    assert re.search(rf"differences\D+{three[0]}", said.out)


def test_two_runs_do_so_on_request(shell: Shell, three: list[str]) -> None:
    assert shell("compare").out.startswith("billing: better")
    assert shell("compare", "--format", "md").out.startswith("## billing: better")
    beside = shell("compare", "--side-by-side").out
    assert beside.startswith("billing side")
    beside = shell("compare", "--side-by-side", three[0], three[1], "--format", "md").out
    assert beside.startswith("## billing side")
    assert beside.partition("\n")[0].endswith(" search-team")


def test_without_names_the_last_two_full_runs_compare(shell: Shell, three: list[str]) -> None:
    store = HistoryStore(shell.path / FOLDER / "history.sqlite")
    partial = run_of([GOOD], expected=["one", "two"])
    store.add(partial, verdict_of(partial))
    other = system("dense", 0.1)
    store.add(other, verdict_of(other))
    store.add(partial, verdict_of(partial))
    said = shell("compare")
    assert (said.code, "billing[dense]" in said.err) == (2, True)
    store.delete("last~1")
    assert f"{three[1]} → {three[2]}" in shell("compare").out


def test_without_a_full_run_nothing_compares(shell: Shell) -> None:
    said = shell("compare")
    assert (said.code, "full run" in said.err, "auepora runs" in said.err) == (2, True, True)


def test_a_comparison_shows_the_metrics_of_the_suite(shell: Shell, ids: list[str]) -> None:
    shell.write("golden/__baselines__/other.json", baseline_of(run_of([GOOD]), answers=2).dumps())
    text = shell("compare", "golden/__baselines__/other.json", "last").out
    assert "golden/__baselines__/other.json → " in text
    assert "recall@5" in text
    assert "hit@1" not in text
    assert "recall@1_doc" not in text
    assert "one: rank 2 → missed; newly failing: recall@5 fell" in text
    assert max(map(len, text.splitlines())) <= 120


def test_json_goes_to_a_file(shell: Shell, three: list[str]) -> None:
    shell("compare", *three, "--json", "--out", "a.json")
    told = json.loads((shell.path / "a.json").read_text(encoding="utf-8"))
    assert (told["format"], told["shared"], [c["name"] for c in told["columns"]]) == (1, 60, three)


def test_a_baseline_and_a_report_are_systems_too(shell: Shell, three: list[str]) -> None:
    shell.write("old.json", baseline_of(THREE[0]).dumps())
    write_report(shell, "ci.json", "")
    said = shell("compare", "old.json", "ci.json", "last", "--json")
    assert [c["name"] for c in json.loads(said.out)["columns"]] == ["old.json", "ci.json", three[2]]


def test_the_configurations_in_one_report(shell: Shell) -> None:
    write_report(shell, "ci.json", "bm25", "dense")
    told = json.loads(shell("compare", "--side-by-side", "ci.json", "--json").out)
    assert [c["name"] for c in told["columns"]] == ["bm25", "dense"]
    write_report(shell, "old.json", "bm25")
    told = json.loads(shell("compare", "--side-by-side", "old.json", "ci.json", "--json").out)
    assert [c["name"] for c in told["columns"]] == ["old.json", "ci.json[bm25]", "ci.json[dense]"]


def test_what_does_not_compare(shell: Shell, three: list[str]) -> None:
    run = run_of([], suite="other")
    shell.write("other.json", json_report(Report([run], [verdict_of(run)])))
    said = shell("compare", three[0], three[1], "other.json")
    assert (said.code, "billing, other" in said.err) == (3, True)
    said = shell("compare", "other.json", three[0], three[1])
    assert (said.code, "billing" in said.err) == (2, True)
    write_report(shell, "alone.json", "bm25")
    said = shell("compare", "--side-by-side", "alone.json")
    assert (said.code, "1 run" in said.err) == (3, True)
    few = run_of([])
    few.cases = {"case-x": next(iter(THREE[0].cases.values()))}
    shell.write("few.json", json_report(Report([few], [verdict_of(few)])))
    said = shell("compare", three[0], three[1], "few.json")
    assert (said.code, "comparable" in said.err) == (3, True)


def test_the_policy_of_a_suite_with_metrics_of_the_project(shell: Shell) -> None:
    run = run_of([])
    run.path = "billing.golden.yaml"
    case = '{"id": "a", "query": "Q"}'
    said = "metrics: [of_our_own]\nregression: {case_guard: suite, metrics: {of_our_own: {policy: report}}}\n"
    shell.write(run.path, f"{said}cases: [{case}]\n")
    found = policy_of(shell.path, run)
    assert found is not None
    assert (found.case_guard, found.metrics) == ("suite", {"of_our_own": {"policy": "report"}})
    shell.write(run.path, f"regression: {{case_guard: suitet}}\ncases: [{case}]\n")
    assert policy_of(shell.path, run) is None
    run.path = "billing.golden.jsonl"
    shell.write(run.path, f'{{"metrics": ["of_our_own"], "regression": {{"case_guard": "off"}}}}\n{case}\n')
    assert (found := policy_of(shell.path, run)) is not None
    assert found.case_guard == "off"


@pytest.mark.parametrize("sides", [("last",), ("last", "last")])
def test_a_run_is_not_compared_with_itself(shell: Shell, ids: list[str], sides: tuple[str, ...]) -> None:
    said = shell("compare", *sides)
    assert (said.code, ids[1] in said.err) == (2, True)
