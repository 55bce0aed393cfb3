"""A project's hook that raises: the run says which one and where, fails, and shows nothing that was to be hidden."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ..conftest import Example
from ..counting import store

HOOKS = {"redact": "result", "run_finished": "run"}
ERRORS = {
    "KeyError": "raise KeyError('hunter2')",
    "ZeroDivisionError": "return 1 / 0",
    "SystemExit": "import sys; sys.exit(0)",
    "Failed": "import pytest; pytest.fail('hunter2')",
    "Skipped": "import pytest; pytest.skip('hunter2')",
    "RecursionError": "return pytest_auepora_{name}({argument})",
}
REPORTS = ("--auepora-report", "md:r.md", "--auepora-report", "json:r.json", "--junitxml", "r.xml")


def run_with(project: Example, name: str, error: str, *args: str, **how: Any) -> tuple[int, str]:
    """Run the project with a hook that raises; return its exit code and all that is said or written."""
    body = ERRORS[error].format(name=name, argument=HOOKS[name])
    project.conftest(f"\n\ndef pytest_auepora_{name}({HOOKS[name]}):\n    {body}\n")
    result = project.run(*REPORTS, *args, **how)
    written = [path.read_bytes().decode("utf-8", "replace") for path in project.path.rglob("r.*") if path.is_file()]
    return int(result.ret), "\n".join([str(result.stdout), str(result.stderr), *written])


@pytest.mark.parametrize(
    ("name", "error"),
    [*(("redact", error) for error in ERRORS), ("run_finished", "KeyError"), ("run_finished", "Failed")],
)
def test_a_hook_that_raises_fails_the_run_and_is_named(project: Example, name: str, error: str) -> None:
    code, told = run_with(project, name, error)
    assert code == 1
    assert f"pytest_auepora_{name} raised {error} (conftest.py:" in " ".join(told.split())
    assert "INTERNALERROR" not in told
    assert "hunter2" not in told
    assert len(store(project).runs()) == 1


@pytest.mark.parametrize(
    "args", [(), pytest.param(("-n2",), marks=pytest.mark.slow), ("--full-trace", "--showlocals", "-vv", "-rA")]
)
@pytest.mark.slow
def test_a_result_that_could_not_be_redacted_has_no_text(project: Example, args: tuple[str, ...]) -> None:
    project.edit("query: When do parcels leave the warehouse?", "query: When do parcels leave, hunter2?")
    code, told = run_with(project, "redact", "ZeroDivisionError", *args, plugins=("xdist",) if "-n2" in args else ())
    kept = store(project)
    run = kept.load("last")
    told += repr(run) + repr(dict(kept.recordings("last")))
    assert code == 1
    assert "hunter2" not in told
    assert "within 30 days" not in told.casefold()
    assert {case.state for case in run.cases.values()} == {"error"}
    assert not any(case.query or case.outputs or case.expected for case in run.cases.values())


def test_a_run_is_stored_once_whatever_hook_raises_after_it(project: Example) -> None:
    project.conftest("\n\n@pytest.hookimpl(trylast=True)\ndef pytest_auepora_run_finished(run):\n    raise KeyError\n")
    assert project.run().ret == 1
    assert len(store(project).runs()) == 1


@pytest.mark.parametrize(
    ("body", "told"),
    [("raise KeyError('x')", ": KeyError: 'x'"), ("return 5", " returned 5: expected a mapping of names")],
)
def test_formats_that_nobody_can_offer_are_told(project: Example, body: str, told: str) -> None:
    project.conftest(f"\n\ndef pytest_auepora_report_formats():\n    {body}\n")
    result = project.run(*REPORTS)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert f"--auepora-report: pytest_auepora_report_formats{told}" in str(result.stderr)


def test_an_exit_is_no_mistake(project: Example) -> None:
    project.conftest("\n\ndef pytest_auepora_run_finished(run):\n    pytest.exit('enough', 7)\n")
    result = project.run()
    assert result.ret == 7
    assert "enough" in str(result.stdout) + str(result.stderr)


def test_full_traces_show_what_was_redacted_alone(project: Example) -> None:
    project.edit("query: When do parcels leave the warehouse?", "query: When do parcels leave, hunter2?")
    project.edit("reference_answer: Parcels", "must_contain: [never]\n    reference_answer: Parcels")
    project.conftest(
        "\n\ndef pytest_auepora_redact(result):\n    result.query = result.query.replace('hunter2', '***')\n"
    )
    result = project.run("--full-trace", "--showlocals", "shop.golden.yaml")
    assert result.ret == 1
    assert "When do parcels leave, ***?" in str(result.stdout)
    assert "hunter2" not in str(result.stdout)


def test_the_history_says_that_a_hook_raised(project: Example) -> None:
    run_with(project, "run_finished", "KeyError")
    (gate,) = (gate for gate in store(project).verdict("last").gates if gate.kind == "hook")
    assert gate.state == "failed"
    assert Path(gate.detail.partition("(")[2]).name.startswith("conftest.py:")
