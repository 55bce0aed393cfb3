"""Systems that vary: an update asks again, a case that fails is asked again, contracts hold without a threshold."""

from __future__ import annotations

import json

import pytest

from ..conftest import Example
from ..counting import store
from ..listening import judged

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
NEVER, ALWAYS, FIRST = "()", "range(9)", "(1,)"


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


def test_an_update_learns_what_varies(accepted: Example) -> None:
    before = accepted.baseline.read_bytes()
    accepted.accept()
    assert accepted.baseline.read_bytes() == before
    calls(accepted)
    accepted.system(system("(2, 4)"))
    accepted.accept()
    case = json.loads(accepted.baseline.read_text())["cases"]["warehouse"]
    assert (case["answers"], case["scores"]["mrr"]) == (5, [1.0, 0.0, 1.0, 0.0, 1.0])


@pytest.mark.parametrize("kind", ["", "async "])
@pytest.mark.parametrize(("misses", "failed", "asked"), [(ALWAYS, 1, 3), (FIRST, 0, 1)])
def test_a_case_that_fell_is_asked_again(accepted: Example, misses: str, failed: int, asked: int, kind: str) -> None:
    """Four answers in a row fail it, as nothing varied in two accepted ones; one that is good ends the asking."""
    accepted.system(system(misses, kind))
    result = accepted.run()
    assert calls(accepted) == 5 + asked
    assert ("shop.golden.yaml::warehouse" in str(result.stdout)) == bool(failed)
    assert result.ret == failed, str(result.stdout)


def test_a_selection_takes_the_same_evidence(accepted: Example) -> None:
    """V is of the whole baseline, and how often a case was accepted its own, whichever cases run."""
    accepted.system(system("(2, 4)"))
    accepted.accept()
    accepted.break_retriever()
    told = []
    for selection in ((), ("-k", "refund-window")):
        accepted.run(*selection)
        (found,) = [f for f in store(accepted).load("last").cases["refund-window"].findings if f.metric == "recall@1"]
        told.append((found.status, found.accepted, found.varied, found.needed))
    assert told == [("failed", 5, 4, 4)] * 2, "four metrics of the warehouse varied"


@pytest.mark.slow
def test_under_xdist_as_well(accepted: Example) -> None:
    accepted.system(system(FIRST))
    assert accepted.run("-n", "2", plugins=("xdist",)).ret == 0
    assert calls(accepted) == 5 + 1


def test_a_broken_assertion_fails_its_case(project: Example) -> None:
    project.edit('must_contain: ["30 days"]', 'must_contain: ["40 days"]')
    (finding,) = judged(project.run()).run.cases["refund-window"].findings
    assert (finding.kind, finding.metric, finding.details["missing"]) == ("assertion", "must_contain", ["40 days"])
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
    project.edit("within 30 days", "within a month", "shop.py")
    findings = judged(project.run()).run.cases["refund-window"].findings
    assert [(one.metric, one.fails) for one in findings if one.kind == "assertion"] == [("must_contain", True)]
