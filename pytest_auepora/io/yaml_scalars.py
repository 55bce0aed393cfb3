"""Scalars of YAML that stand without quotes: what they look like decides what they are."""

from __future__ import annotations

from typing import Any

import yaml

from .yaml_problems import YamlProblem

__all__ = ["NeedsGraph", "Plain", "construct_scalar"]

_MERGE = "tag:yaml.org,2002:merge"


class NeedsGraph(Exception):
    """An anchor, an alias, a tag or a merge key: events alone do not say what the value is."""


class Plain:
    """Resolves plain scalars as `yaml.SafeLoader` does: what they look like decides what they are."""

    def __init__(self) -> None:
        self.table: dict[str, list[tuple[str, Any]]] = yaml.SafeLoader.yaml_implicit_resolvers
        self._made: dict[str, Any] = {}
        self._constructor = yaml.constructor.SafeConstructor()

    def resolve(self, text: str, mark: Any) -> Any:
        """Return what *text* stands for.

        Raises:
            YamlProblem: it looks like a number or a date and is none.
        """
        if text in self._made:
            return self._made[text]
        for tag, looks_like in self.table.get(text[:1], ()):
            if looks_like.match(text):
                if tag == _MERGE:
                    raise NeedsGraph
                value = self._made[text] = construct_scalar(self._constructor, tag, text, mark)
                return value
        return text


def construct_scalar(constructor: Any, tag: str, text: str, mark: Any) -> Any:
    """Make the value of a scalar whose tag is known."""
    node = yaml.ScalarNode(tag, text, mark, mark)
    try:
        return constructor.construct_object(node, deep=True)
    except Exception as exc:  # PyYAML's constructors raise whatever the text trips over
        word = tag.rpartition(":")[2]
        raise YamlProblem(f"`{text[:40]}` looks like a {word} and is none ({exc}); quote it", mark) from None
