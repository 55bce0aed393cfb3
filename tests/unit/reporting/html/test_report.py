from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from pytest_auepora.errors import MissingExtraError
from pytest_auepora.reporting.formats.registry import report_text
from pytest_auepora.reporting.html.report import hash_source, html_report
from pytest_auepora.reporting.report import EarlierRun, Report, Trend

from ..builders import MISTAKES, Case, run_of, system, verdict_of
from .pages import BAD_ID, CASES, Element, data_of, read, red

EVIL = "<img src=x onerror=alert(1)></script><script>alert(2)</script><!-- {{ 7 * 7 }} $x$ \u2028\u202e\x00 \" '"


@pytest.fixture(scope="module")
def text() -> str:
    run, verdict = red()
    past = Trend((EarlierRun("r1", "2026-01-01T00:00:00+00:00", {"mrr@10": 0.25, "hit@1": None}),), run_of(CASES))
    return html_report(Report([run], [verdict], trends={(run.path, run.variant): past}))


@pytest.fixture(scope="module")
def page(text: str) -> Element:
    return read(text)


def test_the_verdict_comes_first_in_words(page: Element) -> None:
    main = page.one("main")
    assert main.all()[0].given["class"] == "verdict is-failed"
    assert main.one("h1").words == "Failed, worse: billing"
    assert "2 newly failing, 1 errored, 1 fixed" in main.one("p", class_="headline").words
    assert page.one("title").text.startswith("✗ Failed: billing")


def test_what_broke_is_told_before_the_numbers(page: Element, text: str) -> None:
    broken = page.one("section", class_="broken")
    assert (
        broken.one("p", class_="summary").words
        == "No single part: retrieval 1, generation 1, error 1 of 3 failing cases."
    )
    assert "model m-1 → m-2" in broken.one("p", class_="changed").words
    assert broken.one("a", href="#case-0-1").text == BAD_ID
    assert "fell out, was at rank 2" in broken.words
    assert broken.one("p", class_="step").one("code").text == "pytest --auepora-resume"
    assert "fix that, then <code>pytest --auepora-resume</code> asks only" in text
    assert [m.given["value"] for m in broken.all("meter")] == ["1", "1", "1"]


def test_the_metrics_have_baseline_change_and_gate(page: Element) -> None:
    table = page.one("section", class_="metrics").one("table")
    assert [th.words for th in table.one("thead").all("th")] == ["Metric", "Value", "Baseline", "Change", "Gate", "n"]
    row = next(tr for tr in table.one("tbody").all("tr") if tr.one("th").words == "recall@5")
    assert [td.words for td in row.all("td")] == ["0.750", "0.800", "✗failed -0.200", "✗failed 0.600 >= 0.9", "4/5"]
    assert {th.given["scope"] for th in table.all("th")} == {"col", "row"}


def test_it_needs_nothing_from_elsewhere(text: str, page: Element) -> None:
    assert not re.findall(r"https?:|//[a-z]|@import|url\((?!#)", text.partition("<script>")[0])
    assert not re.search(
        r"""\b(?:src|srcset|action|data|poster|background)=["']?(?!x)""",
        re.sub(r"<script.*?</script>", "", text, flags=re.S),
    )
    links = {one.given["href"] for one in page.all() if "href" in one.given}
    assert all(link.startswith("#") or link == "data:," for link in links)
    assert not page.all("iframe")
    assert not page.all("img")


def test_only_its_own_script_and_style_are_admitted(page: Element) -> None:
    policy = page.one("meta", http_equiv="Content-Security-Policy").given["content"]
    script = next(one for one in page.all("script") if "type" not in one.given)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert f"script-src {hash_source(script.text)};" in policy
    assert f"style-src {hash_source(page.one('style').text)};" in policy
    assert not [one for one in page.all() if "style" in one.given or any(name.startswith("on") for name in one.given)]


def test_no_two_elements_share_an_id_and_references_hold(page: Element) -> None:
    ids = Counter(one.given["id"] for one in page.all() if "id" in one.given)
    assert [name for name, n in ids.items() if n > 1] == []
    named = [v for one in page.all() for k, v in one.given.items() if k in ("aria-labelledby", "aria-controls", "for")]
    asked = " ".join(named).split()
    assert set(asked) <= set(ids)
    local = {one.given["href"][1:] for one in page.all("a") if not re.match("#(case|failed)-", one.given["href"])}
    assert local <= set(ids)


def test_landmarks_and_headings(page: Element) -> None:
    assert len(page.all("main")) == len(page.all("h1")) == 1
    assert page.one("html").given["lang"] == "en"
    levels = [int(one.tag[1]) for one in page.all() if re.fullmatch("h[1-6]", one.tag)]
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert all(svg.given["role"] == "img" and svg.given["aria-label"] for svg in page.all("svg"))
    assert all(table.all("caption") for table in page.all("table"))


def test_the_same_run_gives_the_same_bytes(text: str) -> None:
    run, verdict = red()
    past = Trend((EarlierRun("r1", "2026-01-01T00:00:00+00:00", {"mrr@10": 0.25, "hit@1": None}),), run_of(CASES))
    assert html_report(Report([run], [verdict], trends={(run.path, run.variant): past})) == text


def test_a_dot_of_each_case_that_compares(page: Element) -> None:
    scatter = page.one("figure", id="panel-0-0").all("svg")[1]
    dots = {one.given["data-case"] for one in scatter.all("use") if "data-case" in one.given}
    assert dots == {"0", "1", "2", "3", "4"}
    assert "5 cases compare: 2 worse, 1 better, 2 the same" in scatter.given["aria-label"]


