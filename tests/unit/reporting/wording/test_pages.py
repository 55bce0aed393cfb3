"""A page is named by its address where one is known, else by the command that prints it."""

from __future__ import annotations

from email.message import Message
from pathlib import Path

import pytest

from pytest_auepora.reporting.wording import pages

PAGES = Path(__file__).parents[4] / "docs" / "pages" / "how-to"


def test_without_an_address_the_command_is_named() -> None:
    assert pages.page("judges") == "`auepora help judges`"


def test_a_published_page_is_named_by_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    package = Message()
    package["Project-URL"] = "Documentation, https://example.org/docs/"
    monkeypatch.setattr(pages, "metadata", lambda _: package)
    pages._documentation.cache_clear()
    try:
        assert pages.page("judges") == "https://example.org/docs/how-to/judges/"
    finally:
        pages._documentation.cache_clear()


@pytest.mark.parametrize("topic", [value for name, value in vars(pages).items() if name.isupper()])
def test_every_topic_is_a_page(topic: str) -> None:
    assert (PAGES / f"{topic}.md").is_file()
