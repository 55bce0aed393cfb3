"""The pages of the documentation, which the wheel carries: where each is read, and what it says."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from .files import shipped_folder
from .text import unknown_name

_LABEL = "Documentation, "
"""How the address of the pages begins in the metadata of the package, where it was built with one."""


@cache
def page_paths() -> dict[str, Path]:
    """Return the pages by topic, the stem of their file: those in the wheel, or those beside the package."""
    return {path.stem: path for path in sorted(shipped_folder("pages", "docs/pages").rglob("*.md"))}


@cache
def _address() -> str:
    """Return the URL of the folder of pages, or an empty string where nobody gave one."""
    try:
        urls = metadata("pytest-auepora").get_all("Project-URL") or []
    except PackageNotFoundError:  # a source tree that was not installed
        urls = []
    return next((url.removeprefix(_LABEL) for url in urls if url.startswith(_LABEL)), "")


def reference(topic: str) -> str:
    """Return where *topic* is read, a page or ``page#section``: its URL if known, else the command that prints it.

    Raises:
        UnknownNameError: there is no such page.
    """
    return page_url(topic) or f"`{help_command(topic)}`"


def page_url(topic: str) -> str:
    """Return the URL of *topic*, empty where nobody gave the address of the pages; raises `UnknownNameError`."""
    name, _, section = topic.partition("#")
    path = page_path(name)
    if not (address := _address()):
        return ""
    root = page_paths()["index"].parent
    return f"{address}/{path.relative_to(root).as_posix()}{f'#{section}' if section else ''}"


def help_command(topic: str) -> str:
    """Return the command that prints *topic*."""
    return f"auepora help {topic}"


def page_path(topic: str) -> Path:
    """Return the file of the page on *topic*; raises `UnknownNameError`, which names near ones."""
    if topic not in page_paths():
        raise unknown_name("page", topic, page_paths())
    return page_paths()[topic]


def section_anchor(heading: str) -> str:
    """Return the anchor of a heading, as links of Markdown write it."""
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading.strip().lower()))
