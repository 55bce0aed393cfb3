"""Labels that moved, one line each where they stand; what was rewritten, and what is left to people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.labels.check import Candidate, CheckedLabel, LabelFinding
from pytest_auepora.labels.repair import Repaired
from pytest_auepora.reporting.terminal.labels import label_page, moved_text, remaining_labels, repaired_texts
from pytest_auepora.reporting.terminal.layout import render
from pytest_auepora.reporting.text import text_width

PATH = "shop.golden.yaml"


def label(
    kind: Any, *candidates: Candidate, case: str = "a", index: int = 0, name: str = "old", **more: Any
) -> CheckedLabel:
    return CheckedLabel(case, index, name, by_id=True, finding=LabelFinding(kind, candidates, **more))


VALID = label("valid", index=1)
MOVED = label("re-anchorable", Candidate("new", 1.0), new_id="new", origin="run 7")
GONE = label("orphaned", case="b", note="what it said is not known")


def page(
    labels: Sequence[CheckedLabel], repaired: Repaired | None = None, title: str = "shop", **options: Any
) -> list[str]:
    places = {("a", 0): (12, 20), ("b", 0): (3, 9)}
    return render(label_page(title, PATH, labels, places, repaired, **options)).splitlines()


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (MOVED, "re-anchorable, now new (text from run 7)"),
        (GONE, "orphaned (what it said is not known)"),
        (label("orphaned", note="5 % is found", origin="run 7"), "orphaned (5 % is found; text from run 7)"),
        (label("orphaned"), "orphaned"),
        (label("split", Candidate("b", 0.614), Candidate("c", 0.386)), "split: b (61 %), c (39 %)"),
        (label("merged", Candidate("b", 1.0), Candidate("c")), "merged: b, c"),
        (label("split", *[Candidate(c, 0.2) for c in "bcdefg"]),
         "split: b (20 %), c (20 %), d (20 %), e (20 %) and 2 more"),
    ],
)  # fmt: skip
def test_what_became_of_a_label(one: CheckedLabel, text: str) -> None:
    assert moved_text(one, f"{PATH}:12:20") == f"{PATH}:12:20: old: {text}"


def test_a_label_that_was_rewritten() -> None:
    assert moved_text(MOVED, "f:1:2", "new") == "f:1:2: old → new (re-anchorable; text from run 7)"
    assert moved_text(label("merged", new_id="new"), "f:1:2", "new") == "f:1:2: old → new (merged)"


@pytest.mark.parametrize(
    ("labels", "repaired", "lines"),
    [
        ([MOVED, VALID, GONE], None,  # in the order of the file
         ["3 labels of 2 cases: 1 valid, 1 re-anchorable, 1 orphaned",
          "  shop.golden.yaml:3:9: old: orphaned (what it said is not known)",
          "  shop.golden.yaml:12:20: old: re-anchorable, now new (text from run 7)"]),
        ([VALID], None, ["1 label of 1 case: 1 valid"]),
        ([], None, ["0 labels of 0 cases: none"]),
        ([label("orphaned", case="c")], None,  # its place is not known
         ["1 label of 1 case: 1 orphaned", "  shop.golden.yaml:0:0: old: orphaned"]),
        ([MOVED], Repaired({("a", 0): "new"}),  # both names
         ["1 label of 1 case: 1 re-anchorable",
          "  shop.golden.yaml:12:20: old → new (re-anchorable; text from run 7)"]),
    ],
)  # fmt: skip
def test_the_page_on_a_golden_file(labels: list[CheckedLabel], repaired: Repaired | None, lines: list[str]) -> None:
    assert page(labels, repaired) == ["shop  shop.golden.yaml", *lines]


def test_labels_that_cannot_be_checked_are_told_by_reason() -> None:
    quote, blind = "the quote names no document", "the corpus does not say"
    labels = [label("valid", index=n, note=note, unchecked=True) for n, note in enumerate([quote, blind, quote])]
    labels.append(label("valid", index=3, note="not checked: so the file itself says"))
    assert page(labels)[2:] == [f"2 labels not checked: {quote}", f"1 label not checked: {blind}"]


@pytest.mark.parametrize("width", [40, 80])
def test_no_label_is_wider_than_the_terminal_or_steers_it(width: int) -> None:
    evil = label(
        "split", *[Candidate("返金規定 \x1b[2J" * 9, 0.2)] * 5, name="\u202e::error::x" * 9, note="\r" + "n" * 200
    )
    lines = page([evil], title="規約\x1b" * 60, width=width)
    assert [line for line in lines if text_width(line) > width or not line.isprintable()] == []
    assert len(lines) > 5


def test_what_is_left_to_people() -> None:
    labels = [MOVED, VALID, GONE, GONE]
    assert remaining_labels(None, labels) == {("a", 0), ("b", 0)}
    assert remaining_labels(Repaired({("a", 0): "new"}), labels) == {("b", 0)}
    assert remaining_labels(None, []) == set()


DONE = Repaired({("a", 0): "new"}, {Path("x/__baselines__/shop.json"): 2})
REWRITTEN = ["rewritten: 1 label", "carried over in shop.json: 2 cases"]


@pytest.mark.parametrize(
    ("done", "labels", "lines"),
    [
        (DONE, [MOVED, GONE, GONE], [*REWRITTEN, "left to people: 1 label"]),
        (DONE, [MOVED], REWRITTEN),
        (Repaired(), [VALID], []),
        (Repaired(problem="nothing was rewritten: disk full"), [MOVED],
         ["nothing was rewritten: disk full", "left to people: 1 label"]),
    ],
)  # fmt: skip
def test_what_a_rewrite_did(done: Repaired, labels: list[CheckedLabel], lines: list[str]) -> None:
    assert repaired_texts(done, labels) == lines
