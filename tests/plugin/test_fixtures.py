"""Threshold assertions in test files: the ``auepora`` fixture, the marker, and what a failure says."""

from __future__ import annotations

import re

import pytest

from .conftest import Example
from .listening import judged


def test_the_fixture_evaluates_and_scores_compare(project: Example) -> None:
    project.write(
        "test_quality.py",
        """
import pytest
from pytest_auepora.errors import NotMeasuredError, UnknownNameError, BaselineError


def test_it(auepora):
    run = auepora.evaluate("shop.golden.yaml")
    assert run["recall@3"] >= 0.9
    assert 0.9 <= run["recall@3"]
    assert run["error_rate"] == 0
    assert float(run["mrr"]) == pytest.approx(1.0)
    with pytest.raises(UnknownNameError, match="did you mean 'mrr'"):
        run["mrx"]
    with pytest.raises(BaselineError, match="--auepora-update"):
        run.assert_no_regression()


def test_na_never_compares(auepora):
    run = auepora.evaluate("shop.golden.yaml")
    from pytest_auepora.core.comparable_score import ComparableScore
    with pytest.raises(NotMeasuredError, match="no reference"):
        ComparableScore("bleu", None, "no reference") >= 0.3
""",
    )
    result = project.run("test_quality.py", auepora=False)
    result.assert_outcomes(passed=2)


def test_a_failed_comparison_names_the_cases_that_cost_most(project: Example) -> None:
    project.break_retriever()
    project.write(
        "test_quality.py",
        "def test_it(auepora):\n    assert auepora.evaluate('shop.golden.yaml')['recall@3'] >= 0.9\n",
    )
    result = project.run("test_quality.py", auepora=False)
    assert result.ret == 1
    text = str(result.stdout)
    assert "refund-window" in text
    assert "refunds" in text
    assert "0.75" in text


def test_no_regression_against_the_baseline(project: Example) -> None:
    project.accept()
    project.write(
        "test_quality.py", "def test_it(auepora):\n    auepora.evaluate('shop.golden.yaml').assert_no_regression()\n"
    )
    assert project.run("test_quality.py", auepora=False).ret == 0
    project.break_retriever()
    result = project.run("test_quality.py", auepora=False)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*regression: recall@1: 1.0000 → 0.7500*", "E*refund-window: *"])


def test_an_assertion_that_held_in_the_baseline_is_a_regression(project: Example) -> None:
    project.case("free-returns", "must_contain: [free]")
    project.accept()
    project.write(
        "test_quality.py", "def test_it(auepora):\n    auepora.evaluate('shop.golden.yaml').assert_no_regression()\n"
    )
    project.edit("Returns are free when", "Returns cost nothing when", "shop.py")
    result = project.run("test_quality.py", auepora=False)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*free-returns: must_contain: the answer misses 'free'*"])


def test_the_marker_runs_a_test_per_case(project: Example) -> None:
    project.write(
        "test_quality.py",
        """
import pytest


@pytest.mark.auepora("shop.golden.yaml")
def test_each(auepora_case):
    assert auepora_case.answer
    if auepora_case.id == "warranty":
        assert auepora_case["token_f1"] >= 0.9
""",
    )
    result = project.run("test_quality.py", auepora=False)
    result.assert_outcomes(passed=4, failed=1)
    assert "test_each[warranty]" in str(result.stdout)
    assert "token_f1" in str(result.stdout)


@pytest.mark.parametrize(
    ("mark", "told"),
    [
        ("", "auepora_case needs @pytest.mark.auepora('path/of/golden.yaml')"),
        ("@pytest.mark.auepora", "auepora_case needs @pytest.mark.auepora('path/of/golden.yaml')"),
        (
            "@pytest.mark.auepora('shpo.golden.yaml')",
            "no golden file shpo.golden.yaml (did you mean 'shop.golden.yaml'?)",
        ),
        (
            "@pytest.mark.auepora('odd.yaml')",
            "odd.yaml:1:10: unknown key 'qury' (did you mean 'query'?)",
        ),
    ],
)
def test_a_wrong_marker_is_told_without_a_traceback(project: Example, mark: str, told: str) -> None:
    project.write("odd.yaml", "cases: [{qury: q}]")
    project.write("test_quality.py", f"import pytest\n\n{mark}\ndef test_each(auepora_case): pass")
    result = project.run("test_quality.py", auepora=False)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert told in str(result.stdout)
    for noise in ("Traceback", "pluggy/", "During handling"):
        assert noise not in str(result.stdout)


def test_a_mistyped_golden_file_is_told_with_its_line(project: Example) -> None:
    project.write("test_quality.py", "def test_it(auepora):\n    auepora.evaluate('shpo.golden.yaml')\n")
    result = project.run("test_quality.py", auepora=False)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            ">   *auepora.evaluate('shpo.golden.yaml')",
            "E   *no golden file shpo.golden.yaml (did you mean 'shop.golden.yaml'?); looked at */shpo.golden.yaml",
            "*test_quality.py:2: FileNotFoundError",
        ]
    )


def test_results_of_the_fixture_are_accepted_by_an_update(project: Example) -> None:
    project.golden.rename(project.path / "shop.yaml")
    project.write("test_quality.py", "def test_it(auepora):\n    assert auepora.evaluate('shop.yaml')['mrr'] >= 0.5\n")
    result = project.run("--auepora-update", "test_quality.py")
    assert result.ret == 0, str(result.stdout)
    assert project.baseline.exists()


