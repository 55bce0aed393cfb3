"""A selection is the user's own wish: nothing selected is green, nothing there is red, nothing skipped is forgotten."""

from __future__ import annotations

import pytest

from .conftest import Example
from .listening import gates, outcomes

NONE = "auepora: no golden case was selected"
PLAIN = "def test_plain(): pass\n"
SPLIT = """
def pytest_collection_modifyitems(config, items):
    config.hook.pytest_deselected(items=[i for i in items if i.path.suffix != '.py'])
    items[:] = [i for i in items if i.path.suffix == '.py']
"""
TWO = """\
@pytest.fixture(scope="session", params=[{}])
def rag(request):
    return answer
"""


@pytest.mark.parametrize(
    "args",
    [
        ("tests/",),
        ("tests/test_plain.py::test_plain",),
        ("--deselect", "shop.golden.yaml"),
        ("--ignore", "shop.golden.yaml"),
        ("--ignore-glob", "*.golden.yaml"),
        ("-k", "plain"),
    ],
)
def test_a_selection_without_golden_cases_is_green(project: Example, args: tuple[str, ...]) -> None:
    project.write("tests/test_plain.py", PLAIN)
    result = project.run(*args)
    assert result.ret == 0, str(result.stdout)
    assert NONE in str(result.stdout)


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "1"), marks=pytest.mark.slow)])
def test_a_plugin_that_selects_other_tests_leaves_the_run_green(project: Example, workers: tuple[str, ...]) -> None:
    project.write("tests/test_plain.py", PLAIN)
    project.conftest(SPLIT)
    result = project.run(*workers, plugins=("xdist.plugin",))
    assert result.ret == 0, str(result.stdout)
    assert NONE in str(result.stdout)


@pytest.mark.parametrize("args", [(), (".",), ("tests",)])
def test_a_run_of_everything_without_golden_cases_is_red(project: Example, args: tuple[str, ...]) -> None:
    project.pytester.makeini("[pytest]\ntestpaths = tests")
    project.golden.unlink()
    project.write("tests/test_plain.py", PLAIN)
    result = project.run(*args)
    assert result.ret == 1
    assert "auepora_files = " in str(result.stdout)
    assert NONE not in str(result.stdout)


def test_a_folder_of_other_tests_is_green_by_the_setting_alone(
    project: Example, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.pytester.makeini("[pytest]\nauepora = true")
    monkeypatch.chdir(project.write("api/test_plain.py", PLAIN).parent)
    result = project.run(auepora=False)
    assert result.ret == 0, str(result.stdout)
    assert NONE in str(result.stdout)
    assert project.run().ret == 1


def test_gates_over_skipped_cases_are_skipped(project: Example) -> None:
    project.accept()
    project.system("def rag():\n    pytest.skip('no key')")
    result = project.run()
    assert result.ret == 0, str(result.stdout)
    result.assert_outcomes(skipped=6)  # five cases and their suite
    gate = outcomes(result)["threshold: recall@3"]
    assert (gate.state, gate.reason, gate.detail) == ("not judged", "all skipped", "no key")
    strict = project.run("--auepora-require-baseline")
    assert strict.ret == 1
    assert outcomes(strict)["baseline: nothing compares"].unpaired == {"skipped": 5}


def test_every_case_skipped_by_the_golden_file_is_green(project: Example) -> None:
    text = project.golden.read_text().replace("    query:", "    skip: later\n    query:")
    project.golden.write_text(text)
    result = project.run()
    assert result.ret == 0, str(result.stdout)
    result.assert_outcomes(skipped=6)
    strict = project.run("--auepora-require-baseline")
    assert strict.ret == 1


def test_a_skipped_configuration_leaves_others_comparable(project: Example) -> None:
    params = "'a', pytest.param('b', marks=pytest.mark.skip(reason='dear'))"
    project.write("conftest.py", "import pytest\nfrom shop import answer\n\n" + TWO.format("'a', 'b'"))
    project.accept()
    project.break_retriever()
    project.write("conftest.py", "import pytest\nfrom shop import answer\n\n" + TWO.format(params))
    result = project.run("-rf")
    assert result.ret == 1
    assert gates(result)
    assert all(title.endswith("[a]") for title in gates(result))
