"""Which inputs of a Haystack pipeline get the query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args, get_origin

from ..core.types import EvaluationSample
from ..errors import SystemShapeError, did_you_mean

__all__ = ["OPTIONAL_QUERY_INPUTS", "QUERY_INPUTS", "input_maker"]

OPTIONAL_QUERY_INPUTS = ("query", "question", "user_query", "user_question", "user_input")
"""Inputs that get the query although the component could do without."""

QUERY_INPUTS = (*OPTIONAL_QUERY_INPUTS, "text", "prompt", "input", "message", "q")
"""Inputs that get the query where they are mandatory."""

_LISTS = ("queries", "texts", "messages")
_QUERY = "{query}"
_Inputs = Mapping[str, Mapping[str, Any]]


def input_maker(pipeline: Any, given: _Inputs) -> Callable[[EvaluationSample], dict[str, dict[str, Any]]]:
    """Return what makes the input of *pipeline* from a sample.

    Args:
        pipeline: the pipeline.
        given: by component, what it is given besides; ``"{query}"`` stands for the query.

    Raises:
        SystemShapeError: no input takes the query, or a mandatory input has nothing to be given.
    """
    open_inputs = pipeline.inputs()
    _check(given, set(pipeline.graph.nodes))
    places: dict[tuple[str, str], str] = {}
    missing: list[tuple[str, str, Any]] = []
    for component, sockets in open_inputs.items():
        for name, socket in sockets.items():
            if name in given.get(component, {}) or pipeline.graph.nodes[component]["input_sockets"][name].senders:
                continue  # an input that takes several senders is listed as open even when it has one
            mandatory = socket["is_mandatory"]
            if name in (QUERY_INPUTS if mandatory else OPTIONAL_QUERY_INPUTS) and _holds_text(socket["type"]):
                places[component, name] = "text"
            elif mandatory and name in _LISTS and (kind := _list_kind(socket["type"])):
                places[component, name] = kind
            elif mandatory:
                missing.append((component, name, socket["type"]))
    said = any(_QUERY in str(value) for values in given.values() for value in values.values())
    if not places and not said and len(missing) == 1 and missing[0][2] in (str, "str"):  # it can be nothing else
        places[missing[0][:2]] = "text"
        missing = []
    if missing or not (places or said):
        raise _refuse(pipeline, open_inputs, missing)
    return _maker(places, given)


def _check(given: _Inputs, there: set[str]) -> None:
    for component in given:
        if component not in there:
            raise SystemShapeError(f"inputs: there is no component {component!r}{did_you_mean(component, there)}")


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


def _maker(
    places: Mapping[tuple[str, str], str], given: _Inputs
) -> Callable[[EvaluationSample], dict[str, dict[str, Any]]]:
    def make(sample: EvaluationSample) -> dict[str, dict[str, Any]]:
        made = {
            component: {k: v.replace(_QUERY, sample.query) if isinstance(v, str) else v for k, v in values.items()}
            for component, values in given.items()
        }
        for (component, name), kind in places.items():
            made.setdefault(component, {})[name] = _value(kind, sample.query)
        return made

    return make


def _value(kind: str, query: str) -> Any:
    if kind == "text":
        return query
    if kind == "texts":
        return [query]
    from haystack.dataclasses import ChatMessage

    return [ChatMessage.from_user(query)]


def _refuse(pipeline: Any, open_inputs: _Inputs, missing: list[tuple[str, str, Any]]) -> SystemShapeError:
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
