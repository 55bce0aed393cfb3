"""The table of cases of the page, and the page of a case, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ..unit.reporting.builders import Case, baseline_of, run_of, verdict_of
from ..unit.reporting.page.pages import BAD_ID
from .reports import heading, ids, large, opened, small

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from .reports import Made, Show, Write


@pytest.fixture
def page(show: Show, written: Write) -> Page:
    return show(written("small", small))


def test_worst_cases_come_first_and_headings_sort(page: Page) -> None:
    assert ids(page) == ["fell-out", "wrong-answer", "raises", "mended", "steady", "not-today"]
    state = heading(page, "State")
    assert state.get_attribute("aria-sort") == "ascending"
    state.get_by_role("button").click()
    assert state.get_attribute("aria-sort") == "descending"
    assert ids(page)[0] == "not-today"
    heading(page, "Case").get_by_role("button").click()
    assert ids(page) == sorted(ids(page))
    assert state.get_attribute("aria-sort") is None
    heading(page, "recall@5").get_by_role("button").click()
    assert ids(page)[0] == BAD_ID
    assert set(ids(page)[-2:]) == {"raises", "not-today"}, "what has no number comes last"
    heading(page, "recall@5").get_by_role("button").click()
    assert set(ids(page)[-2:]) == {"raises", "not-today"}


def test_broken_cases_look_broken(show: Show, written: Write) -> None:
    def make() -> Made:
        lost = Case("never-found", got=["index.md"])
        run = run_of([lost, Case("fine")], baseline=(baseline := baseline_of(run_of([lost, Case("fine")]))))
        return [run], [verdict_of(run, baseline=baseline)], {}

    page = show(written("lost", make))
    colours = "one => getComputedStyle(one).color"
    bad, fine = page.locator("tr.case .state.bad"), page.locator("tr.case", has_text="fine").locator(".state")
    assert bad.all_text_contents() == ["worst score"]
    assert page.locator("tr.case", has_text="never-found").locator(".state").first.text_content() == "unchanged"
    assert bad.evaluate(colours) != fine.evaluate(colours)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Worse than accepted", ["fell-out", "wrong-answer", "raises"]),
        ("Failed", ["fell-out", "wrong-answer", "raises"]),
        ("Improved", ["mended"]),
    ],
)
def test_every_filter(page: Page, name: str, shown: list[str]) -> None:
    button = page.get_by_role("button", name=f"{name} {len(shown)}", exact=True)
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert ids(page) == shown
    assert page.locator(".cases .count").text_content() == f"{len(shown)} of 6 cases"
    page.get_by_role("button", name="All 6", exact=True).click()
    assert len(ids(page)) == 6


def test_tag_slice_and_text_narrow_down_together(page: Page) -> None:
    page.get_by_label("Tag").select_option("smoke")
    assert ids(page) == [BAD_ID, "steady"]
    page.get_by_label("Slice").select_option(label="scenario: plain")
    assert ids(page) == ["steady"]
    page.get_by_label("Tag").select_option("any")
    assert ids(page) == ["wrong-answer", "steady"]
    page.get_by_label("Text").fill("YEAR or so")
    assert ids(page) == ["wrong-answer"]
    page.get_by_label("Text").fill("no such words")
    assert ids(page) == []
    assert page.locator(".cases .count").text_content() == "0 of 6 cases"
    page.get_by_role("button", name="Show all of them").click()
    assert len(ids(page)) == 6


def test_a_case_opens_by_keyboard_with_its_ranking(page: Page) -> None:
    page.locator("tr.case .opener", has_text=BAD_ID).focus()
    page.keyboard.press("Enter")
    page.locator("h1", has_text=BAD_ID).wait_for()
    new = page.locator(".rankings .side.new li").all()
    assert [" ".join((one.text_content() or "").split()) for one in new] == [
        "1index.md= same rank12.5What index.md says about money.",
        "2terms.md↑1up 1, to 211.5What terms.md says about money.",
        "\u2013✗not returned: refunds.mdnot returned, was at rank 2",
    ]
    assert "fell out, was at rank 2" in page.locator(".diagnosis").inner_text()
    assert page.locator(".problems li").first.inner_text().startswith("✗")
    assert "The same answer as in the previous run." in page.locator(".answers").inner_text()
    assert "search-team" in page.locator(".facts").inner_text()
    page.keyboard.press("u")
    page.locator("tr.case").first.wait_for()


def test_answers_are_held_against_the_previous_run(page: Page) -> None:
    opened(page, "wrong-answer")
    assert page.locator(".answers .given").all_inner_texts() == ["Within 30 days of purchase.", "Within a year or so."]
    assert "helpful: tone" in page.locator(".judged").inner_text()
    assert page.locator(".phrases").text_content() == "✗missing:  30 days"
    page.keyboard.press("j")
    page.locator("h1", has_text="raises").wait_for()


def test_a_difference_marks_words_on_both_sides(show: Show, written: Write) -> None:
    def make() -> Made:
        run = run_of(
            [Case("a", answer="Within 14 days of purchase."), Case("b", answer="Within 30 days of your purchase.")]
        )
        return [run], [verdict_of(run)], {}

    page = show(written("difference", make))
    opened(page, "a")
    assert page.locator("del").all_text_contents() == ["30"]
    assert page.locator("ins").all_text_contents() == ["14"]


def test_a_thousand_cases_make_rows_as_they_are_needed(show: Show, written: Write) -> None:
    page = show(written("large", large))
    assert page.locator(".cases .count").text_content() == "1,000 cases"
    assert len(ids(page)) == 100
    page.locator(".cases").get_by_role("button", name="Show more").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelectorAll('tr.case').length >= 200")
    page.get_by_label("Tag").select_option("tag-3")
    assert page.locator(".cases .count").text_content() == "143 of 1,000 cases"
    page.get_by_label("Tag").select_option("any")
    heading(page, "Case").get_by_role("button").click()
    heading(page, "Case").get_by_role("button").click()
    assert ids(page)[0] == "case-0999"
    page.get_by_label("Text").fill("case-0123")
    assert ids(page) == ["case-0123"]
    page.get_by_label("Text").fill("")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert len(ids(page)) == 1000, "all of them are printed"
