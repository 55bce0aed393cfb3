"""The table of cases of the HTML report in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ..unit.reporting.builders import Case, baseline_of, run_of, verdict_of
from ..unit.reporting.html.pages import BAD_ID
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
        ("Regressed", ["fell-out", "wrong-answer", "raises"]),
        ("Failed", ["fell-out", "wrong-answer", "raises"]),
        ("Improved", ["mended"]),
        ("Flaky", ["steady"]),
    ],
)
def test_every_filter(page: Page, name: str, shown: list[str]) -> None:
    button = page.get_by_role("button", name=f"{name} {len(shown)}", exact=True)
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert ids(page) == shown
    assert page.locator("#cases-0 .count").text_content() == f"{len(shown)} of 6 cases"
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
    assert page.locator("#cases-0 .count").text_content() == "0 of 6 cases"


def test_a_case_opens_by_keyboard_and_closes_again(page: Page) -> None:
    opener = page.get_by_role("button", name=BAD_ID, exact=True)
    opener.focus()
    page.keyboard.press("Enter")
    assert opener.get_attribute("aria-expanded") == "true"
    details = opened(page)
    assert details.get_attribute("id") == opener.get_attribute("aria-controls")
    rows = details.locator(".ranking tbody tr").all()
    ranking = [" ".join(" ".join(row.locator("td").all_text_contents()).split()) for row in rows]
    assert ranking == [
        "1 index.mdWhat index.md says about money. 12.5 1, the same",
        "2 terms.mdWhat terms.md says about money. 11.5 ↑ up from 3",
        "\u2013 ✗not returned: refunds.mdrelevant, not returned was 2",
    ]
    assert "fell out, was at rank 2" in details.locator(".diagnosis").inner_text()
    assert details.locator(".problems li").first.inner_text().startswith("✗")
    assert "The same answer as in the previous run." in details.inner_text()
    assert "search-team" in details.locator(".facts").inner_text()
    page.keyboard.press("Escape")
    assert opener.get_attribute("aria-expanded") == "false"
    assert details.count() == 0
    assert page.evaluate("document.activeElement.textContent") == BAD_ID
    page.keyboard.press("Space")
    assert details.count() == 1


def test_answers_are_held_against_the_previous_run(page: Page) -> None:
    page.locator("tr.case", has_text="mended").click()
    details = opened(page)
    assert "Answer of the previous run" in details.inner_text(), "too different for a difference"
    page.locator("tr.case", has_text="wrong-answer").click()
    judged = page.locator("tr.opened", has_text="Much too vague.")
    assert "helpful: tone" in judged.inner_text()
    assert judged.locator(".phrases").text_content() == "✗missing:  30 days"


def test_a_difference_marks_words_on_both_sides(show: Show, written: Write) -> None:
    def make() -> Made:
        run = run_of(
            [Case("a", answer="Within 14 days of purchase."), Case("b", answer="Within 30 days of your purchase.")]
        )
        return [run], [verdict_of(run)], {}

    page = show(written("difference", make))
    for name in ("a", "b"):
        page.get_by_role("button", name=name, exact=True).click()
    assert page.locator("del").all_text_contents() == ["30"]
    assert page.locator("ins").all_text_contents() == ["14", "your"]


def test_a_thousand_cases_make_rows_as_they_are_needed(show: Show, written: Write) -> None:
    page = show(written("large", large))
    table = page.locator("#cases-0 table.list")
    assert page.locator("#cases-0 .count").text_content() == "1,000 cases"
    assert table.get_attribute("aria-rowcount") == "1001"
    assert len(ids(page)) == 100
    page.locator("#cases-0").get_by_role("button", name="Show more").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelectorAll('tr.case').length >= 200")
    page.get_by_label("Tag").select_option("tag-3")
    assert page.locator("#cases-0 .count").text_content() == "143 of 1,000 cases"
    page.get_by_label("Tag").select_option("any")
    heading(page, "Case").get_by_role("button").click()
    heading(page, "Case").get_by_role("button").click()
    assert ids(page)[0] == "case-0999"
    page.get_by_label("Text").fill("case-0123")
    assert ids(page) == ["case-0123"]
    page.evaluate("location.hash = '#case-0-3'")
    page.wait_for_selector("#details-0-3")
    assert page.evaluate("document.activeElement.textContent") == "case-0003"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert len(ids(page)) == 1000, "all of them are printed"
