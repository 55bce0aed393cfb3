"""A real Chromium, and reports and servers for it to show."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_auepora.cli.view.app import app_of, open_socket, server_of
from pytest_auepora.cli.view.library import Library
from pytest_auepora.reporting.formats.registry import report_text
from pytest_auepora.reporting.report import Report

from ..unit.cli.view.histories import Stored
from .reports import READY

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
            runs, verdicts, trends = make()
            path.write_text(report_text("html", Report(runs, verdicts, trends=trends)), encoding="utf-8")
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
        page.wait_for_selector(READY)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


class Shown(NamedTuple):
    """The page, its address without the path, and what it reads."""

    page: Page
    base: str
    history: Stored

    def go(self, path: str) -> None:
        self.page.goto("about:blank")  # a fragment alone would load nothing
        self.page.goto(f"{self.base}{path}")
        self.page.wait_for_selector(READY)

    @property
    def ids(self) -> list[str]:
        found: list[str] = self.page.locator("tr.case .opener").all_text_contents()
        return found

    def rows(self, n: int) -> None:
        """Wait until there are *n*."""
        self.page.locator(f"table.list:not(:has(tr.case:nth-child({n + 1}))) tr.case:nth-child({n})").wait_for()


Serve = Callable[[Library], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    running = []

    def start(library: Library) -> str:
        listening = open_socket(0)
        server = server_of(app_of(library))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        running.append((server, thread, listening))
        return f"http://127.0.0.1:{listening.getsockname()[1]}"

    yield start
    for server, thread, listening in running:
        server.should_exit = True
        thread.join()
        listening.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open a page; whatever it complains about or asks of another host fails the test at its end."""
    said: list[str] = []
    contexts = []

    def new(width: int = 1280, theme: str = "light") -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda message: said.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        page.on("dialog", lambda dialog: _alarmed(dialog, said))
        page.on("request", lambda request: _asked(request.url, "127.0.0.1", said))
        return page

    yield new
    for context in contexts:
        context.close()
    assert [
        one for one in said if "404 (Not Found)" not in one and not one.startswith("request: http://127.0.0.1:")
    ] == []


def _alarmed(dialog: Any, said: list[str]) -> None:
    said.append(f"dialog: {dialog.message}")
    dialog.dismiss()


def _asked(url: str, address: str, said: list[str]) -> None:
    if url.partition("#")[0] != address.partition("#")[0] and not url.startswith("data:"):
        said.append(f"request: {url}")
