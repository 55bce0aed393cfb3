"""Pages are found by topic and named where they are read: by URL where one is known, else by the command."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import pytest_auepora
from pytest_auepora.base import pages
from pytest_auepora.errors import UnknownNameError
from pytest_auepora.reporting.terminal.page_text import headings, section_of

PACKAGE = Path(pytest_auepora.__file__).parent


@pytest.fixture
def addressed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_address", lambda: "https://example.org/docs/pages")


def test_a_page_is_named_by_the_command_that_prints_it() -> None:
    assert pages.reference("ci") == "`auepora help ci`"
    assert pages.reference("verdict#the-anchor") == "`auepora help verdict#the-anchor`"


def test_where_an_address_is_known_a_page_is_a_url(addressed: None) -> None:
    assert pages.reference("ci#gitlab") == "https://example.org/docs/pages/how-to/ci.md#gitlab"
    assert pages.reference("tutorial") == "https://example.org/docs/pages/tutorial.md"


def test_an_unknown_page_names_near_ones() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'tutorial'"):
        pages.reference("tutorials")


def references() -> Iterator[tuple[str, str]]:
    """Yield what every call of `reference` in the package names, with its place; names of constants are looked up."""
    for path in PACKAGE.rglob("*.py"):
        if "reference(" not in (text := path.read_text(encoding="utf-8")):
            continue
        tree = ast.parse(text)
        constants = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "reference":
                (topic,) = node.args
                if isinstance(topic, ast.Name) and topic.id in constants:
                    yield f"{path}:{node.lineno}", str(constants[topic.id])
                elif isinstance(topic, ast.Constant):
                    yield f"{path}:{node.lineno}", str(topic.value)


def test_every_page_that_a_message_names_is_there() -> None:
    named = [*references()]
    assert len(named) >= 2
    for place, topic in named:
        name, _, section = topic.partition("#")
        text = pages.page_path(name).read_text(encoding="utf-8")
        assert not section or section_of(text, section), f"{place}: {topic}"


def test_no_message_names_a_page_by_its_title() -> None:
    titles = {headings(path.read_text(encoding="utf-8"))[0] for path in pages.page_paths().values()}
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert [title for title in titles if f"the page {title}" in text] == [], path


def test_topics_are_distinct() -> None:
    root = pages.page_path("index").parent
    assert len(pages.page_paths()) == len([*root.rglob("*.md")])
