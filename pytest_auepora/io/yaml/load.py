"""YAML, fast and with places: values are built straight from the parser's events.

The values are those of `yaml.safe_load`; of several merged mappings the first wins, as YAML's merge key demands (in
PyYAML 6.0.4 any may win).  Building a node graph first, as PyYAML does, costs most of its time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from math import isfinite
from typing import Any

import yaml
from yaml.events import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent

from ..source import MAX_DEPTH, Source
from .problems import TOO_DEEP, YamlProblem, report_error

Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's parser, or the slow one where PyYAML was built without it."""

MAX_ALIASED = 1_000_000
"""How many values aliases may add to those written in the file."""

_SHALLOW_DEPTH = 2
"""Depth to which every key and value is located at once; deeper ones are located only when a problem is reported:
keeping an offset for each of a million values costs more than reading them."""
_FULL_DEPTH = MAX_DEPTH + 1

_SPECIAL_STARTS = frozenset(yaml.SafeLoader.yaml_implicit_resolvers)
"""First characters of plain scalars that may be other than text."""
_WORD_STARTS = frozenset("yYnNtTfFoO")
_MAX_WORD_LENGTH = len("false")
_MAX_BITS = 3_322
"""About a thousand decimal digits."""

_OPEN: Any = object()
"""Stands for a value with an anchor while it is built."""
_MERGE: Any = object()
"""The key ``<<``."""
RepeatedKey = tuple[dict[Any, Any], Any, int]
"""A mapping, a key that it has already, and the offset of the repetition."""

_PLAIN_TAGS = {MappingStartEvent: "tag:yaml.org,2002:map", yaml.SequenceStartEvent: "tag:yaml.org,2002:seq"}


def load_yaml(source: Source, *, core_schema: bool = False) -> Any:
    """Return the value of the one document in *source*, which then knows all places.

    Repeated keys are reported in *source*; the first value is kept.  With *core_schema*, plain scalars are what the
    core schema of YAML 1.2 takes them for, as js-yaml reads them; days stay texts.

    Raises:
        GoldenFileError: no YAML, more than one document, nested too deep, tags beyond plain data.
    """
    try:
        source.root, repeated_keys = _parse(source, _SHALLOW_DEPTH, core_schema=core_schema)
    except (yaml.YAMLError, YamlProblem) as exc:
        report_error(exc, source)
        raise source.error() from None
    source.locate = partial(_locate, core_schema=core_schema)
    for mapping, key, offset in repeated_keys:
        first, _ = (0, 0) if source.is_full else source.position(mapping, key, on_key=True)
        where = f", first on line {first}" if first else ""  # unknown in a value that was dropped itself
        source.report_at(*source.line_and_column(offset), f"{key!r} is given twice{where}")
    return source.root


def _locate(source: Source, *, core_schema: bool) -> None:
    """Read the text once more, and note the offsets of all values."""
    twin = Source(source.path, source.text)
    twin_root, _ = _parse(twin, _FULL_DEPTH, core_schema=core_schema)
    source.move_offsets(source.root, twin.offsets, twin_root)


def _parse(source: Source, located_depth: int, *, core_schema: bool = False) -> tuple[Any, list[RepeatedKey]]:
    """Return the value of the text of *source*, and its repeated keys; note the offsets of the first levels."""
    parser = Parser(source.text)
    get = parser.get_event
    builder = (_CoreSchemaBuilder if core_schema else _Builder)(get, source, located_depth)
    try:
        get()  # stream start
        if isinstance(get(), yaml.StreamEndEvent):
            return None, []
        value = builder.value(get(), 0)
        get()  # document end
        event = get()
        if not isinstance(event, yaml.StreamEndEvent):
            raise YamlProblem("a second document starts here; a golden file holds one", event.start_mark)
    finally:
        parser.dispose()
    if (added := builder.aliased) > MAX_ALIASED:
        raise YamlProblem(f"aliases blow this file up by {added:,} values; the limit is {MAX_ALIASED:,}", None)
    return value, builder.repeated_keys


