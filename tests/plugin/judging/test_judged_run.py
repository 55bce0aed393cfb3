"""What is accepted of a run, and what keeps it from that."""

from __future__ import annotations

from ..conftest import Example
from ..listening import gates, judged
from ..suite.varying import ACCEPTED, N_CASES, calls, says, vary


def test_a_preview_writes_nothing(project: Example) -> None:
    says(vary(project), "good")
    result = project.run("--auepora-update=preview")
    assert (result.ret, len(calls(project))) == (0, 2 * N_CASES)
    assert not project.baseline.exists()
    accepted = judged(result).accepted
    assert accepted is not None
    assert len(accepted.added) == N_CASES
    project.run("--auepora-update")
    before = project.baseline.read_bytes()
    says(project, "bad")
    accepted = judged(project.run("--auepora-update=preview")).accepted
    assert accepted is not None
    assert len(accepted.changed) == N_CASES
    assert project.baseline.read_bytes() == before


def test_a_preview_of_an_anchor_writes_none(project: Example) -> None:
    says(vary(project), "good")
    project.accept()
    project.accept("--auepora-update=anchor,preview")
    assert [path.name for path in project.baseline.parent.iterdir()] == ["shop.json"]


def test_only_anew_rewrites_what_chance_changed(project: Example) -> None:
    says(vary(project), f"turn {ACCEPTED}")
    project.run("--auepora-update")
    before = project.baseline.read_bytes()
    says(project, "turn good good bad good good")
    assert project.run("--auepora-update").ret == 0
    assert project.baseline.read_bytes() == before
    says(project, "turn good good bad good good")
    project.accept("--auepora-update=anew")
    assert project.baseline.read_bytes() != before


def test_a_baseline_that_cannot_be_written_fails_the_run(project: Example) -> None:
    project.baseline.parent.write_text("no folder")
    result = project.run("--auepora-update")
    assert result.ret == 1
    assert gates(result)[-1] == "baseline"
