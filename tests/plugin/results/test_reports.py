"""The reports of a run: the files asked for, several systems side by side, JUnit properties."""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pytest_auepora.history.accepted import NAME
from pytest_auepora.reporting.formats.json_report import read_json_report
from pytest_auepora.reporting.formats.registry import FORMATS

from ...unit.reporting.page.pages import data_of, details_of, read
from ..conftest import Example

TWO = """
def rag(request):
    if request.param == "good":
        return answer
    docs = {k: v for k, v in DOCS.items() if k != "refunds"}
    return lambda query: answer(query, docs)
"""


def parametrized(project: Example) -> None:
    project.write(
        "conftest.py",
        "import pytest\nfrom shop import DOCS, answer\n\n\n"
        f"@pytest.fixture(scope='session', params=['good', 'bad']){TWO}",
    )


def test_every_kind_is_written_where_it_was_asked_for(project: Example) -> None:
    (project.path / "out").mkdir()
    asked = [part for kind in FORMATS if kind != "html" for part in ("--auepora-report", f"{kind}:out/report.{kind}")]
    result = project.run("-q", *asked, auepora=False)
    assert result.ret == 0
    assert "5 passed" in project.read("out/report.md")
    assert [run.suite for run in read_json_report(project.read("out/report.json")).runs] == ["shop"]
    assert project.read("out/report.csv").count("\n") == 6
    assert json.loads(project.read("out/report.summary"))["version"] == "v0"
    result.stdout.fnmatch_lines(["reports: md:out/report.md, json:out/report.json, csv:out/report.csv, *"])
    assert not list((project.path / "out").glob(".*"))


def test_the_settings_name_reports_relative_to_the_rootdir(project: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    project.pytester.makeini("[pytest]\nauepora_report =\n    md:report.md\n    json:report.json")
    (project.path / "sub").mkdir()
    monkeypatch.chdir(project.path / "sub")
    project.run("--rootdir", str(project.path), "--auepora-report", "csv:here.csv", str(project.path))
    assert project.read("report.md")
    assert project.read("report.json")
    assert project.read("sub/here.csv")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["jsn:a.json"], "no report format 'jsn' (did you mean 'json'?)"),
        (["report.txt"], "does not say its format"),
        (["md:nowhere/a.md"], "--auepora-report md:nowhere/a.md: there is no directory *nowhere"),
        (["md:__baselines__"], "*__baselines__ is a directory, a file is wanted"),
        (["json:conftest.py"], "*conftest.py is a source file and would be overwritten"),
        (["md:a", "json:a"], "two reports would be written to *a"),
    ],
)
def test_a_report_that_cannot_be_is_said_before_any_case_runs(project: Example, asked: list[str], message: str) -> None:
    (project.path / "__baselines__").mkdir()
    project.system("def rag():\n    pathlib.Path('called').touch()\n    return answer")
    result = project.run(*[part for one in asked for part in ("--auepora-report", one)])
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: *{message.replace('[', '[[]')}*"])
    assert not (project.path / "called").exists()


def test_an_unknown_word_for_github(project: Example) -> None:
    project.pytester.makeini("[pytest]\nauepora_github = sumary")
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: auepora_github: unknown word sumary (did you mean 'summary'?); *"])


LOST = """
import shutil

def pytest_auepora_run_finished(run, verdict):
    shutil.rmtree("out")
    open("out", "w").close()
"""


@pytest.mark.parametrize("quiet", [[], ["-p", "no:terminal"], ["--no-summary"]], ids=["", "no terminal", "no summary"])
def test_a_report_that_could_not_be_written_fails_the_run(project: Example, quiet: list[str]) -> None:
    (project.path / "out").mkdir()
    project.conftest(LOST)
    result = project.run("--auepora-report", "md:out/a.md", "--auepora-report", "json:b.json", *quiet)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    told = f"{result.stdout}\n{result.stderr}"
    assert len(re.findall(r"^ERROR: md:out/a.md .*: File exists$", told, re.MULTILINE)) == 1, told
    assert read_json_report(project.read("b.json")).runs


