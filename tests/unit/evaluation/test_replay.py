"""Who answers a golden case: the system, an earlier run in its place, or nobody, and why."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pytest_auepora.adapters.systems import as_system
from pytest_auepora.calls.call import CallResult
from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.errors import NotRecordedError, SystemShapeError
from pytest_auepora.evaluation.measure import CaseCall, measure_calls
from pytest_auepora.evaluation.recording import RecordedAnswer, Recording, record
from pytest_auepora.evaluation.replay import (
    SECOND_LOOK,
    CaseEndedError,
    RecordedRun,
    ask_case,
    is_recorded,
    replayed,
    resumed,
)  # fmt: skip
from pytest_auepora.io.golden.model import GoldenCase

SYSTEM = as_system(lambda query: f"said {query}")


def case(name: str = "one", **labels: object) -> GoldenCase:
    return GoldenCase(EvaluationSample(name, "q", labels=labels), content_hash="h")


def kept(name: str = "one") -> Recording:
    (done,) = measure_calls([CaseCall(case(name), CallResult("old"))], SYSTEM, {})
    assert not isinstance(done.answer, RecordedAnswer)
    return record(case(name), done.result, done.answer, {}, cap=1_000_000)


def earlier(times: int = 1, **more: Any) -> RecordedRun:
    result = CaseResult("one", content_hash="h", **{"repeats": times} | more)
    left = CaseResult("left", "skipped", error="not today")
    return RecordedRun("run-1", Run("s", cases={"one": result, "left": left}), {"one": [kept()] * times})


def test_the_system_is_asked_and_its_random_numbers_are_seeded() -> None:
    assert ask_case(SYSTEM, case())() == SYSTEM.invoke(case().sample, 5)
    drawing = as_system(lambda query: str(random.random()))
    first, second, other = (ask_case(drawing, case(), i, seed=7)() for i in (0, 0, 1))
    assert first == second != other


@pytest.mark.parametrize(
    ("sample", "told"),
    [
        (
            EvaluationSample("one", "q", chat_history=[{"role": "user", "content": "hi"}]),
            "^chat_history: .*turns; a function takes them .*conversations",
        ),
        (EvaluationSample("one", "q", labels={"as": "intern"}), "^as: .*by a parameter principal.*permissions"),
        (EvaluationSample("one", "q", labels={"noise_docs": ["x"]}), "^noise_docs: .*no context to put them into"),
    ],
)
def test_a_case_that_would_not_reach_the_system_is_not_asked(sample: EvaluationSample, told: str) -> None:
    asked = ask_case(SYSTEM, GoldenCase(sample))
    with pytest.raises(SystemShapeError, match=told):
        asked()
    takes_all = as_system(lambda sample: "x")
    takes_all.takes |= {"noise_docs"}
    assert ask_case(takes_all, GoldenCase(sample))() == "x"


def test_a_replay_answers_as_the_run_did_and_asks_nobody() -> None:
    system = replayed(earlier(2))
    assert ask_case(system, case(), 1)().outputs.restore().response.text == "old"
    assert is_recorded(system, case())
    assert system.source.times(case()) == 2
    for asked, words in ((case("new"), "new"), (case("one"), "3")):
        told = ask_case(system, asked, 2)()
        assert told.outputs is None
        assert words in told.recording.error
    with pytest.raises(NotRecordedError):
        system.invoke(case().sample, 5)
    with pytest.raises(CaseEndedError, match="not today"):
        ask_case(system, case("left"))()


def test_a_replay_without_a_run_says_why() -> None:
    system = replayed(None, missing="lost")
    assert (system.source.times(case()), system.source.further(case())) == (0, range(0))
    assert "lost" in ask_case(system, case())().recording.error


def test_a_resumed_run_asks_for_the_rest() -> None:
    system = resumed(earlier(), SYSTEM)
    assert (is_recorded(system, case()), is_recorded(system, case("new"))) == (True, False)
    assert ask_case(system, case("new"))() == SYSTEM.invoke(case("new").sample, 5)


def test_answers_that_confirmed_a_failure_stand_apart() -> None:
    source = earlier(3, repeats=1)
    assert (source.times(case()), source.further(case())) == (1, range(1, 3))
    repeated = earlier(3, repeats=2)
    assert (repeated.times(case()), repeated.further(case())) == (2, range(2, 3))


def test_the_second_look_at_a_suite_is_the_last_answer() -> None:
    source = earlier(3, repeats=1, looks=1)
    assert (source.further(case()), source.look(case())) == (range(1, 2), 2)
    assert source.look(case(), 1) is None
    assert earlier(3).look(case()) is None
    twice = earlier(4, repeats=1, looks=2)
    assert (twice.further(case()), [twice.look(case(), n) for n in range(3)]) == (range(1, 2), [2, 3, None])
    assert ask_case(replayed(source), case(), SECOND_LOOK)().outputs is not None
    assert ask_case(replayed(earlier(1)), case(), SECOND_LOOK)().outputs is None


def test_noise_that_a_system_cannot_take_is_an_error() -> None:
    with pytest.raises(SystemShapeError, match="no context to put them into"):
        ask_case(SYSTEM, case(noise_docs=["x"]))()
