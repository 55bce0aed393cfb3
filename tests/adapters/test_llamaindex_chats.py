"""LlamaIndex: chat engines with earlier turns, usage, streams; from the real package."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="the extra llamaindex is not installed")

from llama_index.core import Document, MockEmbedding, VectorStoreIndex
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.llms import ChatMessage, CompletionResponse, CustomLLM, LLMMetadata, MockLLM
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.memory import ChatMemoryBuffer

from pytest_auepora.adapters.llamaindex import from_llamaindex
from pytest_auepora.adapters.streams import FIRST_TOKEN
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.core.conversation import CHAT_HISTORY
from pytest_auepora.errors import SystemShapeError

from .asking import SAMPLE, ask

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Collect what LlamaIndex leaves open, loops among it, before the next test is blamed for it."""
    yield
    gc.collect()


TURNS = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
CHAT, ALONE = replace(SAMPLE, query="Q", chat_history=TURNS), replace(SAMPLE, query="Q")
RAW = {"model": "m-1", "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}}
WAIT = 0.02


class Priced(CustomLLM):
    """Gives the answer of the service in ``raw`` as the providers' do; its ``chat`` calls its ``complete``."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="m-1", is_chat_model=True)

    @llm_completion_callback()  # type: ignore[untyped-decorator]
    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        return CompletionResponse(text="one two three", raw=dict(RAW))

    @llm_completion_callback()  # type: ignore[untyped-decorator]
    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Iterator[CompletionResponse]:
        def parts() -> Iterator[CompletionResponse]:
            text = ""
            for word in ("one ", "two ", "three"):
                time.sleep(WAIT)
                text += word
                yield CompletionResponse(text=text, delta=word, raw=dict(RAW) if word == "three" else {"model": "m-1"})

        return parts()


@pytest.fixture(scope="module")
def index() -> VectorStoreIndex:
    return VectorStoreIndex.from_documents([Document(text="LIVE text", id_="live")], embed_model=MockEmbedding(4))


def chat_engine(index: VectorStoreIndex, mode: str, llm: Any, memory: Any = None) -> Any:
    options = {"memory": memory or ChatMemoryBuffer.from_defaults()}  # the default one opens a database
    if mode == "simple":
        return SimpleChatEngine.from_defaults(llm=llm, **options)
    return index.as_chat_engine(chat_mode=mode, llm=llm, **options)


MODES = ("context", "condense_plus_context", "condense_question", "simple")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("use_async", [False, True])
@pytest.mark.parametrize("stream", [False, True])
def test_a_chat_engine_sees_the_turns_of_the_case_alone(
    index: VectorStoreIndex, mode: str, stream: bool, use_async: bool
) -> None:
    own = ChatMemoryBuffer.from_defaults(chat_history=[ChatMessage(role="user", content="of the user's own")])
    engine = chat_engine(index, mode, MockLLM(), memory=own)  # says its prompt
    system = from_llamaindex(engine, stream=stream, use_async=use_async)
    assert CHAT_HISTORY in system.takes
    for sample in (CHAT, ALONE, CHAT):
        outputs = ask(system, sample)
        assert ("hello" in outputs.response.text) == bool(sample.chat_history)
        assert (FIRST_TOKEN in outputs.timings) == stream
        assert bool(outputs.retrieved) == (mode != "simple")
    assert [message.content for message in engine.chat_history] == ["of the user's own"]


def test_the_memory_of_each_call_is_as_large_as_the_users(index: VectorStoreIndex) -> None:
    memory = ChatMemoryBuffer.from_defaults(token_limit=60, tokenizer_fn=str.split)
    engine = chat_engine(index, "simple", MockLLM(), memory=memory)
    long = replace(SAMPLE, query="Q", chat_history=[{"role": "user", "content": "word " * 100}, *TURNS])
    said = ask(engine, long).response.text
    assert "hello" in said
    assert "word" not in said
    assert memory.get_all() == []


def test_an_engine_whose_turns_cannot_be_told_apart_is_refused() -> None:
    class Own(BaseChatEngine):
        def reset(self) -> None: ...
        def chat(self, message: str, chat_history: Any = None) -> Any: ...
        def stream_chat(self, message: str, chat_history: Any = None) -> Any: ...
        async def achat(self, message: str, chat_history: Any = None) -> Any: ...
        async def astream_chat(self, message: str, chat_history: Any = None) -> Any: ...
        @property
        def chat_history(self) -> Any: ...

    with pytest.raises(SystemShapeError, match="a function of query and chat_history that makes a new engine"):
        as_system(Own())


def test_a_query_engine_is_streamed_as_it_was_made(index: VectorStoreIndex) -> None:
    with pytest.raises(SystemShapeError, match="streaming=True"):
        from_llamaindex(index.as_query_engine(llm=MockLLM()), stream=True)
