"""Records: what is written to a file and read again, each described once, by a dataclass.

The types of its fields say what a file may hold, the string below a field what it means.  Reading, checking, writing
and the JSON Schema follow from the class::

    @dataclass(slots=True)
    class Block(Record):
        \"\"\"The accepted result of one case.\"\"\"

        hash: str
        \"\"\"Of the case's content.\"\"\"
        scores: dict[str, Number | None] = field(default_factory=dict)
        \"\"\"By metric; null where the metric did not apply.\"\"\"

Fields with a default may be missing in a file, keys that the class does not have are those of newer versions and are
passed over.  What no type says, a field says with `annotated_types` (``Annotated[int, Ge(1)]``) or `Checked`; what
holds among fields, ``__post_init__`` checks.  A record may hold records.

pydantic reads records.  It is imported when the first file is read, not when a class is defined or made.
"""

from __future__ import annotations

import ast
import inspect
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields
from functools import cache
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

from annotated_types import Ge, Le

from ..errors import AueporaError
from .files import RepeatedKeyError, read_text, seen_path, unique_keys
from .git import CONFLICT, conflict_line
from .json import encode, plain
from .text import did_you_mean, shorten

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

_LONGEST = 60
"""Characters of the input that a message repeats."""
_HUGE = 10**9
"""Bounds from here on only keep out what is damaged; messages do not name them."""

_WORDS = {
    "string": "a text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a finite number",
    "null": "null",
    "object": "a mapping",
    "array": "a list",
}


class RecordError(ValueError):
    """A text is not the record that it should be.

    ``line`` and ``col``, from 1, say where; 0 where ``keys``, the way to the value, do.
    """

    def __init__(self, message: str, line: int = 0, col: int = 0, keys: Sequence[int | str] = ()) -> None:
        super().__init__(message)
        self.line, self.col, self.keys = line, col, tuple(keys)

    def at(self, path: str | Path) -> str:
        """Return the message with its place in the file at *path*."""
        return ":".join(map(str, filter(None, (seen_path(path), self.line, self.col)))) + f": {self}"


class Record:
    """Base of the dataclasses that are read from files.  Numbers are never read from texts, nor whole ones from 1.0."""

    __slots__ = ()
    __pydantic_config__: ClassVar[Any] = {"strict": True, "allow_inf_nan": False, "extra": "ignore"}


class HandWritten(Record):
    """Base of those that people write: a key that the class does not have is a mistake."""

    __slots__ = ()
    __pydantic_config__: ClassVar[Any] = {**Record.__pydantic_config__, "extra": "forbid"}


@dataclass(frozen=True, slots=True)
class Checked:
    """What a field holds beyond its type, in ``Annotated``: *words* say it in messages and in the JSON Schema."""

    words: str
    holds: Callable[[Any], bool]

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        from pydantic_core.core_schema import no_info_after_validator_function

        return no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return {**handler(schema), "title": self.words}

    def _checked(self, value: Any) -> Any:
        if not self.holds(value):
            raise ValueError(self.words)
        return value


@dataclass(frozen=True, slots=True)
class ReadAs:
    """In ``Annotated``, the kind that files have where memory may hold another."""

    kind: Any

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(self.kind)


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    return not isinstance(value, list) or all(map(_is_finite, value))


Number = Annotated[float, Ge(-1e300), Le(1e300)]
"""A finite number, small enough to be added up."""
Count = Annotated[int, Ge(1), Le(10**9)]
"""A whole number from 1 on."""
Place = Annotated[int, Ge(0), Le(10**15)]
"""A whole number from 0 on."""
Free = Annotated[Any, Checked("anything but infinity and NaN", _is_finite)]
"""Whatever JSON holds."""

R = TypeVar("R", bound=Record)

_ADAPTERS: dict[type, TypeAdapter[Any]] = {}
"""What pydantic made of each kind, once."""


def read_record(kind: type[R], text: str | bytes, *, by_hand: bool = True) -> R:
    """Return the record that *text* is, as JSON in UTF-8.

    A key that is there twice is refused *by_hand*, which says that people, and merges, may have changed the text.

    Raises:
        RecordError: ``cases.a.scores.mrr: expected a finite number or null, found NaN``; ``there is no key 'suite'``;
            what is no JSON, with line and column.
    """
    from pydantic import ValidationError

    try:
        record: R = _adapter(kind).validate_json(text)
    except ValidationError as exc:
        raise _explained(exc, kind, text) from None
    if by_hand:
        parse_json(text)
    return record


