"""Whatever users and systems say, reports show it as text, and stay readable however much of it there is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_auepora.base.complaints import Problem
from pytest_auepora.core.run import Run
from pytest_auepora.errors import AueporaError
from pytest_auepora.pytest_plugin.output import write_lines
from pytest_auepora.regression.outcomes import Note
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.annotations import annotation_lines
from pytest_auepora.reporting.formats.json_report import from_outside, json_report, read_json_report
from pytest_auepora.reporting.formats.markdown_report import COMMENT_LIMIT, MARKER, markdown_report
from pytest_auepora.reporting.formats.registry import FORMATS, report_text
from pytest_auepora.reporting.formats.side_by_side_formats import side_by_side_lines
from pytest_auepora.reporting.report import Report
from pytest_auepora.reporting.side_by_side import side_by_side
from pytest_auepora.reporting.terminal.layout import render
from pytest_auepora.reporting.terminal.summary import summary_lines

from .builders import Case, baseline_of, run_of, verdict_of

markdown_it = pytest.importorskip("markdown_it", reason="the Markdown parser markdown-it-py is in the test group")

EVIL = [
    "```\n# heading\n```",
    "~~~html\n<b>x</b>\n~~~",
    "</pre></details>\n\n# heading\n\n- item",
    "<img src=x onerror=alert(1)><a href=//evil.example>here</a>",
    "<script>alert(1)</script><style>*{display:none}</style>",
    "::error file=a::b\n::set-output name=x::y\n##[error]z\n##vso[task.complete]",
    "x\r::stop-commands::t\u2028::add-mask::s",
    "@team please merge, fixes #1, see acme/shop#2 and https://evil.example www.evil.example",
    "[click](javascript:alert(1)) ![pixel](https://evil.example/p.png) <https://evil.example>",
    "a | b || c \\| d\n| --- |\n| e |",
    f"{MARKER}\n<!-- open",
    "$x$ $$\\frac{1}{2}$$ **bold** _it_ ~~gone~~ `code`",
    "\x1b[31mred\x1b[0m \u202egnp.exe \x00 \ud800",
    "&lt;b&gt; &amp; &#x3c;script&#x3e;",
    "    indented code\n\n\tand a tab",
]


class Shown(HTMLParser):
    """The tags and addresses of a page, and the text a reader sees."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


OWN_TAGS = {
    "h2", "h3", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "ul", "li",
    "details", "summary", "b", "pre", "sub", "br", "code",
}  # fmt: skip


OWN_COMMANDS = {f"pytest --auepora-{said}" for said in ("update", "update=prune", "resume", "report html:report.html")}
OWN_COMMANDS |= {f"auepora help {topic}" for topic in ("non-deterministic", "recall-is-zero")}


def hostile(evil: str, variant: str = "") -> tuple[Run, Verdict]:
    """Judge a run in which every text that anybody could have written is *evil*."""
    good = Case(f"good {evil}", query=evil, answer=evil, reference=evil, tags=[evil])
    baseline = baseline_of(run_of([good.with_(answer="Within 30 days."), good.with_(id="gone")], variant=variant))
    bad = good.with_(id=f"bad {evil}", got=[evil, "b|c"], thresholds={"recall@5": 1})
    down = good.with_(id=f"down {evil}", error=f"{evil}\n{evil}")
    run = run_of([good, bad, down], baseline=baseline, suite="s", variant=variant, owner=evil)
    verdict = verdict_of(run, {"mrr@10": 1.0}, baseline=baseline)
    verdict.notes.append(Note("history not written", (evil,), evil))
    return run, verdict


def page_of(text: str) -> Shown:
    parser = markdown_it.MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    page = parser.render(text)
    assert set(re.findall("<code>(.*?)</code>", page)) <= OWN_COMMANDS
    return Shown(page)


@pytest.mark.parametrize("evil", EVIL)
def test_markdown_shows_it_as_text(evil: str) -> None:
    (one, judged_one), (two, judged_two) = hostile(evil, "a"), hostile(evil, evil)
    text = report_text("md", Report([one, two], [judged_one, judged_two]))
    page = page_of(text)
    assert page.tags <= OWN_TAGS
    assert page.attributes <= {"style"}  # of cells aligned to the right
    assert text.count("<!--") == 1
    assert not re.search(r"(?<![\w/])[@#](?=[A-Za-z0-9])", re.sub(r"(?m)^#+ |\w+@\d+", "", text))
    assert not re.search(r"(?m)^\s*(::|##\[)", text)
    plain = page.text.replace("\u200b", "")
    for word in ("alert(1)", "set-output", "merge", "frac", "gnp.exe"):
        assert (word in evil) <= (word in plain)


