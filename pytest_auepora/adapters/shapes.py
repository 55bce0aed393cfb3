"""What an unknown value looks like: its named fields, and a short description for error messages."""

from __future__ import annotations

import dataclasses
import inspect
import reprlib
import types
from collections.abc import Iterable, Mapping, Sized
from contextlib import suppress
from typing import Any, Final

from ..base.text import shorten

MISSING: Final[Any] = object()
"""What a look-up gives where there is nothing; None is something."""

_WITHOUT_FIELDS = (
    str, bytes, bytearray, int, float, complex, type(None), list, set, frozenset, type, types.ModuleType,
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.GeneratorType,
)  # fmt: skip
_short = reprlib.Repr()
_short.maxstring = 120
_short.maxother = 160
_short.maxdict = 6


def short_repr(obj: Any, limit: int = 200) -> str:
    """Return ``repr(obj)`` on one line of at most *limit* characters, also when the repr raises."""
    return shorten(" ".join(_short.repr(obj).split()), limit)


def type_name(obj: Any) -> str:
    """Return the type of *obj* as people would import it: ``"dict"``, ``"my_rag.Answer"``."""
    kind = type(obj)
    name = kind.__qualname__.replace("<locals>.", "")
    return name if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{name}"


def describe(obj: Any) -> str:
    """Say what *obj* is: its type, its keys or its length, and a short repr."""
    inside = ""
    if isinstance(obj, Mapping):
        keys = ", ".join(short_repr(key, 40) for key in list(obj)[:12])
        inside = f" with the keys {keys}{', …' if len(obj) > 12 else ''}" if obj else " without any key"
    elif isinstance(obj, Sized) and not isinstance(obj, (str, type)):
        with suppress(Exception):
            inside = f" of {len(obj)}"
    return f"{type_name(obj)}{inside}: {short_repr(obj)}"


def is_instance_of(obj: Any, package: str, *classes: str) -> bool:
    """Whether *obj* is an instance of one of *classes* from anywhere in the top-level *package*."""
    return any(
        kind.__qualname__ in classes and kind.__module__.partition(".")[0] == package for kind in type(obj).__mro__
    )


def is_list_of(value: Any, package: str, *classes: str) -> bool:
    """Whether *value* is a list of instances as `is_instance_of` has it; an empty list is one."""
    return isinstance(value, (list, tuple)) and all(is_instance_of(part, package, *classes) for part in value)


def fields_of(obj: Any, names: Iterable[str]) -> dict[str, Any] | None:
    """Return the named values of *obj*, or None for a value that has none (a string, a list, a function, …).

    Mappings give their string keys; dataclasses, named tuples, attrs classes and pydantic models give their
    fields; other objects give what stands in their ``__dict__``.  Properties are looked at only where
    *names* asks for them.  Methods are no fields.
    """
    if isinstance(obj, Mapping):
        return {str(key): value for key, value in obj.items()}
    if isinstance(obj, _WITHOUT_FIELDS) or (isinstance(obj, tuple) and not hasattr(obj, "_fields")):
        return None
    declared = _declared_names(obj)
    fields = {name: value for name in declared if (value := _get_attribute(obj, name)) is not MISSING}
    for name in names:
        if name not in fields and (value := _get_attribute(obj, name)) is not MISSING and not inspect.isroutine(value):
            fields[name] = value
    return fields


def first_of(fields: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """Return the first of *names* under which *fields* holds something other than None."""
    return next((name for name in names if fields.get(name) is not None), None)


def _declared_names(obj: Any) -> list[str]:
    kind: Any = type(obj)
    if dataclasses.is_dataclass(kind):
        return [f.name for f in dataclasses.fields(kind)]
    if isinstance(obj, tuple):
        return list(kind._fields)
    if isinstance(models := getattr(kind, "model_fields", None), Mapping):
        return list(models)
    if (attrs := getattr(kind, "__attrs_attrs__", None)) is not None:
        return [a.name for a in attrs]
    return [name for name, value in getattr(obj, "__dict__", {}).items() if name[:1] != "_" and not callable(value)]


def _get_attribute(obj: Any, name: str) -> Any:
    try:
        return getattr(obj, name, MISSING)
    except Exception:  # a property of somebody else's class
        return MISSING
