"""YAML with anchors, aliases, tags or merge keys: the slow way, over PyYAML's node graph, and within limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import yaml
from yaml.events import CollectionEndEvent, CollectionStartEvent

from ..source import Mark, Source
from .problems import TooDeep, YamlProblem, explain
from .scalars import sound_number

MAX_ALIASED = 1_000_000
"""How many values aliases may add to those written in the file."""

_MAP, _SEQ = "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"


def load_graph(source: Source, parser: Callable[[str], Any], max_depth: int) -> Any:
    """Return the value of the one document in *source*; see `file.load_yaml`."""
    loader = parser(source.text)
    try:
        _check_depth(source, parser, max_depth)
        node = loader.get_single_node()
        if node is None:
            return None
        _check_expansion(node, max_depth)
        return _Construct(source, loader).value(node)
    except (yaml.YAMLError, YamlProblem) as exc:
        explain(exc, source)
        raise source.error() from None
    finally:
        loader.dispose()


def _check_depth(source: Source, parser: Callable[[str], Any], most: int) -> None:
    """Composing recurses in C, without a limit of its own: look first."""
    scan = parser(source.text)
    depth = 0
    try:
        while (event := scan.get_event()) is not None:
            if isinstance(event, CollectionStartEvent):
                depth += 1
                if depth > most:
                    raise TooDeep(most, event.start_mark)
            elif isinstance(event, CollectionEndEvent):
                depth -= 1
    finally:
        scan.dispose()


def _check_expansion(root: yaml.Node, most_deep: int) -> None:
    sizes: dict[int, int] = {}
    open_now: set[int] = set()

    def size(node: yaml.Node, depth: int) -> int:
        if (known := sizes.get(id(node))) is not None:
            return known
        if id(node) in open_now:
            raise YamlProblem("this value contains itself", node.start_mark)
        if depth > most_deep:
            raise TooDeep(most_deep, node.start_mark)
        open_now.add(id(node))
        total = 1 + sum(size(child, depth + 1) for child in _children(node))
        open_now.discard(id(node))
        sizes[id(node)] = total
        return total

    aliased = size(root, 0) - len(sizes)
    if aliased > MAX_ALIASED:
        raise YamlProblem(f"aliases blow this file up by {aliased:,} values; the limit is {MAX_ALIASED:,}", None)


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


class _Construct:
    """Makes values out of nodes, each node once."""

    def __init__(self, source: Source, loader: Any) -> None:
        self.source = source
        self.loader = loader
        self.made: dict[int, Any] = {}

    def value(self, node: yaml.Node) -> Any:
        if id(node) not in self.made:
            self.made[id(node)] = self._make(node)
        return self.made[id(node)]

    def _make(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.MappingNode) and node.tag == _MAP:
            return self._mapping(node)
        if isinstance(node, yaml.SequenceNode) and node.tag == _SEQ:
            items = [self.value(child) for child in node.value]
            self.source.marks[id(items)] = [node.start_mark, *(child.start_mark for child in node.value)]
            return items
        if node.tag not in self.loader.yaml_constructors:
            tag = node.tag.replace("tag:yaml.org,2002:", "!!")
            raise YamlProblem(f"the tag {tag} is refused: golden files hold plain data", node.start_mark)
        try:
            return sound_number(self.loader.construct_object(node, deep=True))
        except yaml.YAMLError:
            raise
        except Exception as exc:  # PyYAML's constructors raise whatever the text trips over
            raise YamlProblem(f"cannot be read as {node.tag.rpartition(':')[2]} ({exc})", node.start_mark) from None

    def _mapping(self, node: yaml.MappingNode) -> dict[Any, Any]:
        self._check_twice(node)
        self.loader.flatten_mapping(node)
        out: dict[Any, Any] = {}
        marks: dict[Any, tuple[Mark, Mark]] = {}
        for key_node, value_node in node.value:
            key = self.key(key_node)
            out[key] = self.value(value_node)
            marks[key] = (key_node.start_mark, value_node.start_mark)
        self.source.marks[id(out)] = [node.start_mark, *(mark for pair in marks.values() for mark in pair)]
        return out

    def key(self, node: yaml.Node) -> Any:
        if not isinstance(node, yaml.ScalarNode):
            raise YamlProblem("a list or mapping cannot be a key", node.start_mark)
        return self.value(node)

    def _check_twice(self, node: yaml.MappingNode) -> None:
        """Find keys written twice; a merge key brings in others, which the written ones override."""
        seen: dict[Any, int] = {}
        kept = []
        for pair in node.value:
            if pair[0].tag == "tag:yaml.org,2002:merge":
                kept.append(pair)
                continue
            if pair[0].tag == "tag:yaml.org,2002:value":  # a lone =, which PyYAML takes as text in keys
                pair[0].tag = "tag:yaml.org,2002:str"
            key = self.key(pair[0])
            line, col = self.source.place(pair[0].start_mark)
            if key in seen:
                self.source.complain(line, col, f"{key!r} is given twice, first on line {seen[key]}")
                continue
            seen[key] = line
            kept.append(pair)
        node.value = kept
