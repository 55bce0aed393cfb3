"""Haystack pipelines as systems.

Which inputs get the query is read from ``pipeline.inputs()``, once, when the pipeline is adapted:

* every open input named as in `QUERY_INPUTS`, if it is mandatory or the name is in `OPTIONAL_QUERY_INPUTS`
  (a prompt builder's variables);
* a mandatory list of texts or of messages named ``queries`` or ``messages`` gets the query alone in it;
* where no input is named so, the one mandatory text there is.

Any other mandatory input has to be given: ``from_haystack(pipeline, inputs={"llm": {"temperature": 0}})``.

Of what comes out, the answer is ``answers[0].data`` or else ``replies[0]`` of the last component that gave one, or a
text under one of `outputs.ANSWER_KEYS`; a pipeline that gives documents only has no answer, which is then empty.  The
documents are those of the last components that give ``documents`` (a ranker's rather than those of the retriever before
it; of two retrievers side by side both), asked for with ``include_outputs_from``.

A pipeline is called as it is configured: how many documents it fetches is its own matter, and ``top_k`` does not
change it.  ``Pipeline`` is run with ``run``, ``AsyncPipeline`` with ``run_async``; where both exist, ``use_async``
decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args, get_origin

from ..core.types import Document, EvaluationSample, RetrievedDocument, SystemOutputs
from ..errors import OutputShapeError, SystemShapeError, did_you_mean
from .outputs import ANSWER_KEYS, NOTES, to_response
from .shapes import describe
from .systems import System, kind_of, name_of, provenance_of

_ROOT = "haystack"
_QUERY = "{query}"
_ByComponent = Mapping[str, Mapping[str, Any]]

OPTIONAL_QUERY_INPUTS = ("query", "question", "user_query", "user_question", "user_input")
"""Inputs that get the query although the component could do without."""

QUERY_INPUTS = (*OPTIONAL_QUERY_INPUTS, "text", "prompt", "input", "message", "q")
"""Inputs that get the query where they are mandatory."""


def from_haystack(pipeline: Any, *, inputs: _ByComponent | None = None, use_async: bool | None = None) -> System:
    """Return a Haystack pipeline as a `System`.

    Args:
        pipeline: the pipeline.
        inputs: by component, what it is given at every call; ``"{query}"`` stands for the query.
        use_async: call ``run_async``; by default only where that is what the pipeline is for.

    Raises:
        SystemShapeError: *pipeline* is none, takes no query, or wants something that no case has.
    """
    if not kind_of(pipeline, _ROOT, "PipelineBase"):
        raise SystemShapeError(f"no Haystack pipeline: {describe(pipeline)}")
    make = input_maker(pipeline, inputs or {})
    listed = _Components(pipeline)
    calls_async = kind_of(pipeline, _ROOT, "AsyncPipeline") if use_async is None else use_async
    if calls_async and not hasattr(pipeline, "run_async"):
        raise SystemShapeError(f"{type(pipeline).__name__} has no run_async in this version; use an AsyncPipeline")

    def invoke(sample: EvaluationSample, top_k: int) -> SystemOutputs:  # noqa: ARG001 - see the module's docstring
        return listed.read(pipeline.run(make(sample), include_outputs_from=set(listed.asked)))

    async def ainvoke(sample: EvaluationSample, top_k: int) -> SystemOutputs:  # noqa: ARG001 - as above
        return listed.read(await pipeline.run_async(make(sample), include_outputs_from=set(listed.asked)))

    return System(name_of(pipeline), calls_async, ainvoke if calls_async else invoke, provenance_of(pipeline))


class _Components:
    """The components whose outputs are read, and which of them come after which."""

    def __init__(self, pipeline: Any) -> None:
        import networkx

        graph = pipeline.graph
        try:
            order = list(networkx.topological_sort(graph))
        except networkx.NetworkXUnfeasible:  # a loop: as they were added
            order = list(graph)
        sockets = {name: graph.nodes[name]["output_sockets"] for name in order}
        self.order = order
        self.asked = [n for n in order if {"documents", "answers", "replies"} & sockets[n].keys()]
        self._after = {n: networkx.descendants(graph, n) for n in self.asked}

    def read(self, results: _ByComponent) -> SystemOutputs:
        """Return the outputs of one run."""
        documents = self._documents(results)
        answer = self._answer(results)
        if answer is None:
            if documents is None:
                raise OutputShapeError(
                    f"the pipeline gave {describe(results)}; there are neither documents, answers, replies nor a text "
                    f"under {', '.join(ANSWER_KEYS)} in it"
                )
            answer = ""
        outputs = SystemOutputs(documents or [], to_response(answer))
        if documents is None:
            outputs.extra[NOTES] = ["the answer came without documents"]
        return outputs

    def _answer(self, results: _ByComponent) -> Any:
        for socket in ("answers", "replies"):
            for name in reversed(self.order):
                given = results.get(name, {}).get(socket)
                if isinstance(given, (list, tuple)) and given:
                    return _text(given[0])
        for name in reversed(self.order):
            for key in ANSWER_KEYS:
                if isinstance(given := results.get(name, {}).get(key), str):
                    return given
        return None

    def _documents(self, results: _ByComponent) -> list[RetrievedDocument] | None:
        lists = {n: found for n in self.asked if (found := _listed(results.get(n, {}).get("documents"))) is not None}
        if not lists:
            return None
        last = [n for n in lists if not lists.keys() & self._after[n]] or list(lists)[-1:]
        found = [d for name in last for d in lists[name]]
        return [RetrievedDocument(_document(d), float(d.score or 0.0), rank) for rank, d in enumerate(found, 1)]


def _listed(value: Any) -> list[Any] | None:
    """Return a list of Haystack documents, or None for anything else."""
    if not isinstance(value, (list, tuple)) or not all(kind_of(v, _ROOT, "Document") for v in value):
        return None
    return list(value)


def _text(answer: Any) -> Any:
    """The text of a reply (a string or a chat message) or of an answer (generated or extracted)."""
    if hasattr(answer, "data"):
        return "" if answer.data is None else answer.data  # an extractive reader's "no answer"
    if kind_of(answer, _ROOT, "ChatMessage"):
        return answer.text or ""
    return answer


def _document(raw: Any) -> Document:
    metadata = dict(raw.meta)
    # the document that a splitter cut this one from: its source_id is a hash, which nobody writes into a label
    names = (metadata.get(key) for key in ("file_path", "file_name", "url", "source", "source_id"))
    if metadata.get("source_id") is not None and (name := next((n for n in names if n is not None), None)) is not None:
        metadata.setdefault("document_id", name)
    return Document(raw.id, raw.content or "", metadata)


def input_maker(pipeline: Any, given: _ByComponent) -> Callable[[EvaluationSample], dict[str, dict[str, Any]]]:
    """Return what makes the input of *pipeline* from a sample; *given* is as the ``inputs`` of `from_haystack`.

    Raises:
        SystemShapeError: no input takes the query, or a mandatory input has nothing to be given.
    """
    open_inputs, there = pipeline.inputs(), set(pipeline.graph.nodes)
    for component in given:
        if component not in there:
            raise SystemShapeError(f"inputs: there is no component {component!r}{did_you_mean(component, there)}")
    places: dict[tuple[str, str], str] = {}
    missing: list[tuple[str, str, Any]] = []
    for component, sockets in open_inputs.items():
        for name, socket in sockets.items():
            if name in given.get(component, {}) or pipeline.graph.nodes[component]["input_sockets"][name].senders:
                continue  # an input that takes several senders is listed as open even when it has one
            mandatory = socket["is_mandatory"]
            if name in (QUERY_INPUTS if mandatory else OPTIONAL_QUERY_INPUTS) and _holds_text(socket["type"]):
                places[component, name] = "text"
            elif mandatory and name in ("queries", "texts", "messages") and (kind := _list_kind(socket["type"])):
                places[component, name] = kind
            elif mandatory:
                missing.append((component, name, socket["type"]))
    said = any(_QUERY in str(value) for values in given.values() for value in values.values())
    if not places and not said and len(missing) == 1 and missing[0][2] in (str, "str"):  # it can be nothing else
        places[missing[0][:2]] = "text"
        missing = []
    if missing or not (places or said):
        raise _refuse(pipeline, open_inputs, missing)

    def make(sample: EvaluationSample) -> dict[str, dict[str, Any]]:
        made = {
            component: {k: v.replace(_QUERY, sample.query) if isinstance(v, str) else v for k, v in values.items()}
            for component, values in given.items()
        }
        for (component, name), kind in places.items():
            made.setdefault(component, {})[name] = _value(kind, sample.query)
        return made

    return make


def _holds_text(kind: Any) -> bool:
    """Whether a socket of type *kind* takes a text: str, Any, or a union with str; older versions keep the word."""
    return kind in (str, Any, "str") or str in get_args(kind)


def _list_kind(kind: Any) -> str:
    """Say what a socket of type *kind* is a list of: ``"texts"``, ``"messages"``, or nothing that is known."""
    inside = get_args(kind)
    if get_origin(kind) is not list or len(inside) != 1:
        return ""
    if inside[0] is str:
        return "texts"
    return "messages" if getattr(inside[0], "__name__", "") == "ChatMessage" else ""


def _value(kind: str, query: str) -> Any:
    if kind == "text":
        return query
    if kind == "texts":
        return [query]
    from haystack.dataclasses import ChatMessage

    return [ChatMessage.from_user(query)]


def _refuse(pipeline: Any, open_inputs: _ByComponent, missing: list[tuple[str, str, Any]]) -> SystemShapeError:
    if missing:
        wants = ", ".join(f"{component}.{name}" for component, name, _ in missing)
        example = f'inputs={{"{missing[0][0]}": {{"{missing[0][1]}": …}}}}'
        why = f"wants {wants}, which no case has"
    else:
        there = ", ".join(f"{component}.{name}" for component, sockets in open_inputs.items() for name in sockets)
        example = 'inputs={"component": {"name": "{query}"}}'
        why = f"has no input for the query; there is {there or 'none at all'}"
    return SystemShapeError(
        f"the {type(pipeline).__name__} {why}. The query goes to inputs named {', '.join(QUERY_INPUTS)}; give the rest "
        f"with from_haystack(pipeline, {example})"
    )
