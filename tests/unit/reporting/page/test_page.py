"""The file: what is in it, that it needs nothing from elsewhere, and that nothing a user wrote is markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.reporting.page.case_data import safe_data, safe_text
from pytest_auepora.reporting.page.case_rows import FIRST
from pytest_auepora.reporting.page.page import embedded_json, html_report, page_text
from pytest_auepora.reporting.report import OtherRun, Report, Trend

from ..builders import MISTAKES, Case, run_of, system, verdict_of
from .pages import BAD_ID, CASES, Element, data_of, details_of, read, red

EVIL = "<img src=x onerror=alert(1)></script><script>alert(2)</script><!-- {{ 7 * 7 }} $x$ \u2028\u202e\x00 \" '"
NASTY = ["</script>", "<!--", "<script>", "]]>", "\u2028", "\u2029", "\ud800", "&lt;", "\x00", "\u202e", '"', "\\"]
TEXT = st.lists(st.one_of(st.sampled_from(NASTY), st.text(alphabet=st.characters()))).map("".join)


def made() -> str:
    run, verdict = red()
    past = Trend((OtherRun("r1", "2026-01-01T00:00:00+00:00", {"mrr@10": 0.25, "recall@5": None}),), run_of(CASES))
    return html_report(Report([run], [verdict], trends={(run.path, run.variant): past}))


@pytest.fixture(scope="module")
def text() -> str:
    return made()


@pytest.fixture(scope="module")
def page(text: str) -> Element:
    return read(text)


def test_the_verdict_and_all_cases_are_inside(page: Element) -> None:
    assert page.one("title").text == "✗ Failed: billing \u2013 auepora"
    (suite,) = data_of(page)["suites"]
    assert suite["word"] == "Failed, worse"
    assert [row["id"] for row in suite["rows"]] == [BAD_ID, "wrong-answer", "raises", "mended", "steady", "not-today"]
    assert details_of(page)[1]["then"]["hits"][1]["id"] == "refunds.md"
    assert suite["history"]["metrics"] == [{"name": "mrr@10", "values": [0.25, 0.5]}]
    assert suite["slices"] == {"scenario": ["plain", "typo"], "tag": ["refund", "smoke"]}
    assert suite["bySlice"].keys() == suite["slices"].keys()


def test_without_scripts_the_verdict_is_read(page: Element) -> None:
    assert page.one("noscript").words.startswith("✗ failed: 2 newly failing")


def test_it_needs_nothing_from_elsewhere(text: str, page: Element) -> None:
    outside = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    assert not re.findall(r"https?:|//[a-z]|@import|url\(", outside)
    assert not re.search(r"""\b(?:src|srcset|action|data|poster|background)=["']?(?!x)""", outside)
    assert {one.given["href"] for one in page.all() if "href" in one.given} <= {"#main", "#", "data:,"}


@pytest.mark.parametrize("live", [True, False])
def test_only_its_own_script_and_style_are_admitted(text: str, live: bool) -> None:
    page = read(page_text(connect="'self'").text if live else text)
    policy = page.one("meta", http_equiv="Content-Security-Policy").given["content"]
    script = next(one for one in page.all("script") if "type" not in one.given)
    assert policy.partition(";")[0].split() == ["default-src", "'none'"]
    assert "unsafe" not in policy
    assert f"script-src {_hash(script.text)};" in policy
    assert f"style-src {_hash(page.one('style').text)};" in policy
    assert ("connect-src 'self';" if live else "connect-src 'none';") in policy
    assert not [one for one in page.all() if "style" in one.given or any(name.startswith("on") for name in one.given)]


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_no_two_elements_share_an_id(page: Element) -> None:
    ids = Counter(one.given["id"] for one in page.all() if "id" in one.given)
    assert [name for name, n in ids.items() if n > 1] == []


def test_the_same_run_gives_the_same_bytes(text: str) -> None:
    assert made() == text


def test_the_page_of_a_server_has_no_data() -> None:
    live = page_text(connect="'self'")
    page = read(live.text)
    assert [one.given.get("id") for one in page.all("script")] == [None]
    assert page.one("title").text == "auepora"


