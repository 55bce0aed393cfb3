"""The configuration of a run: the parameters that its system depends on, and no other."""

from __future__ import annotations

import pytest

from pytest_auepora.pytest_plugin.compat import parameters_of, positional_fixtures

from ..conftest import Example, alone
from ..listening import judged, runs

UNNAMED = (
    "the configuration 'rag0' is named by its place among the parameters of 'rag': in another order, each system would "
    'be compared with the baseline of another; give them names: params=[…], ids=["bm25", "dense"]'
)
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
    assert all(one.verdict.case_comparisons["refund-window"].flip == "newly failing" for one in runs(result))


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
    assert (result.ret, judged(result).verdict.baseline_note.state) == (0, "")


MODELS = """\
import pytest
from shop import answer


class Model:
    def ask(self, query):
        return answer(query)


@pytest.fixture(scope="session", {})
def rag(request):
    return Model().ask
"""
TEST = """\
import pytest
from shop import answer


class Model:
    def ask(self, query):
        return answer(query)


@pytest.mark.parametrize("model", [Model()])
def test_it(auepora, model):
    auepora.evaluate("shop.golden.yaml", model.ask)
"""


def models(project: Example, params: str) -> None:
    project.write("conftest.py", MODELS.format(params))


@pytest.mark.parametrize("words", ["--auepora-update", "--auepora-update=new", "--auepora-require-baseline"])
def test_a_configuration_without_a_name_gets_no_baseline(project: Example, words: str) -> None:
    models(project, "params=[Model(), Model()]")
    result = project.run(words)
    assert result.ret == 2
    assert UNNAMED in " ".join(str(result.stdout).split())
    assert not project.baseline.parent.exists()


def test_a_configuration_without_a_name_is_a_warning(project: Example) -> None:
    models(project, "params=[Model(), Model()]")
    result = project.run("-W", "default")
    assert (result.ret, result.parseoutcomes()["warnings"]) == (0, 1)
    assert [one.verdict.baseline_note.state for one in runs(result)] == ["unnamed"] * 2
    assert "--auepora-update" not in str(result.stdout), "which is refused"
    models(project, "params=[Model(), Model()], ids=['bm25', 'dense']")
    assert project.run("--auepora-update").ret == 0
    assert sorted(path.name for path in project.baseline.parent.iterdir()) == ["shop@bm25.json", "shop@dense.json"]


def test_a_test_whose_parameters_have_no_names(project: Example) -> None:
    project.write("test_it.py", TEST)
    assert judged(project.run("-W", "default", "test_it.py")).verdict.baseline_note.state == "unnamed"
    assert project.run("--auepora-update", "test_it.py").ret == 1
    project.edit("[Model()]", "[Model()], ids=['a']", "test_it.py")
    assert project.run("--auepora-update", "test_it.py").ret == 0


def test_configurations_that_differ_by_case_alone(project: Example) -> None:
    models(project, "params=['BM25', 'bm25']")
    result = project.run()
    assert result.ret == 2
    assert "'BM25' and 'bm25'" in str(result.stdout)


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "1"), marks=pytest.mark.slow)])
def test_another_order_of_nameless_configurations_is_not_worse(project: Example, workers: tuple[str, ...]) -> None:
    plugins = ("xdist",) if workers else ()
    text = MODELS.replace("answer(query)", "self.found(query)").replace("Model().ask", "request.param.ask").replace(
        "class Model:", "class Model:\n    def __init__(self, found):\n        self.found = found\n"
    )  # fmt: skip
    named = "params=[Model(answer), Model(lambda query: ('?', []))], ids=['rag0', 'rag1']"
    project.write("conftest.py", text.format(named))
    project.run("--auepora-update")
    assert sorted(path.name for path in project.baseline.parent.iterdir()) == ["shop@rag0.json", "shop@rag1.json"]
    project.write("conftest.py", text.format("params=[Model(lambda query: ('?', [])), Model(answer)]"))
    result = project.run("-W", "default", *workers, plugins=plugins)
    assert [one.verdict.baseline_note.state for one in runs(result)] == ["unnamed"] * 2
    assert not [gate for one in runs(result) for gate in one.verdict.gates if gate.kind == "regression"]


NAMELESS = """
import functools
import pytest


class Model:
    name = "m"


def ask(query): ...


@pytest.fixture(params=[Model(), ask, Model, "gpt4", "rag4", 1, 1.5, None, "x", b"x", functools.partial(ask),
                        lambda q: 1, lambda q: 2, {}, pytest.param(Model(), id="zed"), pytest.param({}, id="rag15")])
def rag(request): ...


@pytest.fixture(params=[Model(), Model()], ids=lambda m: m.name)
def twice(request): ...


@pytest.fixture(params=[Model(), ask], ids=["named0", "ask4"])
def named(request): ...


@pytest.fixture
def system(twice): ...


def test_rag(rag): ...
def test_system(system): ...
def test_named(named): ...


@pytest.mark.parametrize("model", [Model(), "m"])
def test_its_own(model): ...
"""


def test_ids_that_are_positions_are_found(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\naddopts = -p no:unraisableexception\n")  # which collects all garbage five times
    with alone():
        items = pytester.getitems(NAMELESS)
    system = {item: item.name.removeprefix("test_").partition("[")[0] for item in items}
    found = {parameters_of(item) for item, fixture in system.items() if positional_fixtures(item, fixture)}
    assert found == {"rag0", "x0", "x1", "rag10", "<lambda>0", "<lambda>1", "rag13", "m0", "m1"}
    assert positional_fixtures(items[-2], "") == ["model"]
    assert positional_fixtures(items[-1], "") == []
