"""What all reports say of a run, for formats of programs and of other people."""

from __future__ import annotations

import json

from pytest_auepora.reporting.formats.json_report import json_report
from pytest_auepora.reporting.report import Report
from pytest_auepora.reporting.sentences import CaseSentences
from pytest_auepora.reporting.wording.cases import case_diagnosis
from pytest_auepora.reporting.wording.checks import problem_lines
from pytest_auepora.reporting.wording.verdict import first_line

from .builders import Case, run_of, verdict_of

MUST = Case("must", labels={"must_contain": ["30 days"]}, answer="Bananas.")


def test_a_report_has_what_is_said_of_each_run() -> None:
    runs = [run_of([Case("good"), MUST]), run_of([Case("good")], suite="shop")]
    bad, good = Report(runs, [verdict_of(run) for run in runs]).sentences
    case, metrics = runs[0].cases["must"], runs[0].metrics
    assert bad.first_line == first_line(runs[0], verdict_of(runs[0]))
    assert bad.cases == {"must": CaseSentences(case_diagnosis(case, None, metrics), problem_lines(case, metrics))}
    assert len(bad.gates) == len(verdict_of(runs[0]).gates)
    assert good.cases == {}


def test_the_json_report_says_the_same() -> None:
    run = run_of([MUST])
    report = Report([run], [verdict_of(run)])
    (suite,) = json.loads(json_report(report))["suites"]
    (said,) = report.sentences
    assert suite["sentences"]["cases"]["must"]["failures"] == said.cases["must"].failures
    assert suite["sentences"]["first_line"] == said.first_line
