"""YAML, fast and with places: values built straight from the parser's events.

The values are those of `yaml.safe_load`.  Building a node graph first, as PyYAML does, costs most of its time; only
files with anchors, aliases, tags or merge keys take that way (`yaml_graph`).  Cases that are written plainly need no
events either (`yaml_cases`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml
from yaml.events import MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent

from .source import Source
from .yaml_cases import read_cases
from .yaml_plain import NeedsWhole
from .yaml_problems import TooDeep, YamlProblem, explain
from .yaml_scalars import NeedsGraph, Plain

__all__ = ["MAX_DEPTH", "load_yaml"]

MAX_DEPTH = 100
"""How deep lists and mappings may nest."""

_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's parser, or the slow one where PyYAML was built without it."""

_ONLY_YAML_BREAKS = re.compile("[\x85\u2028\u2029]")
"""Where YAML 1.1 breaks lines, and no editor and no traceback does."""

_SHALLOW = 2
"""Every key and value is located down to this depth at once (the file's own keys and their mappings), deeper only
when something is complained about: keeping a place for each of a million values costs more than reading them."""

_DEEP = MAX_DEPTH + 1


def load_yaml(source: Source) -> Any:
    """Return the value of the one document in *source*, which then knows where everything stands.

    Keys given twice are complained about in *source*; the first value is kept.

    Raises:
        GoldenFileError: no YAML, more than one document, nested too deep, tags beyond plain data.
    """
    source.by_index = not source.text.isascii() and _ONLY_YAML_BREAKS.search(source.text) is not None
    try:
        return _load(source)
    except NeedsGraph:
        from .yaml_graph import load_graph

        source.forget()
        return load_graph(source, _Parser, MAX_DEPTH)
    except (yaml.YAMLError, YamlProblem) as exc:
        explain(exc, source)
        raise source.error() from None


def _load(source: Source) -> Any:
    try:
        root = _values(source)
    except NeedsWhole:
        return _parse(source, _DEEP)
    source.locate = lambda: _locate(source, root)
    return root


def _values(source: Source) -> Any:
    """Return the value with few places: case by case, or else all in one go."""
    try:
        return read_cases(source, lambda part, depth: _parse(part, _SHALLOW, depth))
    except NeedsWhole:
        pass
    try:
        return _parse(source, _SHALLOW)
    except NeedsWhole:
        source.forget()
        raise


def _locate(source: Source, root: Any) -> None:
    """Read the text once more, and note for the values of *root* where everything stands."""
    twin = Source(source.path, source.text)
    source.take_marks(root, twin, _parse(twin, _DEEP))


def _parse(source: Source, located: int, depth: int = 0) -> Any:
    """Return the value of the text of *source*, which stands *depth* levels deep; locate it down to *located*."""
    parser = _Parser(source.text)
    try:
        return _document(parser.get_event, source, located, depth)
    finally:
        parser.dispose()


def _document(get: Callable[[], Any], source: Source, located: int, depth: int) -> Any:
    get()  # stream start
    event = get()
    if isinstance(event, yaml.StreamEndEvent):
        return None
    value = _Builder(get, source, located).value(get(), depth)
    get()  # document end
    event = get()
    if not isinstance(event, yaml.StreamEndEvent):
        raise YamlProblem("a second document starts here; a golden file holds one", event.start_mark)
    return value


class _Builder:
    """Turns events into values.  The loops are written out: they run once for every scalar of the file."""

    def __init__(self, get: Callable[[], Any], source: Source, located: int) -> None:
        self.get = get
        self.source = source
        self.located = located
        self.plain = Plain()
        self.keys: dict[str, Any] = {}

    def value(self, event: Any, depth: int) -> Any:
        """Build the value that starts with *event*."""
        kind = event.__class__
        if kind is MappingStartEvent:
            return self.mapping(event, depth + 1)
        if kind is SequenceStartEvent:
            return self.sequence(event, depth + 1)
        if kind is not ScalarEvent or event.anchor is not None:
            raise NeedsGraph
        return self.scalar(event)

    def scalar(self, event: Any) -> Any:
        plain, quoted = event.implicit
        text = event.value
        if plain:
            return self.plain.resolve(text, event.start_mark) if text[:1] in self.plain.table else text
        if not quoted:
            raise NeedsGraph
        return text

    def sequence(self, event: Any, depth: int) -> list[Any]:
        get, table = self.get, self.plain.table
        out: list[Any] = []
        marks = self.start(out, event, depth)
        while (kind := (event := get()).__class__) is not SequenceEndEvent:
            if marks is not None:
                marks.append(event.start_mark)
            if kind is ScalarEvent and event.anchor is None:
                text = event.value
                plain, quoted = event.implicit
                if (plain and text[:1] in table) or not (plain or quoted):
                    text = self.scalar(event)
                out.append(text)
            else:
                out.append(self.value(event, depth))
        return out

    def mapping(self, event: Any, depth: int) -> dict[Any, Any]:
        get, table, keys = self.get, self.plain.table, self.keys
        out: dict[Any, Any] = {}
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
                plain, quoted = event.implicit
                if (plain and value[:1] in table) or not (plain or quoted):
                    value = self.scalar(event)
            else:
                value = self.value(event, depth)
            if key in out:
                self.twice(out, key, key_event.start_mark, marks)
                self.source.dropped.append(value)
                continue
            out[key] = value
            if marks is not None:
                marks += (key_event.start_mark, event.start_mark)
        return out

    def new_key(self, event: Any) -> Any:
        """Resolve a plain key, once: the same few come back in every case."""
        text = event.value
        # a lone = has a tag of its own in YAML 1.1, which PyYAML drops in keys and refuses in values
        key = self.keys[text] = text if text == "=" else self.plain.resolve(text, event.start_mark)
        return key

    def key(self, event: Any, depth: int) -> Any:
        """Build a key that is no plain scalar."""
        key = self.value(event, depth)
        if isinstance(key, (list, dict)):
            raise YamlProblem("a list or mapping cannot be a key", event.start_mark)
        return key

    def start(self, out: Any, event: Any, depth: int) -> list[Any] | None:
        """Begin a container; return the list of marks to fill, or None where nothing is located."""
        if event.anchor is not None or event.tag is not None:
            raise NeedsGraph
        if depth > MAX_DEPTH:
            raise TooDeep(MAX_DEPTH, event.start_mark)
        if depth <= self.located:
            marks = self.source.marks[id(out)] = [event.start_mark]
            return marks
        if depth == self.located + 1:
            self.source.starts[id(out)] = event.start_mark
        return None

    def twice(self, out: dict[Any, Any], key: Any, mark: Any, marks: list[Any] | None) -> None:
        if marks is None:
            raise NeedsWhole
        first, _ = self.source.place(marks[2 * list(out).index(key) + 1])
        self.source.complain(*self.source.place(mark), f"{key!r} is given twice, first on line {first}")
