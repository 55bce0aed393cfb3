"""The HTML report in a real browser: what can be clicked, typed and read."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from ..unit.reporting.html.pages import BAD_ID
from .reports import evil, long, opened, several, small

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from .reports import Show, Write


@pytest.fixture
def page(show: Show, written: Write) -> Page:
    return show(written("small", small))


def test_the_way_from_what_broke_to_the_case(page: Page) -> None:
    page.get_by_label("Text").fill("steady")
    page.locator(".worst-cases a", has_text=BAD_ID).click()
    assert opened(page).count() == 1
    assert page.evaluate("document.activeElement.textContent") == BAD_ID
    assert page.get_by_label("Text").input_value() == ""
    assert page.url.endswith("#case-0-1")


def test_an_address_opens_its_case(show: Show, written: Write) -> None:
    page = show(written("small", small) + "#case-0-2")
    assert page.evaluate("document.activeElement.textContent") == "wrong-answer"
    assert opened(page).count() == 1


def test_the_theme_follows_the_machine_until_it_is_chosen(show: Show, written: Write) -> None:
    page = show(written("small", small), color_scheme="dark")
    button = page.get_by_role("button", name="Dark theme")
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    light = page.evaluate(paper)
    assert button.get_attribute("aria-pressed") == "false"
    assert light != dark
    page.reload()
    assert page.evaluate(paper) == light, "the choice is remembered"
    page.emulate_media(media="print")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"


def test_tabs_choose_the_picture(page: Page) -> None:
    tabs = page.get_by_role("tab")
    panels = page.locator("figure.panel")
    assert panels.locator("visible=true").count() > 0
    assert [panel.is_visible() for panel in panels.all()].count(True) == 1
    tabs.first.click()
    page.keyboard.press("ArrowRight")
    assert tabs.nth(1).get_attribute("aria-selected") == "true"
    assert panels.nth(1).is_visible()
    assert not panels.first.is_visible()
    page.keyboard.press("End")
    assert tabs.last.get_attribute("aria-selected") == "true"


def test_no_text_of_a_picture_is_cut_off(show: Show, written: Write) -> None:
    page = show(written("long", long))
    assert page.locator(".trend svg.plot").count() > 0
    cut: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('svg.plot')].filter(plot => plot.checkVisibility()).flatMap(plot => {
            const {x, y, width, height} = plot.viewBox.baseVal, to_screen = plot.getScreenCTM();
            const from = new DOMPoint(x, y).matrixTransform(to_screen);
            const to = new DOMPoint(x + width, y + height).matrixTransform(to_screen);
            return [...plot.querySelectorAll('text')].filter(text => {
                const box = text.getBoundingClientRect();
                return box.left < from.x || box.right > to.x || box.top < from.y || box.bottom > to.y;
            }).map(text => text.textContent);
        })"""
    )
    assert cut == []


def test_a_dot_opens_its_case(page: Page) -> None:
    dot = page.locator('figure.panel:visible [data-case="1"]')
    dot.dispatch_event("pointerover")
    assert page.locator(".tip").text_content() == BAD_ID
    dot.dispatch_event("click")
    assert page.evaluate("document.activeElement.textContent") == BAD_ID


@pytest.mark.parametrize("name", ["small", "several", "evil"])
def test_a_phone_never_scrolls_sideways(show: Show, written: Write, name: str) -> None:
    page = show(written(name, {"small": small, "several": several, "evil": evil}[name]), width=375, height=740)
    for opener in page.locator(".opener").all()[:4]:
        opener.click()
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    page.set_viewport_size({"width": 320, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    page.set_viewport_size({"width": 1000, "height": 740})
    assert {cell.get_attribute("colspan") for cell in page.locator("tr.opened > td").all()} != {"2"}


def test_nothing_of_an_answer_is_executed(show: Show, written: Write) -> None:
    page = show(written("evil", evil))
    for opener in page.locator(".opener").all():
        opener.click()
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    assert page.locator(".answer .given").first.inner_text().startswith("<img src=x onerror=alert(1)></script>")
    assert page.locator(".trace pre").inner_text().startswith("E: <img src=x")


def test_systems_side_by_side_lead_to_their_cases(show: Show, written: Write) -> None:
    page = show(written("several", several))
    link = page.locator(".beside-each tbody a").first
    suite, case = (link.get_attribute("href") or "").removeprefix("#case-").split("-")
    link.click()
    assert page.locator(f"#cases-{suite} #details-{suite}-{case}").count() == 1


@pytest.mark.parametrize(("name", "theme", "width"), [("small", "light", 1280), ("several", "dark", 375)])
def test_no_barrier_that_axe_finds(show: Show, written: Write, name: str, theme: str, width: int) -> None:
    pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed (group browser)")
    page = show(written(name, {"small": small, "several": several}[name]), width=width, color_scheme=theme)
    for opener in page.locator(".opener").all()[:2]:
        opener.click()
    for part in page.locator("main details").all():
        part.evaluate("part => { part.open = true; }")
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate(
        "axe.run().then(seen => seen.violations.map(v => [v.id, v.nodes.map(n => n.html.slice(0, 200))]))"
    )
    assert found == []
