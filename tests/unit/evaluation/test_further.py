"""Further answers: of a case that is about to fail, of an update, of a second look, in a thread or in a loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from pytest_auepora.adapters.systems import System, as_system
from pytest_auepora.calls.call import CallResult
from pytest_auepora.calls.caller import Caller
from pytest_auepora.evaluation.case_flow import CaseCalls, CaseFlow, FinishedCase
from pytest_auepora.evaluation.case_result import Ended
from pytest_auepora.evaluation.further import CallBudget, FurtherAnswers, Steps, adrive, drive
from pytest_auepora.evaluation.suite import blank_run, suite_metrics
from pytest_auepora.evaluation.update import UpdatePlan
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.golden.model import GoldenSuite
from pytest_auepora.metrics.registry import Registry

WHO = "s.golden.yaml", "", "a"
N = 70
"""More cases than are measured at once."""


@dataclass
class Asked:
    """A suite of a system that answers as *says* says, by query and number of the call."""

    suite: GoldenSuite
    system: System
    flow: CaseFlow
    caller: Caller
    queries: list[str]

    def again(self, **more: Any) -> FurtherAnswers:
        """Ask the system again."""
        return FurtherAnswers(self.flow, self.system, self.caller, **more)

    def finish(self, i: int = 0) -> FinishedCase:
        """End a case after one answer."""
        case = self.suite.cases[i]
        call = CallResult(self.system.invoke(case.sample, 5), attempts=1)
        return self.flow.finish(CaseCalls(case, [call]), self.system)


class Exit(BaseException):
    """What ends the whole run."""


def ended_by(error: BaseException) -> Ended | None:
    if isinstance(error, Exit):
        raise error
    return None


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Callable[..., Asked]]:
    def make(says: Callable[[int], str] = lambda _: "bad", n: int = 3, **more: Any) -> Asked:
        path = tmp_path / "s.golden.yaml"
        cases = "".join(f"  - {{id: c{i:02}, query: q{i:02}, relevant_docs: [good]}}\n" for i in range(n))
        path.write_text(f"metrics: [recall@1]\ncase_thresholds: {{recall@1: 1}}\ncases:\n{cases}", encoding="utf-8")
        suite = load_golden(path)
        queries: list[str] = []

        def answer(query: str) -> tuple[str, list[str]]:
            queries.append(query)
            word = says(queries.count(query) - 1)
            return word, [word]

        metrics = suite_metrics(suite, Registry())
        flow = CaseFlow(blank_run(suite, metrics), metrics, suite.policy, cases=suite.cases, ended_by=ended_by, **more)
        return Asked(suite, as_system(answer), flow, caller, queries)

    with Caller(4) as caller:
        yield make


def in_loop(steps: Steps[Any]) -> Any:
    return asyncio.run(adrive(steps))


WAYS = pytest.mark.parametrize("run", [drive, in_loop])


@WAYS
def test_a_case_is_asked_until_its_checks_are_decided(asked: Any, run: Any) -> None:
    for says, calls, state in ((lambda _: "bad", 3, "failed"), (lambda i: "good" if i == 1 else "bad", 2, "passed")):
        one = asked(says)
        finished = one.finish()
        assert finished.wants_another
        before = Mock()
        run(one.again(before=before).decide(finished, one.suite.cases[0], range(1, 9)))
        assert (len(one.queries), before.call_count, finished.result.state) == (calls, calls - 1, state)


def test_a_case_without_further_answers_is_decided_by_the_first(asked: Any) -> None:
    one = asked()
    finished = one.finish()
    drive(one.again().decide(finished, one.suite.cases[0], ()))
    assert (len(one.queries), finished.wants_another, finished.result.state) == (1, False, "failed")


def test_no_case_is_asked_again_without_calls_left(asked: Any) -> None:
    one, budget = asked(), CallBudget(1)
    finished = one.finish()
    again = one.again(budget=budget)
    drive(again.decide(finished, one.suite.cases[0], range(1, 9)))
    assert (len(one.queries), finished.wants_another) == (2, False)
    assert [case_id for _, _, case_id in budget.refused] == ["c00"]


@WAYS
def test_an_update_completes_what_it_accepts(asked: Any, run: Any) -> None:
    one = asked(lambda i: "bad" if i == 3 else "good", accepting=True)
    results = {finished.result.case_id: finished.result for finished in map(one.finish, range(3))}
    plan = UpdatePlan({"recall@1"})
    done = run(one.again().complete(plan, results, one.suite.cases))
    assert [len(finished.result.answers) for finished in done] == [2, 2, 2]
    plan.varies = True
    done = run(one.again().complete(plan, results, one.suite.cases[:2]))
    values = [finished.result.answers.values["recall@1"] for finished in done]
    assert [sorted(row) for row in values] == [[0.0, 1.0, 1.0, 1.0, 1.0]] * 2
    assert run(one.again().complete(plan, results, one.suite.cases[:2])) == []


@WAYS
def test_a_second_look_asks_every_case_once(asked: Any, run: Any) -> None:
    one = asked(lambda i: "good" if i else "bad", n=N)
    one.flow.run.add(one.finish(i).result for i in range(N))
    one.flow.run.cases["c05"].state = "skipped"
    begun: list[tuple[int, str]] = []
    counted: list[None] = []

    def begin(calls: int, purpose: str) -> Callable[[], None]:
        begun.append((calls, purpose))
        return lambda: counted.append(None)

    second, looked = run(one.again(begin=begin).look(one.flow.run, one.suite.cases))
    assert [finished.result.case_id for finished in looked] == [f"c{i:02}" for i in range(N) if i != 5]
    assert list(second.cases) == list(one.flow.run.cases)
    assert {case.scores["recall@1"].value for i, case in second.cases.items() if i != "c05"} == {1.0}
    assert {case.scores["recall@1"].value for case in one.flow.run.cases.values()} == {0.0}, "the first answers stay"
    assert [i for i, case in one.flow.run.cases.items() if not case.looks] == ["c05"]
    assert (begun, len(counted)) == ([(N - 1, "look")], N - 1)


def test_a_second_look_needs_a_call_for_every_case(asked: Any) -> None:
    one = asked()
    one.flow.run.add(one.finish(i).result for i in range(3))
    assert one.again(budget=CallBudget(3)).may_look(one.flow.run, one.suite.cases)
    assert not one.again(budget=CallBudget(2)).may_look(one.flow.run, one.suite.cases)


def test_what_ends_the_run_ends_it_in_a_further_answer(asked: Any) -> None:
    def says(i: int) -> str:
        if i:
            raise Exit
        return "bad"

    one = asked(says)
    with pytest.raises(Exit):
        drive(one.again().decide(one.finish(), one.suite.cases[0], range(1, 9)))


def test_without_a_limit_all_calls_may_be_made() -> None:
    budget = CallBudget()
    assert budget.allows(10**6)
    assert budget.take(10**6, WHO)
    assert (budget.left, budget.refused) == (None, {})


def test_calls_are_taken_until_none_is_left() -> None:
    budget = CallBudget(3)
    assert [budget.take(2, WHO), budget.take(2, WHO), budget.take(1, WHO)] == [True, False, True]
    assert (budget.left, list(budget.refused)) == (0, [WHO])
    assert not budget.allows(1)


def test_calls_that_cannot_be_paid_for_are_refused() -> None:
    budget = CallBudget(afford=lambda calls: calls < 3)
    assert [budget.take(2, WHO), budget.take(3, WHO)] == [True, False]
    assert list(budget.refused) == [WHO]
