"""Everything that makes a verdict at once: each keeps its own reason, and the worst decides."""

from __future__ import annotations

from ..conftest import Example, gates


def test_latency_is_compared_where_asked_at_equal_concurrency(timed: Example) -> None:
    timed.accept()
    assert '"mean_latency": 1.0' in timed.baseline.read_text()
    timed.write("slow", "")
    result = timed.run()
    assert gates(result) == ["regression: mean_latency"]
    said = " ".join(str(result.stdout).split())
    assert "mean_latency: worse by more than the tolerated 10 %, owner tools" in said
    other = timed.run("--auepora-concurrency", "4")
    assert "(concurrency 1 → 4)" in str(other.stdout)
    assert "scored lower" not in str(other.stdout)
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
    result = project.run("-rf")
    said = " ".join(str(result.stdout).split())
    assert "free-returns (until 2999-01-01" in said
    assert "quarantine is over, held to the baseline again: warehouse (until 2000-01-01)" in said
    failed = gates(result)
    assert {"recall@3", "regression: recall@1", "regression: mrr"} <= set(failed)
    assert "mrr fell from 1.00 to 0.00 (limit 0.5)" in said
    assert "recall@1 fell from 1.00 to 0.00 (limit 0.5)" in said
    assert "free-returns" not in [line.split("::")[-1] for line in result.outlines if line.startswith("FAILED")]
    assert result.ret == 1
