"""A report to look at, and a reader of its elements and data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from pytest_auepora.core.run import Run
from pytest_auepora.regression.verdict import Verdict

from ..builders import Case, baseline_of, run_of, verdict_of

BAD_ID = "fell-out"
CASES = [
    Case("steady", tags=["smoke"], labels={"scenario": "plain"}),
    Case(BAD_ID, tags=["smoke", "refund"], labels={"scenario": "typo"}, thresholds={"recall@5": 0.5}),
    Case("wrong-answer", labels={"scenario": "plain", "must_contain": ["30 days"]}),
    Case("raises"),
    Case("mended", got=["index.md"], answer="No idea.", thresholds={"recall@5": 0.5}),
    Case("not-today", skipped=True),
]
CHANGED: dict[str, dict[str, Any]] = {
    BAD_ID: {"got": ["index.md", "terms.md"]},
    "wrong-answer": {"answer": "Within a year or so."},
    "raises": {"error": 'ConnectionError: refused\n  File "shop.py", line 3, in search'},
    "mended": {"got": ["refunds.md"], "answer": "Within 30 days of purchase."},
}


def red() -> tuple[Run, Verdict]:
    """One case of each kind that a report tells apart, against a baseline."""
    baseline = baseline_of(run_of(CASES, provenance={"model": "m-1"}))
    cases = [case.with_(**CHANGED.get(case.id, {})) for case in CASES]
    run = run_of(cases, baseline=baseline, provenance={"model": "m-2"})
    return run, verdict_of(run, {"recall@5": 0.9}, baseline=baseline)


@dataclass
class Element:
    tag: str
    given: dict[str, str]
    text: str = ""
    inside: list[Element] = field(default_factory=list)

    def all(self, tag: str = "", **given: str) -> list[Element]:
        """All elements below, by tag and attributes (``class_`` for one of the classes)."""
        found = []
        for one in (one for one in self.inside if one.tag):
            if (not tag or one.tag == tag) and all(_has(one, k, v) for k, v in given.items()):
                found.append(one)
            found += one.all(tag, **given)
        return found

    def one(self, tag: str = "", **given: str) -> Element:
        found = self.all(tag, **given)
        assert len(found) == 1, f"{len(found)} of {tag} {given}"
        return found[0]

    @property
    def words(self) -> str:
        """The text of this element and all inside, white space as one blank."""
        return " ".join("".join(self._texts()).split())

    def _texts(self) -> Iterator[str]:
        if not self.tag:
            yield self.text
        for one in self.inside:
            yield from one._texts()


def _has(one: Element, name: str, value: str) -> bool:
    said = one.given.get(name.rstrip("_").replace("_", "-"), "")
    return value in said.split() if name == "class_" else said == value


class _Reader(HTMLParser):
    VOID = frozenset({"meta", "link", "br", "img", "input", "hr", "wbr"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"an attribute twice: {attrs}"
        made = Element(tag, {k: v or "" for k, v in attrs})
        self.open[-1].inside.append(made)
        if tag not in self.VOID:
            self.open.append(made)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].text += data
        self.open[-1].inside.append(Element("", {}, data))


def read(page: str) -> Element:
    """Read *page*; every element must be closed where it belongs."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert len(reader.open) == 1, f"never closed: {[one.tag for one in reader.open[1:]]}"
    return reader.root


def data_of(page: Element) -> Mapping[str, Any]:
    """The data inside a report."""
    found: Mapping[str, Any] = json.loads(page.one("script", id="data").text)
    return found


def details_of(page: Element, suite: int = 0) -> list[Mapping[str, Any]]:
    """The details of each case of a suite."""
    return [json.loads(line) for line in page.one("script", id=f"details-{suite}").text.split("\n") if line]
