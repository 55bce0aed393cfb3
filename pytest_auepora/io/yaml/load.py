"""YAML, fast and with places: values are built straight from the parser's events.

The values are those of `yaml.safe_load`.  Building a node graph first, as PyYAML does, costs most of its time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import yaml
from yaml.events import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent

from ..source import Source
from .problems import YamlProblem, explain

Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's parser, or the slow one where PyYAML was built without it."""

MAX_DEPTH = 100
"""How deep lists and mappings may nest."""
MAX_ALIASED = 1_000_000
"""How many values aliases may add to those written in the file."""

_SHALLOW = 2
"""Every key and value is located down to this depth at once (the file's own keys and their mappings), deeper only
when something is complained about: keeping a place for each of a million values costs more than reading them."""
_DEEP = MAX_DEPTH + 1

_TELLING = frozenset(yaml.SafeLoader.yaml_implicit_resolvers)
"""How a plain text begins that may be something else."""
_OF_WORDS = frozenset("yYnNtTfFoO")
_LONGEST_WORD = len("false")
_MOST_BITS = 3_322
"""About a thousand decimal digits."""

_OPEN: Any = object()
"""Stands for a value with an anchor while it is built."""
_MERGE: Any = object()
"""The key ``<<``."""
_PLAIN_TAGS = {MappingStartEvent: "tag:yaml.org,2002:map", yaml.SequenceStartEvent: "tag:yaml.org,2002:seq"}


def load_yaml(source: Source) -> Any:
    """Return the value of the one document in *source*, which then knows where everything stands.

    Keys given twice are complained about in *source*; the first value is kept.

    Raises:
        GoldenFileError: no YAML, more than one document, nested too deep, tags beyond plain data.
    """
    try:
        try:
            source.root = _parse(source, _SHALLOW)
            source.locate = _locate
        except _NeedsPlaces:
            source.forget()
            source.root = _parse(source, _DEEP)
    except (yaml.YAMLError, YamlProblem) as exc:
        explain(exc, source)
        raise source.error() from None
    return source.root


def _locate(source: Source) -> None:
    """Read the text once more, and note for the values of its root where everything stands."""
    twin = Source(source.path, source.text)
    source.take_marks(source.root, twin.marks, _parse(twin, _DEEP))


def _parse(source: Source, located: int) -> Any:
    """Return the value of the text of *source*; note where everything stands down to *located* levels."""
    parser = Parser(source.text)
    try:
        return _document(parser.get_event, _Builder(parser.get_event, source, located))
    finally:
        parser.dispose()


def _document(get: Callable[[], Any], builder: _Builder) -> Any:
    get()  # stream start
    event = get()
    if isinstance(event, yaml.StreamEndEvent):
        return None
    value = builder.value(get(), 0)
    get()  # document end
    event = get()
    if not isinstance(event, yaml.StreamEndEvent):
        raise YamlProblem("a second document starts here; a golden file holds one", event.start_mark)
    if (added := builder.aliased) > MAX_ALIASED:
        raise YamlProblem(f"aliases blow this file up by {added:,} values; the limit is {MAX_ALIASED:,}", None)
    return value


class _NeedsPlaces(Exception):
    """There is something to say about a value whose place was not noted, or its place is needed."""