class _Builder:
    """Turns events into values.  The loops are written out: they run once for every scalar of the file."""

    def __init__(self, get: Callable[[], Any], source: Source, located_depth: int) -> None:
        self.get = get
        self.source = source
        self.located_depth = located_depth
        self.resolved: dict[str, Any] = {}
        self.keys: dict[str, Any] = {}
        self.anchors: dict[str, tuple[Any, Any]] = {}
        """Name → value and mark."""
        self.aliased = 0
        self.repeated_keys: list[RepeatedKey] = []
        self._sizes: dict[int, int] = {}

    def value(self, event: Any, depth: int) -> Any:
        """Build the value that starts with *event*."""
        event_type = event.__class__
        if event_type is AliasEvent:
            return self.resolve_alias(event)
        if event.anchor is not None:
            self.define_anchor(event, _OPEN)
        if event_type is ScalarEvent:
            value = self.scalar(event)
        elif event_type is MappingStartEvent:
            value = self.mapping(event, depth + 1)
        else:
            value = self.sequence(event, depth + 1)
        if event.anchor is not None:
            self.anchors[event.anchor] = value, event.start_mark
        return value

    def scalar(self, event: Any) -> Any:
        plain, quoted = event.implicit
        text = event.value
        if plain:
            return self.resolve_scalar(text, event.start_mark) if text[:1] in _SPECIAL_STARTS else text
        return text if quoted else _construct_tagged(event.tag, text, event.start_mark)

    def resolve_scalar(self, text: str, mark: Any) -> Any:
        """Return the value of a plain scalar, as `yaml.SafeLoader` does."""
        if text[:1] in _WORD_STARTS and len(text) > _MAX_WORD_LENGTH:
            return text
        if text not in self.resolved:  # every case has the same few numbers and words
            tags = yaml.SafeLoader.yaml_implicit_resolvers.get(text[:1], ())
            tag = next((tag for tag, looks_like in tags if looks_like.match(text)), None)
            self.resolved[text] = text if tag is None else _construct_plain(tag, text, mark)
        return self.resolved[text]

    def sequence(self, event: Any, depth: int) -> list[Any]:
        get, special_starts = self.get, _SPECIAL_STARTS
        items: list[Any] = []
        offsets = self.start_container(items, event, depth)
        while (event_type := (event := get()).__class__) is not SequenceEndEvent:
            if event_type is ScalarEvent and event.anchor is None:
                text = event.value
                if text[:1] in special_starts or event.tag is not None:
                    text = self.scalar(event)
                items.append(text)
            else:
                items.append(self.value(event, depth))
            if offsets is not None:
                offsets.append(self.offset(event))
        return items

    def mapping(self, event: Any, depth: int) -> dict[Any, Any]:
        get, special_starts, keys = self.get, _SPECIAL_STARTS, self.keys
        mapping: dict[Any, Any] = {}
        merged: list[dict[Any, Any]] = []
        offsets = self.start_container(mapping, event, depth)
        while (event_type := (event := get()).__class__) is not MappingEndEvent:
            key_event = event
            if event_type is ScalarEvent and event.anchor is None and event.implicit[0]:
                key = keys[event.value] if event.value in keys else self.new_key(event)
            else:
                key = self.key(event, depth)
            event = get()
            if event.__class__ is ScalarEvent and event.anchor is None:
                value = event.value
                if value[:1] in special_starts or event.tag is not None:
                    value = self.scalar(event)
            else:
                value = self.value(event, depth)
            if key is _MERGE:
                merged += self.mappings_to_merge(value, event.start_mark)
                self.source.dropped.append(value)
            elif key in mapping:
                self.repeated_keys.append((mapping, key, key_event.start_mark.index))
                self.source.dropped.append(value)
            else:
                mapping[key] = value
                if offsets is not None:
                    offsets += (self.offset(key_event), self.offset(event))
        if merged and self.aliased <= MAX_ALIASED:  # otherwise the file is refused at its end
            self.merge(merged, mapping)
        return mapping

    def new_key(self, event: Any) -> Any:
        """Resolve a plain key, once: every case has the same few."""
        text = event.value
        # a lone = has a tag of its own in YAML 1.1, which PyYAML drops in keys and refuses in values
        special = {"<<": _MERGE, "=": "="}
        key = self.keys[text] = special[text] if text in special else self.resolve_scalar(text, event.start_mark)
        return key

    def key(self, event: Any, depth: int) -> Any:
        """Build a key that is not a plain scalar, or has an anchor."""
        if event.__class__ is ScalarEvent and event.implicit[0]:
            key = self.new_key(event)
            if key is not _MERGE:
                self.define_anchor(event, key)
            return key
        key = self.value(event, depth)
        if isinstance(key, (list, dict)):
            raise YamlProblem("a list or mapping cannot be a key", event.start_mark)
        return key

    def start_container(self, container: Any, event: Any, depth: int) -> list[int] | None:
        """Begin a container; return the list of offsets to fill, or None if it is too deep."""
        if event.tag not in (None, "!", _PLAIN_TAGS[event.__class__]):
            raise _refused_tag(event.tag, event.start_mark)
        if depth > MAX_DEPTH:
            raise YamlProblem(TOO_DEEP, event.start_mark)
        if depth <= self.located_depth:
            offsets = self.source.offsets[id(container)] = [event.start_mark.index]
            return offsets
        if depth == self.located_depth + 1:
            self.source.start_offsets[id(container)] = event.start_mark.index
        return None

    def offset(self, event: Any) -> int:
        """Return the offset of a value; of an alias, that of its anchor."""
        alias = event.__class__ is AliasEvent
        mark = self.anchors[event.anchor][1] if alias else event.start_mark
        return int(mark.index)

    def define_anchor(self, event: Any, value: Any) -> None:
        if event.anchor in self.anchors:
            first = self.anchors[event.anchor][1]
            raise yaml.composer.ComposerError(
                "found duplicate anchor; first occurrence", first, "second occurrence", event.start_mark
            )
        self.anchors[event.anchor] = value, event.start_mark

    def resolve_alias(self, event: Any) -> Any:
        if event.anchor not in self.anchors:
            raise yaml.composer.ComposerError(None, None, "found undefined alias", event.start_mark)
        value, mark = self.anchors[event.anchor]
        if value is _OPEN:
            raise YamlProblem("this value contains itself", mark)
        self.aliased += self.expanded_size(value)
        return value

    def expanded_size(self, value: Any) -> int:
        """Return how many values *value* is with all of its aliases written out."""
        if not isinstance(value, (dict, list)):
            return 1
        if id(value) not in self._sizes:
            parts = (*value, *value.values()) if isinstance(value, dict) else value
            self._sizes[id(value)] = 1 + sum(map(self.expanded_size, parts))
        return self._sizes[id(value)]

    def mappings_to_merge(self, value: Any, mark: Any) -> list[dict[Any, Any]]:
        """Return the mappings that ``<<`` merges, the weakest first."""
        mappings = value[::-1] if isinstance(value, list) else [value]
        for mapping in mappings:
            if not isinstance(mapping, dict):
                expected = "a mapping" if isinstance(value, list) else "a mapping or list of mappings"
                node_type = "sequence" if isinstance(mapping, list) else "scalar"
                message = f"expected {expected} for merging, but found {node_type} while constructing a mapping"
                raise YamlProblem(f"not YAML: {message}", mark)
        return mappings

    def merge(self, mappings: list[dict[Any, Any]], target: dict[Any, Any]) -> None:
        """Put the keys of *mappings* before those of *target*, which override them."""
        merged: dict[Any, Any] = {}
        for mapping in (*mappings, target):
            merged.update(mapping)
        if self.located_depth == _FULL_DEPTH:
            self._merge_offsets((*mappings, target), merged)
        elif (offsets := self.source.offsets.pop(id(target), None)) is not None:
            self.source.start_offsets[id(target)] = offsets[0]
        target.clear()
        target.update(merged)

    def _merge_offsets(self, mappings: Sequence[dict[Any, Any]], merged: dict[Any, Any]) -> None:
        """Note the offsets of the keys and values of *merged* for the last of *mappings*."""
        pairs: dict[Any, tuple[int, int]] = {}
        for mapping in mappings:
            offsets = self.source.offsets[id(mapping)]
            pairs.update(zip(mapping, zip(offsets[1::2], offsets[2::2], strict=True), strict=True))
        offsets[1:] = [offset for key in merged for offset in pairs[key]]


