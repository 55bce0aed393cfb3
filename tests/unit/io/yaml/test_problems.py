"""What is wrong with a YAML file, in words that say what to do, with its place."""

from __future__ import annotations

import pytest

from pytest_auepora.errors import GoldenFileError
from pytest_auepora.io.source import Source
from pytest_auepora.io.yaml.nodes import load_yaml


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a: b: c\n", "1:5", "put quotes round a text that holds a colon"),
        ("a: [1, 2\nb: 3\n", "2:2", "a list in brackets is not closed"),
        ("a: {b: 1\nc\n", "", "a mapping in braces is not closed"),
        ('a: "open\n', "", "a quote is not closed"),
        ("a: @home\n", "1:4", "put quotes round a text that begins with this character"),
        ('a: "\\w"\n', "1:", "double a backslash, or use single quotes"),
        ("a:\n\t- b\n", "2:", "a tab indents this line; YAML takes spaces only"),
        ("a: \x07\n", "1:4", "the control character U+0007 is not allowed in YAML; remove or escape it"),
        ("a: 1\n<<<<<<< ours\nb: 2\n", "2:1", "conflict"),
        (f"{'k' * 1100}: 1\n", "1:", "a key has at most 1,024 characters"),
        ("a: " + "[" * 2000 + "]" * 2000, "1:", "lists and mappings nest more than"),
    ],
)
def test_a_mistake_says_what_to_do_about_it(text: str, place: str, words: str) -> None:
    with pytest.raises(GoldenFileError) as caught:
        load_yaml(Source("f.yaml", text))
    (problem,) = caught.value.problems
    assert words in problem.message
    assert problem.place.startswith(f"f.yaml:{place}")