class _Builder:
    """Turns events into values.  The loops are written out: they run once for every scalar of the file."""

    def __init__(self, get: Callable[[], Any], source: Source, located: int) -> None:
        self.get = get
        self.source = source
        self.located = located
        self.resolved: dict[str, Any] = {}
        self.keys: dict[str, Any] = {}
        self.anchors: dict[str, tuple[Any, Any]] = {}
        """By their names, what they stand for and where it is written."""
        self.aliased = 0
        self._sizes: dict[int, int] = {}

    def value(self, event: Any, depth: int) -> Any:
        """Build the value that starts with *event*."""
        kind = event.__class__
        if kind is AliasEvent:
            return self.alias(event)
        if event.anchor is not None:
            self.define(event, _OPEN)
        if kind is ScalarEvent:
            made = self.scalar(event)
        elif kind is MappingStartEvent:
            made = self.mapping(event, depth + 1)
        else:
            made = self.sequence(event, depth + 1)
        if event.anchor is not None:
            self.anchors[event.anchor] = made, event.start_mark
        return made

    def scalar(self, event: Any) -> Any:
        plain, quoted = event.implicit
        text = event.value
        if plain:
            return self.resolve(text, event.start_mark) if text[:1] in _TELLING else text
        return text if quoted else _construct_tagged(event.tag, text, event.start_mark)

    def resolve(self, text: str, mark: Any) -> Any:
        """Return what a plain scalar stands for, as `yaml.SafeLoader` does: what it looks like decides what it is."""
        if text[:1] in _OF_WORDS and len(text) > _LONGEST_WORD:
            return text
        if text not in self.resolved:  # the same few numbers and words come back in every case
            tags = yaml.SafeLoader.yaml_implicit_resolvers.get(text[:1], ())
            tag = next((tag for tag, looks_like in tags if looks_like.match(text)), None)
            self.resolved[text] = text if tag is None else _construct_plain(tag, text, mark)
        return self.resolved[text]

    def sequence(self, event: Any, depth: int) -> list[Any]:
        get, telling = self.get, _TELLING
        out: list[Any] = []
        marks = self.start(out, event, depth)
        while (kind := (event := get()).__class__) is not SequenceEndEvent:
            if kind is ScalarEvent and event.anchor is None:
                text = event.value
                if text[:1] in telling or event.tag is not None:
                    text = self.scalar(event)
                out.append(text)
            else:
                out.append(self.value(event, depth))
            if marks is not None:
                marks.append(self.mark(event))
        return out

    def mapping(self, event: Any, depth: int) -> dict[Any, Any]:
        get, telling, keys = self.get, _TELLING, self.keys
        out: dict[Any, Any] = {}
        merged: list[dict[Any, Any]] = []
        marks = self.start(out, event, depth)
        while (kind := (event := get()).__class__) is not MappingEndEvent:
            key_event = event
            if kind is ScalarEvent and event.anchor is None and event.implicit[0]:
                key = keys[event.value] if event.value in keys else self.new_key(event)
            else:
                key = self.key(event, depth)
            event = get()
            if event.__class__ is ScalarEvent and event.anchor is None:
                value = event.value
                if value[:1] in telling or event.tag is not None:
                    value = self.scalar(event)
            else:
                value = self.value(event, depth)
            if key is _MERGE:
                merged += self.to_merge(value, event.start_mark)
            elif key in out:
                self.twice(out, key, key_event.start_mark, marks)
                self.source.dropped.append(value)
            else:
                out[key] = value
                if marks is not None:
                    marks += (self.mark(key_event), self.mark(event))
        if merged and self.aliased <= MAX_ALIASED:  # what blows the file up is refused at its end, and not made
            self.merge(merged, out)
        return out

    def new_key(self, event: Any) -> Any:
        """Resolve a plain key, once: the same few come back in every case."""
        text = event.value
        # a lone = has a tag of its own in YAML 1.1, which PyYAML drops in keys and refuses in values
        special = {"<<": _MERGE, "=": "="}
        key = self.keys[text] = special[text] if text in special else self.resolve(text, event.start_mark)
        return key

    def key(self, event: Any, depth: int) -> Any:
        """Build a key that is no plain scalar, or has an anchor."""
        if event.__class__ is ScalarEvent and event.implicit[0]:
            key = self.new_key(event)
            if key is not _MERGE:
                self.define(event, key)
            return key
        key = self.value(event, depth)
        if isinstance(key, (list, dict)):
            raise YamlProblem("a list or mapping cannot be a key", event.start_mark)
        return key

    def start(self, out: Any, event: Any, depth: int) -> list[int] | None:
        """Begin a container; return the list of places to fill, or None where nothing is located."""
        if event.tag not in (None, "!", _PLAIN_TAGS[event.__class__]):
            raise _refused_tag(event.tag, event.start_mark)
        if depth > MAX_DEPTH:
            raise YamlProblem(f"lists and mappings nest more than {MAX_DEPTH} deep here", event.start_mark)
        if depth <= self.located:
            marks = self.source.marks[id(out)] = [event.start_mark.index]
            return marks
        if depth == self.located + 1:
            self.source.starts[id(out)] = event.start_mark.index
        return None

    def mark(self, event: Any) -> int:
        """Return where a value is written; an alias has the place of what it stands for."""
        alias = event.__class__ is AliasEvent
        mark = self.anchors[event.anchor][1] if alias else event.start_mark
        return int(mark.index)

    def twice(self, out: dict[Any, Any], key: Any, mark: Any, marks: list[int] | None) -> None:
        if marks is None:
            raise _NeedsPlaces
        if self.source.is_full:
            self.source.complain(0, 0, "")
            return
        first, _ = self.source.place(marks[2 * list(out).index(key) + 1])
        self.source.complain(*self.source.place(mark.index), f"{key!r} is given twice, first on line {first}")

    def define(self, event: Any, value: Any) -> None:
        if event.anchor in self.anchors:
            first = self.anchors[event.anchor][1]
            raise yaml.composer.ComposerError(
                "found duplicate anchor; first occurrence", first, "second occurrence", event.start_mark
            )
        self.anchors[event.anchor] = value, event.start_mark

    def alias(self, event: Any) -> Any:
        if event.anchor not in self.anchors:
            raise yaml.composer.ComposerError(None, None, "found undefined alias", event.start_mark)
        value, mark = self.anchors[event.anchor]
        if value is _OPEN:
            raise YamlProblem("this value contains itself", mark)
        self.aliased += self.size(value)
        return value

    def size(self, value: Any) -> int:
        """Return how many values *value* is with all of its aliases written out."""
        if not isinstance(value, (dict, list)):
            return 1
        if id(value) not in self._sizes:
            parts = (*value, *value.values()) if isinstance(value, dict) else value
            self._sizes[id(value)] = 1 + sum(map(self.size, parts))
        return self._sizes[id(value)]

    def to_merge(self, value: Any, mark: Any) -> list[dict[Any, Any]]:
        """Return the mappings that ``<<`` brings in, the weakest first; all of them have to be located."""
        if self.located != _DEEP:
            raise _NeedsPlaces
        mappings = value[::-1] if isinstance(value, list) else [value]
        for one in mappings:
            if not isinstance(one, dict):
                wanted = "a mapping" if isinstance(value, list) else "a mapping or list of mappings"
                found = "sequence" if isinstance(one, list) else "scalar"
                told = f"not YAML: expected {wanted} for merging, but found {found} while constructing a mapping"
                raise YamlProblem(told, mark)
        return mappings

    def merge(self, mappings: list[dict[Any, Any]], out: dict[Any, Any]) -> None:
        """Put the keys of *mappings* before those of *out*, which override them."""
        all_marks = self.source.marks
        found: dict[Any, tuple[Any, list[int]]] = {}
        for one in (*mappings, out):
            marks = all_marks[id(one)]
            for number, (key, value) in enumerate(one.items()):
                found[key] = value, marks[2 * number + 1 : 2 * number + 3]
        out.clear()
        out.update({key: value for key, (value, _) in found.items()})
        all_marks[id(out)][1:] = [mark for _, pair in found.values() for mark in pair]


