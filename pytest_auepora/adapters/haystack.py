"""Haystack pipelines as systems.

Which inputs get the query is read from ``pipeline.inputs()``, once, when the pipeline is adapted:

* every open input named as a query, if it is mandatory or the name is in `_OPTIONAL_QUERY_INPUTS`
  (a prompt builder's variables);
* a mandatory list of texts named ``queries`` gets the query alone in it, one of messages named ``messages`` the turns
  of the case before it;
* where no input is named so, the one mandatory text there is.

An open input named as earlier turns, a prompt builder's variable for example, gets the turns.  Any other mandatory
input has to be given: ``from_haystack(pipeline, inputs={"llm": {"temperature": 0}})``.  There is no state between two
runs of a pipeline.

Of what comes out, the answer is ``answers[0].data`` or else ``replies[0]`` (an agent's ``last_message``) of the last
component that gave one, or a text under one of `outputs.ANSWER_KEYS`; a pipeline that gives documents only has no
answer, which is then empty.  The documents are those of the last components that give ``documents`` (a ranker's rather
than those of the retriever before it; of two retrievers side by side both), asked for with ``include_outputs_from``.

A pipeline is called as it is configured: how many documents it fetches is its own matter, and ``top_k`` does not
change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from time import perf_counter
from types import MappingProxyType
from typing import Any, get_args, get_origin

from ..base.text import did_you_mean
from ..core.conversation import CHAT_HISTORY, PRINCIPAL, messages_of, principal_of, turns_of
from ..core.model_calls import USAGE
from ..core.types import Document, EvaluationSample, RetrievedDocument, SystemOutputs
from ..errors import OutputShapeError, SystemShapeError
from .between import NOTHING, Between, Look, Standing, seen
from .documents import name_of_source
from .outputs import ANSWER_KEYS, NOTES, WITHOUT_DOCUMENTS, to_response
from .reported_usage import has_counts
from .shapes import describe, is_instance_of, is_list_of
from .signatures import NAMES, QUERY_NAMES, name_of, provenance_of
from .steps import Steps, call_of, finish
from .streams import FIRST_TOKEN, StreamedAnswer
from .systems import System, stepwise
from .templates import fill_json, placeholders_in, taken_by, values_of

_ROOT = "haystack"
_LAST, _CALLBACK = "last_message", "streaming_callback"
_READ = {"documents", "answers", "replies", _LAST}


def _turn_messages(sample: EvaluationSample) -> list[Any]:
    return _chat_messages(turns_of(sample))


def _all_messages(sample: EvaluationSample) -> list[Any]:
    return _chat_messages(messages_of(sample))


_query: Callable[[EvaluationSample], Any] = attrgetter("query")
_ByComponent = Mapping[str, Mapping[str, Any]]

_OPTIONAL_QUERY_INPUTS = ("query", "question", "user_query", "user_question", "user_input")


def from_haystack(
    pipeline: Any, *, inputs: _ByComponent | None = None, use_async: bool | None = None, stream: bool = False
) -> System:
    """Return a Haystack pipeline as a `System`.

    Args:
        pipeline: the pipeline.
        inputs: by component, what it is given at every call; ``"{query}"`` stands for the query, ``"{chat_history}"``
            for the turns before it, ``"{messages}"`` for both, ``"{principal}"`` for who asks.
        use_async: call ``run_async``; by default only of an ``AsyncPipeline``.
        stream: have the last generator stream, and time the first token.

    Raises:
        SystemShapeError: *pipeline* is none, takes no query, or wants something that no case has.
    """
    if not is_instance_of(pipeline, _ROOT, "PipelineBase"):
        raise SystemShapeError(f"no Haystack pipeline: {describe(pipeline)}")
    make_inputs = input_maker(pipeline, inputs or {})
    components = _Components(pipeline)
    is_async = is_instance_of(pipeline, _ROOT, "AsyncPipeline") if use_async is None else use_async
    if is_async and not hasattr(pipeline, "run_async"):
        raise SystemShapeError(f"{type(pipeline).__name__} has no run_async in this version; use an AsyncPipeline")
    streaming = components.streaming if stream else None
    if stream and streaming is None:
        raise SystemShapeError(f"no component of the {type(pipeline).__name__} takes a streaming_callback")

    givers = DocumentGivers(pipeline, components)

    def ask(sample: EvaluationSample) -> Steps[SystemOutputs]:
        given, streamed = make_inputs(sample), StreamedAnswer(perf_counter())
        if streaming is not None:
            given.setdefault(streaming, {})["streaming_callback"] = _callback(streamed, is_async=is_async)
        run = pipeline.run_async if is_async else pipeline.run
        return components.read((yield run(given, include_outputs_from=set(components.read_from))), streamed)

    def steps(sample: EvaluationSample, top_k: int, between: Between = NOTHING) -> Steps[SystemOutputs]:  # noqa: ARG001
        with givers.standing(between):
            return (yield from ask(sample))

    return stepwise(
        name_of(pipeline), steps, is_async=is_async, provenance=provenance_of(pipeline), takes=make_inputs.takes,
        whole=givers.refusal,
    )  # fmt: skip


def _callback(streamed: StreamedAnswer, *, is_async: bool) -> Callable[[Any], Any]:
    """Return a function, since a pipeline copies what it is given, and a method with all that it belongs to."""

    def callback(chunk: Any) -> None:
        streamed.add(chunk)

    async def acallback(chunk: Any) -> None:
        streamed.add(chunk)

    return acallback if is_async else callback


class _Components:
    """The components of a pipeline in their order, and those whose outputs are read."""

    def __init__(self, pipeline: Any) -> None:
        import networkx

        graph = pipeline.graph
        try:
            order = list(networkx.topological_sort(graph))
        except networkx.NetworkXUnfeasible:  # a loop: as they were added
            order = list(graph)
        sockets = {name: graph.nodes[name]["output_sockets"] for name in order}
        self.order = order
        self.read_from = [n for n in order if _READ & sockets[n].keys()]
        self.streaming = next((n for n in reversed(order) if _CALLBACK in graph.nodes[n]["input_sockets"]), None)
        self.document_givers = [n for n in self.read_from if "documents" in sockets[n]]
        self.after = {n: networkx.descendants(graph, n) for n in self.read_from}

    def read(self, results: _ByComponent, streamed: StreamedAnswer) -> SystemOutputs:
        """Return the outputs of one run; *streamed* knows when its first token came."""
        documents = self._find_documents(results)
        answer = self._find_answer(results)
        if answer is None and documents is None:
            raise OutputShapeError(
                f"the pipeline gave {describe(results)}; there are neither documents, answers, replies nor a text "
                f"under {', '.join(ANSWER_KEYS)} in it"
            )
        outputs = SystemOutputs(documents or [], to_response("" if answer is None else answer))
        if documents is None:
            outputs.extra[NOTES] = [WITHOUT_DOCUMENTS]
        usage = [call for name in self.read_from for call in _usage_of(results.get(name, {}))]
        if has_counts(usage):
            outputs.extra[USAGE] = usage
        if (first := streamed.first_token) is not None:
            outputs.timings[FIRST_TOKEN] = first
        return outputs

    def _find_answer(self, results: _ByComponent) -> Any:
        outputs = [results.get(name, {}) for name in reversed(self.order)]
        for socket in ("answers", "replies"):
            for output in outputs:
                if isinstance(value := output.get(socket), (list, tuple)) and value:
                    return _reply_text(value[0])
        if (message := next((o[_LAST] for o in outputs if o.get(_LAST) is not None), None)) is not None:
            return _reply_text(message)
        return next((output[k] for output in outputs for k in ANSWER_KEYS if isinstance(output.get(k), str)), None)

    def _find_documents(self, results: _ByComponent) -> list[RetrievedDocument] | None:
        values: dict[str, Any] = {name: results.get(name, {}).get("documents") for name in self.read_from}
        by_component = {name: value for name, value in values.items() if is_list_of(value, _ROOT, "Document")}
        if not by_component:
            return None
        final = [n for n in by_component if not by_component.keys() & self.after[n]] or list(by_component)[-1:]
        return _read_documents([d for name in final for d in by_component[name]])


class DocumentGivers:
    """The components of a pipeline that give documents, and what stands behind them as long as a call lasts.

    In the context of that call alone, the last of them gives other documents and those before it give none, so that no
    retriever and no ranker runs; or what the last one gives is looked at.  ``refusal`` says why documents cannot be
    given in their place.
    """

    def __init__(self, pipeline: Any, components: _Components) -> None:
        self._pipeline, self._names = pipeline, (names := components.document_givers)
        after = components.after
        self._last = [name for name in names if not after[name] & {*names}]
        self._standing = Standing(_between, self._methods)
        self.refusal = ""
        if not names:
            self.refusal = "none of its components gives documents"
        elif not self._last:
            self.refusal = f"documents of {' and '.join(names)} go round in a loop"
        elif len(self._last) > 1:
            self.refusal = f"documents of {' and '.join(self._last)} go separate ways"
        elif not after[self._last[0]]:
            self.refusal = "it is a retriever alone"
        elif beside := next(filter(None, (_sent_beside(pipeline, name) for name in names)), ""):
            self.refusal = f"{beside} would be missing"

    def standing(self, between: Between) -> AbstractContextManager[None]:
        """Let the pipeline run with *between* in this context, behind the last of the components."""
        if between.documents is not None:
            found = [_to_haystack(given) for given in between.documents]
            outputs = {name: {"documents": found if name in self._last else []} for name in self._names}
            return self._standing.put({name: partial(_instead, given) for name, given in outputs.items()})
        if between.look is not None:
            return self._standing.put({self._last[0]: partial(_looked_at, between.look)})
        return nullcontext()

    def _methods(self) -> Iterator[tuple[Any, str, Any]]:
        """Yield methods for the instances; their classes, which others use, stay as they are."""
        for name in self._names:
            instance = self._pipeline.get_component(name)
            for method in ("run", "run_async"):
                if (real := getattr(instance, method, None)) is not None:
                    yield instance, method, call_of(partial(_run, name, real), is_async=method == "run_async")


_Take = Callable[[Callable[[], Any]], Any]
_between: ContextVar[Mapping[str, _Take]] = ContextVar("between", default=MappingProxyType({}))
"""By the name of a component, what is taken in the place of that which it would find."""


def _instead(outputs: Mapping[str, Any], find: Callable[[], Any]) -> dict[str, Any]:  # noqa: ARG001 - it finds nothing
    return dict(outputs)


def _looked_at(look: Look, find: Callable[[], Any]) -> Any:
    return finish(seen(find, lambda outputs: look(_read_documents(outputs.get("documents") or ()))))


def _run(name: str, real: Callable[..., Any], **inputs: Any) -> Steps[Any]:
    """Run a component, or take what stands in its place."""
    take = _between.get().get(name)
    return (yield real(**inputs) if take is None else take(lambda: real(**inputs)))


def _sent_beside(pipeline: Any, name: str) -> str:
    """Return what a component sends to others beside its documents: its name and that of the first such output."""
    sockets = pipeline.graph.nodes[name]["output_sockets"]
    return next((f"{name}.{key}" for key, socket in sockets.items() if key != "documents" and socket.receivers), "")


def _read_documents(documents: Sequence[Any]) -> list[RetrievedDocument]:
    return [RetrievedDocument(_to_document(d), float(d.score or 0.0), rank) for rank, d in enumerate(documents, 1)]


def _usage_of(output: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what the model calls behind the output of a component counted; none for one that is no generator."""
    messages = output.get("messages") if _LAST in output else (output.get("replies") or ())[:1]
    metas = [meta for message in messages or () if (meta := getattr(message, "meta", None))]
    metas = metas or [meta for meta in (output.get("meta") or ())[:1] if isinstance(meta, Mapping)]
    for meta in metas:
        if isinstance(usage := meta.get("usage"), Mapping):
            yield {**usage, **({"model": meta["model"]} if meta.get("model") else {})}


