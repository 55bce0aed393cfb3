"""What became of each case; the counts are of every report."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_auepora.core.findings import Finding
from pytest_auepora.reporting.tally import cases_of, headline_style, tally

from .builders import Case, baseline_of, run_of, verdict_of

GOOD = Case("a", thresholds={"recall@5": 0.5})
CASES = [GOOD.with_(id=f"case-{i}") for i in range(6)]
BAD = {"got": ["x"]}


def changed(**by_id: Mapping[str, object]) -> list[Case]:
    return [c.with_(**by_id.get(c.id.replace("-", "_"), {})) for c in CASES]


def test_against_a_baseline() -> None:
    baseline = baseline_of(run_of(changed(case_0=BAD, case_1=BAD)))
    now = changed(case_1=BAD, case_2=BAD, case_3={"error": "E: x"})
    now += [GOOD.with_(id="new"), GOOD.with_(id="new-bad", got=[])]
    now[4] = now[4].with_(skipped=True)
    run = run_of(now, baseline=baseline)
    run.cases["case-5"].content_hash = "edited"
    verdict = verdict_of(run, baseline=baseline)
    assert tally(run, verdict) == {
        "newly failing": 1, "errored": 1, "new and failing": 1, "still failing": 1, "fixed": 1, "new": 1, "edited": 1,
        "skipped": 1,
    }  # fmt: skip
    assert [c.case_id for c in cases_of(run, verdict)["fixed"]] == ["case-0"]
    assert headline_style([verdict]) == ("red", "bold")


def test_without_a_baseline() -> None:
    run = run_of(changed(case_0=BAD, case_1={"skipped": True}))
    assert tally(run, verdict_of(run)) == {"failed": 1, "passed": 4, "skipped": 1}
    assert headline_style([]) == ("yellow",)


def test_what_passes_as_it_failed_before_is_still_failing() -> None:
    bad = [c.with_(labels={"must_contain": ["never said"]}) for c in CASES]
    baseline = baseline_of(run_of(bad))
    run = run_of(bad, baseline=baseline)
    verdict = verdict_of(run, baseline=baseline)
    assert tally(run, verdict) == {"still failing": 6}
    assert headline_style([verdict]) == ("green",)


def test_an_expected_failure_is_no_failure() -> None:
    run = run_of(changed(case_0=BAD))
    run.cases["case-0"].xfail = "known"
    assert tally(run, verdict_of(run)) == {"passed": 5, "expected to fail": 1}


def test_a_users_words_decide_nothing() -> None:
    """`shared/cases/finding-read-from-prose`: a metric that raises a text of ours is a metric that raised."""
    texts = ("IndexError: index rebuilt since the baseline", "IndexError: index rebuilt after the crawl")
    words = []
    for text in texts:
        run = run_of(CASES, baseline=baseline_of(run_of(CASES)))
        raised = Finding("metric raised", "own", reason=text, accepted=2, asked=1)
        run.cases["case-0"].findings, run.cases["case-0"].state = [raised], "failed"
        verdict = verdict_of(run, baseline=baseline_of(run_of(CASES)))
        words.append((verdict.word, verdict.regressed_cases, tally(run, verdict)))
    assert words[0] == words[1]
