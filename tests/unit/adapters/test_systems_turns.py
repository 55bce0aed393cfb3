"""Earlier turns and who asks, given to systems by the names of their parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_auepora.adapters.systems import as_system
from pytest_auepora.core.conversation import CHAT_HISTORY, PRINCIPAL
from pytest_auepora.core.rag_interface import NOISE_DOCS, SimpleRAGSystem
from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.errors import SystemShapeError

from .asking import SAMPLE, Finder, Writer

TURNS = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
ASKED = EvaluationSample("c", "why?", labels={"as": "intern"}, metadata={"team": "x"}, chat_history=TURNS)


def said(system: Any, sample: EvaluationSample = ASKED) -> Any:
    return as_system(system).invoke(sample, 3)


def last(messages: list[dict[str, str]]) -> str:
    return f"{len(messages)} {messages[-1]['content']}"


def by_sample(sample: Any) -> str:
    return f"{last(sample.chat_history)} {sample.query}"


@pytest.mark.parametrize(
    "system",
    [
        lambda query, chat_history: f"{last(chat_history)} {query}",
        lambda query, history=None: f"{last(history)} {query}",
        lambda query, *, messages: f"{last(messages)} {query}",
        lambda text, messages: f"{last(messages)} {text}",
        lambda history, query: f"{last(history)} {query}",
        by_sample,
    ],
)
def test_turns_go_to_the_parameter_of_that_name(system: Callable[..., str]) -> None:
    assert said(system) == "2 hello why?"
    assert CHAT_HISTORY in as_system(system).takes


def test_messages_alone_end_with_the_query() -> None:
    def answer(messages: list[dict[str, str]]) -> str:
        return last(messages)

    assert said(answer) == "3 why?"
    assert said(answer, SAMPLE) == "1 why?"
    assert CHAT_HISTORY in as_system(answer).takes


def test_a_case_without_turns_gives_an_empty_list() -> None:
    def goes_on(query: str, chat_history: Any = None) -> str:
        return "goes on" if chat_history is None else "starts anew"

    assert said(goes_on, SAMPLE) == "starts anew"


def test_what_a_system_adds_to_its_turns_is_not_kept() -> None:
    def adds(query: str, history: list[Any]) -> str:
        history[0]["content"] = "changed"
        history.append(query)
        return str(len(history))

    assert [said(adds), said(adds)] == ["3", "3"]
    assert ASKED.chat_history == TURNS


@pytest.mark.parametrize(
    ("system", "known", "unknown"),
    [
        (lambda query, principal: f"{principal}", "intern", "None"),
        (lambda query, principal="public": f"{principal}", "intern", "public"),
        (lambda query, principal="public", top_k=1: f"{principal} {top_k}", "intern 3", "public 3"),
        (lambda query, metadata: str(metadata.get("principal")), "intern", "None"),
        (lambda sample: str(sample.labels.get("as")), "intern", "None"),
    ],
)
def test_who_asks_goes_to_principal_or_metadata(system: Callable[..., str], known: str, unknown: str) -> None:
    assert said(system) == known
    assert said(system, SAMPLE) == unknown
    assert PRINCIPAL in as_system(system).takes


def test_metadata_of_the_case_come_along() -> None:
    assert said(lambda query, metadata: metadata) == {"team": "x", "principal": "intern"}
    assert ASKED.metadata == {"team": "x"}


def test_both_parts_of_a_pair_may_take_turns() -> None:
    class Reads:
        def retrieve(self, query: str, history: list[Any]) -> list[str]:
            return [last(history)]

    class Writes:
        def generate(self, query: str, documents: list[str], principal: str) -> str:
            return f"{documents[0]} {principal}"

    system = as_system((Reads(), Writes()))
    assert system.takes == {CHAT_HISTORY, PRINCIPAL, NOISE_DOCS}
    assert system.invoke(ASKED, 3).response.text == "2 hello intern"


@pytest.mark.parametrize("system", [lambda query: query, lambda query, **rest: query, (Finder(), Writer())])
def test_a_system_that_takes_neither_says_so(system: Any) -> None:
    assert not {CHAT_HISTORY, PRINCIPAL} & as_system(system).takes


def test_a_simple_system_gives_turns_to_parts_that_take_them() -> None:
    class Reads(Finder):
        def retrieve(self, query: str, *, top_k: int = 5, chat_history: Any = ()) -> Any:
            return super().retrieve(f"{query} {len(chat_history)}", top_k=1)

    system = as_system(SimpleRAGSystem(Reads(), Writer()))
    assert system.name == "SimpleRAGSystem"
    assert system.invoke(ASKED, 3).response.text == "why? 2 1"
    with pytest.raises(SystemShapeError, match="are given the query alone"):
        SimpleRAGSystem(Finder(), Writer()).run(ASKED)