def _reply_text(answer: Any) -> Any:
    """Return the text of a reply (a string or a chat message) or of an answer (generated or extracted)."""
    if hasattr(answer, "data"):
        return "" if answer.data is None else answer.data  # an extractive reader's "no answer"
    if is_instance_of(answer, _ROOT, "ChatMessage"):
        return answer.text or ""
    return answer


def _to_document(raw: Any) -> Document:
    metadata = dict(raw.meta)
    if (source := metadata.get("source_id")) is not None:  # a splitter cut this one from it
        metadata.setdefault("document_id", name_of_source(metadata, source))
    return Document(raw.id, raw.content or "", metadata)


def _to_haystack(given: RetrievedDocument) -> Any:
    from haystack import Document

    meta = dict(given.doc.metadata)
    source = meta.get("source_id")
    if source is not None and meta.get("document_id") == name_of_source(meta, source):
        del meta["document_id"]  # which was added when it was read
    return Document(id=given.doc.doc_id, content=given.doc.text, meta=meta, score=given.score)


@dataclass(eq=False, repr=False)
class PipelineInput:
    """Makes the inputs of a pipeline from a sample: those that are ``fixed``, and those made in some ``forms``."""

    fixed: _ByComponent
    forms: Mapping[tuple[str, str], Callable[[EvaluationSample], Any]]

    @property
    def takes(self) -> frozenset[str]:
        """What of a case reaches the pipeline."""
        forms = [*self.forms.values()]
        has_turns = any(form in (_all_messages, _turn_messages, turns_of) for form in forms)
        of_inputs = {CHAT_HISTORY} if has_turns else set[str]()
        return taken_by(self.fixed) | of_inputs | ({PRINCIPAL} if principal_of in forms else set())

    def __call__(self, sample: EvaluationSample) -> dict[str, dict[str, Any]]:
        """Return the inputs by component."""
        values = values_of(sample)
        inputs = {component: fill_json(of, values, _to_haystack_form) for component, of in self.fixed.items()}
        for (component, name), form in self.forms.items():
            inputs.setdefault(component, {})[name] = form(sample)
        return inputs


