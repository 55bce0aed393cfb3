"""`auepora view` in a real browser: what can be clicked, typed, read and shared."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_auepora.cli.view.library import Library
from pytest_auepora.history.store import HistoryStore

from ..unit.cli.view.histories import Stored, stored
from ..unit.reporting.builders import Case, run_of, verdict_of
from .conftest import Serve, Shown
from .reports import READY, axe_findings

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture
def shown(open_page: Callable[..., Page], serve: Serve, tmp_path: Path) -> Shown:
    history = stored(tmp_path)
    return Shown(open_page(), serve(history.library), history)


def test_from_the_list_to_the_verdict_and_its_reasons(shown: Shown) -> None:
    shown.go("/")
    page = shown.page
    assert page.locator("tr.run .badge").all_inner_texts() == ["✓ passed", "✗ failed", "✓ passed"]
    assert page.locator("tr.run .word").all_inner_texts() == ["same", "worse"]
    assert page.locator("tr.run td.figures").nth(1).inner_text().startswith("recall@5 0.667, mrr@10 0.500,")
    page.locator("tr.run .opener").nth(1).click()
    page.wait_for_selector(".verdict")
    assert page.locator("h1").inner_text().startswith("Failed")
    assert f"run={shown.history.worse}" in page.url
    assert "index v1 → v2" in page.locator(".verdict").inner_text()
    page.locator(".reasons summary").first.click()
    assert page.locator(".reasons li").first.inner_text().startswith("✗")
    page.go_back()
    page.wait_for_selector("tr.run")


def test_any_two_runs_are_compared(shown: Shown) -> None:
    shown.go(f"/#run={shown.history.worse}")
    page = shown.page
    page.get_by_label("against", exact=True).select_option(shown.history.other)
    page.locator(".beside", has_text="against the run").wait_for()
    assert f"against={shown.history.other}" in page.url
    assert "Worse than the other run" in page.locator(".cases .chips").inner_text()
    page.get_by_role("button", name="Exchange").click()
    page.locator("tr.case .state", has_text="fixed").first.wait_for()
    assert f"run={shown.history.other}" in page.url


def test_filters_are_in_the_address(shown: Shown) -> None:
    shown.go(f"/#run={shown.history.worse}")
    page = shown.page
    assert shown.ids == ["fell-out", "wrong-answer", "raises", "steady"]
    page.get_by_role("button", name="Failed 3").click()
    shown.rows(3)
    page.get_by_label("Tag").select_option("smoke")
    shown.rows(1)
    assert page.url.endswith("&show=failed&tag=smoke")
    page.reload()
    page.wait_for_selector(READY)
    assert shown.ids == ["fell-out"]
    page.get_by_label("Tag").select_option("any")
    shown.rows(3)
    page.get_by_label("Text").type("year")
    shown.rows(1)
    assert page.evaluate("document.activeElement.id") == "text", "typing goes on"
    page.get_by_label("Text").fill("no such words")
    page.get_by_role("button", name="Show all of them").click()
    shown.rows(4)
    page.get_by_role("button", name="Case", exact=True).click()
    page.wait_for_selector("th.col-id[aria-sort=ascending]")
    assert shown.ids[0] == "fell-out"


def test_a_case_shows_both_rankings_and_both_answers(shown: Shown) -> None:
    shown.go(f"/#run={shown.history.worse}")
    page = shown.page
    page.get_by_role("link", name="wrong-answer", exact=True).last.click()
    page.wait_for_selector("h1#case-title")
    old, new = page.locator(".rankings .side").all()
    assert [one.inner_text().split("\n")[0] for one in new.locator("li").all()] == ["1", "2"]
    assert "↑1" in new.locator("li.hit").inner_text()
    assert set(old.locator("mark").all_inner_texts()) == {"says about money"}
    assert page.locator(".answers .given").all_inner_texts() == ["Within 30 days of purchase.", "Within a year or so."]
    assert "30 days" in page.locator(".answers .phrases").inner_text()
    assert "recall@5" in page.locator(".scores").inner_text()


def test_every_step_has_a_key(shown: Shown) -> None:
    shown.go(f"/#run={shown.history.worse}")
    page = shown.page
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.textContent") == "wrong-answer"
    page.keyboard.press("Enter")
    page.wait_for_selector("h1#case-title")
    page.keyboard.press("j")
    page.locator("h1", has_text="raises").wait_for()
    page.keyboard.press("k")
    page.locator("h1", has_text="wrong-answer").wait_for()
    page.keyboard.press("u")
    page.wait_for_selector("tr.case")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "text"
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    shown.rows(3)
    page.keyboard.press("?")
    assert "previous case" in page.locator("dialog").inner_text()
    page.get_by_label("Single keys do something").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    assert shown.ids, "nothing happened"
    page.get_by_role("link", name="All runs").click()
    page.wait_for_selector("tr.run")


def test_a_label_is_given_beside_the_reason(shown: Shown) -> None:
    shown.go(f"/#run={shown.history.worse}&case=steady")
    page = shown.page
    assert "It is to the point." in page.locator(".judgement").inner_text()
    page.get_by_role("button", name="✓ Good").click()
    assert page.evaluate("document.activeElement.id") == "person-helpful", "a label needs a name"
    page.keyboard.type("Anna")
    page.get_by_role("button", name="✗ Not good").click()
    page.wait_for_selector(".people .is-failed")
    path = shown.history.library.labels / "billing.helpful.jsonl"
    assert json.loads(path.read_text())["labels"] == {"Anna": False}
    page.reload()
    page.wait_for_selector(".people .is-failed")
    page.locator("h1").click()
    page.keyboard.press("y")
    page.wait_for_selector(".people .is-passed")
    assert json.loads(path.read_text())["labels"] == {"Anna": True}
    page.get_by_role("button", name="Take back").click()
    page.wait_for_selector(".people .muted")
    assert path.read_text() == ""


def test_the_judge_can_be_hidden_until_somebody_has_spoken(shown: Shown) -> None:
    shown.go(f"/#run={shown.history.worse}&case=steady")
    page = shown.page
    page.get_by_label("Hide the judge until I have said something").check()
    assert not page.get_by_text("It is to the point.").is_visible()
    page.get_by_label("Your name").fill("Ben")
    page.get_by_role("button", name="✓ Good").click()
    page.get_by_text("It is to the point.").wait_for()


def test_metrics_by_slice_lead_to_its_cases(shown: Shown) -> None:
    shown.go(f"/#run={shown.history.worse}")
    page = shown.page
    page.get_by_label("Each metric by").select_option("scenario")
    page.locator(".slices").get_by_role("link", name="typo").first.click()
    shown.rows(2)
    assert "slice=" in page.url
    assert page.locator(".history .moves").inner_text().count("index v") == 2
    assert page.locator(".history svg").first.locator(".move").count() == 2


def test_the_export_opens_without_a_server(shown: Shown, tmp_path: Path, open_page: Callable[..., Page]) -> None:
    shown.go(f"/#run={shown.history.worse}")
    with shown.page.expect_download() as download:
        shown.page.get_by_role("link", name="Save as one file").click()
    path = tmp_path / "saved.html"
    download.value.save_as(path)
    assert "fell-out" in path.read_text(encoding="utf-8")


def test_an_empty_history_and_an_unknown_run_say_what_to_do(
    open_page: Callable[..., Page], serve: Serve, tmp_path: Path
) -> None:
    store = HistoryStore(tmp_path / "nothing.sqlite")
    history = Stored(Library(store, tmp_path, tmp_path / "labels"), "", "", "")
    shown = Shown(open_page(), serve(history.library), history)
    shown.go("/")
    assert "No run is stored yet" in shown.page.locator("main").inner_text()
    assert "pytest --auepora" in shown.page.locator("main").inner_text()
    shown.go("/#run=nope")
    assert "no run 'nope'" in shown.page.get_by_role("alert").inner_text()
    shown.page.get_by_role("link", name="All runs").click()
    shown.page.wait_for_selector("text=No run is stored yet")


def test_ten_thousand_rows_come_by_the_hundred(open_page: Callable[..., Page], serve: Serve, tmp_path: Path) -> None:
    store = HistoryStore(tmp_path / "h.sqlite")
    first = run_of([Case("case-00000")], ("recall@5",))
    run = run_of([], ("recall@5",))
    for i in range(10_000):
        run.cases[f"case-{i:05}"] = replace(first.cases["case-00000"], case_id=f"case-{i:05}")
    run.expected_ids = tuple(run.cases)
    run_id = store.add(run, verdict_of(run))
    history = Stored(Library(store, tmp_path, tmp_path / "labels"), run_id, "", "")
    shown = Shown(open_page(), serve(history.library), history)
    shown.go(f"/#run={run_id}")
    page = shown.page
    assert len(shown.ids) == 100
    page.get_by_label("Text").fill("case-09999")
    shown.rows(1)


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 1280), ("light", 375), ("dark", 375)])
def test_no_barrier_that_axe_finds(
    open_page: Callable[..., Page], serve: Serve, tmp_path: Path, theme: str, width: int
) -> None:
    pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed (group browser)")
    history = stored(tmp_path)
    history.library.store.describe(history.worse, name="a name of many words for a run " * 3, note="and more " * 30)
    shown = Shown(open_page(width, theme), serve(history.library), history)
    for path in ("/", f"/#run={history.worse}&by=scenario", f"/#run={history.worse}&case=wrong-answer", "/#run=nope"):
        shown.go(path)
        if path == "/":
            shown.page.keyboard.press("?")
        assert shown.page.evaluate("document.documentElement.scrollWidth") == width
        assert axe_findings(shown.page) == [], path


def test_nothing_that_was_stored_is_executed(open_page: Callable[..., Page], serve: Serve, tmp_path: Path) -> None:
    evil = '<img src=x onerror=alert(1)></script><script>alert(2)</script>"'
    run = run_of([Case("evil", query=evil, answer=evil, got=[evil], tags=[evil], error=""), Case("b", error=evil)])
    store = HistoryStore(tmp_path / "h.sqlite")
    run_id = store.add(run, verdict_of(run), git_commit=evil)
    history = Stored(Library(store, tmp_path, tmp_path / "labels"), run_id, "", "")
    shown = Shown(open_page(), serve(history.library), history)
    for path in ("/", f"/#run={run_id}", f"/#run={run_id}&case=evil", f"/#run={run_id}&case=b"):
        shown.go(path)
        assert shown.page.locator("img").count() == 0
        assert shown.page.locator("script").count() == 1
