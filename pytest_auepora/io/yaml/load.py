"""YAML, fast and with places: values are built straight from the parser's events.

The values are those of `yaml.safe_load`.  Building a node graph first, as PyYAML does, costs most of its time; only
files with anchors, aliases, tags or merge keys take that way (`graph`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml
from yaml.events import MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent

from ..source import Source
from .graph import load_graph
from .problems import NotYaml, TooDeep, YamlProblem, explain
from .scalars import NeedsGraph, Plain

Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's parser, or the slow one where PyYAML was built without it."""


class NeedsPlaces(Exception):
    """There is something to say about a value whose place was not noted."""


def parse(source: Source, located: int, max_depth: int) -> Any:
    """Return the value of the text of *source*; note where everything stands down to *located* levels.

    Raises:
        YamlProblem: no YAML, more than one document, lists and mappings nested beyond *max_depth*.
        NeedsGraph: events alone do not say what the value is.
        NeedsPlaces: a key is given twice below *located*.
    """
    try:
        parser = Parser(source.text)
        try:
            return _document(parser.get_event, _Builder(parser.get_event, source, located, max_depth))
        finally:
            parser.dispose()
    except yaml.YAMLError as exc:
        raise NotYaml(exc) from exc


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
    return value


class _Builder:
    """Turns events into values.  The loops are written out: they run once for every scalar of the file."""

    def __init__(self, get: Callable[[], Any], source: Source, located: int, max_depth: int) -> None:
        self.get = get
        self.source = source
        self.located = located
        self.max_depth = max_depth
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
                if text[:1] in table or event.tag is not None:
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
                if value[:1] in table or event.tag is not None:
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
        if depth > self.max_depth:
            raise TooDeep(self.max_depth, event.start_mark)
        if depth <= self.located:
            marks = self.source.marks[id(out)] = [event.start_mark]
            return marks
        if depth == self.located + 1:
            self.source.starts[id(out)] = event.start_mark
        return None

    def twice(self, out: dict[Any, Any], key: Any, mark: Any, marks: list[Any] | None) -> None:
        if marks is None:
            raise NeedsPlaces
        if self.source.is_full:
            self.source.complain(0, 0, "")
            return
        first, _ = self.source.place(marks[2 * list(out).index(key) + 1])
        self.source.complain(*self.source.place(mark), f"{key!r} is given twice, first on line {first}")


MAX_DEPTH = 100
"""How deep lists and mappings may nest."""

_ONLY_YAML_BREAKS = "[\x85\u2028\u2029]"
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
    source.by_index = not source.text.isascii() and re.search(_ONLY_YAML_BREAKS, source.text) is not None
    try:
        return _load(source)
    except NeedsGraph:
        source.forget()
        return load_graph(source, Parser, MAX_DEPTH)
    except YamlProblem as exc:
        explain(exc, source)
        raise source.error() from None


def _load(source: Source) -> Any:
    try:
        root = parse(source, _SHALLOW, MAX_DEPTH)
    except NeedsPlaces:
        source.forget()
        return parse(source, _DEEP, MAX_DEPTH)
    source.locate = lambda: _locate(source, root)
    return root


def _locate(source: Source, root: Any) -> None:
    """Read the text once more, and note for the values of *root* where everything stands."""
    twin = Source(source.path, source.text)
    source.take_marks(root, twin, parse(twin, _DEEP, MAX_DEPTH))
