"""What reports say of runs that were stopped, and of gates that belong to no run."""

from __future__ import annotations

import json

import pytest

from ..conftest import Example

REPORTS = ("--auepora-report", "md:r.md", "--auepora-report", "json:r.json")
STOPPED = "stopped early: not everything ran"


@pytest.mark.parametrize("stop", ["raise KeyboardInterrupt", "pytest.exit('enough')", "raise ValueError('down')"])
def test_a_stopped_run_does_not_pass(project: Example, stop: str) -> None:
    project.write("zoo.golden.yaml", "suite: zoo\nmetrics: [mrr]\ncases: [{id: a, query: zebra, relevant_docs: [x]}]\n")
    project.edit("def answer(", "import pytest\n\n\ndef answer(", "shop.py")
    project.when_asked("zebra", stop)
    result = project.run("-x", *REPORTS, interrupts=True)
    assert result.ret != 0
    report = json.loads(project.read("r.json"))
    assert report["stopped"]
    assert report["headline"].endswith(STOPPED)
    assert report["outcome"] == ("failed" if "ValueError" in stop else "not judged")
    assert STOPPED in project.read("r.md")


def test_an_unused_baseline_is_in_the_reports_if_required(project: Example) -> None:
    project.accept()
    unused = project.baseline.with_name("gone.json")
    unused.write_text(project.baseline.read_text("utf-8").replace('"suite": "shop"', '"suite": "gone"'), "utf-8")
    assert project.run(*REPORTS).ret == 0
    assert json.loads(project.read("r.json"))["outcome"] == "passed"
    result = project.run("--auepora-require-baseline", *REPORTS)
    assert result.ret == 1
    report = json.loads(project.read("r.json"))
    assert report["outcome"] == "not judged"
    assert [mistake["path"] for mistake in report["mistakes"]] == ["__baselines__/gone.json"]
    assert report["mistakes"][0]["message"] in project.read("r.md")
