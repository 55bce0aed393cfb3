"""The test `suite` runs where all of its cases do, and a selection without it judges no gate."""

from __future__ import annotations

import json

import pytest

from ..conftest import RAG, Example
from ..listening import gates, outcomes

CASES = ("refund-window", "warehouse", "free-returns", "warranty", "ceo-salary")
NODES = tuple(f"shop.golden.yaml::{case}" for case in CASES)
SUITE = "shop.golden.yaml::suite"
TAGGED = "    tags: [smoke]\n"
BOTH = [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)]


def run(project: Example, *args: str) -> pytest.RunResult:
    """Run, with pytest-xdist where *args* ask for it."""
    if "-n" in args:
        pytest.importorskip("xdist", reason="needs pytest-xdist")
    return project.run(*args, plugins=("xdist",) if "-n" in args else ())


@pytest.mark.parametrize("workers", BOTH)
@pytest.mark.parametrize(
    ("args", "passed"),
    [
        (("-k", "warehouse"), 1),
        (("-k", "not warehouse"), 4),
        (("-m", "smoke"), 1),
        (("-m", "not smoke"), 4),
        (("--deselect", NODES[1]), 4),
        (NODES[1:2], 1),
        (NODES, 5),  # all cases, and not the suite
        (("-k", "not suite"), 5),
        (("--deselect", SUITE), 5),
        (("-k", " or ".join(CASES)), 5),
        (("-k", "shop"), 6),
        (("shop.golden.yaml",), 6),
        ((*NODES, SUITE), 6),
    ],
)
def test_it_is_left_out_of_a_partial_run(
    project: Example, args: tuple[str, ...], passed: int, workers: tuple[str, ...]
) -> None:
    project.edit("recall@3: 0.9", "mean_latency: {max: 0.000000001}")
    result = run(project, *args, *workers)
    judged = passed == 6
    assert result.parseoutcomes()["passed"] == passed - judged
    assert result.ret == judged
    assert gates(result) == ["mean_latency"] * judged


def test_a_tag_of_all_cases_selects_it(project: Example) -> None:
    text = project.golden.read_text().replace(TAGGED, "")
    project.golden.write_text(text.replace("    query:", "    tags: [smoke]\n    query:"))
    project.run("-m", "smoke").assert_outcomes(passed=6)
    project.run("-m", "not smoke").assert_outcomes(deselected=6)


def test_a_suite_left_out_says_so(project: Example) -> None:
    project.edit("recall@3: 0.9", "mean_latency: {max: 0.000000001}")
    gate = outcomes(project.run("-k", "not suite"))["threshold: mean_latency"]
    assert (gate.state, gate.reason) == ("not judged", "suite not selected")


def test_named_alone_it_does_not_pass(project: Example) -> None:
    result = project.run(SUITE)
    assert result.ret == 1
    assert "golden file" in str(result.stdout)
    project.write("test_plain.py", "def test_plain(): pass\n")
    project.run(SUITE, "test_plain.py").assert_outcomes(passed=1, failed=1)


def test_its_name_selects_it_by_accident_and_does_no_harm(project: Example) -> None:
    project.write("test_suite_of_mine.py", "def test_plain(): pass\n")
    project.run("-k", "suite").assert_outcomes(passed=1, deselected=6)


@pytest.mark.parametrize("workers", BOTH)
def test_last_failed_brings_the_cases_of_a_failed_suite(project: Example, workers: tuple[str, ...]) -> None:
    project.edit("recall@3: 0.9", "mean_latency: {max: 0.000000001}")
    project.run(*workers, cache=True, plugins=("xdist",) if workers else ()).assert_outcomes(passed=5, failed=1)
    project.run("--lf", cache=True).assert_outcomes(passed=5, failed=1)
    project.edit("mean_latency: {max: 0.000000001}", "recall@3: 0.9")
    project.run("--lf", cache=True).assert_outcomes(passed=6)
    assert json.loads(project.read(".pytest_cache/v/cache/lastfailed")) == {}


@pytest.mark.slow
def test_stepwise_passes_no_suite_without_its_cases(project: Example) -> None:
    project.edit("recall@3: 0.9", "mean_latency: {max: 0.000000001}")
    project.write("z.golden.yaml", project.read("shop.golden.yaml").replace("suite: shop", "suite: z"))
    for _ in range(2):
        result = project.run("--sw", cache=True)
        assert result.ret != 0
        assert f"FAILED {SUITE}" in str(result.stdout)


def test_exit_first_ends_before_it(project: Example) -> None:
    project.break_retriever()
    project.run("-x").assert_outcomes(failed=1)
    (project.path / "shop.py").write_text(RAG)
    project.when_asked("Xyzzy", "1 / 0")  # the last case
    project.run("-x").assert_outcomes(passed=4, failed=1)


def test_a_failed_suite_is_a_failure_that_ends_a_run(project: Example) -> None:
    project.edit("recall@3: 0.9", "mean_latency: {max: 0.000000001}")
    project.write("z.golden.yaml", project.read("shop.golden.yaml").replace("suite: shop", "suite: z"))
    project.run("-x").assert_outcomes(passed=5, failed=1)
    project.run("--maxfail=2").assert_outcomes(passed=10, failed=2)


def test_it_is_collected_and_not_run(project: Example) -> None:
    result = project.run("--collect-only", "-q")
    assert [line for line in result.outlines if "::" in line] == [*NODES, SUITE]
    assert result.ret == 0


def test_labels_are_checked_without_it(project: Example) -> None:
    project.conftest("@pytest.fixture\ndef auepora_corpus_ids():\n    return list(DOCS)\n")
    collected = project.run("--auepora-labels=check", "--collect-only", "-q").outlines
    assert [line for line in collected if "::" in line] == [*NODES]