def _to_haystack_form(value: Any) -> Any:
    """Return what stands alone in an input: turns as chat messages."""
    return _chat_messages(value) if isinstance(value, list) else value


def input_maker(pipeline: Any, fixed_inputs: _ByComponent) -> PipelineInput:
    """Return what makes the inputs for a sample; *fixed_inputs* are the ``inputs`` of `from_haystack`."""
    components = set(pipeline.graph.nodes)
    for component in fixed_inputs:
        if component not in components:
            raise SystemShapeError(f"inputs: there is no component {component!r}{did_you_mean(component, components)}")
    query_inputs: dict[tuple[str, str], Callable[[EvaluationSample], Any]] = {}
    other_inputs: dict[tuple[str, str], Callable[[EvaluationSample], Any]] = {}
    missing: dict[tuple[str, str], Any] = {}
    open_inputs = {
        (component, name): socket for component, of in pipeline.inputs().items() for name, socket in of.items()
    }
    for (component, name), socket in open_inputs.items():
        senders = pipeline.graph.nodes[component]["input_sockets"][name].senders
        if senders or name in fixed_inputs.get(component, {}):
            continue  # an input that takes several senders is listed as open even when it has one
        if (form := _query_form(name, socket)) is not None:
            query_inputs[component, name] = form
        elif name in NAMES[CHAT_HISTORY]:
            other_inputs[component, name] = turns_of if _holds_mappings(socket["type"]) else _turn_messages
        elif name == PRINCIPAL:
            other_inputs[component, name] = principal_of
        elif socket["is_mandatory"]:
            missing[component, name] = socket["type"]
    has_placeholder = bool(placeholders_in(fixed_inputs) & {"query", "messages"})
    if not (query_inputs or has_placeholder) and list(missing.values()) in ([str], ["str"]):  # it can be nothing else
        query_inputs, missing = dict.fromkeys(missing, _query), {}
    if missing or not (query_inputs or has_placeholder):
        example = 'inputs={"component": {"name": "{query}"}}'
        reason = f"has no input for the query; available: {', '.join(map('.'.join, open_inputs)) or 'none at all'}"
        if missing:
            example = 'inputs={{"{}": {{"{}": …}}}}'.format(*next(iter(missing)))
            reason = f"wants {', '.join(map('.'.join, missing))}, which no case has"
        raise SystemShapeError(
            f"the {type(pipeline).__name__} {reason}. The query goes to inputs named {', '.join(QUERY_NAMES)}; "
            f"give the rest with from_haystack(pipeline, {example})"
        )

    return PipelineInput(fixed_inputs, query_inputs | other_inputs)