def test_trends_need_earlier_runs(page: Element) -> None:
    trend = page.one("section", class_="trend")
    assert [one.words for one in trend.all("figcaption")] == ["mrr@10 0.500"]
    assert trend.one("svg").given["aria-label"] == "mrr@10 over 2 runs: 2026-01-01 0.250, this run 0.500"
    run = run_of([Case("a")])
    assert not read(html_report(Report([run], [verdict_of(run)]))).all("section", class_="trend")


def test_trends_show_the_metrics_of_the_golden_file() -> None:
    run, own = run_of([Case("a")], ["token_f1", "mean_latency"]), {"token_f1": 0.25, "mean_latency": 3.0}
    earlier = EarlierRun("r1", "2026-01-01T00:00:00+00:00", {"hit@1": 0.5}, own)
    page = read(html_report(Report([run], [verdict_of(run)], trends={(run.path, run.variant): Trend((earlier,), run)})))
    (figure,) = page.one("section", class_="trend").all("figcaption")
    assert figure.words == "token_f1 1.000"


def test_nothing_a_user_wrote_is_markup() -> None:
    case = Case(EVIL, query=EVIL, answer=EVIL, reference=EVIL, got=[EVIL], tags=[EVIL], labels={"scenario": EVIL},
                error="", thresholds={"recall@5": 0.5})  # fmt: skip
    errored = case.with_(id="e", error=f"{EVIL}: {EVIL}")
    run = run_of([case, errored], suite=EVIL, owner=EVIL, variant=EVIL, provenance={EVIL: EVIL})
    for name in list(run.metrics):
        info = run.metrics.pop(name)
        info.name = name + EVIL
        run.metrics[name] = info
    page = read(html_report(Report([run], [verdict_of(run, {"recall@5": 0.9}, note=EVIL)])))
    assert not page.all("img")
    assert len(page.all("script")) == 2
    assert "49" not in page.one("h1").words
    assert EVIL[:28] in page.one("h1").words
    assert "\x00" not in page.words
    assert "\\u202e" in page.one("h1").words
    assert data_of(page)["cases"][0]["answer"].startswith("<img src=x onerror=alert(1)></script>")


def test_several_suites_have_an_overview_and_stand_side_by_side(undrawn: None) -> None:
    runs = [system("bm25", 0.7, 12), system("hybrid", 0.95, 12, seed=2), run_of([Case("other")], suite="other")]
    page = read(html_report(Report(runs, [verdict_of(run) for run in runs])))
    assert [a.given["href"] for a in page.one("ul", class_="overview").all("a")] == ["#suite-0", "#suite-1", "#suite-2"]
    assert [one.given["id"] for one in page.all("article")] == ["suite-0", "suite-1", "suite-2"]
    beside = page.one("section", class_="beside-each")
    metrics, cases = beside.all("table")
    assert [th.words for th in metrics.one("thead").all("th")] == [
        "Metric",
        "n",
        "bm25",
        "hybrid",
        "hybrid \u2212 bm25",
    ]
    assert metrics.one("tbody").all("td", class_="best")
    first = cases.one("tbody").all("tr")[0]
    assert [a.given["href"].rsplit("-", 1)[0] for a in first.all("a")] == ["#case-0", "#case-1"]
    number = int(first.all("a")[0].given["href"].rsplit("-", 1)[1])
    assert list(runs[0].cases)[number] == first.one("th").words
    ids = Counter(one.given["id"] for one in page.all() if "id" in one.given)
    assert max(ids.values()) == 1


def test_a_run_without_cases_and_one_without_numbers() -> None:
    for cases in ([], [Case("a", skipped=True)], [Case("a", error="E: x")]):
        run = run_of(cases)
        page = read(html_report(Report([run], [verdict_of(run)])))
        assert len(data_of(page)["cases"]) == len(cases)


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_a_missing_package_is_named_with_its_cure(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in sys.modules if n.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    run = run_of([Case("a")])
    with pytest.raises(MissingExtraError, match=r"pip install 'pytest-auepora\[html\]'"):
        report_text("html", Report([run], [verdict_of(run)]))


def test_neither_package_is_loaded_before_it_is_used() -> None:
    code = (
        "import sys, pytest_auepora.reporting.html.report\nsys.exit(bool({'jinja2', 'matplotlib'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_templates_are_part_of_the_package() -> None:
    import pytest_auepora.reporting.html as room

    names = {path.name for path in (Path(room.__file__).parent / "templates").iterdir()}
    assert {"report.html.j2", "suite.html.j2", "base.css", "table.js"} <= names


@pytest.mark.parametrize("beside", [0, 1, 2])
def test_mistakes_stand_below_the_verdict(beside: int, undrawn: None) -> None:
    pytest.importorskip("jinja2", reason="the html extra")
    runs = [run_of([Case("a")], suite=f"s{i}") for i in range(beside)]
    page = read(html_report(Report(runs, [verdict_of(run) for run in runs], mistakes=MISTAKES)))
    main = page.one("main")
    assert main.all()[0].given["class"] == "verdict is-not-judged"
    section = page.one("section", class_="mistakes")
    assert section.one("h2").words == "3 mistakes in 2 files"
    assert [one.words.split(" ")[0] for one in section.all("li")] == [m.place for m in MISTAKES]
    assert len(page.all("article")) == beside


def test_a_page_of_nothing_says_no_pass() -> None:
    pytest.importorskip("jinja2", reason="the html extra")
    assert read(html_report(Report())).one("h1").words == "Not judged"
