"""Asks a chat system of a framework twice, under a real instrumentation, and prints its spans, one a line::

    python -m tests.adapters.traced.chats langchain openinference > langchain.openinference.jsonl

OpenLLMetry (``openllmetry``) takes an environment of its own.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

TEXTS = {
    "prices.md": "A bicycle costs 12 euros for a day. From November to March, in winter, it costs 8 euros.",
    "hours.md": "The shop opens at 8, in winter at 10.",
}
QUESTIONS = ("What does a bicycle cost?", "And in winter?")
CONVERSATION = "conversation-1"
MODEL = "small-1"
TOKENS = (40, 20)
INSTRUMENTORS = {
    ("langchain", "openinference"): "openinference.instrumentation.langchain:LangChainInstrumentor",
    ("langgraph", "openinference"): "openinference.instrumentation.langchain:LangChainInstrumentor",
    ("llamaindex", "openinference"): "openinference.instrumentation.llama_index:LlamaIndexInstrumentor",
    ("haystack", "openinference"): "openinference.instrumentation.haystack:HaystackInstrumentor",
    ("langchain", "openllmetry"): "opentelemetry.instrumentation.langchain:LangchainInstrumentor",
    ("langgraph", "openllmetry"): "opentelemetry.instrumentation.langchain:LangchainInstrumentor",
    ("llamaindex", "openllmetry"): "opentelemetry.instrumentation.llamaindex:LlamaIndexInstrumentor",
}
Ask = Callable[[str, list[tuple[str, str]]], Any]
"""Asks a question after the turns before it, each of a role and a text."""


def found(question: str) -> list[str]:
    """Return the documents in the order in which a question finds them."""
    return sorted(TEXTS, key=lambda name: "winter" in question and name != "hours.md")


def said(question: str) -> str:
    return TEXTS[found(question)[0]]


def _langchain_parts() -> tuple[Any, Any]:
    from langchain_core.documents import Document
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.retrievers import BaseRetriever

    class Shop(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Any]:
            return [Document(TEXTS[name], id=name, metadata={"source": name}) for name in found(query)]

    class Reader(BaseChatModel):
        """Says the document that stands first in its prompt."""

        _llm_type = "reader"

        @property
        def _identifying_params(self) -> dict[str, str]:
            return {"model_name": MODEL}

        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> Any:
            tokens_in, tokens_out = TOKENS
            usage = {"input_tokens": tokens_in, "output_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}
            answer = AIMessage(
                messages[0].content.splitlines()[0], usage_metadata=usage, response_metadata={"model_name": MODEL}
            )
            return ChatResult(generations=[ChatGeneration(message=answer)])

    return Shop(), Reader()


def langchain() -> Ask:
    """A chain with a place for the turns in its prompt."""
    from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough

    shop, reader = _langchain_parts()
    texts = RunnableLambda(lambda docs: "\n".join(doc.page_content for doc in docs))
    retrieved = RunnableLambda(lambda given: given["input"]) | shop | texts
    prompt = ChatPromptTemplate([("system", "{context}"), MessagesPlaceholder("chat_history"), ("human", "{input}")])
    chain = RunnablePassthrough.assign(context=retrieved) | prompt | reader
    return lambda question, turns: chain.invoke({"input": question, "chat_history": _messages(turns)})


def langgraph() -> Ask:
    """A graph over the messages of the whole conversation."""
    from langchain_core.messages import SystemMessage
    from langgraph.graph import END, START, MessagesState, StateGraph

    shop, reader = _langchain_parts()

    def answer(state: Any) -> dict[str, Any]:
        docs = shop.invoke(state["messages"][-1].content)
        prompt = SystemMessage("\n".join(doc.page_content for doc in docs))
        return {"messages": [reader.invoke([prompt, *state["messages"]])]}

    graph = StateGraph(MessagesState)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    app = graph.compile()
    return lambda question, turns: app.invoke({"messages": [*_messages(turns), ("user", question)]})


def _messages(turns: list[tuple[str, str]]) -> Any:
    from langchain_core.messages import convert_to_messages

    return convert_to_messages([*turns])


def llamaindex() -> Ask:
    """A chat engine that keeps the turns itself."""
    from llama_index.core.chat_engine import ContextChatEngine
    from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
    from llama_index.core.llms.callbacks import llm_completion_callback
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    class Shop(BaseRetriever):
        def _retrieve(self, query: Any) -> list[Any]:
            nodes = (TextNode(text=TEXTS[n], id_=n, metadata={"file_name": n}) for n in found(query.query_str))
            return [NodeWithScore(node=node) for node in nodes]

    class Reader(CustomLLM):
        @property
        def metadata(self) -> Any:
            return LLMMetadata(model_name=MODEL)

        @llm_completion_callback()  # type: ignore[untyped-decorator]
        def complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
            usage = dict(zip(("prompt_tokens", "completion_tokens"), TOKENS, strict=True))
            first = min(TEXTS.values(), key=prompt.find)
            return CompletionResponse(text=first, raw={"model": MODEL, "usage": usage})

        def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
            raise NotImplementedError

    engine = ContextChatEngine.from_defaults(retriever=Shop(), llm=Reader())
    return lambda question, _turns: engine.chat(question)


def haystack() -> Ask:
    """A pipeline whose prompt builder has a variable for the turns."""
    from haystack import Pipeline
    from haystack.components.builders import ChatPromptBuilder
    from haystack.dataclasses import ChatMessage

    from .haystack_shop import ShopChatGenerator, ShopRetriever

    turns_of = "{% for m in history %}{% message role=m.role.value %}{{ m.text }}{% endmessage %}{% endfor %}"
    template = (
        '{% message role="system" %}{% for d in documents %}{{ d.content }}\n{% endfor %}{% endmessage %}'
        f'{turns_of}{{% message role="user" %}}{{{{ query }}}}{{% endmessage %}}'
    )
    pipeline = Pipeline()
    pipeline.add_component("shop", ShopRetriever())
    pipeline.add_component("prompt", ChatPromptBuilder(template, required_variables=["query", "documents"]))
    pipeline.add_component("reader", ShopChatGenerator())
    pipeline.connect("shop.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "reader.messages")
    make = {"user": ChatMessage.from_user, "assistant": ChatMessage.from_assistant}

    def ask(question: str, turns: list[tuple[str, str]]) -> Any:
        history = [make[role](text) for role, text in turns]
        return pipeline.run({"shop": {"query": question}, "prompt": {"query": question, "history": history}})

    return ask


def spans_of(framework: str, instrumentation: str) -> Iterator[str]:
    """Yield the spans of two turns as the SDK prints them; ids that are random are numbered."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    module, _, name = INSTRUMENTORS[framework, instrumentation].partition(":")
    getattr(import_module(module), name)().instrument(tracer_provider=provider)
    ask: Ask = globals()[framework]()
    with _session(instrumentation):
        turns: list[tuple[str, str]] = []
        for question in QUESTIONS:
            ask(question, turns)
            turns += [("user", question), ("assistant", said(question))]
    numbers: dict[str, str] = {}
    ids = r"\b0x[0-9a-f]{16,32}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
    for span in exporter.get_finished_spans():
        yield re.sub(
            ids, lambda match: numbers.setdefault(match[0], f"id-{len(numbers) + 1}"), span.to_json(indent=None)
        )


def _session(instrumentation: str) -> AbstractContextManager[Any]:
    if instrumentation != "openinference":
        return nullcontext()
    from openinference.instrumentation import using_attributes

    session: AbstractContextManager[Any] = using_attributes(session_id=CONVERSATION, tags=["web"])
    return session


if __name__ == "__main__":
    for line in spans_of(*sys.argv[1:]):
        print(line)
