"""Mistakes in golden files, in every report: named with their place, never a pass, never markup."""

from __future__ import annotations

import json
import re

import pytest

from pytest_auepora.errors import AueporaError, Problem
from pytest_auepora.reporting.findings import annotation_lines
from pytest_auepora.reporting.formats import report_text
from pytest_auepora.reporting.html.report import html_report
from pytest_auepora.reporting.json_report import json_report, read_json_report, report_schema
from pytest_auepora.reporting.markdown_report import markdown_report, step_summary
from pytest_auepora.reporting.tally import headline, overall_outcome

from .builders import Case, run_of, verdict_of
from .html.pages import read

MISTAKES = [
    Problem("a.golden.yaml", 2, 11, "unknown metric 'recal@3' (did you mean 'recall@3'?)"),
    Problem("a.golden.yaml", 7, 9, "id 'one' is <b>taken</b> | by *another*"),
    Problem("b.golden.yaml", 0, 0, "there is no case in it"),
]


def test_the_headline_counts_them_and_nothing_passes() -> None:
    run = run_of([Case("a")])
    verdict = verdict_of(run)
    assert headline([], [], MISTAKES) == "nothing was measured; 3 mistakes in 2 golden files"
    assert headline([verdict], [run], MISTAKES[:1]).endswith("; 1 mistake in 1 golden file")
    assert overall_outcome([verdict]) == "passed"
    assert overall_outcome([verdict], MISTAKES) == "not judged"


def test_markdown_names_each_with_its_place() -> None:
    lines = markdown_report([], [], mistakes=MISTAKES).splitlines()
    assert lines[1] == "## ⚪ auepora: not judged"
    assert lines[5] == "- **a.golden.yaml\\:2:11** unknown metric 'recal@3' (did you mean 'recall@3'?)"
    assert lines[6] == "- **a.golden.yaml\\:7:9** id 'one' is &lt;b>taken&lt;/b> \\| by \\*another\\*"
    assert lines[7] == "- **b.golden.yaml** there is no case in it"


def test_markdown_with_more_of_them_than_fit() -> None:
    many = [Problem("a.golden.yaml", line, 1, "x" * 100) for line in range(1, 3000)]
    text = markdown_report([], [], mistakes=many)
    assert len(text) <= 65_536
    assert "2,999 mistakes in 1 golden file" in text
    left = re.search(r"- … and ([\d,]+) more", text)
    assert left is not None
    assert int(left[1].replace(",", "")) + text.count("- **a") == 2999
    assert step_summary([], [], mistakes=many, room=8000).count("- **a") >= 10


def test_json_keeps_them() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is in the test group")
    run = run_of([Case("a")])
    text = json_report([run], [verdict_of(run)], mistakes=MISTAKES)
    jsonschema.validate(json.loads(text), report_schema())
    assert read_json_report(text)[::2] == ([run], MISTAKES)
    assert read_json_report(json_report([run], [verdict_of(run)]))[2] == []


@pytest.mark.parametrize(
    "found", ["3", "[1]", "null", '[{"path": "a"}]', '[{"path":"a","line":1e999,"col":1,"message":""}]']
)
def test_a_forged_list_is_refused(found: str) -> None:
    with pytest.raises(AueporaError, match="not an auepora report"):
        read_json_report(f'{{"format": 1, "suites": [], "mistakes": {found}}}')


@pytest.mark.parametrize("beside", [0, 1, 2])
def test_the_page_has_them_below_the_verdict(beside: int) -> None:
    pytest.importorskip("jinja2", reason="the html extra")
    runs = [run_of([Case("a")], suite=f"s{i}") for i in range(beside)]
    page = read(html_report(runs, [verdict_of(run) for run in runs], mistakes=MISTAKES))
    main = page.one("main")
    assert main.all()[0].given["class"] == "verdict is-not-judged"
    section = page.one("section", class_="mistakes")
    assert section.one("h2").words == "3 mistakes in 2 golden files"
    assert [one.words.split(" ")[0] for one in section.all("li")] == [m.place for m in MISTAKES]
    assert len(page.all("article")) == beside


def test_a_page_of_nothing_says_no_pass() -> None:
    pytest.importorskip("jinja2", reason="the html extra")
    assert read(html_report([], [])).one("h1").words == "Not judged"


def test_annotations_and_issues_begin_with_them() -> None:
    run = run_of([Case("a", error="E: x")])
    judged = [run], [verdict_of(run)]
    first = annotation_lines(*judged, mistakes=MISTAKES, prefix="rag").splitlines()
    assert first[0].startswith("::error file=rag/a.golden.yaml,title=golden file,line=2::unknown metric")
    assert first[2].startswith("::error file=rag/b.golden.yaml,title=golden file::")
    issues = json.loads(report_text("gitlab", *judged, mistakes=MISTAKES))
    assert [i["check_name"] for i in issues[:4]] == [*["auepora/mistake"] * 3, "auepora/threshold"]
    assert len({i["fingerprint"] for i in issues}) == len(issues)
