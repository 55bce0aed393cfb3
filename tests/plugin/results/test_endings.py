"""A case that its system skips, or expects to fail, ends the same way whoever runs it."""

from __future__ import annotations

from typing import Any

import pytest

from ..conftest import Example
from ..counting import lock_out, store
from .test_redaction import WAYS

ENDINGS = {
    "skip": ("pytest.skip('no key')", {"skipped": 1}),
    "xfail": ("pytest.xfail('known')", {"xfailed": 1}),
}

ASSERTS = {
    "item": "",
    "auepora_case": "import pytest\n\n\n@pytest.mark.auepora('shop.golden.yaml')\ndef test_it(auepora_case):\n"
    "    assert auepora_case.result.state == 'passed'\n",
    "evaluate": "def test_it(auepora):\n    run = auepora.evaluate('shop.golden.yaml')\n"
    "    run.assert_thresholds()\n    assert run['error_rate'] == 0\n",
}


def states(project: Example) -> dict[str, Any]:
    """Return the state of each case in the latest run, and why it was to fail."""
    return {i: (c.state, c.xfail) for i, c in store(project).load("last").cases.items()}


@pytest.mark.parametrize("end", ENDINGS)
@pytest.mark.parametrize("way", ASSERTS)
def test_a_system_ends_its_case_then_and_in_a_replay(counted: Example, way: str, end: str) -> None:
    code, outcome = ENDINGS[end]
    counted.when_asked("warehouse", f"import pytest; {code}")
    counted.edit("thresholds:\n  recall@3: 0.9\n", "")
    test = "shop.golden.yaml"
    if source := ASSERTS[way]:
        test = counted.write("test_it.py", source).name
    case = {"skip": ("skipped", None), "xfail": ("skipped", "known")}[end]
    for option in ((), ("--auepora-replay",)):
        result = counted.run(test, *option)
        assert result.ret == 0, str(result.stdout)
        assert states(counted) == {i: case if i == "warehouse" else ("passed", None) for i in states(counted)}
        if way != "evaluate":
            assert outcome.items() <= result.parseoutcomes().items()
        result.stdout.fnmatch_lines(["*4 passed*1 skipped*" if end == "skip" else "*4 passed*1 expected to fail*"])
        if not option:
            lock_out(counted)


@pytest.mark.parametrize("end", ENDINGS)
def test_asked_again_it_ends_its_case_once(counted: Example, end: str) -> None:
    code, outcome = ENDINGS[end]
    counted.when_asked("warehouse", f"import pytest; {code}")
    counted.edit("thresholds:\n  recall@3: 0.9\n", "")
    result = counted.run("--auepora-repeat", "2")
    assert result.ret == 0
    assert outcome.items() <= result.parseoutcomes().items()


def test_a_corpus_that_is_none_is_an_error_of_the_case(project: Example) -> None:
    project.conftest("@pytest.fixture\ndef auepora_corpus_ids():\n    return 7\n")
    project.write("test_it.py", WAYS["auepora_case"])
    result = project.run("test_it.py")
    assert result.ret == 1
    assert {state for state, _ in states(project).values()} == {"error"}
