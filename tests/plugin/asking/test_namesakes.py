"""Golden files of one suite name in two folders: baselines are by folder, and so are the runs in the history."""

from __future__ import annotations

import pytest

from pytest_auepora.cli.main import main

from ...unit.reporting.page.pages import data_of, read
from ..conftest import Example
from ..counting import store
from ..listening import notes

CONFTEST = """\
import pytest


@pytest.fixture(scope="session")
def rag():
    return lambda query: ("answer of {0}", ["{0}"])
"""

GOLDEN = """\
suite: billing
metrics: [recall@1]
cases:
  - {{id: one, query: q?, relevant_docs: [cars]}}
  - {{id: only-{0}, query: r?, relevant_docs: [cars]}}
"""


@pytest.fixture
def services(project: Example) -> Example:
    """Two systems with a golden file each; that of the boats finds nothing."""
    project.golden.unlink()
    for name in ("cars", "boats"):
        project.write(f"{name}/conftest.py", CONFTEST.format(name))
        project.write(f"{name}/golden/billing.golden.yaml", GOLDEN.format(name))
    project.accept()
    return project


def last_runs(project: Example, n: int = 2) -> dict[str, str]:
    return {run.path.partition("/")[0]: run.run_id for run in store(project).runs(n)}


@pytest.mark.parametrize("option", ["--auepora-replay", "--auepora-resume"])
def test_each_is_answered_by_its_own_run(services: Example, option: str) -> None:
    then = last_runs(services)
    assert services.run(option).ret == 0
    for name, run_id in last_runs(services).items():
        run = store(services).load(run_id)
        assert (run.origin["run"], run.origin["taken"]) == (then[name], 2)
        assert run.cases["one"].outputs["answer"] == f"answer of {name}"


@pytest.mark.slow
def test_workers_are_told_which_run_is_of_which_file(services: Example) -> None:
    pytest.importorskip("xdist", reason="needs pytest-xdist")
    then = last_runs(services)
    assert services.run("--auepora-replay", "-n", "2", plugins=("xdist",)).ret == 0
    assert {name: store(services).info(i).origin["run"] for name, i in last_runs(services).items()} == then


def test_a_file_without_a_run_takes_none_of_another(services: Example) -> None:
    boats = last_runs(services)["boats"]
    services.run(f"--auepora-replay={boats}", "cars")
    error = store(services).load("last").cases["one"].error
    assert all(name in error for name in (boats, "cars/golden/billing.golden.yaml", "boats/golden/billing.golden.yaml"))


def test_a_run_prunes_none_of_the_other(services: Example) -> None:
    services.run("-o", "auepora_keep=runs=1")
    assert last_runs(services, 9).keys() == {"cars", "boats"}
    assert len(store(services).runs()) == 2


def trends(project: Example) -> list[dict[str, list[float | None]]]:
    """The values of each metric over the runs that the report has, for each suite."""
    suites = data_of(read(project.read("report.html")))["suites"]
    return [{metric["name"]: metric["values"] for metric in suite["history"]["metrics"]} for suite in suites]


def test_trends_are_apart(services: Example) -> None:
    services.run("cars")
    services.run("--auepora-report", "html:report.html")
    assert sorted(values["recall@1"] for values in trends(services)) == [[0.0, 0.0], [1.0, 1.0, 1.0]]


def test_compare_takes_the_run_before_of_the_same_file(
    services: Example, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = last_runs(services)
    services.run()
    monkeypatch.chdir(services.path)
    capsys.readouterr()
    assert main(["compare"]) == 0
    latest = store(services).runs(1)[0]
    assert f"{first[latest.path.partition('/')[0]]} → {latest.run_id}" in capsys.readouterr().out


def test_a_moved_file_is_replayed_and_keeps_its_trend(project: Example) -> None:
    project.run()
    (project.path / "deep").mkdir()
    project.golden.rename(project.path / "deep" / "shop.golden.yaml")
    assert "replayed" in notes(project.run("--auepora-replay"))
    project.run("--auepora-report", "html:report.html")
    assert [len(values["recall@1"]) for values in trends(project)] == [3]
