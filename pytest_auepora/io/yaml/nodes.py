"""YAML with places: PyYAML composes nodes, by libyaml, which know where they stand; values are made from them.

The values are those of `yaml.safe_load`; of several merged mappings the first wins, as YAML's merge key demands (in
PyYAML 6.0.4 any may win).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, partial
from math import inf, isfinite
from typing import Any

import yaml

from ..source import MAX_DEPTH, KeyPath, Source, check_plain, describe
from .problems import TOO_DEEP, YamlProblem, report_error

Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's parser, or the slow one where PyYAML was built without it."""

MAX_ALIASED = 1_000_000
"""How many values aliases may add to those written in the file."""

_PLAIN = "plain"
"""The tag of plain scalars without one, which `_Reader` resolves: it remembers those that it has seen."""
_TEXT = "tag:yaml.org,2002:str"
_MAPPING, _SEQUENCE = "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"
_SPECIAL_STARTS = frozenset(yaml.SafeLoader.yaml_implicit_resolvers)
"""First characters of plain scalars that may be other than text."""
_OPEN: Any = object()
"""Stands for a value while it is built."""
_MERGE: Any = object()
"""The key ``<<``."""


def load_yaml(source: Source, *, core_schema: bool = False) -> Any:
    """Return the value of the one document in *source*, which then finds all places.

    Repeated keys are reported in *source*; the first value is kept.  With *core_schema*, plain scalars are what the
    core schema of YAML 1.2 takes them for, as js-yaml reads them; days stay texts.

    Raises:
        GoldenFileError: no YAML, more than one document, nested too deep, tags beyond plain data.
    """
    reader = (_CoreSchemaReader if core_schema else _Reader)(source)
    try:
        root = _compose(source.text)
        value = None if root is None else reader.value(root, 1)
    except (yaml.YAMLError, YamlProblem) as exc:
        report_error(exc, source)
        raise source.error() from None
    source.find = partial(reader.find, root)
    return value


def _compose(text: str) -> yaml.Node | None:
    """Return the root of the one document of *text*; None of an empty one."""
    composer = _composer(Parser)(text)
    try:
        root: yaml.Node | None = composer.get_single_node()
    except yaml.composer.ComposerError as exc:
        if exc.problem == "but found another document":
            raise YamlProblem("a second document starts here; a golden file holds one", exc.problem_mark) from None
        raise
    except RecursionError:
        raise YamlProblem(TOO_DEEP, None) from None
    finally:
        composer.dispose()
    return root


@cache
def _composer(parser: type) -> Any:
    resolvers = {None: [(_PLAIN, re.compile(""))]}
    return type("Composer", (parser,), {"yaml_implicit_resolvers": resolvers})