def test_a_failing_run_stopped_early_has_its_reports(project: Example) -> None:
    project.break_retriever()
    project.run("-x", "--auepora-report", "md:a.md", "--auepora-report", "json:a.json")
    ((run, verdict),) = read_json_report(project.read("a.json")).pairs
    assert (list(run.cases), verdict.outcome) == (["refund-window"], "failed")
    assert "1 of 5 cases" in project.read("a.md")


def test_an_interrupted_run_has_its_reports(job: Example) -> None:
    job.system(
        "def rag():\n    def ask(query):\n        if 'parcels' in query:\n            raise KeyboardInterrupt\n"
        "        return answer(query)\n    return ask"
    )
    result = job.run("--auepora-report", "json:a.json", interrupts=True)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert list(read_json_report(job.read("a.json")).runs[0].cases) == ["refund-window"]
    assert "1 of 5 cases ran" in job.read("summary.md")


def test_a_second_interrupt_costs_reports_and_nothing_else(project: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(path: Path, text: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pytest_auepora.pytest_plugin.results.reports.write_atomically", interrupted)
    result = project.run("--auepora-report", "md:a.md", "--auepora-report", "json:a.json")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        ["5 passed (no baseline yet*", "ERROR: interrupted: md:a.md, json:a.json were not written"]
    )
    assert not list((project.path / ".auepora").glob("unfinished*"))


def test_nothing_is_written_where_nothing_is_run(job: Example) -> None:
    job.write("a.json", "old")
    for how in ("--collect-only", "--setup-plan"):
        result = job.run(how, "--auepora-report", "json:a.json")
        assert result.ret == 0
        assert "::" not in re.sub(r"\S+::[\w-]+", "", str(result.stdout))
    assert job.read("a.json") == "old"
    assert not (job.path / "summary.md").exists()


@pytest.mark.parametrize("broken", [True, False])
def test_a_run_that_measured_nothing_replaces_an_older_report(project: Example, broken: bool) -> None:
    project.write("a.json", "old")
    project.write("a.md", "old")
    if broken:
        project.edit("metrics: [", "metrics: [recal@3, ")
    asked = ["--auepora-report", "json:a.json", "--auepora-report", "md:a.md"]
    project.run(*asked, *([] if broken else ["-k", "nothing"]))
    raw = json.loads(project.read("a.json"))
    assert (raw["outcome"], raw["suites"], "mistakes" in raw) == ("not judged", [], broken)
    assert "auepora: not judged" in project.read("a.md")


@pytest.mark.slow
def test_files_are_written_once_under_xdist(job: Example) -> None:
    """By the controller: a worker that wrote as well would leave half the cases, or the summary twice."""
    job.break_retriever()
    job.pytester.makeini("[pytest]\nauepora_junit_properties = true")
    result = job.run_apart("-n", "2", "--auepora-report", "json:a.json", "--junitxml", "j.xml")
    (run,) = read_json_report(job.read("a.json")).runs
    assert len(run.cases) == 5
    assert job.read("summary.md").count("<!-- auepora report -->") == 1
    assert sum(line.startswith("::error") for line in result.outlines) == 2
    assert properties(job)["warehouse"]["auepora.recall@1"] == "1.0000"


def test_configurations_stand_side_by_side(project: Example) -> None:
    parametrized(project)
    project.pytester.makeini("[pytest]\nauepora_reference = good")
    asked = ["--auepora-report", "json:a.json", "--auepora-report", "md:a.md"]
    result = project.run(*asked)
    result.stdout.fnmatch_lines(
        [
            "shop side by side",
            "recall@3 *4  1.000 [*] * 0.750 ~",
            "recall@3 *-0.250 [[]-1.046, +0.546[]] [?]",
            "refund-window  ✓ 1.000  ✗ 0.000",
        ]
    )
    (compared,) = json.loads(project.read("a.json"))["side_by_side"]
    assert [column["name"] for column in compared["columns"]] == ["good", "bad"]
    assert re.search(r"^### shop .*[^#]*\|.* good .* bad ", project.read("a.md"), re.MULTILINE)


OWN = """

def pytest_auepora_metrics(registry):
    from pytest_auepora.core.metrics_base import Measurement, Metric
    from pytest_auepora.core.types import MetricResult, TargetCategory

    class Letters(Metric):
        name, target, range = "letters", TargetCategory.DIVERSITY, (0.0, 1e9)

        def measure(self, sample, outputs):
            return Measurement(None, len(outputs.response.text))

        def aggregate(self, measurements):
            return MetricResult("letters", self.target, float(sum(m.data for m in measurements)), {})

    registry.add("letters", Letters)
"""


def test_every_report_knows_the_projects_own_metrics(project: Example) -> None:
    parametrized(project)
    project.conftest(OWN)
    project.edit("metrics: [", "metrics: [letters, ")
    result = project.run("--auepora-report", "json:a.json", "--auepora-report", "md:a.md")
    (compared,) = json.loads(project.read("a.json"))["side_by_side"]
    (row,) = (row for row in compared["rows"] if row["metric"] == "letters")
    bad, good = (figure["value"] for figure in row["figures"])
    assert good - bad == row["figures"][1]["difference"]["value"] == 1.0
    assert re.search(rf"\| letters \| 5 \| {bad}", project.read("a.md"))
    assert re.search(rf"letters +5 +{bad}", str(result.stdout))
    result.stdout.fnmatch_lines(["1 case that only some of them pass (recall@1 beside)"])


def test_a_reference_that_is_no_configuration(project: Example) -> None:
    parametrized(project)
    project.pytester.makeini("[pytest]\nauepora_reference = god")
    result = project.run()
    result.stdout.fnmatch_lines(["auepora_reference = god: no such configuration; available: bad, good"])


def properties(project: Example) -> dict[str, dict[str, str]]:
    root = ET.parse(project.path / "j.xml").getroot()
    return {
        case.get("name", ""): {p.get("name", ""): p.get("value", "") for p in case.iter("property")}
        for case in root.iter("testcase")
    }


def test_scores_are_junit_properties_on_request(project: Example) -> None:
    project.write(
        "test_own.py",
        "import pytest\n\ndef test_all(auepora):\n    auepora.evaluate('shop.golden.yaml')\n\n"
        "@pytest.mark.auepora('shop.golden.yaml')\ndef test_each(auepora_case):\n    pass\n\n"
        "def test_other():\n    pass\n",
    )
    project.run("--junitxml", "j.xml", "--auepora-report=json:a.json")
    assert "side_by_side" not in json.loads(project.read("a.json")), "one configuration stands alone"
    assert {name for name, values in properties(project).items() if values} == {"suite"}
    project.pytester.makeini("[pytest]\nauepora_junit_properties = true")
    project.run("--junitxml", "j.xml")
    found = properties(project)
    assert found["warranty"]["auepora.token_f1"] == "0.3636"
    assert found["ceo-salary"]["auepora.recall@1"].startswith("n/a: ")
    assert found["warranty"]["auepora.state"] == "passed"
    assert found["test_all"]["auepora.warranty.token_f1"] == "0.3636"
    assert found["test_each[warranty]"]["auepora.token_f1"] == "0.3636"
    assert found["test_other"] == {}
    assert "auepora.gate.recall@3" in found["suite"]


def test_a_case_whose_set_up_fails_has_its_state(project: Example) -> None:
    project.system("def rag():\n    raise RuntimeError('no index')")
    project.pytester.makeini("[pytest]\nauepora_junit_properties = true")
    project.run("--junitxml", "j.xml")
    assert properties(project)["warranty"]["auepora.state"] == "error"


@pytest.mark.skipif(os.name == "nt", reason="there is no such file on Windows")
def test_a_report_to_a_pipe_is_not_replaced_by_a_file(project: Example) -> None:
    project.run("--auepora-report", "md:/dev/null")
    assert Path("/dev/null").is_char_device()


@pytest.mark.slow
def test_a_page_shows_the_runs_before(project: Example) -> None:
    project.accept()
    project.break_retriever()
    result = project.run_apart("--auepora-report", "report.html")
    result.stdout.fnmatch_lines(["reports: html:report.html"])
    page = read(project.read("report.html"))
    (suite,) = data_of(page)["suites"]
    assert suite["history"]["metrics"]
    assert NAME in {case.get("earlier") for case in details_of(page)}
