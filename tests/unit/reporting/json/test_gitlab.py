from __future__ import annotations

import json
from typing import Any

from pytest_auepora.core.run import Run
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.json.gitlab import code_quality

from ..builders import Case, baseline_of, run_of, verdict_of

CASES = [Case(f"case-{i:02}", got=["refunds.md", "x"], line=10 + i) for i in range(6)]


def judged(line: int = 0) -> tuple[Run, Verdict]:
    baseline = baseline_of(run_of(CASES))
    now = [c.with_(got=["x"], thresholds={"recall@5": 0.5}, line=c.line + line) for c in CASES[:2]]
    run = run_of([*now, CASES[2].with_(error="E: x"), *CASES[3:]], baseline=baseline)
    return run, verdict_of(run, {"recall@5": 0.9}, baseline=baseline)


def issues(run: Run, verdict: Verdict, prefix: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(code_quality([run], [verdict], prefix=prefix))
    return found


def test_every_issue_has_what_gitlab_reads() -> None:
    for issue in issues(*judged()):
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert issue["location"]["path"] == "golden/billing.golden.yaml"
        assert issue["location"]["lines"]["begin"] >= 1


def test_severities_tell_new_from_old() -> None:
    by_name = {i["check_name"]: i["severity"] for i in issues(*judged())}
    assert by_name["auepora/newly-failing"] == "critical"
    assert by_name["auepora/errored"] == "blocker"
    assert by_name["auepora/threshold"] == "major"
    run, verdict = judged()
    verdict.gates[0].state = "inconclusive"
    assert "info" in {i["severity"] for i in issues(run, verdict)}


def test_fingerprints_are_unique_and_survive_moving_lines() -> None:
    first = [i["fingerprint"] for i in issues(*judged())]
    assert len(set(first)) == len(first)
    assert [i["fingerprint"] for i in issues(*judged(line=100))] == first


def test_nothing_wrong_is_an_empty_list_and_paths_take_a_prefix() -> None:
    run = run_of(CASES)
    assert issues(run, verdict_of(run, baseline=baseline_of(run))) == []
    assert issues(*judged(), prefix="rag")[0]["location"]["path"] == "rag/golden/billing.golden.yaml"
