"""A real Chromium, and reports for it to show."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_auepora.reporting.html.report import html_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Gone before any other test of this process: as long as it is there, an event loop runs in the main thread."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (group browser)")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium on the path")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Write a report of runs and verdicts, each set once, and return its address."""
    made: dict[str, str] = {}

    def write(name: str, make: Callable[[], tuple[Any, ...]]) -> str:
        if name not in made:
            path: Path = tmp_path_factory.mktemp("report") / f"{name}.html"
            path.write_text(html_report(*make()), encoding="utf-8")
            made[name] = path.as_uri()
        return made[name]

    return write


@pytest.fixture
def show(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open an address; whatever the page complains about or asks of the network fails the test at its end."""
    said: list[str] = []
    contexts = []

    def open_page(address: str, width: int = 1280, height: int = 900, **given: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **given)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda message: said.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        page.on("dialog", lambda dialog: _alarmed(dialog, said))
        page.on("request", lambda request: _asked(request.url, address, said))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


def _alarmed(dialog: Any, said: list[str]) -> None:
    said.append(f"dialog: {dialog.message}")
    dialog.dismiss()


def _asked(url: str, address: str, said: list[str]) -> None:
    if url.partition("#")[0] != address.partition("#")[0] and not url.startswith("data:"):
        said.append(f"request: {url}")
