"""Suite gates, case thresholds, errors: fail closed, and say why."""

from __future__ import annotations

import re

import pytest

from .conftest import Example, gates


@pytest.mark.parametrize(
    ("thresholds", "failing"),
    [
        ("{recall@3: 0.9}", []),
        ("{recall@3: {min: 0.9, stat: min}}", []),
        ("{p10(mrr): 0.9}", []),
        ("{mrr: {min: 0.1, max: 0.5}}", ["mrr"]),
        ("{p95_latency: {max: 60}}", []),
        ("{p95_latency: {max: 0.000000001}}", ["p95_latency"]),
        ("{pass_rate: 1.0}", []),
        ("{mrr: {min: 0.5, slice: {tag: smoke}}}", []),
        ("{pass_rate(token_f1): 0.9}", []),
    ],
)
def test_suite_thresholds(project: Example, thresholds: str, failing: list[str]) -> None:
    project.edit("thresholds:\n  recall@3: 0.9\n", f"thresholds: {thresholds}\n")
    result = project.run()
    assert gates(result) == failing
    assert result.ret == (1 if failing else 0)


def test_a_threshold_over_nothing_measured_is_never_green(project: Example) -> None:
    project.edit("token_f1, refusal_correctness", "token_f1, evidence_overlap, bleu, refusal_correctness")
    text = project.golden.read_text()
    project.golden.write_text(
        "\n".join(
            line
            for line in text.replace("  recall@3: 0.9", "  bleu: 0.01").splitlines()
            if "reference_answer" not in line
        )
    )
    result = project.run("-W", "default")  # that token_f1 has nothing to measure is a warning before
    assert gates(result) == ["bleu"]
    assert "nothing was measured" in str(result.stdout)


def test_errors_count_as_worst_and_fail_the_error_gate(project: Example) -> None:
    project.when_asked("warehouse", "1 / 0")
    result = project.run()
    assert gates(result) == ["recall@3", "error_rate"]
    assert "1 case errored: left out of the values, the worst value in gates" in " ".join(str(result.stdout).split())
    assert "3/5" in str(result.stdout)  # the denominator: one errored, one has nothing to retrieve


def test_a_failed_gate_is_told_in_whole_words(project: Example) -> None:
    project.when_asked("warehouse", "1 / 0")
    text = str(project.run("-rf").stdout)
    gate = text[text.index("_ gate: recall@3") : text.index("_ gate: error_rate")].splitlines()[1:-1]
    assert max(map(len, gate)) <= 80
    assert gate[0].startswith("shop.golden.yaml:4: recall@3 0.")
    assert gate[-1] == "cases that cost most: warehouse"
    assert gate[1].startswith("  ")


def test_the_error_gate_can_be_loosened(project: Example) -> None:
    project.when_asked("warehouse", "1 / 0")
    project.edit("  recall@3: 0.9", "  error_rate: 0.2\n  recall@3: 0.7")
    result = project.run()
    assert gates(result) == []
    assert result.ret == 1  # the case itself failed


def test_owner_and_the_cases_that_cost_most_are_named(project: Example) -> None:
    project.edit("suite: shop\n", "suite: shop\nowner: search-team\n")
    project.break_retriever()
    text = " ".join(str(project.run("-rf").stdout).split())
    assert "owner: search-team" in text
    assert "cases that cost most: refund-window" in text


def test_the_gate_points_at_its_line_of_the_golden_file(project: Example) -> None:
    project.break_retriever()
    options = () if pytest.version_tuple >= (9,) else ("-v",)  # pytest 8 lists gates without their message
    assert "shop.golden.yaml:4: recall@3" in str(project.run(*options).stdout)


def test_an_expected_failure_does_not_fail_the_run(project: Example) -> None:
    project.edit("thresholds:\n  recall@3: 0.9\n", "")
    project.case("refund-window", "xfail: index is being rebuilt")
    project.break_retriever()
    result = project.run()
    assert result.ret == 0
    assert result.parseoutcomes()["xfailed"] == 1
    assert "accepted shop:" not in str(project.run("--auepora-update").stdout)  # no warning
    marked_away = project.run("--runxfail")
    assert (marked_away.ret, marked_away.parseoutcomes()["failed"]) == (1, 1)
    assert "expected to fail" not in str(marked_away.stdout)


def test_a_case_that_somebody_ended_is_an_errored_case(project: Example) -> None:
    project.conftest(
        "@pytest.hookimpl(wrapper=True)\ndef pytest_pyfunc_call(pyfuncitem):\n"
        "    if pyfuncitem.name == 'warehouse':\n        pytest.fail('it took too long')\n    return (yield)\n",
    )
    result = project.run()
    assert gates(result) == ["recall@3", "error_rate"]
    result.stdout.fnmatch_lines(["1 errored, 4 passed*", "*warehouse*error: Failed: it took too long"])


def test_a_case_ended_when_run_again_is_not_what_it_was(project: Example) -> None:
    pytest.importorskip("pytest_rerunfailures", reason="reruns need pytest-rerunfailures")
    project.conftest(
        "seen = []\n\n@pytest.hookimpl(wrapper=True)\n"
        "def pytest_pyfunc_call(pyfuncitem):\n"
        "    if pyfuncitem.name != 'warehouse':\n        return (yield)\n"
        "    seen.append(1)\n    if len(seen) == 1:\n        yield\n    pytest.fail('it took too long')\n",
    )
    result = project.run("--reruns", "1", plugins=("pytest_rerunfailures",))
    result.stdout.fnmatch_lines(["1 errored, 4 passed*"])


PHASES = """

def pytest_runtest_logreport(report):
    if "gate:" in report.nodeid:
        with open("phases.txt", "a") as file:
            print(report.when, report.outcome, report.location[0], report.location[1], file=file)
"""


def test_a_gate_is_reported_in_three_phases_at_its_line(project: Example) -> None:
    project.conftest(PHASES)
    project.break_retriever()
    assert gates(project.run()) == ["recall@3"]
    lines = project.read("phases.txt").splitlines()
    assert lines[:3] == [
        "setup passed shop.golden.yaml 3", "call failed shop.golden.yaml 3", "teardown passed shop.golden.yaml 3",
    ]  # fmt: skip
    assert [line.split()[0] for line in lines] == ["setup", "call", "teardown"] * (len(lines) // 3)


@pytest.mark.parametrize("args", [("-v",), pytest.param(("-v", "-n", "2"), marks=pytest.mark.slow)])
def test_progress_does_not_run_backwards(project: Example, args: tuple[str, ...]) -> None:
    plugins = ("xdist",) if "-n" in args else ()
    if plugins:
        pytest.importorskip("xdist", reason="needs pytest-xdist")
    shown = [int(n) for n in re.findall(r"\[ *(\d+)%\]", str(project.run(*args, plugins=plugins).stdout))]
    assert len(shown) >= 7
    assert shown == sorted(shown)
    assert shown[-1] == 100


def test_an_accepted_expected_failure_is_still_expected(project: Example) -> None:
    project.edit('must_contain: ["30 days"]', 'must_contain: ["31 days"]\n    xfail: wrong in the source')
    for args in ("--auepora-update",), (), ("-o", "xfail_strict=true"):
        result = project.run(*args)
        assert (result.ret, result.parseoutcomes()["xfailed"]) == (0, 1)


def test_strict_xfail_is_the_projects_own_setting(project: Example) -> None:
    project.case("refund-window", "xfail: index is being rebuilt")
    assert project.run("-o", "xfail_strict=true").parseoutcomes()["failed"] == 1
    assert project.run().parseoutcomes()["xpassed"] == 1
