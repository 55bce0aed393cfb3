"""YAML, fast and with places: values are built straight from the parser's events.

The values are those of `yaml.safe_load`.  Building a node graph first, as PyYAML does, costs most of its time; only
files with anchors, aliases, tags or merge keys take that way (`graph`).
"""

from __future__ import annotations

import re
from typing import Any

from ..source import Source
from .events import NeedsPlaces, Parser, parse
from .graph import load_graph
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
