"""The configuration of a run: the parameters that its system depends on, and no other."""

from __future__ import annotations

import pytest

from ..conftest import Example

AUTOUSE = """

@pytest.fixture(params=[1, 2], autouse=True)
def weather(request):
    return request.param
"""
REPEATED = """

@pytest.fixture(autouse=True)
def step(request):
    return request.param


def pytest_generate_tests(metafunc):
    metafunc.fixturenames.append("step")
    metafunc.parametrize("step", [1, 2], indirect=True, ids=lambda i: f"{i}-2")
"""


@pytest.mark.parametrize("code", [AUTOUSE, REPEATED], ids=["autouse", "repeated"])
def test_foreign_parameters_use_the_same_baseline(project: Example, code: str) -> None:
    project.accept()
    project.conftest(code)
    project.break_retriever()
    result = project.run("--auepora-require-baseline")
    assert result.ret == 1
    assert "newly failing" in str(result.stdout)
    assert "no baseline" not in str(result.stdout)


def test_parameters_the_system_needs_are_a_configuration(project: Example) -> None:
    index = "@pytest.fixture(params=['a', 'b'])\ndef index(request):\n    return 1"
    project.system(f"def rag(index):\n    return answer\n\n\n{index}\n", scope="function")
    project.conftest(AUTOUSE)
    project.accept()
    assert sorted(path.name for path in project.baseline.parent.iterdir()) == ["shop@a.json", "shop@b.json"]


def test_a_test_with_parameters_of_its_own(project: Example) -> None:
    project.accept()
    project.write(
        "test_it.py",
        "import pytest\n\n\n@pytest.mark.parametrize('k', [1, 2])\ndef test_it(auepora, k):\n"
        "    auepora.evaluate('shop.golden.yaml').assert_no_regression()\n",
    )
    result = project.run("test_it.py")
    assert result.ret == 0
    assert "no baseline" not in str(result.stdout)
