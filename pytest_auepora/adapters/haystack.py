"""Haystack pipelines as systems.

Which inputs get the query is read from ``pipeline.inputs()``, once, when the pipeline is adapted:

* every open input named as in `_QUERY_INPUTS`, if it is mandatory or the name is in `_OPTIONAL_QUERY_INPUTS`
  (a prompt builder's variables);
* a mandatory list of texts or of messages named ``queries`` or ``messages`` gets the query alone in it;
* where no input is named so, the one mandatory text there is.

Any other mandatory input has to be given: ``from_haystack(pipeline, inputs={"llm": {"temperature": 0}})``.

Of what comes out, the answer is ``answers[0].data`` or else ``replies[0]`` of the last component that gave one, or a
text under one of `outputs.ANSWER_KEYS`; a pipeline that gives documents only has no answer, which is then empty.  The
documents are those of the last components that give ``documents`` (a ranker's rather than those of the retriever before
it; of two retrievers side by side both), asked for with ``include_outputs_from``.

A pipeline is called as it is configured: how many documents it fetches is its own matter, and ``top_k`` does not
change it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args, get_origin

from ..base.text import did_you_mean
from ..core.types import Document, EvaluationSample, RetrievedDocument, SystemOutputs
from ..errors import OutputShapeError, SystemShapeError
from .documents import name_of_source
from .outputs import ANSWER_KEYS, NOTES, to_response
from .shapes import describe, is_instance_of
from .systems import System, name_of, provenance_of, read_result

_ROOT = "haystack"
_QUERY = "{query}"
_ByComponent = Mapping[str, Mapping[str, Any]]

_OPTIONAL_QUERY_INPUTS = ("query", "question", "user_query", "user_question", "user_input")
_QUERY_INPUTS = (*_OPTIONAL_QUERY_INPUTS, "text", "prompt", "input", "message", "q")


def from_haystack(pipeline: Any, *, inputs: _ByComponent | None = None, use_async: bool | None = None) -> System:
    """Return a Haystack pipeline as a `System`.

    Args:
        pipeline: the pipeline.
        inputs: by component, what it is given at every call; ``"{query}"`` stands for the query.
        use_async: call ``run_async``; by default only of an ``AsyncPipeline``.

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
    call = pipeline.run_async if is_async else pipeline.run

    def invoke(sample: EvaluationSample, top_k: int) -> Any:  # noqa: ARG001 - see the module's docstring
        result = call(make_inputs(sample), include_outputs_from=set(components.read_from))
        return read_result(result, components.read)

    return System(name_of(pipeline), is_async, invoke, provenance_of(pipeline))


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
        self.read_from = [n for n in order if {"documents", "answers", "replies"} & sockets[n].keys()]
        self._after = {n: networkx.descendants(graph, n) for n in self.read_from}

    def read(self, results: _ByComponent) -> SystemOutputs:
        """Return the outputs of one run."""
        documents = self._find_documents(results)
        answer = self._find_answer(results)
        if answer is None and documents is None:
            raise OutputShapeError(
                f"the pipeline gave {describe(results)}; there are neither documents, answers, replies nor a text "
                f"under {', '.join(ANSWER_KEYS)} in it"
            )
        outputs = SystemOutputs(documents or [], to_response("" if answer is None else answer))
        if documents is None:
            outputs.extra[NOTES] = ["the answer came without documents"]
        return outputs

    def _find_answer(self, results: _ByComponent) -> Any:
        outputs = [results.get(name, {}) for name in reversed(self.order)]
        for socket in ("answers", "replies"):
            for output in outputs:
                if isinstance(value := output.get(socket), (list, tuple)) and value:
                    return _reply_text(value[0])
        return next((output[k] for output in outputs for k in ANSWER_KEYS if isinstance(output.get(k), str)), None)

    def _find_documents(self, results: _ByComponent) -> list[RetrievedDocument] | None:
        values: dict[str, Any] = {name: results.get(name, {}).get("documents") for name in self.read_from}
        by_component = {name: value for name, value in values.items() if _is_documents(value)}
        if not by_component:
            return None
        final = [n for n in by_component if not by_component.keys() & self._after[n]] or list(by_component)[-1:]
        documents = [d for name in final for d in by_component[name]]
        return [RetrievedDocument(_to_document(d), float(d.score or 0.0), rank) for rank, d in enumerate(documents, 1)]


def _is_documents(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(is_instance_of(v, _ROOT, "Document") for v in value)


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


def input_maker(pipeline: Any, fixed_inputs: _ByComponent) -> Callable[[EvaluationSample], dict[str, dict[str, Any]]]:
    """Return a function that makes the inputs for a sample; *fixed_inputs* are the ``inputs`` of `from_haystack`."""
    components = set(pipeline.graph.nodes)
    for component in fixed_inputs:
        if component not in components:
            raise SystemShapeError(f"inputs: there is no component {component!r}{did_you_mean(component, components)}")
    query_inputs: dict[tuple[str, str], Callable[[str], Any]] = {}
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
        elif socket["is_mandatory"]:
            missing[component, name] = socket["type"]
    has_placeholder = any(_QUERY in str(value) for values in fixed_inputs.values() for value in values.values())
    if not (query_inputs or has_placeholder) and list(missing.values()) in ([str], ["str"]):  # it can be nothing else
        query_inputs, missing = dict.fromkeys(missing, str), {}
    if missing or not (query_inputs or has_placeholder):
        example = 'inputs={"component": {"name": "{query}"}}'
        reason = f"has no input for the query; available: {', '.join(map('.'.join, open_inputs)) or 'none at all'}"
        if missing:
            example = 'inputs={{"{}": {{"{}": …}}}}'.format(*next(iter(missing)))
            reason = f"wants {', '.join(map('.'.join, missing))}, which no case has"
        raise SystemShapeError(
            f"the {type(pipeline).__name__} {reason}. The query goes to inputs named {', '.join(_QUERY_INPUTS)}; "
            f"give the rest with from_haystack(pipeline, {example})"
        )

    def make(sample: EvaluationSample) -> dict[str, dict[str, Any]]:
        inputs = {
            component: {k: v.replace(_QUERY, sample.query) if isinstance(v, str) else v for k, v in values.items()}
            for component, values in fixed_inputs.items()
        }
        for (component, name), form in query_inputs.items():
            inputs.setdefault(component, {})[name] = form(sample.query)
        return inputs

    return make


def _query_form(name: str, socket: Mapping[str, Any]) -> Callable[[str], Any] | None:
    """Return what makes of the query what an input takes; None for an input that is not given the query."""
    socket_type, mandatory = socket["type"], socket["is_mandatory"]
    parts = get_args(socket_type)
    if name in (_QUERY_INPUTS if mandatory else _OPTIONAL_QUERY_INPUTS):
        # a text, anything or a union with str; older versions keep the type as a word
        return str if socket_type in (str, Any, "str") or str in parts else None
    if mandatory and name in ("queries", "texts", "messages") and get_origin(socket_type) is list:
        if parts == (str,):
            return lambda query: [query]
        if [getattr(part, "__name__", "") for part in parts] == ["ChatMessage"]:
            return _user_messages
    return None


def _user_messages(query: str) -> list[Any]:
    from haystack.dataclasses import ChatMessage

    return [ChatMessage.from_user(query)]
