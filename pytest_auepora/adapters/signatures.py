"""How a user's callable wants to be called, read from its signature.

The rule.  A parameter is given what `NAMES` has under its name; the `EvaluationSample` also where it is annotated so.

What every call has to bring and no name claimed (the query, or the sample for ``run``; then a generator's
documents) goes to the first free positional parameters.  Any other parameter needs a default.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Sequence
from typing import Any

from ..core.types import EvaluationSample
from ..errors import SystemShapeError
from .shapes import short_repr

NAMES = {
    "sample": ("sample", "evaluation_sample", "case"),
    "query": ("query", "question", "q", "prompt", "text", "input", "message", "user_input"),
    "top_k": ("top_k", "topk", "k", "n_docs", "n_results", "num_results", "limit"),
    "documents": (
        "context_docs", "documents", "docs", "contexts", "context", "chunks", "passages", "retrieved", "sources",
    ),
}  # fmt: skip
"""What a call brings → the names of parameters that are given it; the documents go to generators only."""

_ROLE_OF = {name: role for role, names in NAMES.items() for name in names}
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_REST = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def binder(fn: Callable[..., Any], *needed: str) -> Callable[..., Any]:
    """Return ``call(**values)``, which calls *fn* with those of *values* that it takes.

    Args:
        fn: the user's callable.
        needed: keys of `NAMES` that *fn* must take, in the order of its unnamed positional parameters; ``"query"``
            is satisfied by the sample and the other way round.  ``"documents"`` are brought only where needed.

    Raises:
        SystemShapeError: *fn* needs something that no call brings, or does not take what is needed.
    """
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):  # builtins, some C extensions: all that can be done is to try
        return lambda **values: fn(*(values[role] for role in needed))
    positional, keyword = _match(fn, signature, needed)

    def call(**values: Any) -> Any:
        return fn(*(values[role] for role in positional), **{name: values[role] for name, role in keyword.items()})

    return call


def _match(
    fn: Callable[..., Any], signature: inspect.Signature, needed: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """Return the roles of the leading positional arguments, and the role of each keyword argument."""
    brought = {"sample", "query", "top_k", *needed}
    parameters = [p for p in signature.parameters.values() if p.kind not in _REST]
    taken = {p.name: role for p in parameters if (role := _role(p)) in brought}
    free = [p for p in parameters if p.name not in taken and p.kind in _POSITIONAL]
    missing = [role for role in needed if not _given(role, taken.values())]
    for role, parameter in zip(missing.copy(), free, strict=False):
        wants_text = role == "sample" and parameter.annotation in (str, "str")
        taken[parameter.name] = "query" if wants_text else role
        missing.remove(role)
    if missing and any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in signature.parameters.values()):
        return [taken[p.name] for p in parameters if p.name in taken and p.kind in _POSITIONAL] + missing, {}
    unknown = [p.name for p in parameters if p.name not in taken and p.default is inspect.Parameter.empty]
    if unknown or missing:
        raise _refuse(fn, signature, unknown, missing)
    positional: list[str] = []
    for parameter in parameters:  # a gap in front of a default ends what can be passed by position
        if parameter.kind not in _POSITIONAL or parameter.name not in taken:
            break
        positional.append(taken[parameter.name])
    rest = {p.name: taken[p.name] for p in parameters[len(positional) :] if p.name in taken}
    return positional, rest


def _role(parameter: inspect.Parameter) -> str:
    annotation = parameter.annotation
    if annotation is EvaluationSample or (
        isinstance(annotation, str) and annotation.strip("\"'").rpartition(".")[2] == "EvaluationSample"
    ):
        return "sample"
    return _ROLE_OF.get(parameter.name, "")


def _given(role: str, taken: Collection[str]) -> bool:
    either = ("query", "sample") if role in ("query", "sample") else (role,)
    return any(r in taken for r in either)


def _refuse(
    fn: Callable[..., Any], signature: inspect.Signature, unknown: Sequence[str], missing: Sequence[str]
) -> SystemShapeError:
    name = getattr(fn, "__qualname__", None) or short_repr(fn)
    if missing:
        return SystemShapeError(f"{name}{signature} takes no {' and no '.join(missing)}; give it a parameter for each")
    known = "; ".join(f"{role}: {', '.join(names)}" for role, names in NAMES.items())
    return SystemShapeError(
        f"{name}{signature} needs {', '.join(map(repr, unknown))}, which no call brings; give a default or bind it "
        f"with functools.partial. Known names: {known}"
    )


def inside_partials(fn: Any) -> Any:
    """Return what stands behind partials."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    return fn


def is_async(fn: Any) -> bool:
    """Whether calling *fn*, also a partial, a bound method or a callable object, gives a coroutine."""
    fn = inside_partials(fn)
    if not inspect.isroutine(fn) and not isinstance(fn, type) and callable(fn):
        fn = type(fn).__call__
    return inspect.iscoroutinefunction(getattr(fn, "__func__", fn))
