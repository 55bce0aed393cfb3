"""What is called: which argument each parameter is given, whether it is async, what it says of itself.

The signature of a callable is read once.  A parameter is given what `NAMES` has under its name; one annotated as
`EvaluationSample` is given the sample.  What every call brings and no name claims (the query, or the sample for
``run``; then a generator's documents) goes to the first free positional parameters.  ``messages`` are the earlier
turns, and the query behind them where no other parameter is given that.  Any other parameter needs a default.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.conversation import CHAT_HISTORY, PRINCIPAL, messages_of, principal_of, turns_of
from ..core.types import EvaluationSample
from ..errors import SystemShapeError
from .shapes import describe, short_repr, type_name

QUERY_NAMES = (
    "query", "question", "input", "user_query", "user_question", "user_input", "prompt", "message", "text", "q",
)  # fmt: skip
"""What a query is called: parameters of functions, keys of LangChain's inputs, inputs of Haystack's components."""

NAMES = {
    "sample": ("sample", "evaluation_sample", "case"),
    "query": QUERY_NAMES,
    "top_k": ("top_k", "topk", "k", "n_docs", "n_results", "num_results", "limit"),
    "documents": (
        "context_docs", "documents", "docs", "contexts", "context", "chunks", "passages", "retrieved", "sources",
    ),
    CHAT_HISTORY: ("chat_history", "history"),
    "messages": ("messages",),
    PRINCIPAL: ("principal",),
    "metadata": ("metadata",),
}  # fmt: skip
"""What a call brings → the names of parameters, inputs and keys that are given it; the documents go to generators only.
"""

_OF_SAMPLE: dict[str, Callable[[EvaluationSample], Any]] = {
    CHAT_HISTORY: turns_of,
    "messages": messages_of,
    PRINCIPAL: principal_of,
    "metadata": lambda sample: {**sample.metadata, **({PRINCIPAL: who} if (who := principal_of(sample)) else {})},
}
"""What is made of the sample only for systems that take it."""

_TAKEN = {
    "sample": {CHAT_HISTORY, PRINCIPAL}, CHAT_HISTORY: {CHAT_HISTORY}, "messages": {CHAT_HISTORY},
    PRINCIPAL: {PRINCIPAL}, "metadata": {PRINCIPAL},
}  # fmt: skip
"""What a system is given → what of a case reaches it so."""

_ROLE_OF = {name: role for role, names in NAMES.items() for name in names}
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_ASYNC_KINDS = (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(eq=False, repr=False)
class Bound:
    """A function with the roles of its leading positional arguments, and of each keyword argument.

    ``optional`` are those arguments that are left to their default where the case has nothing for them.
    """

    fn: Callable[..., Any]
    positional: Sequence[str]
    keyword: Mapping[str, str] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self._roles = {*self.positional, *self.keyword.values()}
        self._made = [role for role in _OF_SAMPLE if role in self._roles]

    @property
    def takes(self) -> frozenset[str]:
        """What of a case reaches the function, as `System.takes` has it."""
        return frozenset().union(*(_TAKEN.get(role, ()) for role in self._roles))

    def __call__(self, sample: EvaluationSample, top_k: int, **values: Any) -> Any:
        """Call the function about *sample*; *values* are what else the call brings, by role."""
        values |= {"sample": sample, "query": sample.query, "top_k": top_k}
        for role in self._made:
            values[role] = _OF_SAMPLE[role](sample)
        keywords = {name: values[role] for name, role in self.keyword.items()}
        for name in self.optional:
            if keywords[name] is None:
                del keywords[name]
        return self.fn(*[values[role] for role in self.positional], **keywords)


def bind(fn: Callable[..., Any], *needed: str) -> Bound:
    """Return *fn* with what each of its parameters is given.

    *needed* are keys of `NAMES` that *fn* must take, in the order of its unnamed positional parameters; ``"query"`` is
    satisfied by the sample and the other way round.  ``"documents"`` are brought only where needed.  Raises
    `SystemShapeError` where *fn* needs something that no call brings, or does not take what is needed.
    """
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):  # builtins and some C extensions have no signature
        return Bound(fn, needed)
    return _match_parameters(fn, signature, needed)


def _match_parameters(fn: Callable[..., Any], signature: inspect.Signature, needed: Sequence[str]) -> Bound:
    available = {"sample", "query", "top_k", *_OF_SAMPLE, *needed}
    parameters = [p for p in signature.parameters.values() if p.kind not in _VARIADIC]
    roles = {p.name: role for p in parameters if (role := _role_of(p)) in available}
    free = [p for p in parameters if p.name not in roles and p.kind in _POSITIONAL]
    given = set(roles.values())
    if given & {"query", "sample"} or (not free and "messages" in given):  # either says what is asked
        given |= {"query", "sample"}
    missing = [role for role in needed if role not in given]
    for role, parameter in zip(missing.copy(), free, strict=False):
        wants_text = role == "sample" and parameter.annotation in (str, "str")
        roles[parameter.name] = "query" if wants_text else role
        missing.remove(role)
    if {"query", "sample"} & set(roles.values()):
        roles = {name: CHAT_HISTORY if role == "messages" else role for name, role in roles.items()}
    rest: list[str] = []
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in signature.parameters.values()):
        rest, missing = missing, []
    unknown = [p.name for p in parameters if p.name not in roles and p.default is inspect.Parameter.empty]
    if unknown or missing:
        raise _signature_error(fn, signature, unknown, missing)
    has_default = (p for p in parameters if p.default is not p.empty and p.kind is not p.POSITIONAL_ONLY)
    optional = frozenset(p.name for p in has_default if roles.get(p.name) == PRINCIPAL)
    # after a parameter that is left to its default, all are passed by keyword
    leading = itertools.takewhile(
        lambda p: p.kind in _POSITIONAL and p.name in roles and p.name not in optional, parameters
    )
    positional = [roles[p.name] for p in leading]
    keyword = {p.name: roles[p.name] for p in parameters[len(positional) :] if p.name in roles}
    return Bound(fn, positional + rest, keyword, optional)


def _role_of(parameter: inspect.Parameter) -> str:
    annotation = parameter.annotation
    if annotation is EvaluationSample or (
        isinstance(annotation, str) and annotation.strip("\"'").rpartition(".")[2] == "EvaluationSample"
    ):
        return "sample"
    return _ROLE_OF.get(parameter.name, "")


def _signature_error(
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


def _unwrap_partials(fn: Any) -> Any:
    while isinstance(fn, functools.partial):
        fn = fn.func
    return fn


def is_async(fn: Any) -> bool:
    """Whether calling *fn*, also a partial, a bound method or a callable object, gives what has to be awaited."""
    fn = _unwrap_partials(fn)
    return any(kind(f) for kind in _ASYNC_KINDS for f in (fn, type(fn).__call__))


def name_of(obj: Any) -> str:
    """Name the system after its class or function; an ``auepora_name`` on the object wins."""
    if isinstance(own_name := getattr(obj, "auepora_name", None), str):
        return own_name
    obj = _unwrap_partials(obj)
    if inspect.isroutine(obj):
        return str(getattr(obj, "__qualname__", obj)).replace("<locals>.", "")
    return type_name(obj).rpartition(".")[2]


def provenance_of(obj: Any) -> dict[str, Any]:
    """Return the ``auepora_provenance`` of *obj*; raises `SystemShapeError` where it is, or returns, no mapping."""
    obj = _unwrap_partials(obj)
    owner = obj if hasattr(obj, "auepora_provenance") else getattr(obj, "__self__", None)
    declared = getattr(owner, "auepora_provenance", None)
    declared = declared() if callable(declared) else declared
    if isinstance(declared, Mapping):
        return {str(k): v for k, v in declared.items()}
    if declared is None:
        return {}
    if inspect.iscoroutine(declared):
        declared.close()
    raise SystemShapeError(f"auepora_provenance of {type_name(owner)} gave {describe(declared)}, not a mapping")


def takes_documents(fn: Callable[..., Any]) -> bool:
    """Whether *fn* has a parameter for documents that is None by default: it retrieves where none are given."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(_role_of(p) == "documents" and p.default is None and p.name not in _OTHER_CONTEXT for p in parameters)


_OTHER_CONTEXT = ("context", "sources", "retrieved")
"""Names of parameters that give a generator its documents, and may mean anything else in a whole system."""
