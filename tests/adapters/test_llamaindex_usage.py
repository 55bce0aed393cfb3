"""LlamaIndex: what the models behind an answer counted; from the real package."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("llama_index.core", reason="the extra llamaindex is not installed")

from llama_index.core import VectorStoreIndex
from llama_index.core.llms import MockLLM

from pytest_auepora.adapters.llamaindex import from_llamaindex
from pytest_auepora.adapters.streams import FIRST_TOKEN
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.core.model_calls import USAGE

from .asking import ask, ids
from .test_llamaindex_chats import ALONE, CHAT, WAIT, Priced, chat_engine, collected, index

__all__ = ["collected", "index"]
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
COUNTED = {"model": "m-1", "input_tokens": 12, "output_tokens": 3}


@pytest.mark.parametrize("use_async", [False, True])
@pytest.mark.parametrize("stream", [False, True])
def test_usage_of_a_chat_counts_each_model_call_once(index: VectorStoreIndex, stream: bool, use_async: bool) -> None:
    context = from_llamaindex(chat_engine(index, "context", Priced()), stream=stream, use_async=use_async)
    assert ask(context, CHAT).extra[USAGE] == [COUNTED]
    condense = chat_engine(index, "condense_plus_context", Priced())
    outputs = ask(from_llamaindex(condense, stream=stream, use_async=use_async), CHAT)
    assert outputs.extra[USAGE] == [COUNTED, COUNTED], "the question is condensed by the model as well"


def test_usage_of_a_query_engine(index: VectorStoreIndex) -> None:
    outputs = ask(index.as_query_engine(llm=Priced()))
    assert outputs.extra[USAGE] == [COUNTED]
    assert ids(outputs)
    start = time.perf_counter()
    streamed = ask(index.as_query_engine(llm=Priced(), streaming=True))
    seconds = time.perf_counter() - start
    assert streamed.extra[USAGE] == [COUNTED]
    assert streamed.response.text == "one two three"
    assert WAIT <= streamed.timings[FIRST_TOKEN] <= seconds - 2 * WAIT, "two more words came later"
    assert USAGE not in ask(index.as_query_engine(llm=MockLLM())).extra


def test_calls_side_by_side_count_for_themselves(index: VectorStoreIndex) -> None:
    system = as_system(chat_engine(index, "context", Priced()))
    with ThreadPoolExecutor(4) as pool:
        outputs = list(pool.map(lambda sample: ask(system, sample), [CHAT, ALONE] * 8))
    assert [out.extra[USAGE] for out in outputs] == [[COUNTED]] * 16