_CORE_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_CORE_WHOLE = re.compile(r"([-+]?)(?:0b([01]+)|0o([0-7]+)|0x([0-9a-fA-F]+)|([0-9]+))")
_MAX_DIGITS = 1_000
_CORE_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


class _CoreSchemaBuilder(_Builder):
    """Reads plain scalars by the core schema of YAML 1.2."""

    def resolve_scalar(self, text: str, mark: Any) -> Any:
        if text in _CORE_WORDS:
            return _CORE_WORDS[text]
        if whole := _CORE_WHOLE.fullmatch(text):
            sign, *digits = whole.groups()
            number, base = next((d, base) for d, base in zip(digits, (2, 8, 16, 10), strict=True) if d)
            if len(number) > _MAX_DIGITS:
                raise YamlProblem("this number has more than a thousand digits; quote it", mark)
            return int(f"{sign}{number}", base)
        if _CORE_NUMBER.fullmatch(text) and isfinite(number := float(text)):
            return number
        if _NOT_FINITE.fullmatch(text) or _CORE_NUMBER.fullmatch(text):
            raise YamlProblem(f"`{text[:40]}` is no finite number; quote it", mark)
        return text


_TYPE_NAMES = {"int": "a whole number", "float": "a number", "timestamp": "a date", "bool": "true or false"}


