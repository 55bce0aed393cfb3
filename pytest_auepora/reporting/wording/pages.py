"""Where to read on: the address of a page where one is known, else the command that prints it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata

NON_DETERMINISTIC = "non-deterministic"
RECALL_IS_ZERO = "recall-is-zero"
BASELINES = "baselines"
JUDGES = "judges"
HOW_MANY_CASES = "how-many-cases"


def page(topic: str) -> str:
    """Return the address of the page on *topic*, a file of the documentation, or ``auepora help TOPIC``."""
    address = _documentation()
    return f"{address}/how-to/{topic}/" if address else f"`auepora help {topic}`"


@cache
def _documentation() -> str:
    """Return where the documentation of the installed package is; empty until it is published somewhere."""
    try:
        urls: Sequence[str] = metadata("pytest-auepora").get_all("Project-URL") or ()
    except PackageNotFoundError:  # a copy that is not installed
        return ""
    named = dict(url.split(", ", 1) for url in urls if ", " in url)
    return named.get("Documentation", "").rstrip("/")