@pytest.mark.parametrize("evil", EVIL)
def test_a_terminal_and_a_ci_runner_obey_nothing(evil: str) -> None:
    (one, judged_one), (two, judged_two) = hostile(evil, "a"), hostile(evil, evil)
    compared = side_by_side([one, two])
    text = "\n".join(render(lines) for lines in (summary_lines(one, judged_one), side_by_side_lines(compared)))
    assert not re.search(r"(?m)^\s*::", text)
    assert not re.search(r"##\[|##vso", text)
    assert all(line.isprintable() for line in text.splitlines())
    commands = annotation_lines(Report([one, two], [judged_one, judged_two])).splitlines()
    assert all(re.fullmatch(r"::(error|warning) [^:\r\n]*::[^\r\n]*", line) for line in commands)
    assert len(commands) <= 20


def test_ids_of_cases_that_errored_are_no_commands() -> None:
    ids = ["a", "::set-output name=x::y", "::error::z"]
    run = run_of([Case(name, error=f"{why}\nE") for name, why in zip(ids, "abc", strict=True)], suite="s")
    lines = summary_lines(run, verdict_of(run, {}))
    shown: list[str] = []
    printed = SimpleNamespace(write=lambda text, **_: shown.append(text), line=lambda text: shown.append(text + "\n"))
    write_lines(printed, lines)
    for text in (render(lines), "".join(shown)):
        assert ":set-output" in text
        assert not re.search(r"(?m)^\s*::", text)


@pytest.mark.parametrize("kind", FORMATS)
def test_no_format_writes_what_a_terminal_obeys(kind: str) -> None:
    run, verdict = hostile("\n".join(EVIL))
    text = report_text(kind, Report([run], [verdict], mistakes=[Problem("a.yaml", 2, 1, EVIL[5])]))
    assert not set(text) & {"\x00", "\x1b", "\r"}
    assert not re.search(r"(?m)^\s*(::|##\[)", text)


@pytest.mark.parametrize("evil", EVIL)
def test_the_same_comes_from_the_json(evil: str) -> None:
    run, verdict = hostile(evil)
    text = json_report(Report([run], [verdict])).encode("utf-8", "backslashreplace").decode()
    again = read_json_report(text)
    assert markdown_report(again) == markdown_report(Report([run], [verdict]))
    assert annotation_lines(again) == annotation_lines(Report([run], [verdict]))


@pytest.mark.slow
def test_a_thousand_failing_cases_still_say_what_broke() -> None:
    cases = [Case(f"case-{i:04}", thresholds={"recall@5": 0.5}) for i in range(1000)]
    baseline = baseline_of(run_of(cases, ["recall@5", "token_f1"]))
    words = " ".join(["word"] * 800)
    broken = [case.with_(got=["x"], answer=words if i % 2 else "No.") for i, case in enumerate(cases)]
    run = run_of(broken, ["recall@5", "token_f1"], baseline=baseline)
    text = markdown_report(Report([run], [verdict_of(run, {"recall@5": 0.8}, baseline=baseline)]))
    assert len(text) <= COMMENT_LIMIT
    assert "**1,000 newly failing (" in text
    assert re.search(r"\| recall@5 \| 0\.000 \| 1000/1000 \| 1\.000 \| \*\*-1\.000\*\* ✗ \|", text)
    assert text.count("<pre>") >= 3
    assert re.search(r"… and \d{2,} more", text)
    page = page_of(text)
    assert page.tags <= OWN_TAGS
    assert len(text) > COMMENT_LIMIT / 8  # not cut to the bone


def test_a_thousand_cases_that_errored_alike_are_one_thing() -> None:
    run = run_of([Case(f"case-{i:04}", error="ConnectionError: refused") for i in range(1000)], ["recall@5"])
    text = markdown_report(Report([run], [verdict_of(run)]))
    assert len(text) <= COMMENT_LIMIT
    assert "1000 cases" in text
    assert text.count("<pre>") == 1


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if inside is None:
        yield path
        return
    for key, part in inside:
        yield from leaves(part, (*path, key))


@pytest.mark.slow
def test_a_forged_report_is_refused_or_shown_as_text() -> None:
    """The job that comments reads a file that the code of a pull request has written: any value may be anything."""
    run, verdict = hostile("x")
    raw = json.loads(json_report(Report([run], [verdict])))
    evil = "<img src=x> @team `x` [a](http://b) \n# h"
    refused = shown = 0
    alike = {tuple(key for key in path if isinstance(key, str))[-3:]: path for path in leaves(raw)}
    for path in alike.values():
        *way, last = path
        forged = json.loads(json.dumps(raw))
        place = forged
        for key in way:
            place = place[key]
        place[last] = evil
        try:
            with from_outside("the report"):
                text = markdown_report(read_json_report(json.dumps(forged)))
        except AueporaError:
            refused += 1
            continue
        shown += 1
        assert page_of(text).tags <= OWN_TAGS, path
        assert not re.search(r"(?<![\w/])@team", text), path
    assert min(refused, shown) > 20
