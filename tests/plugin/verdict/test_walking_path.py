"""The main job from one end to the other: green, broken, red, accepted, green again."""

from __future__ import annotations

import re

import pytest

from ..conftest import Example
from ..listening import gates, judged, outcomes


def test_a_healthy_system_is_green_without_a_baseline(project: Example) -> None:
    result = project.run()
    verdict = judged(result).verdict
    assert (result.ret, verdict.outcome, verdict.baseline_note.state) == (0, "passed", "none")
    assert outcomes(result)["threshold: recall@3"].state == "passed"


def test_a_broken_retriever_fails_and_says_what_was_missed(project: Example) -> None:
    project.accept()
    project.break_retriever()
    result = project.run("-rf")
    assert result.ret == 1
    text = str(result.stdout)
    assert "shop.golden.yaml:7" in text or "shop.golden.yaml:6" in text
    assert "refunds" in text
    assert "Within how many days" in text
    assert "recall@3" in gates(result)
    flips = [case.flip for case in judged(result).verdict.case_comparisons.values()]
    assert flips.count("newly failing") == 1


def test_accepting_the_change_makes_it_green(project: Example) -> None:
    project.accept()
    before = project.baseline.read_text()
    project.case("refund-window", "skip: gone")
    project.edit("thresholds: {token_f1: 0.5}", "thresholds: {token_f1: 0.0}")
    project.break_retriever()
    assert project.run().ret == 0  # nothing else depends on that document
    project.edit("    skip: gone\n", "")
    project.edit("  recall@3: 0.9", "  recall@3: 0.5")
    project.edit(
        "metrics: [recall@1, recall@3, mrr,", "regression: {min_effect: 0.3}\nmetrics: [recall@1, recall@3, mrr,"
    )
    assert project.run().ret == 1
    project.accept()
    assert project.baseline.read_text() != before
    assert project.run().ret == 0


def test_without_the_flag_nothing_is_collected(project: Example) -> None:
    assert project.run(auepora=False).ret == 5


def test_the_ini_key_switches_it_on(project: Example) -> None:
    project.pytester.makeini("[pytest]\nauepora = true")
    project.run(auepora=False).assert_outcomes(passed=6)  # five cases, their suite


def test_update_followed_by_a_path_takes_the_path_as_a_path(project: Example) -> None:
    project.write("sub/conftest.py", "")
    result = project.run("--auepora-update", "shop.golden.yaml", auepora=False)
    assert result.ret == 0
    assert project.baseline.exists()


def test_golden_files_by_other_names_only_when_named(project: Example) -> None:
    project.golden.rename(project.path / "cases.yaml")
    assert project.run().ret == 1  # nothing was measured, and the flag asked for it
    assert project.run("cases.yaml").ret == 0


def test_asked_for_and_nothing_there_is_not_green(project: Example) -> None:
    project.golden.unlink()
    project.write("test_x.py", "def test_x(): pass")
    result = project.run()
    assert result.ret == 1
    assert result.parseoutcomes() == {"passed": 1, "failed": 1}
    assert "auepora_files = *.golden.yaml" in str(result.stdout)
    assert project.run("-k", "test_x").ret == 0


def test_an_assertion_that_held_in_the_baseline_is_not_the_same(project: Example) -> None:
    project.case("free-returns", "must_contain: [free]")
    project.accept()
    project.edit("Returns are free when", "Returns cost nothing when", "shop.py")
    result = project.run()
    assert result.ret == 1
    lines = ["worse: 1 newly failing (1 broke an assertion), 4 unchanged*", "→ if it was intended: accept it*"]
    result.stdout.fnmatch_lines(lines)
    assert "accepted shop: 1 still failing (free-returns)" in str(project.run("--auepora-update").stdout)


def test_an_update_says_first_what_it_made_normal(project: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    project.accept()
    project.break_retriever()
    lines = str(project.run("--auepora-update").stdout).splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip("= ") == "auepora") + 1
    said = lines[start : lines.index("shop  shop.golden.yaml")]
    assert max(map(len, said)) <= 80
    first = " ".join(line.strip() for line in said)
    assert re.match(
        r"accepted shop: 1 case scored lower \(refund-window\), recall@1 1.000 → 0.750, .* 1 gate failed$", first
    )
    assert "accepted shop" not in str(project.run("--auepora-update").stdout)
    monkeypatch.setenv("CI", "1")
    project.baseline.unlink()
    assert "accepted shop in CI: " in str(project.run("--auepora-update").stdout)
