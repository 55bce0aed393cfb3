"""The HTML report in a real browser: what can be clicked, typed and read."""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

from pytest_auepora.core.run import Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.trend import EarlierRun, Trend

from ..unit.reporting.builders import Case, baseline_of, run_of, verdict_of
from ..unit.reporting.html.pages import BAD_ID, CASES, red
from ..unit.reporting.systems import system

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    Show = Callable[..., Page]
Write = Callable[[str, Callable[[], tuple[Any, ...]]], str]
Made = tuple[list[Run], list[Verdict], dict[str, Trend]]

EVIL = '<img src=x onerror=alert(1)></script><script>alert(2)</script><!-- \u2028 "'


def small() -> Made:
    run, verdict = red()
    verdict.flaky["steady"] = "passes in 3 of 5 repeats"
    run.cases["wrong-answer"].scores["helpful"] = Score(
        "number", 0.2, details={"rationale": {"tone": "Much too vague."}}
    )
    past = Trend((EarlierRun("r1", "2026-01-01T00:00:00+00:00", "passed", {"mrr@10": 0.25}),), run_of(CASES))
    return [run], [verdict], {run.title: past}


def large() -> Made:
    rng = random.Random(7)
    cases = [
        Case(f"case-{i:04}", tags=[f"tag-{i % 7}"], labels={"scenario": ("typo", "plain")[i % 2]}, line=i + 5,
             got=["refunds.md"] if rng.random() < 0.8 else ["index.md", "refunds.md"])
        for i in range(1000)
    ]  # fmt: skip
    baseline = baseline_of(run_of([case.with_(got=["refunds.md"]) for case in cases]))
    run = run_of(cases, baseline=baseline)
    return [run], [verdict_of(run, baseline=baseline)], {}


def evil() -> Made:
    case = Case("evil", query=EVIL, answer=EVIL, reference=f"other {EVIL}", got=[EVIL], tags=[EVIL],
                labels={"scenario": EVIL}, thresholds={"recall@5": 0.5})  # fmt: skip
    run = run_of([case, case.with_(id=EVIL, error=f"E: {EVIL}")], owner=EVIL)
    return [run], [verdict_of(run)], {}


def several() -> Made:
    runs = [system("bm25", 0.7, 12), system("hybrid", 0.95, 12, seed=2)]
    return runs, [verdict_of(run) for run in runs], {}


def long() -> Made:
    runs, verdicts, past = small()
    (title, one), *_ = past.items()
    many = tuple(EarlierRun(f"r{i}", "2026-01-01T00:00:00+00:00", "passed", {"mrr@10": 0.25}) for i in range(18))
    return runs, verdicts, {title: Trend(many, one.previous)}


def ids(page: Page, suite: int = 0) -> list[str]:
    found: list[str] = page.locator(f"#cases-{suite} tr.case .opener").all_text_contents()
    return found


def heading(page: Page, name: str) -> Locator:
    return page.locator("#cases-0 thead th", has_text=name)


def opened(page: Page) -> Locator:
    return page.locator("tr.opened")


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


def test_the_way_from_what_broke_to_the_case(page: Page) -> None:
    page.get_by_label("Text").fill("steady")
    page.locator(".culprits a", has_text=BAD_ID).click()
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
