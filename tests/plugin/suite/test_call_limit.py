"""`--auepora-max-calls` bounds what a run asks: first answers are refused up front, further ones as they come."""

from __future__ import annotations

import pytest

from ..conftest import Example
from ..listening import notes
from .varying import ACCEPTED, N_CASES, accepted, calls, says, vary

BOTH = [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)]


def run(project: Example, *args: str) -> pytest.RunResult:
    """Run, with pytest-xdist where *args* ask for it."""
    if "-n" in args:
        pytest.importorskip("xdist", reason="needs pytest-xdist")
    return project.run(*args, plugins=("xdist",) if "-n" in args else ())


@pytest.mark.parametrize("workers", BOTH)
def test_a_run_of_more_cases_is_refused(project: Example, workers: tuple[str, ...]) -> None:
    says(vary(project), "good")
    limit = f"--auepora-max-calls={N_CASES - 1}"
    result = run(project, limit, *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --auepora-max-calls {N_CASES - 1}: *{N_CASES} calls*"])
    assert calls(project) == []
    assert run(project, limit, "-k", "c01 or c02", *workers).ret == 0
    assert len(calls(project)) == 2


def test_an_update_counts_the_answers_that_it_accepts(project: Example) -> None:
    says(vary(project), "good")
    refused = project.run("--auepora-update", f"--auepora-max-calls={N_CASES}")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    project.accept(f"--auepora-max-calls={2 * N_CASES}")
    assert len(calls(project)) == 2 * N_CASES


def test_an_update_that_would_need_more_keeps_to_it(project: Example) -> None:
    says(vary(project), ACCEPTED)
    result = project.run("--auepora-update", f"--auepora-max-calls={3 * N_CASES}")
    assert len(calls(project)) == 3 * N_CASES
    assert notes(result)["call limit"].data == {"limit": 3 * N_CASES}


def test_without_calls_left_there_is_no_second_look(project: Example) -> None:
    accepted(vary(project))
    says(project, "bad")
    result = project.run(f"--auepora-max-calls={2 * N_CASES - 1}")
    assert (result.ret, len(calls(project))) == (1, N_CASES)
    assert notes(result)["looked once"].detail == "limit"
    says(project, "bad")
    project.run(f"--auepora-max-calls={2 * N_CASES}")
    assert len(calls(project)) == 2 * N_CASES


@pytest.mark.parametrize("workers", BOTH)
def test_without_calls_left_a_case_is_not_asked_again(project: Example, workers: tuple[str, ...]) -> None:
    says(vary(project), "good")
    project.accept()
    says(project, "bad")
    result = run(project, f"--auepora-max-calls={N_CASES + 4}", *workers)
    assert result.ret == 1
    assert len(calls(project)) == N_CASES + 4
    assert notes(result)["call limit"].data == {"limit": N_CASES + 4}


def test_a_test_that_evaluates_is_bound_too(project: Example) -> None:
    says(vary(project), "good")
    project.write("test_it.py", "def test_it(auepora):\n    auepora.evaluate('shop.golden.yaml')\n")
    result = project.run("test_it.py", f"--auepora-max-calls={N_CASES - 1}")
    assert (result.ret, calls(project)) == (1, [])
    allowed = project.run("test_it.py", f"--auepora-max-calls={N_CASES}")
    assert (allowed.ret, len(calls(project))) == (0, N_CASES)


@pytest.mark.parametrize("number", ["0", "-1", "x"])
def test_a_limit_is_a_number_from_1(project: Example, number: str) -> None:
    result = project.run(f"--auepora-max-calls={number}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
