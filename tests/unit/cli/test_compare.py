"""``auepora compare`` with more than two runs, and reports made from a JSON report alone."""

from __future__ import annotations

import json

import pytest

from pytest_auepora.cli.compare import policy_of
from pytest_auepora.history.settings import FOLDER
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.formats import FORMATS, report_text
from pytest_auepora.reporting.json.report import json_report

from ..reporting.builders import baseline_of, run_of, verdict_of
from ..reporting.systems import system
from .conftest import Shell

THREE = [system("", hits) for hits in (0.5, 0.75, 0.8)]


@pytest.fixture
def ids(shell: Shell) -> list[str]:
    """Three runs, each better than the one before."""
    store = HistoryStore(shell.path / FOLDER / "history.sqlite")
    return [store.add(run, verdict_of(run)) for run in THREE]


def report(shell: Shell, name: str = "ci.json", *variants: str) -> tuple[list[object], list[Verdict]]:
    runs = [system(variant, 0.5 + 0.3 * i) for i, variant in enumerate(variants)]
    verdicts = [verdict_of(run) for run in runs]
    shell.write(name, json_report(runs, verdicts))
    return list(runs), verdicts


def test_three_runs_stand_side_by_side(shell: Shell, ids: list[str]) -> None:
    said = shell("compare", "last~2", "last~1", "last")
    assert said.code == 0
    assert said.out.startswith("billing side by side\n")
    assert ", ".join(ids) in said.out
    assert "20 cases" not in said.out
    assert f"differences are from {ids[0]}" in " ".join(said.out.split())


def test_two_runs_do_so_on_request(shell: Shell, ids: list[str]) -> None:
    assert shell("compare").out.startswith("## billing: better")
    assert shell("compare", "--side-by-side").out.startswith("billing side by side\n")
    assert shell("compare", "--side-by-side", ids[0], ids[1], "--format", "md").out.startswith(
        "## billing side by side · owner search-team\n"
    )


@pytest.mark.parametrize("kind", ["text", "csv"])
def test_formats_that_are_only_of_tables(shell: Shell, ids: list[str], kind: str) -> None:
    said = shell("compare", "--format", kind)
    assert (said.code, f"--format {kind} is for --side-by-side" in said.err) == (2, True)


def test_json_and_csv_go_to_files(shell: Shell, ids: list[str]) -> None:
    shell("compare", *ids, "--json", "--out", "a.json")
    shell("compare", *ids, "--format", "csv", "--out", "a.csv")
    told = json.loads((shell.path / "a.json").read_text(encoding="utf-8"))
    assert (told["format"], told["shared"], [c["name"] for c in told["columns"]]) == (1, 60, ids)
    assert (shell.path / "a.csv").read_text(encoding="utf-8").startswith(f"suite,owner,id,metric,{','.join(ids)}\n")


def test_a_baseline_and_a_report_are_systems_too(shell: Shell, ids: list[str]) -> None:
    shell.write("old.json", baseline_of(THREE[0]).dumps())
    report(shell, "ci.json", "")
    said = shell("compare", "old.json", "ci.json", "last", "--json")
    assert [c["name"] for c in json.loads(said.out)["columns"]] == ["old.json", "ci.json", ids[2]]


def test_the_configurations_in_one_report(shell: Shell) -> None:
    report(shell, "ci.json", "bm25", "dense")
    told = json.loads(shell("compare", "--side-by-side", "ci.json", "--json").out)
    assert [c["name"] for c in told["columns"]] == ["bm25", "dense"]
    report(shell, "old.json", "bm25")
    told = json.loads(shell("compare", "--side-by-side", "old.json", "ci.json", "--json").out)
    assert [c["name"] for c in told["columns"]] == ["old.json", "ci.json[bm25]", "ci.json[dense]"]


def test_what_does_not_compare(shell: Shell, ids: list[str]) -> None:
    run = run_of([], suite="other")
    shell.write("other.json", json_report([run], [verdict_of(run)]))
    said = shell("compare", ids[0], ids[1], "other.json")
    assert (said.code, "runs of different suites do not compare: billing, other" in said.err) == (3, True)
    said = shell("compare", "other.json", ids[0], ids[1])
    assert (said.code, "wanted is billing" in said.err) == (2, True)
    report(shell, "alone.json", "bm25")
    said = shell("compare", "--side-by-side", "alone.json")
    assert (said.code, "1 run cannot stand side by side" in said.err) == (3, True)
    few = run_of([])
    few.cases = {"case-x": next(iter(THREE[0].cases.values()))}
    shell.write("few.json", json_report([few], [verdict_of(few)]))
    said = shell("compare", ids[0], ids[1], "few.json")
    assert (said.code, "they share no case that compares" in said.err) == (3, True)


@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind != "html"])
def test_every_report_is_made_from_the_json_alone(shell: Shell, kind: str) -> None:
    runs, verdicts = report(shell, "ci.json", "bm25", "dense")
    said = shell("report", "ci.json", "--format", kind)
    assert said.code == 0
    assert said.out == report_text(kind, runs, verdicts)  # type: ignore[arg-type]


def test_the_summary_of_a_json_report(shell: Shell) -> None:
    report(shell, "ci.json", "bm25", "dense")
    said = shell("report", "ci.json")
    assert "billing[bm25]" in said.out
    assert "billing side by side" in said.out


@pytest.mark.parametrize(("text", "code"), [(None, 2), ("{", 3), ("{}", 3), ('{"format": 99, "suites": []}', 3)])
def test_a_file_that_is_no_report(shell: Shell, text: str | None, code: int) -> None:
    if text is not None:
        shell.write("odd.json", text)
    said = shell("report", "odd.json")
    assert (said.code, said.err.startswith("auepora: odd.json: ")) == (code, True), said.err


def test_a_report_that_cannot_be_written(shell: Shell) -> None:
    report(shell, "ci.json", "bm25")
    shell.write("file", "")
    said = shell("report", "ci.json", "--out", "file/a.md")
    assert (said.code, "cannot be written" in said.err) == (3, True)


def test_the_schemas_are_printed(shell: Shell) -> None:
    titles = [json.loads(shell("schema", *of).out)["title"] for of in ((), ("report",), ("side-by-side",))]
    assert titles[1:] == ["auepora report", "auepora systems side by side"]
    assert titles[0] not in titles[1:]
    assert shell("schema", "reports").code == 2


def test_the_policy_of_a_suite_with_metrics_of_the_project(shell: Shell) -> None:
    run = run_of([])
    run.path = "billing.golden.yaml"
    said = "metrics: [of_our_own]\nregression: {case_guard: net, metrics: {of_our_own: {policy: report}}}\ncases: []\n"
    shell.write(run.path, said)
    found = policy_of(shell.path, run)
    assert found is not None
    assert (found.case_guard, found.metrics) == ("net", {"of_our_own": {"policy": "report"}})
    shell.write(run.path, "regression: {case_guard: nett}\n")
    assert policy_of(shell.path, run) is None
    run.path = "billing.golden.jsonl"
    shell.write(run.path, '{"metrics": ["of_our_own"], "regression": {"case_guard": "off"}}\n')
    assert (found := policy_of(shell.path, run)) is not None
    assert found.case_guard == "off"
