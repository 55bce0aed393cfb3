"""Runs that were kept: listed, shown, compared; and what is said when they are not there."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from pytest_auepora.history.settings import FOLDER
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.reporting.json.report import json_report

from ..reporting.builders import Case, baseline_of, run_of, verdict_of
from .conftest import Shell

GOOD, WORSE = Case("one"), Case("one", got=["index.md", "terms.md"], answer="Never.")


@pytest.fixture
def ids(shell: Shell) -> list[str]:
    """A run that is fine, then one that is not; the baseline beside them knows that no metric varies."""
    shell.write("golden/__baselines__/billing.json", baseline_of(run_of([GOOD]), steady=True).dumps())
    store = HistoryStore(shell.path / FOLDER / "history.sqlite")
    runs = [run_of([case], provenance={"model": model}) for case, model in ((GOOD, "m-1"), (WORSE, "m-2"))]
    return [store.add(run, verdict_of(run, {"recall@5": 0.5}), git_commit="abcdef123456") for run in runs]


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
    assert shell("runs", "--prune", "1").out == "deleted 0 runs\n"
    assert [one["run_id"] for one in json.loads(shell("runs", "--json").out)] == ids[:1]


def test_no_history_is_said_and_not_made(shell: Shell) -> None:
    said = shell("runs")
    assert said.code == 3
    assert "pytest --auepora" in said.err
    assert not (shell.path / FOLDER).exists()


@pytest.mark.parametrize(
    "args", [("report", "XX"), ("compare", "XX"), ("compare", "last~2"), ("runs", "--delete", "XX")]
)
def test_an_unknown_run_is_a_usage_error(shell: Shell, ids: list[str], args: tuple[str, ...]) -> None:
    said = shell(*args)
    assert said.code == 2
    assert said.err.startswith("auepora: no run ")


def test_a_slip_gets_a_suggestion(shell: Shell, ids: list[str]) -> None:
    said = shell("report", ids[0].replace("-", "_"))
    assert f"did you mean '{ids[0]}'" in said.err or f"did you mean '{ids[1]}' or '{ids[0]}'" in said.err


@pytest.mark.parametrize("sides", [(), ("last~1",), ("last~1", "last")])
def test_a_worse_run_fails(shell: Shell, ids: list[str], sides: tuple[str, ...]) -> None:
    said = shell("compare", *sides)
    assert said.code == 1
    assert said.out.startswith("## billing: worse")
    assert f"{ids[0]} → {ids[1]}" in said.out
    assert "model m-1 → m-2" in said.out


def test_a_better_run_passes(shell: Shell, ids: list[str]) -> None:
    said = shell("compare", ids[1], ids[0], "--json")
    assert said.code == 0
    assert json.loads(said.out)["counts"]["Win"] == 1


def test_a_comparison_goes_to_a_file(shell: Shell, ids: list[str]) -> None:
    assert shell("compare", "--out", "worse.md").out == ""
    assert (shell.path / "worse.md").read_text(encoding="utf-8").startswith("## billing")


def test_a_baseline_file_compares(shell: Shell, ids: list[str]) -> None:
    shell.write("billing.json", baseline_of(run_of([GOOD]), steady=True).dumps())
    assert shell("compare", "billing.json", "last").code == 1
    assert shell("compare", "billing.json", "last~1").code == 0


def test_a_report_of_another_machine_compares(shell: Shell, ids: list[str]) -> None:
    run, other = run_of([GOOD]), run_of([GOOD], suite="other")
    shell.write("ci.json", json_report([run, other], [verdict_of(run), verdict_of(other)]))
    assert shell("compare", "ci.json", "last").code == 1
    alone = shell("compare", "ci.json", "ci.json")
    assert (alone.code, "billing, other" in alone.err) == (2, True)


@pytest.mark.parametrize("text", ["{", "[]", '{"suites": 3}', '{"format": 99}'])
def test_a_file_that_is_neither_cannot_be_judged(shell: Shell, ids: list[str], text: str) -> None:
    shell.write("odd.json", text)
    assert shell("compare", "odd.json", "last").code == 3
    assert shell("compare", "lost.json", "last").code == 2


def test_a_committed_baseline_compares(shell: Shell) -> None:
    if shutil.which("git") is None:
        pytest.skip("needs git")

    def git(*args: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *who, *args], cwd=shell.path, check=True, capture_output=True)

    good, worse = run_of([GOOD]), run_of([WORSE])
    path = shell.write("golden/__baselines__/billing.json", baseline_of(good, steady=True).dumps())
    git("init", "-q")
    git("add", "golden")
    git("commit", "-qm", "good")
    path.write_text(baseline_of(worse, steady=True).dumps(), encoding="utf-8")
    git("commit", "-qam", "worse")
    HistoryStore(shell.path / FOLDER / "history.sqlite").add(worse, verdict_of(worse))
    assert shell("compare", "git:HEAD", "last").code == 0
    assert shell("compare", "git:HEAD~1", "last").code == 1
    assert shell("compare", "last", "git:HEAD~1").code == 0
    assert shell("compare", "git:HEAD~1:golden/__baselines__/billing.json", "last").code == 1
    no_suite = shell("compare", "git:HEAD~1", "git:HEAD")
    assert (no_suite.code, "does not say which baseline" in no_suite.err) == (2, True)
    for name in ("git:no-such", "git:HEAD:golden/lost.json"):
        said = shell("compare", name, "last")
        assert (said.code, said.err.startswith("auepora: git: ")) == (3, True)


def test_strict_runs_of_other_chunks_are_not_judged(shell: Shell) -> None:
    store = HistoryStore(shell.path / FOLDER / "history.sqlite")
    for version in (3, 4):
        run = run_of([GOOD], provenance={"chunker_version": version})
        store.add(run, verdict_of(run))
    said = shell("compare", "--strict-chunker-version")
    assert (said.code, "chunker_version 3 → 4" in said.err) == (3, True)
    assert "hits by document" in shell("compare").out


@pytest.mark.parametrize("kind", ["text", "md", "json", "csv", "summary"])
def test_an_old_run_is_reported_as_it_was_judged(shell: Shell, ids: list[str], kind: str) -> None:
    said = shell("report", ids[1], "--format", kind)
    assert said.code == 0
    if kind == "json":
        told = json.loads(said.out)
        assert told["outcome"] == "failed"
        assert told["suites"][0]["verdict"]["gates"][0]["bound"] == ">= 0.5"
    elif kind in ("text", "md"):
        assert "recall@5" in said.out
    shell("report", ids[1], "--format", kind, "--out", "made")
    assert (shell.path / "made").read_text(encoding="utf-8") == said.out


def test_history_that_is_switched_off(shell: Shell, ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUEPORA_HISTORY", "off")
    assert shell("runs").code == 2
    named = str(Path(FOLDER) / "history.sqlite")
    assert ids[0] in shell("runs", "--history", named).out
    monkeypatch.setenv("AUEPORA_HISTORY", named)
    assert ids[0] in shell("runs").out


def test_a_damaged_history_cannot_be_judged(shell: Shell) -> None:
    shell.write(f"{FOLDER}/history.sqlite", "no database" * 100)
    said = shell("runs")
    assert (said.code, "is no history" in said.err) == (3, True)


def test_an_html_report_goes_to_a_file_with_the_runs_before(shell: Shell, ids: list[str]) -> None:
    assert shell("report", "last", "--format", "html", "--out", "out.html").code == 0
    text = (shell.path / "out.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "Over the last 2 full runs" in text
    assert '"before":{"answer":"Within 30 days of purchase."' in text
    assert "Over the last" not in shell("report", ids[0], "--format", "html").out


@pytest.mark.parametrize(("accepted", "beside", "code"), [(True, False, 1), (False, True, 0)])
def test_a_baseline_knows_itself_what_is_steady(shell: Shell, accepted: bool, beside: bool, code: int) -> None:
    cases = [GOOD.with_(id=f"c{i}") for i in range(20)]
    before, now = run_of(cases), run_of([WORSE.with_(id="c0"), *cases[1:]])
    shell.write("golden/__baselines__/billing.json", baseline_of(now, steady=beside).dumps())
    shell.write("released.json", baseline_of(before, steady=accepted).dumps())
    HistoryStore(shell.path / FOLDER / "history.sqlite").add(now, verdict_of(now))
    assert shell("compare", "released.json", "last").code == code
