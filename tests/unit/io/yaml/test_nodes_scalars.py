"""Plain scalars are what `yaml.SafeLoader` takes them for, whether PyYAML is asked or not."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_auepora.io.source import Source
from pytest_auepora.io.yaml import nodes
from pytest_auepora.io.yaml.problems import YamlProblem

REFUSED = object()


def by_pyyaml(text: str) -> Any:
    loader: Any = yaml.SafeLoader("")
    tag = loader.resolve(yaml.ScalarNode, text, (True, False))
    if tag == "tag:yaml.org,2002:str":
        return text
    try:
        made = loader.construct_object(yaml.ScalarNode(tag, text), deep=True)
    except Exception:  # PyYAML's constructors raise whatever the text trips over
        return REFUSED
    return REFUSED if ":" in text and isinstance(made, (int, float)) else made


def ours(text: str) -> Any:
    try:
        return nodes._Reader(Source("x.yaml", "")).resolve_scalar(text, None)
    except YamlProblem:
        return REFUSED


NUMBERS = st.text("0123456789.:_+-eExXbBTZtz aAfFnNiI", max_size=8)
WORDS = st.sampled_from(["yes", "no", "true", "false", "on", "off", "null", "~", "y", "n", "nul", "offf", "="])
ODD = st.sampled_from("<=!&*~") | st.text(max_size=5)


@given(
    NUMBERS | ODD | WORDS | WORDS.map(str.upper) | WORDS.map(str.title) | st.from_regex(r"\d+(\.\d+)?", fullmatch=True)
)
@settings(max_examples=5 * settings().max_examples)
@example("0")
@example("00")
@example("007.50")
@example("1.")
@example("123456789012345678901234567890")
@example("2024-02-03")
@example("12:30:45")
@example("\u0663")
@example("1\u0663")
def test_they_are_what_pyyaml_makes_of_them(text: str) -> None:
    if text == "<<":
        return
    made, expected = ours(text), by_pyyaml(text)
    assert type(made) is type(expected)
    assert made == expected or made != made