def _construct_plain(tag: str, text: str, mark: Any) -> Any:
    """Build the value of a plain scalar that looks like one of *tag*."""
    if text == "<<":
        raise _refused_tag(tag, mark)
    try:
        result = _construct(tag, text, mark)
    except Exception as exc:  # PyYAML's constructors raise whatever the text trips over
        type_name = _TYPE_NAMES.get(tag.rpartition(":")[2], "something else")
        raise YamlProblem(f"`{text[:40]}` looks like {type_name} and is none ({exc}); quote it", mark) from None
    if ":" in text and isinstance(result, (int, float)):
        raise YamlProblem(f'YAML counts in sixties and reads `{text[:40]}` as {result}; quote it: "{text[:40]}"', mark)
    return result


def _construct_tagged(tag: str, text: str, mark: Any) -> Any:
    """Build the value of a scalar with an explicit tag."""
    if tag not in yaml.SafeLoader.yaml_constructors:
        raise _refused_tag(tag, mark)
    try:
        return _construct(tag, text, mark)
    except yaml.YAMLError:
        raise
    except Exception as exc:  # likewise
        raise YamlProblem(f"cannot be read as {tag.rpartition(':')[2]} ({exc})", mark) from None


def _construct(tag: str, text: str, mark: Any) -> Any:
    node = yaml.ScalarNode(tag, text, mark, mark)
    return check_integer(yaml.constructor.SafeConstructor().construct_object(node, deep=True))


def _refused_tag(tag: str, mark: Any) -> YamlProblem:
    """Return the problem of a tag that is not allowed."""
    written = tag.replace("tag:yaml.org,2002:", "!!")
    return YamlProblem(f"the tag {written} is refused: golden files hold plain data", mark)


def check_integer(value: Any) -> Any:
    """Return *value*; raises `ValueError` for an integer too long to print."""
    if type(value) is int and value.bit_length() > _MAX_BITS:
        raise ValueError("it has more than a thousand digits")
    return value