def _query_form(name: str, socket: Mapping[str, Any]) -> Callable[[EvaluationSample], Any] | None:
    """Return what makes of the query what an input takes; None for an input that is not given the query."""
    socket_type, mandatory = socket["type"], socket["is_mandatory"]
    parts = get_args(socket_type)
    if name in (QUERY_NAMES if mandatory else _OPTIONAL_QUERY_INPUTS):
        # a text, anything or a union with str; older versions keep the type as a word
        return _query if socket_type in (str, Any, "str") or str in parts else None
    if mandatory and name in ("queries", "texts", "messages") and get_origin(socket_type) is list:
        if parts == (str,):
            return lambda sample: [sample.query]
        if [getattr(part, "__name__", "") for part in parts] == ["ChatMessage"]:
            return _all_messages
    return None


def _holds_mappings(socket_type: Any) -> bool:
    return get_origin(socket_type) is list and any((get_origin(part) or part) is dict for part in get_args(socket_type))


def _chat_messages(turns: Sequence[Mapping[str, str]]) -> list[Any]:
    from haystack.dataclasses import ChatMessage

    make = {"user": ChatMessage.from_user, "assistant": ChatMessage.from_assistant, "system": ChatMessage.from_system}
    return [make[turn["role"]](turn["content"]) for turn in turns]