def check_record(kind: type[R], value: Any) -> R:
    """Return the record that *value*, as YAML or a table gives it, is; raises `RecordError` as `read_record` does."""
    return read_record(kind, encode(value), by_hand=False)


def load_record(kind: type[R], path: Path, error: type[AueporaError]) -> R | None:
    """Return the record in the file at *path*; None if there is no such file; raises *error*, which names it."""
    with suppress(OSError):  # reading says what is wrong with the path
        if not path.exists():
            return None
    try:
        return read_record(kind, read_text(path, error))
    except RecordError as exc:
        raise error(exc.at(path)) from None


def record_text(record: Record) -> str:
    """Return the text of a file that people review: sorted keys, a line each, so that equal records are equal bytes.

    Half characters, which no file can hold, become question marks.

    Raises:
        ValueError: a number is not finite.
    """
    text = json.dumps(record, default=plain, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode("utf-8", "replace").decode()


def record_line(record: Record) -> str:
    """Return *record* as a line of JSON; fields that have their default are left out."""
    text = json.dumps(given_fields(record), default=plain, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode("utf-8", "replace").decode()


def given_fields(record: Record, *always: str) -> dict[str, Any]:
    """Return the fields of *record* by name, without those that have their default, but for *always*."""
    kind: Any = type(record)
    values = ((name, default, getattr(record, name)) for name, default in _defaults(kind).items())
    return {name: value for name, default, value in values if name in always or value != default}


@cache
def _defaults(kind: Any) -> dict[str, Any]:
    """Return what the fields of a dataclass are where nobody gives them; `MISSING` where somebody has to."""
    named = [f for f in fields(kind) if f.init]
    return {f.name: f.default if f.default_factory is MISSING else f.default_factory() for f in named}


def record_schema(kind: type) -> dict[str, Any]:
    """Return the JSON Schema of *kind*, with the meaning of each field."""
    from pydantic.json_schema import GenerateJsonSchema

    class WithMeanings(GenerateJsonSchema):
        def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - titles are from `Checked`
            return False

        def dataclass_schema(self, schema: Any) -> dict[str, Any]:
            made = super().dataclass_schema(schema)
            made.pop("title", None)
            for name, meaning in meanings(schema["cls"]).items():
                made["properties"][name]["description"] = meaning
            return made

    return _adapter(kind).json_schema(schema_generator=WithMeanings)


_known_schema = cache(record_schema)
"""The same, made once: every complaint about a file reads it, and there may be thousands."""


def _adapter(kind: type) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


@cache
def meanings(kind: type) -> Mapping[str, str]:
    """Return the strings below the fields of *kind*."""
    found: dict[str, str] = {}
    for cls in kind.__mro__[: kind.__mro__.index(Record)]:
        for node in ast.parse(dedent(inspect.getsource(cls))).body:
            for part, below in pairwise(node.body if isinstance(node, ast.ClassDef) else []):
                match part, below:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                        found.setdefault(name, inspect.cleandoc(text))
    return found


def parse_json(text: str | bytes) -> Any:
    """Return what the standard library reads, which says where it is no JSON, and knows repeated keys.

    Raises:
        RecordError: it is no JSON, has conflict markers or a key twice.
    """
    try:
        return json.loads(text, object_pairs_hook=unique_keys)
    except json.JSONDecodeError as exc:
        shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
        if line := conflict_line(shown):
            raise RecordError(CONFLICT, line) from None
        hint = "" if shown.rstrip().endswith("}") else " (the file seems cut short)"
        raise RecordError(f"not JSON: {exc.msg}{hint}", exc.lineno, exc.colno) from None
    except RepeatedKeyError as exc:
        key = shorten(repr(exc.args[0]), _LONGEST)
        raise RecordError(f"{key} is there twice, as a merge leaves it: keep one") from None
    except RecursionError:
        raise RecordError("nests too deep") from None
    except ValueError as exc:  # a number of thousands of digits; bytes that are not UTF-8
        raise RecordError(f"not JSON: {exc}") from None


def _explained(exc: ValidationError, kind: type, text: str | bytes) -> RecordError:
    faults = exc.errors(include_url=False)
    if faults[0]["type"] == "json_invalid":
        try:
            parse_json(text)
        except RecordError as why:
            return why
        return RecordError(f"not JSON: {faults[0]['ctx']['error']}")  # the standard library is content with it
    schema = _known_schema(kind)
    fault = _first_fault(faults, schema)
    found, missing = _shown(fault["input"]), fault["type"] == "missing"
    too_short = missing and isinstance(fault["loc"][-1], int)  # a list of a fixed length
    keys, inner = _follow(schema, fault["loc"][:-1] if too_short else fault["loc"])
    path = ".".join(shorten(str(key), _LONGEST) for key in keys)
    if missing and not too_short:
        return RecordError(f"there is no key {path!r}", keys=keys)
    if fault["type"] == "unexpected_keyword_argument":
        _, holder = _follow(schema, keys[:-1])
        known = [name for variant in _variants(schema, holder) for name in variant.get("properties", ())]
        return RecordError(f"unknown key {path!r}{did_you_mean(str(keys[-1]), known)}", keys=keys)
    if path == "format":
        by = "another version of pytest-auepora wrote it"
        return RecordError(f"format {found}, this version reads {inner.get('const')}: {by}", keys=keys)
    variants = _variants(schema, inner)
    if fault["type"] == "value_error" and any("properties" in variant for variant in variants):
        expected = str(fault["ctx"]["error"])  # what `__post_init__` says
    else:
        expected = " or ".join(map(_words_of, variants))
    return RecordError(f"{f'{path}: ' if path else ''}expected {expected}, found {found}", keys=keys)


def _first_fault(faults: Sequence[Any], schema: Mapping[str, Any]) -> Any:
    """Return the fault to tell of: that of the format; of a union, that of the variant that goes furthest."""
    first = next((fault for fault in faults if fault["loc"] == ("format",)), faults[0])
    keys, _ = _follow(schema, first["loc"])
    if len(keys) == len(first["loc"]):
        return first
    at = next((i for i, (key, part) in enumerate(zip(keys, first["loc"], strict=False)) if key != part), len(keys))
    alike = [fault for fault in faults if fault["loc"][:at] == first["loc"][:at]]
    return max(alike, key=lambda fault: len(fault["loc"]))


def _follow(schema: Mapping[str, Any], loc: Sequence[int | str]) -> tuple[list[int | str], Mapping[str, Any]]:
    """Return the keys of pydantic's *loc*, without its names of the variants of a union, and the schema there."""
    keys: list[int | str] = []
    inner, in_variant = schema, False
    for key in loc:
        variants = [variant for variant in _all_variants(schema, inner) if variant != {"type": "null"}]
        in_variant = len(variants) > 1 and not in_variant
        if not in_variant:
            inner = next((part for variant in variants if (part := _part(variant, key)) is not None), {})
            keys.append(key)
    return keys, inner


def _variants(schema: Mapping[str, Any], inner: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the schemas of which *inner*, a part of *schema*, allows any."""
    variants = inner.get("anyOf", [inner])
    return [schema["$defs"][v["$ref"].rpartition("/")[2]] if "$ref" in v else v for v in variants]


def _all_variants(schema: Mapping[str, Any], inner: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield what `_variants` returns, and of a variant that is a union itself its own."""
    for variant in _variants(schema, inner):
        yield from _all_variants(schema, variant) if "anyOf" in variant else [variant]


def _part(schema: Mapping[str, Any], key: int | str) -> Mapping[str, Any] | None:
    """Return the schema of what *key* leads to; None where nothing is said."""
    if isinstance(key, str):
        part = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
    else:
        items = schema.get("prefixItems", [])
        part = items[key] if key < len(items) else schema.get("items")
    return part if isinstance(part, Mapping) else None


def _words_of(schema: Mapping[str, Any]) -> str:
    if "title" in schema:
        return str(schema["title"])
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    if "const" in schema:
        return _shown(schema["const"])
    words = _WORDS.get(schema.get("type", ""), "another value")
    if "prefixItems" in schema:
        return f"{words} of {len(schema['prefixItems'])}"
    if "exclusiveMinimum" in schema:
        return f"{words} above {schema['exclusiveMinimum']:g}"
    low, high = (schema[end] if abs(schema.get(end, _HUGE)) < _HUGE else None for end in ("minimum", "maximum"))
    if low is None:
        return words if high is None else f"{words} up to {high:g}"
    return f"{words} from {low:g} on" if high is None else f"{words} from {low:g} to {high:g}"


def _shown(value: Any) -> str:
    """Return *value* as JSON has it, cut if it is long."""
    return shorten(json.dumps(value, ensure_ascii=False), _LONGEST)
