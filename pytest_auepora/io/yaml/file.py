"""YAML, fast and with places: plain text as it stands, all else built straight from the parser's events.

The values are those of `yaml.safe_load`.  Building a node graph first, as PyYAML does, costs most of its time; only
files with anchors, aliases, tags or merge keys take that way (`yaml_graph`).  Cases that are written plainly need no
events either (`yaml_cases`), and a file that is plain throughout does not even import PyYAML, which takes longer than
to read such a file of some hundred cases.
"""

from __future__ import annotations

import re
from typing import Any

from ..golden.source import Source
from .cases import read_cases
from .plain import NeedsWhole
from .problems import YamlProblem, explain
from .scalars import NeedsGraph

__all__ = ["MAX_DEPTH", "load_yaml"]

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
        from .events import Parser
        from .graph import load_graph

        source.forget()
        return load_graph(source, Parser, MAX_DEPTH)
    except YamlProblem as exc:
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
    from .events import parse  # with it comes PyYAML

    return parse(source, located, depth, MAX_DEPTH)
