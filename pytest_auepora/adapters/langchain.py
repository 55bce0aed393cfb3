"""LangChain runnables, chains and retrievers as systems.

What a runnable is given is read from its input schema (`langchain_forms`).

What it gives: a string or a message is the answer, a mapping holds it under one of `outputs.ANSWER_KEYS` (or as the
last of its ``messages``), a list of documents has no answer, which is then empty.  Where the output holds no
documents, those that the retrievers inside the runnable found are taken, by LangChain's own callbacks.

A runnable is called as it is configured: how many documents it fetches is its own matter, and ``top_k`` does not
change it.  Every runnable has an ``ainvoke``, which is a thread more often than not, so it is used where asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from typing import Any
from uuid import uuid4

from ..core.conversation import CHAT_HISTORY, PRINCIPAL, principal_of
from ..core.model_calls import USAGE
from ..core.types import EvaluationSample, SystemOutputs
from ..errors import NoGeneratorError, SystemShapeError
from .between import NOTHING, Between
from .completions import message_usage
from .langchain_forms import answer_text, chat_messages, input_maker, is_documents, split_output
from .langchain_given import GivenDocuments, Seen, Taken, parts_of, replaced, retrievers_in, standing, state_key
from .outputs import ANSWER_KEYS, to_outputs
from .reported_usage import has_counts
from .shapes import describe, is_instance_of
from .signatures import name_of, provenance_of
from .steps import Steps
from .streams import FIRST_TOKEN, feed
from .systems import System, stepwise

_ROOT = "langchain_core"


def from_langchain(
    runnable: Any,
    *,
    input_key: str | None = None,
    history_key: str | None = None,
    make_input: Callable[[EvaluationSample], Any] | None = None,
    use_async: bool | None = None,
    stream: bool = False,
) -> System:
    """Return a LangChain runnable as a `System`, for when the fixture has to say more than the runnable does.

    Args:
        runnable: a chain, a retriever, a graph or any other ``Runnable``.
        input_key: the key that the query is given under.
        history_key: the key that the turns before it are given under.
        make_input: makes the whole input from the sample; wins over the keys.
        use_async: call ``ainvoke``; by default only where there is nothing else.
        stream: call ``stream``, or ``astream``, and time the first token.

    Raises:
        SystemShapeError: *runnable* is no runnable, or wants something that no case has.
    """
    if not is_instance_of(runnable, _ROOT, "Runnable"):
        raise SystemShapeError(f"no LangChain runnable: {describe(runnable)}")
    is_async = _only_async(runnable) if use_async is None else use_async
    maker = make_input or input_maker(runnable, input_key, history_key)
    call = _RunnableCall(runnable, maker, is_async=is_async, streams=stream)
    apart = _Apart(call, name_of(runnable))
    return stepwise(
        apart.name, apart.steps, is_async=is_async, provenance=provenance_of(runnable), takes=call.takes,
        whole=apart.refusal,
    )  # fmt: skip


class _RunnableCall:
    """Calls a runnable, each time in a fresh state: a session or thread of its own, with the turns of the case.

    Who asks stands in the metadata of its configuration, and in what is configurable, as ``principal``.
    """

    def __init__(
        self, runnable: Any, input_of: Callable[[EvaluationSample], Any], *, is_async: bool, streams: bool
    ) -> None:
        self.runnable, self._input_of, self.is_async, self._streams = runnable, input_of, is_async, streams
        self._memory = _find_bound(runnable, _ROOT, "RunnableWithMessageHistory")
        self.graph = _find_bound(runnable, "langgraph", "Pregel")
        self._session_keys = [spec.id for spec in self._memory.history_factory_config] if self._memory else []
        specs = (spec.id for spec in getattr(runnable, "config_specs", ()))
        self._state_keys = list(dict.fromkeys([*self._session_keys, *(key for key in specs if key in _STATE_KEYS)]))
        if self.graph is not None and getattr(self.graph, "checkpointer", None):
            self._state_keys.append("thread_id")

    @property
    def takes(self) -> frozenset[str]:
        """What of a case reaches the runnable."""
        has_turns = self._memory is not None or getattr(self._input_of, "has_turns", True)  # a function of the user's
        return frozenset({PRINCIPAL, CHAT_HISTORY} if has_turns else {PRINCIPAL})

    def steps(self, sample: EvaluationSample) -> Steps[SystemOutputs]:
        """Ask the runnable."""
        return self.answer(self.runnable, *self.prepare(sample))

    def answer(self, runnable: Any, given: Any, config: dict[str, Any], listener: Any) -> Steps[SystemOutputs]:
        """Return what *runnable* answers."""
        if not self._streams:
            invoke = runnable.ainvoke if self.is_async else runnable.invoke
            return _read_output((yield invoke(given, config=config)), listener)
        chunks = _Chunks(of_graph=self.graph is not None)
        stream = runnable.astream if self.is_async else runnable.stream
        yield feed(stream(given, config=config, **chunks.options), chunks.add)
        return chunks.outputs(listener)

    def prepare(self, sample: EvaluationSample) -> tuple[Any, dict[str, Any], Any]:
        """Return the input, the configuration, and what listens."""
        listener = _listener_class()()
        config: dict[str, Any] = {"callbacks": [listener]}
        configurable: dict[str, Any] = {key: f"auepora-{uuid4()}" for key in self._state_keys}
        if (who := principal_of(sample)) is not None:
            config["metadata"], configurable[PRINCIPAL] = {PRINCIPAL: who}, who
        if configurable:
            config["configurable"] = configurable
        if self._memory is not None and sample.chat_history:
            self._session_history(configurable).add_messages(chat_messages(sample))
            sample = replace(sample, chat_history=[])
        return self._input_of(sample), config, listener

    def _session_history(self, configurable: Mapping[str, Any]) -> Any:
        """Return the history of the session, which the runnable will look up in the same way."""
        values = {key: configurable[key] for key in self._session_keys}
        find = self._memory.get_session_history
        return find(*values.values()) if len(values) == 1 else find(**values)


class _Apart:
    """Calls a runnable, also with something between its retriever and its generator, as `langchain_given` has it.

    ``refusal`` says why that cannot be done, as far as it shows before a call.
    """

    def __init__(self, call: _RunnableCall, name: str) -> None:
        self._call, self.name = call, name
        found = retrievers_in(call.runnable)
        self._is_part = len(found) == 1
        self._key = None if found or call.graph is None else state_key(call.graph)
        self._node: str | None = None
        self.refusal = ""
        if is_instance_of(call.runnable, _ROOT, "BaseRetriever"):
            self.refusal = "it is a retriever alone"
        elif len(found) > 1:
            self.refusal = f"it has {len(found)} retrievers, and nobody knows whose a document was"

    def steps(self, sample: EvaluationSample, top_k: int, between: Between = NOTHING) -> Steps[SystemOutputs]:  # noqa: ARG002
        """Ask the runnable."""
        if between.look is not None:
            return (yield from self._ask(sample, Seen(between.look)))
        if between.documents is None:
            return (yield from self._call.steps(sample))
        given = GivenDocuments(between.documents)
        outputs = yield from self._ask(sample, given)
        given.check(self.name)
        return outputs

    def _ask(self, sample: EvaluationSample, between: Taken) -> Steps[SystemOutputs]:
        if self._is_part:
            copy = replaced(self._call.runnable, between)
            return (yield from self._call.answer(copy, *self._call.prepare(sample)))
        if (key := self._key) is not None and (node := (yield from self._find_node(sample, key))):
            return (yield from self._in_state(sample, key, node, between))
        with standing.put(between):
            return (yield from self._call.steps(sample))

    def _find_node(self, sample: EvaluationSample, key: str) -> Steps[str]:
        """Return the node that puts documents into the state though no retriever of LangChain's found them.

        The graph is run as far as that, once; a retriever that is asked on the way makes it unnecessary.
        """
        if self._node is None:
            unused, node = GivenDocuments(()), ""
            given, config, _ = self._call.prepare(sample)
            stream = self._call.graph.astream if self._call.is_async else self._call.graph.stream

            def see(update: Any) -> None:
                for name, values in update.items() if isinstance(update, Mapping) else ():
                    if isinstance(values, Mapping) and is_documents(values.get(key)):
                        raise _NodeFoundError(name)

            with standing.put(unused):
                try:
                    yield feed(stream(given, config=config, stream_mode="updates"), see)
                except _NodeFoundError as found:
                    node = str(found)
            self._node = "" if unused.asked else node
        return self._node

    def _in_state(self, sample: EvaluationSample, key: str, node: str, between: Taken) -> Steps[SystemOutputs]:
        from langgraph.checkpoint.memory import InMemorySaver

        graph = self._call.graph.copy(update={"checkpointer": InMemorySaver()})
        given, config, listener = self._call.prepare(sample)
        config["configurable"] = {**config.get("configurable", {}), "thread_id": f"auepora-{uuid4()}"}
        whole = _with_bound(self._call.runnable, self._call.graph, graph)
        invoke = whole.ainvoke if self._call.is_async else whole.invoke
        yield invoke(given, config=config, interrupt_after=[node])
        found = graph.get_state(config).values.get(key)
        documents = between.take(lambda: found)
        if documents is not found:
            graph.update_state(config, {key: documents}, as_node=node)
            if graph.get_state(config).values.get(key) != documents:
                raise NoGeneratorError(self.name, f"its state adds to {key!r} what is put there")
        return (yield from self._call.answer(whole, None, config, listener))


class _NodeFoundError(Exception):
    """Ends a graph at the node that is named."""


_STATE_KEYS = ("session_id", "thread_id", "conversation_id")
"""What is configurable and names a state that calls share."""


def _find_bound(runnable: Any, package: str, kind: str) -> Any:
    """Return *runnable*, or what it is a binding of, where that is a *kind* of *package*; else None."""
    while not is_instance_of(runnable, package, kind):
        if not is_instance_of(runnable, _ROOT, "RunnableBindingBase"):
            return None
        runnable = runnable.bound
    return runnable


def _with_bound(runnable: Any, old: Any, new: Any) -> Any:
    """Return *runnable* with *new* in the place of *old*, which it is or is a binding of."""
    return new if runnable is old else runnable.model_copy(update={"bound": _with_bound(runnable.bound, old, new)})


class _Chunks:
    """The chunks of one call, added up, and when the first text of the answer came.

    A graph streams messages as well as its states, of which the last counts.
    """

    def __init__(self, *, of_graph: bool) -> None:
        self.options: dict[str, Any] = {"stream_mode": ["messages", "values"]} if of_graph else {}
        self._start = time.perf_counter()
        self._total: Any = None
        self._first: dict[str, float] = {}  # by message; of other chunks under an empty text

    def add(self, chunk: Any) -> None:
        if not self.options:
            self._note(chunk, "")
            try:
                self._total = chunk if self._total is None else self._total + chunk
            except TypeError:  # what cannot be added up is given whole
                self._total = chunk
        elif chunk[0] == "messages":
            self._note(chunk[1][0], str(getattr(chunk[1][0], "id", "")))
        else:
            self._total = chunk[1]

    def outputs(self, listener: Any) -> SystemOutputs:
        outputs = _read_output(self._total, listener)
        messages = self._total.get("messages") if isinstance(self._total, Mapping) else None
        answer_id = str(getattr(messages[-1], "id", "")) if messages else ""
        first = self._first.get(answer_id, next(reversed(self._first.values()), None))
        if first is not None:
            outputs.timings.setdefault(FIRST_TOKEN, first)
        return outputs

    def _note(self, chunk: Any, key: str) -> None:
        if key not in self._first and _has_text(chunk):
            self._first[key] = time.perf_counter() - self._start


def _has_text(chunk: Any) -> bool:
    if isinstance(chunk, Mapping):
        return any(_has_text(chunk[key]) for key in ANSWER_KEYS if key in chunk)
    text = answer_text(chunk)
    return isinstance(text, str) and text != ""


_outermost: ContextVar[Any] = ContextVar("outermost", default=None)
"""The run of the last retrieval in this context that was not inside of another one."""


@cache
def _listener_class() -> Any:
    """Return the class that listens to the retrievers of one call; the first call imports LangChain."""
    from langchain_core.callbacks import BaseCallbackHandler

    class Listener(BaseCallbackHandler):  # type: ignore[misc]
        """Collects the documents of the retrievers of one call (None without a retrieval), the time they took, and the
        usage of its models.

        A retriever may ask others (an ensemble, a reranker), directly or in chains of its own: the outermost counts.
        Those it asks are asked in its context, or in a thread of its own as its children.
        """

        run_inline = True  # otherwise the end of a retrieval is noted after the answer

        def __init__(self) -> None:
            self.documents: list[Any] | None = None
            self.seconds = 0.0
            self.usage: list[dict[str, Any]] = []
            self._retrieving: set[Any] = set()
            """The outermost retrievals that have not ended."""
            self._started = 0.0

        def on_retriever_start(self, *_: Any, run_id: Any = None, parent_run_id: Any = None, **__: Any) -> None:
            if self._retrieving & {parent_run_id, _outermost.get()}:
                return
            if not self._retrieving:
                self._started = time.perf_counter()
            self._retrieving.add(run_id)
            _outermost.set(run_id)

        def on_retriever_end(self, documents: Any, *, run_id: Any = None, **_: Any) -> None:
            if run_id in self._retrieving:
                self._end(run_id)
                self.documents = [*(self.documents or ()), *documents]

        def on_retriever_error(self, *_: Any, run_id: Any = None, **__: Any) -> None:
            if run_id in self._retrieving:
                self._end(run_id)

        def _end(self, run_id: Any) -> None:
            self._retrieving.remove(run_id)
            if not self._retrieving:  # of retrievals side by side, the time until the last has ended
                self.seconds += time.perf_counter() - self._started

        def on_llm_end(self, response: Any, **_: Any) -> None:
            self.usage += [_model_usage(generation, response.llm_output) for (generation, *_) in response.generations]

    return Listener


def _model_usage(generation: Any, llm_output: Any) -> dict[str, Any]:
    """Return what a model counted for one of its answers: on its message, or beside it where a model has none."""
    said = message_usage(generation.message) if hasattr(generation, "message") else {}
    beside = llm_output if isinstance(llm_output, Mapping) else {}
    usage, model = said.get("usage") or beside.get("token_usage"), said.get("model") or beside.get("model_name")
    return {**(usage or {}), **({"model": model} if model else {})}


def _read_output(raw: Any, listener: Any) -> SystemOutputs:
    answer, documents, rest = split_output(raw)
    found = listener.documents if documents is None else documents
    usage = {USAGE: listener.usage} if has_counts(listener.usage) else {}
    outputs = to_outputs({**usage, **rest, "answer": answer, "documents": found})
    if listener.documents is not None:
        outputs.timings.setdefault("retrieval", listener.seconds)
    return outputs


def _only_async(runnable: Any) -> bool:
    """Whether some part of *runnable* has a coroutine function only."""
    names = {"RunnableLambda": ("func", "afunc"), "RunnableGenerator": ("_transform", "_atransform")}
    for part in parts_of(runnable):
        for kind, (plain, asynchronous) in names.items():
            if is_instance_of(part, _ROOT, kind) and plain not in vars(part) and asynchronous in vars(part):
                return True
    return False