class _Reader:
    """Makes values of nodes."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.resolved: dict[str, Any] = {}
        self.containers: dict[yaml.Node, Any] = {}
        """The values of lists and mappings: those of aliases are one object."""
        self.aliased = 0
        self._sizes: dict[yaml.Node, int] = {}

    def value(self, node: yaml.Node, depth: int) -> Any:
        """Return the value of *node*, which stands at this *depth*."""
        if node.__class__ is yaml.ScalarNode:
            return self.scalar(node)
        if node in self.containers:
            return self.resolve_alias(node)
        if node.tag not in (_MAPPING, _SEQUENCE):
            raise _refused_tag(node.tag, node.start_mark)
        if depth > MAX_DEPTH:
            raise YamlProblem(TOO_DEEP, node.start_mark)
        self.containers[node] = _OPEN
        if node.tag == _SEQUENCE:
            value: Any = [self.value(item, depth + 1) for item in node.value]
        else:
            value = self.mapping(node, depth)
        self.containers[node] = value
        return value

    def scalar(self, node: yaml.Node) -> Any:
        text = node.value
        if node.tag == _PLAIN:
            return self.resolve_scalar(text, node.start_mark) if text[:1] in _SPECIAL_STARTS else text
        return text if node.tag == _TEXT else _construct_tagged(node.tag, text, node.start_mark)

    def resolve_scalar(self, text: str, mark: Any) -> Any:
        """Return the value of a plain scalar, as `yaml.SafeLoader` does."""
        if text not in self.resolved:  # every case has the same few numbers and words
            tags = yaml.SafeLoader.yaml_implicit_resolvers.get(text[:1], ())
            tag = next((tag for tag, looks_like in tags if looks_like.match(text)), None)
            self.resolved[text] = text if tag is None else _construct_plain(tag, text, mark)
        return self.resolved[text]

    def mapping(self, node: yaml.Node, depth: int) -> dict[Any, Any]:
        mapping: dict[Any, Any] = {}
        merged: list[dict[Any, Any]] = []
        for key_node, value_node in node.value:
            key = self.key(key_node)
            if key is _MERGE:
                merged += self.mappings_to_merge(value_node, depth + 1)
            elif key in mapping:
                first = next(other for other, _ in node.value if self.key(other) == key)
                line, _ = self.source.line_and_column(first.start_mark.index)
                place = self.source.line_and_column(key_node.start_mark.index)
                self.source.report_at(*place, f"{key!r} is given twice, first on line {line}")
            else:
                mapping[key] = self.value(value_node, depth + 1)
        if not merged:
            return mapping
        with_merged: dict[Any, Any] = {}
        for part in (*merged, mapping):  # its own keys override those
            with_merged.update(part)
        return with_merged

    def key(self, node: yaml.Node) -> Any:
        if node.__class__ is not yaml.ScalarNode:
            raise YamlProblem("a list or mapping cannot be a key", node.start_mark)
        if node.tag == _PLAIN and node.value in ("<<", "="):
            # a lone = has a tag of its own in YAML 1.1, which PyYAML drops in keys and refuses in values
            return _MERGE if node.value == "<<" else "="
        return self.scalar(node)

    def resolve_alias(self, node: yaml.Node) -> Any:
        if self.containers[node] is _OPEN:
            raise YamlProblem("this value contains itself", node.start_mark)
        self.aliased += self.size(node)
        if self.aliased > MAX_ALIASED:
            raise YamlProblem(f"aliases blow this file up by more than {MAX_ALIASED:,} values", node.start_mark)
        return self.containers[node]

    def size(self, node: yaml.Node) -> int:
        """Return how many values *node* is with all of its aliases written out."""
        if node.__class__ is yaml.ScalarNode:
            return 1
        if node not in self._sizes:
            parts = node.value if node.tag == _SEQUENCE else [part for pair in node.value for part in pair]
            self._sizes[node] = 1 + sum(map(self.size, parts))
        return self._sizes[node]

    def mappings_to_merge(self, node: yaml.Node, depth: int) -> list[dict[Any, Any]]:
        """Return the mappings that ``<<`` merges, the weakest first."""
        value = self.value(node, depth)
        mappings = value[::-1] if isinstance(value, list) else [value]
        if others := [part for part in mappings if not isinstance(part, dict)]:
            message = f"<< merges a mapping, or a list of mappings, got {describe(others[0])}"
            raise YamlProblem(message, node.start_mark)
        return mappings

    def find(self, root: yaml.Node | None, path: KeyPath, on_key: bool) -> int | None:
        """Return the offset of the value at *path*, or of its key; None where there is none."""
        node, key_node = root, None
        for key in path:
            if isinstance(node, yaml.MappingNode):
                key_node, node = next((pair for pair in self.pairs(node) if self.key(pair[0]) == key), (None, None))
            else:
                key_node = node = node.value[key] if isinstance(node, yaml.SequenceNode) else None
        found = key_node if on_key else node
        return None if found is None else int(found.start_mark.index)

    def pairs(self, node: yaml.Node) -> Iterator[tuple[yaml.Node, yaml.Node]]:
        """Yield the keys and values of a mapping, then those that it merges, the strongest first."""
        merged: list[yaml.Node] = []
        for key_node, value_node in node.value:
            if self.key(key_node) is _MERGE:
                merged += value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]
            else:
                yield key_node, value_node
        for part in merged:
            yield from self.pairs(part)


_CORE_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_CORE_WHOLE = re.compile(r"([-+]?)(?:0b([01]+)|0o([0-7]+)|0x([0-9a-fA-F]+)|([0-9]+))")
_MAX_DIGITS = 1_000
_CORE_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


class _CoreSchemaReader(_Reader):
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
    value = yaml.constructor.SafeConstructor().construct_object(node, deep=True)
    if isinstance(value, int):
        check_plain(value)
    return value


def _refused_tag(tag: str, mark: Any) -> YamlProblem:
    """Return the problem of a tag that is not allowed."""
    written = tag.replace("tag:yaml.org,2002:", "!!")
    return YamlProblem(f"the tag {written} is refused: golden files hold plain data", mark)


def flow_text(value: Any, quotes: str | None = None) -> str:
    """Return *value* on one line, for any place, its texts in *quotes* or in those that they need."""
    texts: dict[str, Any] = {"default_style": quotes, "allow_unicode": True, "width": inf}
    written: str = yaml.safe_dump([value], default_flow_style=True, sort_keys=False, **texts)
    return written.strip()[1:-1]  # in brackets: what is plain there is plain everywhere
