"""The HTML report in a real browser: what can be clicked, typed and read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ..unit.reporting.builders import Case, baseline_of, run_of, verdict_of
from ..unit.reporting.page.pages import BAD_ID
from .reports import READY, axe_findings, evil, explained, ids, long, opened, several, small, talk

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from .reports import Made, Show, Write


@pytest.fixture
def page(show: Show, written: Write) -> Page:
    return show(written("small", small))


def test_outcome_cause_and_worst_cases_are_on_the_first_screen(page: Page) -> None:
    assert page.locator("h1").inner_text().startswith("Failed, worse")
    assert "2 newly failing" in page.locator(".headline").inner_text()
    first = page.locator(".worst li").first
    assert first.locator(".worst-id").inner_text() == BAD_ID
    assert "fell out, was at rank 2" in first.locator(".why").inner_text()
    assert "How long do I have" in first.locator(".asked").inner_text()
    assert page.locator(".worst dd").all_inner_texts()[:4] == [
        "Within 30 days of purchase.", "the same", "Within 30 days of purchase.", "Within a year or so.",
    ]  # fmt: skip
    assert first.locator(".score-chip").first.text_content() == "recall@5 ↓worse: 0.000 was 1.000"
    box = page.locator(".worst li").nth(1).bounding_box()
    assert box is not None
    assert box["y"] < 900


@pytest.mark.parametrize("width", [375, 1280])
def test_why_shows_both_effects_with_their_intervals(show: Show, written: Write, width: int) -> None:
    page = show(written("explained", explained), width)
    cause = page.locator(".cause")
    assert cause.locator("strong").inner_text().startswith("why: both retrieval and the generator (2 cases, 8 calls")
    labels = cause.locator("tbody td").evaluate_all("cells => cells.map((cell) => cell.dataset.label)")
    assert labels == ["Change", "by generator", "by retrieval"]
    assert cause.locator("thead").is_visible() == (width == 1280), "on a small screen each cell has its label beside it"
    heights = cause.locator("caption, tbody th, tbody td").evaluate_all(
        "cells => cells.map((cell) => cell.offsetHeight)"
    )
    assert max(heights) < 60, "no word is broken into letters"
    assert cause.locator("tbody tr").inner_text().split() == [
        "token_f1", "-0.430", "-0.360", "[-0.450,", "-0.270]", "-0.070", "[-0.160,", "+0.020]",
    ]  # fmt: skip
    assert "95 % intervals" in cause.locator("caption").inner_text()
    assert "recall@5 is worse by 0.250" in cause.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator(".worst a", has_text="wrong-answer").click()
    assert "with the accepted documents 0.540" in page.locator(".cause").inner_text()


def test_the_way_from_the_worst_case_and_back(page: Page) -> None:
    page.get_by_label("Text").fill("steady")
    page.locator(".worst a", has_text=BAD_ID).click()
    page.locator("h1", has_text=BAD_ID).wait_for()
    assert page.evaluate("document.activeElement.id") == "case-title"
    assert page.url.endswith(f"case={BAD_ID}")
    page.go_back()
    page.locator("tr.case").first.wait_for()
    assert ids(page) == ["steady"], "what was looked for is kept"


def test_an_address_opens_its_case(show: Show, written: Write) -> None:
    page = show(written("small", small) + "#case=wrong-answer")
    assert page.locator("h1").inner_text() == "wrong-answer"
    assert page.title().startswith("wrong-answer")


def test_turns_of_a_conversation_are_shown_together_in_order(show: Show, written: Write) -> None:
    address = written("talk", talk)
    page = show(f"{address}#case=hire-2")
    turns = page.locator(".conversation li")
    assert [text.split()[0] for text in turns.all_inner_texts()] == ["hire-1", "hire-2"]
    assert page.locator(".conversation [aria-current]").inner_text() == "hire-2"
    turns.first.locator("a").click()
    page.locator("h1", has_text="hire-1").wait_for()
    assert show(f"{address}#case=alone").locator(".conversation").count() == 0


def test_gate_prose_is_folded_below_the_cases(page: Page) -> None:
    cases, reasons = page.locator("section.cases"), page.locator("section.reasons")
    above, below = cases.bounding_box(), reasons.bounding_box()
    assert above is not None
    assert below is not None
    assert below["y"] > above["y"]
    assert not reasons.locator("li").first.is_visible()
    reasons.locator("summary").first.click()
    assert reasons.locator("li").first.inner_text().startswith("✗")


def test_the_theme_follows_the_machine_until_it_is_chosen(show: Show, written: Write) -> None:
    page = show(written("small", small), color_scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    page.get_by_role("button", name="Light theme").click()
    light = page.evaluate(paper)
    assert page.get_by_role("button", name="Dark theme").is_visible(), "it says where it leads"
    assert light != dark
    page.reload()
    assert page.evaluate(paper) == light, "the choice is remembered"
    page.emulate_media(media="print")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"


def test_tabs_choose_the_picture(page: Page) -> None:
    tabs = page.get_by_role("tab")
    panels = page.locator(".panel")
    assert [panel.is_visible() for panel in panels.all()].count(True) == 1
    tabs.first.click()
    page.keyboard.press("ArrowRight")
    assert tabs.nth(1).get_attribute("aria-selected") == "true"
    assert panels.nth(1).is_visible()
    assert not panels.first.is_visible()
    page.keyboard.press("End")
    assert tabs.last.get_attribute("aria-selected") == "true"


def test_a_table_stands_behind_each_picture(page: Page) -> None:
    pictures = page.locator("main svg.plot")
    assert pictures.count() == page.locator("main .behind table").count() > 2
    assert all(picture.get_attribute("aria-label") for picture in pictures.all())
    page.locator(".panel:visible .behind summary").last.click()
    changed = page.locator(".panel:visible .behind tbody").last
    assert changed.locator("tr").first.inner_text().split("\t") == [BAD_ID, "1.000", "0.000"]


def test_everything_is_printed(page: Page) -> None:
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".panel svg").count() > 4
    assert page.locator(".reasons li").first.is_visible()
    assert not page.locator(".filters").is_visible()


def test_no_text_of_a_picture_is_cut_off(show: Show, written: Write) -> None:
    page = show(written("long", long))
    assert page.locator(".trends svg.plot").count() > 0
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
    dot = page.locator('.panel:visible [data-case="1"]')
    dot.dispatch_event("pointerover")
    assert page.locator(".tip:visible").text_content() == BAD_ID
    dot.dispatch_event("click")
    page.locator("h1", has_text=BAD_ID).wait_for()


@pytest.mark.parametrize("name", ["small", "several", "evil"])
def test_a_phone_never_scrolls_sideways(show: Show, written: Write, name: str) -> None:
    address = written(name, {"small": small, "several": several, "evil": evil}[name])
    for fragment in ("", "#run=0", "#run=0&case=evil" if name == "evil" else f"#run=0&case={BAD_ID}"):
        page = show(address + fragment, width=375, height=740)
        assert page.evaluate("document.documentElement.scrollWidth") == 375
        page.set_viewport_size({"width": 320, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") == 320


@pytest.mark.parametrize("width", [375, 1280])
def test_headings_never_break_inside_a_word(show: Show, written: Write, width: int) -> None:
    page = show(written("small", small), width=width)
    broken = page.evaluate(
        """() => [...document.querySelectorAll('th[scope=col]')].filter(one => one.checkVisibility()).flatMap(head => {
            const texts = document.createTreeWalker(head, NodeFilter.SHOW_TEXT), found = [];
            while (texts.nextNode()) for (const word of texts.currentNode.data.matchAll(/[^\\s_,=@]+/g)) {
                const range = document.createRange();
                range.setStart(texts.currentNode, word.index);
                range.setEnd(texts.currentNode, word.index + word[0].length);
                if (range.getClientRects().length > 1) found.push(word[0]);
            }
            return found;
        })"""
    )
    assert broken == []


def test_nothing_of_an_answer_is_executed(show: Show, written: Write) -> None:
    page = show(written("evil", evil))
    assert page.locator("img").count() == 0
    opened(page, "evil")
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 3
    assert page.locator(".answers .given").first.inner_text().startswith("<img src=x onerror=alert(1)></script>")
    page.get_by_role("link", name="Previous").click()
    page.locator(".trace pre").wait_for()
    assert page.locator(".trace pre").inner_text().startswith("E: <img src=x")


def test_systems_side_by_side_lead_to_their_cases(show: Show, written: Write) -> None:
    page = show(written("several", several))
    assert page.locator(".overview .suite").count() == 2
    page.locator(".beside-each tbody a").first.click()
    page.locator("h1#case-title").wait_for()
    page.get_by_role("link", name="All suites").click()
    page.locator(".beside-each").wait_for()


@pytest.mark.parametrize(("name", "theme", "width"), [("small", "light", 1280), ("several", "dark", 375)])
def test_no_barrier_that_axe_finds(show: Show, written: Write, name: str, theme: str, width: int) -> None:
    pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed (group browser)")
    address = written(name, {"small": small, "several": several}[name])
    for fragment in ("", "#run=0&by=scenario", f"#run=0&case={BAD_ID if name == 'small' else 'case-000'}"):
        page = show(address + fragment, width=width, color_scheme=theme)
        page.wait_for_selector(READY)
        assert axe_findings(page) == [], fragment


def test_a_run_that_passes_begins_with_what_still_fails(show: Show, written: Write) -> None:
    def make() -> Made:
        case = Case("a", answer="No idea.", labels={"must_contain": ["30 days"]})
        baseline = baseline_of(run_of([case]))
        run = run_of([case], baseline=baseline)
        return [run], [verdict_of(run, baseline=baseline)], {}

    page = show(written("still", make))
    assert page.locator("h1 .word").inner_text() == "Passed, same"
    assert page.locator(".worst h2").inner_text() == "Still failing"
