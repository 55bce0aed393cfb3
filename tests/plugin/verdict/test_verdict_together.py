"""Everything that makes a verdict at once: each keeps its own reason, and the worst decides."""

from __future__ import annotations

from ..conftest import Example
from ..listening import gates, judged, outcomes


def test_latency_is_compared_where_asked_at_equal_concurrency(timed: Example) -> None:
    timed.accept()
    assert '"mean_latency": 1.0' in timed.baseline.read_text()
    timed.write("slow", "")
    result = timed.run()
    assert gates(result) == ["regression: mean_latency"]
    gate = outcomes(result)["regression: mean_latency"]
    assert (gate.method, gate.word, gate.owner, gate.before, gate.value) == ("tolerance", "worse", "tools", 1.0, 2.0)
    other = timed.run("--auepora-concurrency", "4")
    comparison = judged(other).verdict.comparison
    assert comparison is not None
    assert comparison.incomparable["mean_latency"].changes == (("concurrency", 1, 4),)
    assert comparison.changes_of("mean_latency") == {}
    assert gates(other) == []


def test_without_asking_no_time_is_in_a_baseline(project: Example) -> None:
    project.accept()
    assert "latency" not in project.baseline.read_text()


def test_guards_thresholds_must_pass_and_quarantine_together(project: Example) -> None:
    project.edit("    query: When do parcels", "    quarantine: 2000-01-01\n    query: When do parcels")
    project.edit("    query: How many months", "    must_pass: true\n    query: How many months")
    project.edit("    query: Are returns", "    quarantine: 2999-01-01\n    query: Are returns")
    project.accept()
    project.edit('    "returns"', '    "moved"', "shop.py")
    project.edit('    "shipping"', '    "gone"', "shop.py")
    result = project.run()
    assert result.ret == 1
    assert {"recall@3", "regression: recall@1", "regression: mrr"} <= set(gates(result))
    cases = judged(result).run.cases
    assert {case_id for case_id, case in cases.items() if case.state == "failed"} == {"warehouse"}
    fell = {one.metric: (one.status, one.before, one.after, one.limit) for one in cases["warehouse"].findings}
    assert fell["mrr"] == fell["recall@1"] == ("failed", 1.0, 0.0, 0.5), "its quarantine is over"
    assert {one.status for one in cases["free-returns"].findings} == {"excused"}
