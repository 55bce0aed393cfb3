"""What a project takes out by ``pytest_auepora_redact`` is nowhere, however a case ends and whoever ran it."""

from __future__ import annotations

import json

import pytest

from ..conftest import Example
from ..counting import store

SECRET = "hunter2"

REDACT_ALL = """

def clean(value):
    if isinstance(value, str):
        return value.replace("hunter2", "***")
    if isinstance(value, dict):
        return {clean(key): clean(part) for key, part in value.items()}
    return [clean(part) for part in value] if isinstance(value, (list, tuple)) else value


def pytest_auepora_redact(result):
    for name in ("query", "error", "expected", "outputs", "labels", "ranks"):
        setattr(result, name, clean(getattr(result, name)))
    for score in result.scores.values():
        score.reason, score.details = clean(score.reason), clean(score.details)
"""

REDACT_ERROR = """

def pytest_auepora_redact(result):
    result.error = result.error.replace("hunter2", "***")
    result.query = result.query.replace("hunter2", "***")
"""

JOURNAL = """

def pytest_auepora_run_finished(run):
    import pathlib
    for number, path in enumerate(sorted(pathlib.Path(".auepora").glob("unfinished-*"))):
        pathlib.Path(f"journal{number}.txt").write_bytes(path.read_bytes())
"""

METRIC = """

def pytest_auepora_metrics(registry):
    from pytest_auepora import Measurement, Metric, TargetCategory

    class Broken(Metric):
        name, target, range = "broken", TargetCategory.GENERATION_RELEVANCE, (0.0, 1.0)

        def measure(self, sample, outputs):
            raise ValueError("cannot read hunter2")

    registry.add("broken", Broken)
"""

REPORTS = [part for kind in ("json", "html", "md", "csv") for part in ("--auepora-report", f"{kind}:report.{kind}")]

WAYS = {
    "item": "",
    "auepora_case": "import pytest\n\n\n@pytest.mark.auepora('shop.golden.yaml')\ndef test_it(auepora_case):\n"
    "    assert auepora_case['recall@3'] >= 0.9\n",
    "evaluate": "def test_it(auepora):\n    auepora.evaluate('shop.golden.yaml').assert_thresholds()\n",
}

IN_THE_CALL = {
    "skip": "import pytest; pytest.skip('no key hunter2')",
    "xfail": "import pytest; pytest.xfail('no key hunter2')",
    "error": "raise ValueError('key hunter2 refused')",
    "cause": "raise ValueError('key refused') from KeyError('hunter2')",
    "shape": "return {'hunter2': 1}",
    "answer": "return 'the password is hunter2', [{'id': 'shipping', 'text': 'hunter2'}]",
}

AT_SET_UP = {
    "skip": "def rag():\n    pytest.skip('no key hunter2')",
    "xfail": "def rag():\n    pytest.xfail('no key hunter2')",
    "error": "def rag():\n    raise ValueError('key hunter2 refused')",
    "shape": "def rag():\n    return 'hunter2'",
}


@pytest.fixture
def secretive(project: Example) -> Example:
    """A project whose golden file has a secret, and whose hook takes out all it sees."""
    project.edit("query: When do parcels leave the warehouse?", "query: When do parcels leave the warehouse, hunter2?")
    project.edit("reference_answer: Parcels", 'must_contain: ["hunter2"]\n    reference_answer: hunter2. Parcels')
    project.edit("    tags: [smoke]\n", "")
    project.pytester.makeini("[pytest]\nauepora_junit_properties = true")
    return project


def told(project: Example, *args: str, hooks: str = REDACT_ALL, apart: bool = False) -> str:
    """Run the project; return everything that is said or written of it, but what its own sources say."""
    project.conftest(hooks + JOURNAL)
    args = (*args, "-ra", "-vv", *REPORTS, "--junitxml", "report.xml")
    result = project.run_apart(*args) if apart else project.run(*args)
    files = ("report.json", "report.html", "report.md", "report.csv", "report.xml", "journal0.txt")
    written = [str(result.stdout), str(result.stderr), *map(project.read, files)]
    kept = store(project)
    written.append(json.dumps(kept.load("last").to_dict(), default=str))
    for texts in kept.recordings("last").values():
        written += map(repr, texts)
    return "\n".join(written)


@pytest.mark.parametrize(
    ("way", "end"),
    [
        *(("item", end) for end in IN_THE_CALL),
        *((way, end) for way in WAYS if way != "item" for end in ("skip", "shape")),
    ],
)
def test_nothing_is_left_of_how_a_call_ends(secretive: Example, way: str, end: str) -> None:
    secretive.when_asked("warehouse", IN_THE_CALL[end])
    if test := WAYS[way]:
        secretive.write("test_it.py", test)
    text = told(secretive, "test_it.py" if WAYS[way] else "shop.golden.yaml")
    assert SECRET not in text
    assert "***" in text


@pytest.mark.parametrize("end", AT_SET_UP)
def test_nothing_is_left_of_how_a_set_up_ends(secretive: Example, end: str) -> None:
    secretive.system(AT_SET_UP[end])
    text = told(secretive, "shop.golden.yaml")
    assert SECRET not in text
    assert "***" in text


@pytest.mark.slow
def test_nothing_is_left_of_a_case_whose_worker_died(secretive: Example) -> None:
    pytest.importorskip("xdist")
    secretive.when_asked("warehouse", "import os; os._exit(1)")
    text = told(secretive, "shop.golden.yaml", "-n", "1", apart=True)
    assert SECRET not in text
    case = store(secretive).load("last").cases["warehouse"]
    assert (case.state, case.error in text) == ("error", True)


def test_nothing_is_left_of_what_a_metric_raised(secretive: Example) -> None:
    secretive.edit("metrics: [recall@1,", "metrics: [broken, recall@1,")
    text = told(secretive, "shop.golden.yaml", hooks=REDACT_ALL + METRIC)
    assert SECRET not in text
    assert "broken raised ValueError: cannot read ***" in text


@pytest.mark.parametrize("args", [(), ("--tb=long",), ("--auepora-repeat", "2")])
def test_who_redacts_an_error_redacts_the_reasons_of_scores(project: Example, args: tuple[str, ...]) -> None:
    project.when_asked("warehouse", IN_THE_CALL["error"])
    text = told(project, "shop.golden.yaml", *args, hooks=REDACT_ERROR)
    assert SECRET not in text
    assert "key *** refused" in text
