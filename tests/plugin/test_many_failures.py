"""A run with many failures: nothing that pytest shows for each of them is lost by being quick about it."""

from __future__ import annotations

import re
from contextlib import nullcontext
from html import escape

import pytest

from .conftest import Project

TEARDOWN = """

@pytest.fixture(autouse=True)
def note(request):
    yield
    if request.node.name == "refund-window":
        print("left after", request.node.name)
"""


def test_output_of_a_tear_down_stands_under_its_failure(project: Project) -> None:
    project.break_retriever()
    project.write("conftest.py", (project.path / "conftest.py").read_text() + TEARDOWN)
    text = str(project.run().stdout)
    failures = text[text.index("= FAILURES =") : text.index("= auepora =")]
    assert "Captured stdout teardown" in failures
    assert failures.count("left after refund-window") == 1


def test_durations_know_every_phase(project: Project) -> None:
    project.break_retriever()
    text = str(project.run("--durations=0", "-vv").stdout)
    for phase in ("setup", "call", "teardown"):
        assert len(re.findall(rf"s {phase} +shop.golden.yaml::[\w-]+\n", text)) == 5


def test_a_failure_says_where_its_case_stands(project: Project) -> None:
    project.break_retriever()
    result = project.run("-rf", "--tb=line")
    text = str(result.stdout)
    line = (project.golden.read_text().splitlines()).index("  - id: refund-window") + 1
    assert f"{project.golden}:{line}: Failed: retrieval: refunds was not" in text
    assert "FAILED shop.golden.yaml::refund-window - Failed: retrieval: refunds was not" in text


HELD_AGAINST_PYTEST = """

def sent(report, longrepr):
    # what pytest-xdist would carry
    report.longrepr = longrepr
    sent = dict(report._to_json()["longrepr"])
    assert len(sent.pop("chain")) == 1
    del sent["reprcrash"]["message"]  # of ours it is the headline alone
    (entry,) = sent.pop("reprtraceback")["reprentries"]
    return sent, chr(10).join(entry["data"].pop("lines")), entry


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "call" and report.failed:
        own, theirs = report.longrepr, type(item).repr_failure(item, call.excinfo)
        assert type(own) is type(theirs)
        assert str(own) == str(theirs)
        assert str(own.reprcrash).startswith(str(theirs.reprcrash))
        assert sent(report, theirs) == sent(report, own)
        assert report.longrepr is own
        print("the same as pytest's:", item.name)
    return report
"""


def test_a_failure_is_what_pytest_would_have_made_of_it(project: Project) -> None:
    project.break_retriever()
    project.write("conftest.py", (project.path / "conftest.py").read_text() + HELD_AGAINST_PYTEST)
    text = str(project.run("-s").stdout)
    assert "the same as pytest's: refund-window" in text


def test_ci_lists_each_failed_case_in_one_line(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """There pytest writes the whole message of each failure into its short summary, which is above it already."""
    project.break_retriever()
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("COLUMNS", "60")
    result = project.run("-rf", "--junitxml=junit.xml")
    short = result.outlines[next(i for i, line in enumerate(result.outlines) if "short test summary" in line) + 1 :]
    cases = [line for line in short if "shop.golden.yaml::refund-window" in line]
    headline = "retrieval: refunds was not found, and the answer falls short (token_f1 0.24, wanted >= 0.5)"
    assert cases == [f"FAILED shop.golden.yaml::refund-window - Failed: {headline}"]
    assert not any(line.startswith(("query", "expected", "  ")) for line in short)
    assert f'<failure message="Failed: {escape(headline)}">' in project.read("junit.xml")
    assert "expected   " in project.read("junit.xml")


def test_a_failure_within_another_shows_both(project: Project) -> None:
    project.break_retriever()
    call = """
import pytest_auepora.pytest_plugin.items as items

conclude = items.conclude


@pytest.fixture(autouse=True)
def within(monkeypatch):
    def run(item, done, calls):
        try:
            raise LookupError("what came before")
        except LookupError:
            conclude(item, done, calls)

    monkeypatch.setattr(items, "conclude", run)
"""
    project.write("conftest.py", (project.path / "conftest.py").read_text() + call)
    text = str(project.run().stdout)
    assert "what came before" in text
    assert "During handling of the above exception" in text


SHARED = """
import pytest

HELD = RuntimeError("held")


@pytest.fixture(scope="session", params=["no index", "no network"])
def rag(request):
    def connect(name):
        raise ConnectionError(name)
    connect(request.param)


@pytest.fixture(params=["one", "other"])
def first(request):
    if request.param == "one":
        raise HELD
    raise HELD


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "setup" and report.failed:
        assert str(report.longrepr) == str(type(item)._repr_failure_py(item, call.excinfo, OPTIONS.get("tb", "auto")))
        assert report.longrepr.reprcrash.message in str(report.longrepr)
        report.longrepr.addsection("seen", item.name)
        assert [name for _, name, _ in report.longrepr.sections] == [item.name]
        print("the same as pytest's:", item.name)
    return report
"""


@pytest.mark.parametrize("style", ["auto", "short", "native"])
@pytest.mark.parametrize("fixture", ["rag", "first"])
def test_a_fixture_that_fails_for_all_shows_what_pytest_shows(project: Project, style: str, fixture: str) -> None:
    source = SHARED.replace('OPTIONS.get("tb", "auto")', repr(style))
    if fixture == "first":
        source = source.replace("def rag(request):", "def rag(request, first):").replace(
            'scope="session", params', "params"
        )
    project.write("conftest.py", source)
    result = project.run("-s", f"--tb={style}", "-p", "no:randomly")
    errors = result.parseoutcomes()["errors"]
    assert errors == (10 if fixture == "rag" else 20)
    assert str(result.stdout).count("the same as pytest's") == errors


WIDE = """

def pytest_sessionfinish(session):
    from _pytest import terminal
    from _pytest._io import terminalwriter
    assert terminal.wcswidth is terminalwriter.wcswidth
    session.config.known_widths = terminal.wcswidth


def pytest_unconfigure(config):
    from _pytest import terminal
    from _pytest._io import terminalwriter
    assert terminal.wcswidth is terminalwriter.wcswidth is config.known_widths
    assert terminal.wcswidth.__module__ == "_pytest._io.wcwidth"
    print("widths are pytest's own")
"""


def test_lines_of_the_short_summary_are_cut_where_pytest_cuts_them(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.break_retriever()
    project.write("conftest.py", (project.path / "conftest.py").read_text() + WIDE)
    wide = 'import pytest\n\n@pytest.mark.parametrize("n", [1])\ndef test_it(n):\n    pytest.fail("返金" * 60)\n'
    project.write("test_wide.py", wide)
    monkeypatch.setenv("COLUMNS", "70")

    def listed() -> list[str]:
        result = project.run("-rf")
        assert "widths are pytest's own" in str(result.stdout)
        return [line for line in result.outlines if line.startswith("FAILED ")]

    lines = listed()
    assert len(lines) > 1
    assert all(line.endswith("...") for line in lines)
    monkeypatch.setattr("pytest_auepora.pytest_plugin.quick_summary.quick_widths", nullcontext)
    assert listed() == lines
