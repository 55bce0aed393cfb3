"""A case with ``benchmark:`` is timed by pytest-benchmark."""

from __future__ import annotations

import pytest

from ..conftest import Example
from ..listening import judged

pytest.importorskip("pytest_benchmark", reason="times cases")
BENCHMARK = ("pytest_benchmark.plugin",)


def test_it_appears_in_the_table_under_its_own_name(project: Example) -> None:
    project.case("warehouse", "benchmark: {rounds: 7, iterations: 2, group: search}")
    project.case("warranty", "benchmark: true")
    result = project.run("--benchmark-columns=rounds,iterations", plugins=BENCHMARK)
    assert result.ret == 0, str(result.stdout)
    result.stdout.re_match_lines([r"-+ benchmark '?search'?: 1 tests -+", r"warehouse +7 +2"])
    assert "warranty" in str(result.stdout)


def test_saved_runs_compare(project: Example) -> None:
    project.case("warehouse", "benchmark: {rounds: 3}")
    assert project.run("--benchmark-save=one", plugins=BENCHMARK).ret == 0
    slow = "def answer(query, docs=DOCS):\n    import time\n    time.sleep(0.05)"
    project.edit("def answer(query, docs=DOCS):", slow, "shop.py")
    result = project.run("--benchmark-compare=0001", "--benchmark-compare-fail=min:200%", plugins=BENCHMARK)
    assert result.ret != 0
    assert "Performance has regressed" in str(result.stdout) + str(result.stderr)


def test_a_failing_call_is_a_failed_case_and_not_a_timing(project: Example) -> None:
    project.case("warehouse", "benchmark: {rounds: 3}")
    project.when_asked("warehouse", "1 / 0")
    result = project.run(plugins=BENCHMARK)
    assert result.ret == 1
    assert "ZeroDivisionError" in str(result.stdout)


def test_without_the_plugin_the_case_says_what_to_install(project: Example) -> None:
    project.case("warehouse", "benchmark: true")
    result = project.run()
    assert result.ret == 1
    assert "pytest-auepora[benchmark]" in judged(result).run.cases["warehouse"].error


def test_only_benchmarks_are_asked_for(project: Example) -> None:
    result = project.run("--benchmark-only", plugins=BENCHMARK)
    assert result.ret == 0, str(result.stdout)
    result.assert_outcomes(skipped=6)
    project.case("warehouse", "benchmark: {rounds: 2}")
    assert project.run("--benchmark-only", plugins=BENCHMARK).ret == 0