_KINDS = {"int": "a whole number", "float": "a number", "timestamp": "a date", "bool": "true or false"}


def _construct_plain(tag: str, text: str, mark: Any) -> Any:
    """Make the value of a plain scalar that looks like one of *tag*."""
    if text == "<<":
        raise _refused_tag(tag, mark)
    try:
        made = _construct(tag, text, mark)
    except Exception as exc:  # PyYAML's constructors raise whatever the text trips over
        kind = _KINDS.get(tag.rpartition(":")[2], "something else")
        raise YamlProblem(f"`{text[:40]}` looks like {kind} and is none ({exc}); quote it", mark) from None
    if ":" in text and isinstance(made, (int, float)):
        raise YamlProblem(f'YAML counts in sixties and reads `{text[:40]}` as {made}; quote it: "{text[:40]}"', mark)
    return made


def _construct_tagged(tag: str, text: str, mark: Any) -> Any:
    """Make the value of a scalar whose tag is written before it."""
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
    return sound_number(yaml.constructor.SafeConstructor().construct_object(node, deep=True))


def _refused_tag(tag: str, mark: Any) -> YamlProblem:
    """Return the complaint about a tag."""
    written = tag.replace("tag:yaml.org,2002:", "!!")
    return YamlProblem(f"the tag {written} is refused: golden files hold plain data", mark)


def sound_number(value: Any) -> Any:
    """Return *value*; a whole number that no message could show is a `ValueError`."""
    if type(value) is int and value.bit_length() > _MOST_BITS:
        raise ValueError("it has more than a thousand digits")
    return value