def test_nothing_a_user_wrote_is_markup() -> None:
    case = Case(EVIL, query=EVIL, answer=EVIL, reference=EVIL, got=[EVIL], tags=[EVIL], labels={"scenario": EVIL},
                error="", thresholds={"recall@5": 0.5})  # fmt: skip
    errored = case.with_(id="e", error=f"{EVIL}: {EVIL}")
    run = run_of([case, errored], suite=EVIL, owner=EVIL, variant=EVIL, provenance={EVIL: EVIL})
    page = read(html_report(Report([run], [verdict_of(run, {"recall@5": 0.9})])))
    assert not page.all("img")
    assert len(page.all("script")) == 3
    assert EVIL[:28] in page.one("title").text
    assert "\x00" not in page.words
    (suite,) = data_of(page)["suites"]
    assert suite["rows"][1]["answer"].startswith("<img src=x onerror=alert(1)></script>")
    assert "\\u202e" in suite["title"]


def test_several_suites_stand_side_by_side() -> None:
    runs = [system("bm25", 0.7, 12), system("hybrid", 0.95, 12, seed=2), run_of([Case("other")], suite="other")]
    page = read(html_report(Report(runs, [verdict_of(run) for run in runs])))
    data = data_of(page)
    assert [suite["title"] for suite in data["suites"]] == ["billing[bm25]", "billing[hybrid]", "other"]
    (beside,) = data["sideBySide"]
    assert beside["runs"] == [0, 1]
    assert len(details_of(page, 2)) == 1


def test_of_a_large_run_the_rows_stand_behind_the_script() -> None:
    run = run_of([Case(f"c{i}") for i in range(FIRST + 1)])
    text = html_report(Report([run], [verdict_of(run)]))
    page = read(text)
    assert len(data_of(page)["suites"][0]["rows"]) == FIRST
    assert [row["id"] for row in json.loads(page.one("script", id="rows-0").text)] == [*run.cases]
    assert (
        text.index('id="data"') < text.index('"use strict"') < text.index('id="rows-0"') < text.index('id="details-0"')
    )


def test_a_run_without_cases_and_one_without_numbers() -> None:
    for cases in ([], [Case("a", skipped=True)], [Case("a", error="E: x")]):
        run = run_of(cases)
        page = read(html_report(Report([run], [verdict_of(run)])))
        assert len(data_of(page)["suites"][0]["rows"]) == len(details_of(page)) == len(cases)


@pytest.mark.parametrize("beside", [0, 1, 2])
def test_mistakes_stand_below_the_verdict(beside: int) -> None:
    runs = [run_of([Case("a")], suite=f"s{i}") for i in range(beside)]
    data = data_of(read(html_report(Report(runs, [verdict_of(run) for run in runs], mistakes=MISTAKES))))
    assert data["outcome"] == "not judged"
    assert data["mistakesTitle"] == "3 mistakes in 2 files"
    assert [place for place, _ in data["mistakes"]] == [m.place for m in MISTAKES]


def test_a_page_of_nothing_says_no_pass() -> None:
    assert data_of(read(html_report(Report())))["outcome"] == "not judged"


def test_jinja_is_not_loaded_before_it_is_used() -> None:
    code = "import sys, pytest_auepora.reporting.page.page\nsys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_sources_are_part_of_the_package() -> None:
    import pytest_auepora.reporting.page as room

    names = {path.name for path in Path(room.__file__).parent.rglob("*")}
    assert {"page.html.j2", "base.css", "charts.js", "main.js"} <= names


@given(TEXT)
def test_embedded_text_reads_back_and_holds_nothing_special(text: str) -> None:
    embedded = embedded_json({"text": text, text: [1, None, 0.5]})
    assert json.loads(embedded) == {"text": text, text: [1, None, 0.5]}
    assert not set("<>&\u2028\u2029") & set(embedded)
    embedded.encode()


@given(TEXT)
def test_a_script_of_data_ends_where_it_should(text: str) -> None:
    page = read(f'<p>before</p><script type="application/json">{embedded_json(text)}</script><p>after</p>')
    assert [one.tag for one in page.inside if one.tag] == ["p", "script", "p"]
    assert json.loads(page.inside[1].text) == text


@given(TEXT)
def test_shown_text_has_no_controls(text: str) -> None:
    shown = safe_data({text: [text]})
    assert not any(
        ord(c) < 32 or 0xD800 <= ord(c) < 0xE000 for c in "".join(shown) + shown[safe_text(text)][0] if c != "\n"
    )


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_what_json_cannot_say_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        embedded_json(value)


def test_a_broken_case_comes_first(page: Element) -> None:
    suite = data_of(page)["suites"][0]
    assert suite["worst"][0]["id"] == BAD_ID
