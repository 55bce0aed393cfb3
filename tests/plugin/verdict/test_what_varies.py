"""Systems that vary: an update asks again, a case that fails is asked again, contracts hold without a threshold."""

from __future__ import annotations

import json

import pytest

from ..conftest import Example

COUNTING = """\
def rag():
    asked = []

    {kind}def ask(query):
        asked.append(query)
        with pathlib.Path("calls.txt").open("a") as file:
            file.write(query[:9] + "\\n")
        if "warehouse" in query and asked.count(query) in {misses}:
            return "no idea", [{{"id": "contact", "text": ""}}]
        return answer(query)

    return ask
"""
NEVER, ALWAYS, FIRST, LATER = "()", "(1, 2, 3)", "(1,)", "(3,)"


def system(misses: str, kind: str = "") -> str:
    return COUNTING.format(misses=misses, kind=kind)


def calls(project: Example) -> int:
    path = project.path / "calls.txt"
    lines = path.read_text().splitlines()
    path.unlink()
    return len(lines)


@pytest.fixture
def accepted(project: Example) -> Example:
    """A suite of five cases whose baseline knows that everything is steady."""
    project.edit("thresholds:\n  recall@3: 0.9\n", "regression: {policy: statistical}\n")
    project.edit("    thresholds: {token_f1: 0.5}\n", "")
    project.system(system(NEVER))
    project.accept()
    assert calls(project) == 10, "every case twice: all of them answered alike"
    return project


def test_an_update_says_first_how_many_calls_it_makes_more(accepted: Example) -> None:
    told = "auepora: 25 calls, 20 of them again, to learn which metrics vary between answers"
    assert told in str(accepted.run("--auepora-update").stdout)
    assert "of them again" not in str(accepted.run().stdout)


def test_an_update_learns_what_is_steady(accepted: Example) -> None:
    told = json.loads(accepted.baseline.read_text())["metrics"]
    assert (told["mrr"]["steady"], told["mrr"]["pairs"]) == (True, 16)
    before = accepted.baseline.read_bytes()
    accepted.accept()
    assert accepted.baseline.read_bytes() == before
    calls(accepted)
    accepted.system(system(LATER))
    accepted.accept()
    told = json.loads(accepted.baseline.read_text())["metrics"]
    assert (told["mrr"]["steady"], told["refusal_correctness"]["steady"]) == (False, True)


def test_an_update_that_may_not_ask_again_knows_nothing(project: Example) -> None:
    project.edit("suite: shop\n", "suite: shop\nregression: {again: 0}\n")
    project.system(system(NEVER))
    project.accept()
    assert calls(project) == 5
    assert "steady" not in json.loads(project.baseline.read_text())["metrics"]["mrr"]


@pytest.mark.parametrize("kind", ["", "async "])
@pytest.mark.parametrize(("misses", "failed"), [(ALWAYS, 1), (FIRST, 0)])
def test_a_case_that_fell_is_asked_again_twice(accepted: Example, misses: str, failed: int, kind: str) -> None:
    accepted.system(system(misses, kind))
    result = accepted.run()
    assert calls(accepted) == 7
    assert ("shop.golden.yaml::warehouse" in str(result.stdout)) == bool(failed)
    assert result.ret == failed, str(result.stdout)
    if not failed:
        result.stdout.fnmatch_lines(["*no longer steady*"])


@pytest.mark.slow
def test_under_xdist_as_well(accepted: Example) -> None:
    accepted.system(system(FIRST))
    assert accepted.run("-n", "2", plugins=("xdist",)).ret == 0
    assert calls(accepted) == 7


def test_a_broken_assertion_fails_its_case(project: Example) -> None:
    project.edit('must_contain: ["30 days"]', 'must_contain: ["40 days"]')
    assert "the answer misses '40 days'" in str(project.run().stdout)
    project.run("--auepora-update")
    assert project.run().ret == 0, "known since it was accepted"
    project.edit("suite: shop\n", "suite: shop\nassertions: report\n")
    project.edit('must_contain: ["40 days"]', 'must_contain: ["50 days"]')
    assert project.run().ret == 0


def test_only_the_assertion_that_failed_before_is_excused(project: Example) -> None:
    project.edit('    must_contain: ["30 days"]\n    tags: [smoke]\n    thresholds: {token_f1: 0.5}\n',
                 '    must_contain: ["30 days"]\n    thresholds: {token_f1: 1.0}\n')  # fmt: skip
    project.edit("reference_answer: A refund can", "reference_answer: Well, a refund can")
    project.run("--auepora-update")
    assert '"state": "failed"' in project.baseline.read_text(), "for its threshold"
    project.edit("within 30 days", "within a month", "shop.py")
    assert "✗ assertion_pass: the answer misses '30 days'" in str(project.run().stdout)
