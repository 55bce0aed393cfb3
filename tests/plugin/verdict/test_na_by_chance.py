"""A score that is n/a in some answers by chance is left out of its pair: it is never a lost score."""

from __future__ import annotations

import pytest

from ..conftest import Example
from ..counting import store

SYSTEM = """\
def rag():
    asked = []

    def ask(query):
        asked.append(query)
        answers = ["Within 30 days.", "Within 30 days of purchase.", "Within a month."]
        at = {which}
        return answers[at % 3], [{{"id": "r.md", "text": "A refund can be asked for within 30 days of purchase."}}]

    return ask
"""
TURN = "int(query.split()[-1]) + asked.count(query) + {shift}"
"""Every case says each of the answers in turn; the first of a third of the cases has no number."""


@pytest.fixture
def refunds(project: Example) -> Example:
    project.golden.unlink()
    cases = "".join(f"  - {{id: q{i}, query: refund {i}, relevant_docs: [r.md]}}\n" for i in range(12))
    project.write("refunds.golden.yaml", f"suite: refunds\nmetrics: [recall@5, unsupported_numbers]\ncases:\n{cases}")
    project.system(SYSTEM.format(which=TURN.format(shift=0)))
    project.accept()
    return project


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_an_unchanged_system_loses_no_score(refunds: Example, shift: int) -> None:
    refunds.system(SYSTEM.format(which=TURN.format(shift=shift)))
    result = refunds.run("--auepora-require-baseline")
    assert result.ret == 0
    run, verdict = store(refunds).load("last"), store(refunds).verdict("last")
    states = [case.scores["unsupported_numbers"].state for case in run.cases.values()]
    assert (states.count("n/a"), states.count("number")) == (4, 8)
    assert [case.state for case in run.cases.values()] == ["passed"] * 12
    assert verdict.regressed_cases == []
    (gate,) = (
        g for g in verdict.gates if (g.kind, g.metric, g.stat) == ("regression", "unsupported_numbers", "aggregate")
    )
    assert (gate.state, gate.n) == ("passed", 8)


def test_a_system_that_never_says_a_number_is_worse(refunds: Example) -> None:
    refunds.system(SYSTEM.format(which="2"))
    assert refunds.run().ret == 1