def test_without_pytest(project: Example) -> None:
    result = project.pytester.run(
        __import__("sys").executable, "-W", "error", "-c",
        "import sys; from shop import answer; from pytest_auepora import evaluate;"
        "done = evaluate('shop.golden.yaml', answer); print(float(done['recall@3']), done.verdict.outcome);"
        "assert 'pytest' not in sys.modules",
    )  # fmt: skip
    assert result.ret == 0, str(result.stderr)
    result.stdout.fnmatch_lines(["1.0 passed"])


@pytest.mark.parametrize("made", ["async ", ""])
def test_output_of_a_system_shows_with_its_test(project: Example, made: str) -> None:
    project.system(
        f"def rag():\n    import logging\n    {made}def ask(query):\n        print('asked', query)\n"
        "        logging.warning('searched for %s', query)\n        return answer(query)\n    return ask"
    )
    project.write(
        "test_quality.py",
        """
import pytest


def test_it(auepora, capsys, caplog):
    auepora.evaluate("shop.golden.yaml")
    assert len(capsys.readouterr().out.splitlines()) == len(caplog.records) == 5


@pytest.mark.auepora("shop.golden.yaml")
def test_each(auepora_case):
    assert auepora_case.id != "refund-window"
""",
    )
    result = project.run("shop.golden.yaml", "test_quality.py", "--auepora-concurrency", "4", "--auepora-timeout", "60")
    result.assert_outcomes(passed=5 + 1 + 4 + 1, failed=1)
    shown = ["* Captured stdout setup *", "asked Within*", "* Captured log setup *", "*searched for Within*"]
    result.stdout.fnmatch_lines(shown)


def test_the_limit_of_a_case_holds_wherever_it_is_asked(project: Example) -> None:
    project.system(
        "def rag():\n    import threading\n    over = threading.Event()\n"
        "    yield lambda query: over.wait(60) if 'refund' in query else answer(query)\n    over.set()"
    )
    project.edit("    tags: [smoke]", "    tags: [smoke]\n    timeout: 0.2")
    project.write(
        "test_quality.py",
        """
from pytest_auepora import evaluate


def test_it(auepora, rag):
    for run in (auepora.evaluate("shop.golden.yaml").run, evaluate("shop.golden.yaml", rag).run):
        (ended,) = run.in_state("error")
        assert ended.case_id == "refund-window"
        assert "no answer within 0.2 s" in ended.scores["mrr"].reason
""",
    )
    assert project.run("test_quality.py", "--auepora-timeout", "60").parseoutcomes()["passed"] == 1


def test_a_broken_baseline_ends_the_test(project: Example) -> None:
    project.write("__baselines__/shop.json", "{")
    project.write("test_it.py", "def test_it(auepora):\n    auepora.evaluate('shop.golden.yaml')\n")
    result = project.run("test_it.py")
    result.assert_outcomes(failed=1)
    assert re.search(r"^E +pytest_auepora.errors.BaselineError: .*shop\.json", str(result.stdout), re.MULTILINE)


def test_a_golden_file_is_one_run_by_whichever_path(project: Example) -> None:
    (project.path / "tests").mkdir()
    project.write("tests/test_it.py", "def test_it(auepora):\n    auepora.evaluate('../shop.golden.yaml')\n")
    text = str(project.run().stdout)
    assert text.count("5 passed") == 1
    assert "tests/../" not in text


def test_what_was_measured_before_a_test_ended_is_kept(project: Example) -> None:
    cases = "".join(f"  - {{id: c{i}, query: any refund}}\n" for i in range(40))
    project.write("many.golden.yaml", f"suite: many\ncases:\n{cases}")
    project.conftest(
        "def pytest_auepora_redact(result):\n    if result.case_id == 'c39':\n        raise ValueError('redacting')\n"
    )
    project.write("test_it.py", "def test_it(auepora):\n    auepora.evaluate('many.golden.yaml')\n")
    result = project.run("test_it.py")
    assert "pytest_auepora_redact raised ValueError" in str(result.stdout)


@pytest.mark.parametrize("problem", ["answer", "error"])
def test_a_case_that_is_expected_to_fail_is_here_too(project: Example, problem: str) -> None:
    project.case("refund-window", "xfail: JIRA-1 under repair")
    if problem == "error":
        project.when_asked("refund", "raise RuntimeError('down')")
    project.write(
        "test_quality.py",
        "import pytest\n\n\n@pytest.mark.auepora('shop.golden.yaml')\ndef test_it(auepora_case):\n"
        "    assert auepora_case.case.id != 'refund-window'\n",
    )
    result = project.run("test_quality.py", "-rx", auepora=False)
    result.assert_outcomes(passed=4, xfailed=1)
    result.stdout.fnmatch_lines(["XFAIL *refund-window]* JIRA-1 under repair*"])


def test_an_evaluated_case_is_expected_to_fail_too(project: Example) -> None:
    project.edit("thresholds:\n  recall@3: 0.9\n", "")
    project.case("refund-window", "xfail: JIRA-1 under repair")
    project.when_asked("refund", "raise RuntimeError('down')")
    project.write("test_it.py", "def test_it(auepora):\n    auepora.evaluate('shop.golden.yaml').assert_thresholds()\n")
    result = project.run("test_it.py")
    assert (result.ret, judged(result).run.cases["refund-window"].expected_to_fail) == (0, True)
    assert project.run("test_it.py", "--runxfail").ret == 1
