"""Scalars of YAML that stand without quotes: what they look like decides what they are."""

from __future__ import annotations

from typing import Any

import yaml

from .problems import YamlProblem

# The words, whole numbers and simple fractions of most files; PyYAML takes many times as long for each
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}
_OF_WORDS = frozenset("yYnNtTfFoO")
_LONGEST_WORD = len("false")
_OF_NUMBERS = frozenset("0123456789+-.")
"""How numbers and dates begin."""
_IN_NUMBERS = frozenset("0123456789abcdefABCDEFxinINTtZ_:+-. \t")
"""All that stands in numbers and dates, and little else."""
_SHORT = 15
_MOST_BITS = 3_322
"""About a thousand decimal digits."""


class Plain:
    """Resolves plain scalars as `yaml.SafeLoader` does: what they look like decides what they are."""

    table = frozenset(("", *"~<=!&*")) | _OF_WORDS | _OF_NUMBERS
    """How a text begins that may be something else."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def resolve(self, text: str, mark: Any) -> Any:
        """Return what *text* stands for.

        Raises:
            YamlProblem: it looks like a number or a date and is none, or has no value (``<<``).
        """
        if text[:1] in _OF_WORDS and len(text) > _LONGEST_WORD:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if text in self._made:
            return self._made[text]
        if text[0] in _OF_WORDS or text[0] not in self.table:
            return text
        if text[0] in _OF_NUMBERS:
            if not _IN_NUMBERS.issuperset(text):
                return text
            whole, point, fraction = text.partition(".")
            if (
                whole.isdigit()
                and len(text) <= _SHORT
                and (fraction.isdigit() if point else whole[0] != "0" or whole == "0")
            ):
                value = self._made[text] = float(text) if point else int(text)
                return value
        return self._by_yaml(text, mark)

    def _by_yaml(self, text: str, mark: Any) -> Any:
        """Resolve the rare rest: dates, signs, other bases and exponents."""
        for tag, looks_like in yaml.SafeLoader.yaml_implicit_resolvers.get(text[:1], ()):
            if looks_like.match(text):
                value = self._made[text] = construct_plain(tag, text, mark)
                return value
        return text


_KINDS = {"int": "a whole number", "float": "a number", "timestamp": "a date", "bool": "true or false"}


def construct_plain(tag: str, text: str, mark: Any) -> Any:
    """Make the value of a plain scalar that looks like one of *tag*."""
    if text == "<<":
        raise refused_tag(tag, mark)
    try:
        made = _construct(tag, text, mark)
    except Exception as exc:  # PyYAML's constructors raise whatever the text trips over
        kind = _KINDS.get(tag.rpartition(":")[2], "something else")
        raise YamlProblem(f"`{text[:40]}` looks like {kind} and is none ({exc}); quote it", mark) from None
    if ":" in text and isinstance(made, (int, float)):
        raise YamlProblem(f'YAML counts in sixties and reads `{text[:40]}` as {made}; quote it: "{text[:40]}"', mark)
    return made


def construct_tagged(tag: str, text: str, mark: Any) -> Any:
    """Make the value of a scalar whose tag is written before it."""
    if tag not in yaml.SafeLoader.yaml_constructors:
        raise refused_tag(tag, mark)
    try:
        return _construct(tag, text, mark)
    except yaml.YAMLError:
        raise
    except Exception as exc:  # likewise
        raise YamlProblem(f"cannot be read as {tag.rpartition(':')[2]} ({exc})", mark) from None


def _construct(tag: str, text: str, mark: Any) -> Any:
    node = yaml.ScalarNode(tag, text, mark, mark)
    return sound_number(yaml.constructor.SafeConstructor().construct_object(node, deep=True))


def refused_tag(tag: str, mark: Any) -> YamlProblem:
    """Return the complaint about a tag."""
    written = tag.replace("tag:yaml.org,2002:", "!!")
    return YamlProblem(f"the tag {written} is refused: golden files hold plain data", mark)


def sound_number(value: Any) -> Any:
    """Return *value*; a whole number that no message could show is a `ValueError`."""
    if type(value) is int and value.bit_length() > _MOST_BITS:
        raise ValueError("it has more than a thousand digits")
    return value
