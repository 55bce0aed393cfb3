"""What all reports say of a run, for formats of programs and of other people."""

from __future__ import annotations

import json

from pytest_auepora.reporting.formats.json_report import json_report
from pytest_auepora.reporting.report import Report
from pytest_auepora.reporting.sentences import CaseSentences

from .builders import Case, run_of, verdict_of

MUST = Case("must", labels={"must_contain": ["30 days"]}, answer="Bananas.")


def test_a_report_has_what_is_said_of_each_run() -> None:
    runs = [run_of([Case("good"), MUST]), run_of([Case("good")], suite="shop")]
    bad, good = Report(runs, [verdict_of(run) for run in runs]).sentences
    assert bad.first_line.startswith("1 failed")
    assert bad.cases == {
        "must": CaseSentences(
            "generation: the document was found, the answer misses '30 days'",
            ["must_contain: the answer misses '30 days'"],
        )
    }
    assert len(bad.gates) == len(verdict_of(runs[0]).gates)
    assert good.cases == {}


def test_the_json_report_says_the_same() -> None:
    run = run_of([MUST])
    report = Report([run], [verdict_of(run)])
    (suite,) = json.loads(json_report(report))["suites"]
    (said,) = report.sentences
    assert suite["sentences"]["cases"]["must"]["failures"] == said.cases["must"].failures
    assert suite["sentences"]["first_line"] == said.first_line
