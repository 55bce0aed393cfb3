from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from pytest_auepora.base.complaints import Problem
from pytest_auepora.core.run import Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.regression.cause import Cause
from pytest_auepora.regression.outcomes import BaselineNote, Note
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.formats.markdown_report import COMMENT_LIMIT, MARKER, markdown_report, step_summary
from pytest_auepora.reporting.report import Report
from pytest_auepora.reporting.terminal.failure import failure_text
from pytest_auepora.reporting.text import escape_html, escape_markdown
from pytest_auepora.reporting.wording.cases import case_diagnosis

from ..builders import MISTAKES, Case, baseline_of, run_of, verdict_of
from ..terminal.test_screens import broken, hundred

CASES = [Case(f"case-{i:02}", got=["refunds.md", "x"], thresholds={"token_f1": 0.5}) for i in range(12)]
EVIL = "</pre></details><script>alert(1)</script> | a `b` **c** [d](http://e.f) ![g](h) @someone #12 $x$ _y_ <!-- z"


def report(run: Run, verdict: Verdict, limit: int = COMMENT_LIMIT) -> str:
    return markdown_report(Report([run], [verdict]), limit=limit)


def red() -> tuple[Run, Verdict]:
    baseline = baseline_of(run_of(CASES))
    now = [c.with_(got=["x", "y"], thresholds={"recall@5": 0.5}) for c in CASES[:3]]
    now += [c.with_(error="ConnectionError: refused") for c in CASES[3:6]]
    run = run_of([*now, *CASES[6:]], baseline=baseline)
    return run, verdict_of(run, {"recall@5": 0.8}, baseline=baseline)


@pytest.fixture(scope="module")
def long_run() -> tuple[Run, Verdict]:
    cases = [
        Case(f"case-{i}", query="q " * 500, answer="word " * 900, reference="other", thresholds={"token_f1": 1.0})
        for i in range(400)
    ]
    run = run_of(cases, ["recall@5", "token_f1"])
    return run, verdict_of(run)


class Page(HTMLParser):
    """Checks that tags are closed in order, and collects them with the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_headline_and_the_table_come_first() -> None:
    run, verdict = red()
    lines = report(run, verdict).splitlines()
    headline = escape_markdown(Report([run], [verdict]).headline)
    assert lines[:4] == [MARKER, "## ❌ auepora: failed", "", f"**{headline}**"]
    assert lines[5] == "### ❌ billing: worse · owner search-team"
    assert lines[7] == "| metric | value | n | baseline | change | gate |"
    assert lines[9].startswith("| recall@5 | 0.667 | 9/12 | 1.000 | **-0.500** ✗ | ✗ 0.500 >= 0.8 |")


def test_a_green_report_is_short() -> None:
    run = run_of(CASES)
    text = report(run, verdict_of(run, {"recall@5": 0.8}, baseline=baseline_of(run)))
    assert "## ✅ auepora: passed" in text
    assert "**12 unchanged**" in text
    assert "<pre>" not in text
    assert "<summary>All 12 cases</summary>" in text


def test_without_a_baseline_there_are_no_empty_columns() -> None:
    run = run_of(CASES)
    assert "| metric | value | n | gate |" in report(run, verdict_of(run))


def test_each_failing_case_unfolds_to_what_the_terminal_shows() -> None:
    run, verdict = red()
    text = report(run, verdict)
    shown = run.cases["case-00"], verdict.case_comparisons["case-00"], run.metrics
    summary = f"<summary><b>case-00</b> {escape_html(case_diagnosis(*shown))}</summary>"
    assert f"{summary}\n\n<pre>{escape_html(failure_text(*shown, width=100))}</pre>" in text
    assert "<b>3 cases (case-03, case-04 and 1 more)</b> error: ConnectionError: refused" in text


def test_failed_gates_name_what_cost_most() -> None:
    text = report(*red())
    line = next(line for line in text.splitlines() if line.startswith("- ✗ recall@5: 0.5000 is not >= 0.8"))
    assert "· costs most: case-00" in line
    assert "owner" not in line  # the suite's own owner stands in the heading


def test_metrics_that_got_worse_alike_share_a_line() -> None:
    baseline = baseline_of(run_of(CASES))
    run = run_of([c.with_(got=["x"]) for c in CASES], baseline=baseline)
    lines = [line for line in report(run, verdict_of(run, baseline=baseline)).splitlines() if "regression: " in line]
    assert len(lines) == 1
    assert lines[0].startswith(
        "- ✗ regression: recall@5, mrr@10, pass rate: 1.0000 → 0.0000 over 12 cases: worse by 1 ("
    )
    assert lines[0].endswith(" · costs most: case-00, case-01, case-02")


def test_several_suites() -> None:
    first, second = red(), red()
    second[0].variant = "dense"
    both = Report([first[0], second[0]], [first[1], second[1]])
    text = markdown_report(both)
    assert "### ❌ billing: worse ·" in text
    assert "### ❌ billing\\[dense\\]: worse ·" in text
    assert text.count(f"**{escape_markdown(both.headline)}**") == 1
    assert markdown_report(Report()).splitlines()[3] == f"**{Report().headline}**"


@pytest.mark.parametrize(
    "limit", [COMMENT_LIMIT, 200, *(pytest.param(n, marks=pytest.mark.slow) for n in (20_000, 5_000, 1_000))]
)
def test_it_always_fits(limit: int, long_run: tuple[Run, Verdict]) -> None:
    text = report(*long_run, limit=limit)
    assert len(text) <= limit
    assert text.startswith(MARKER)
    if limit >= 5_000:
        assert Page(text).open == []
        assert "| token_f1 |" in text
        assert "400 failed" in text
        assert re.search(r"… and \d+ more", text)


def test_as_much_as_fits_is_told() -> None:
    run, verdict = red()
    whole = report(run, verdict)
    assert "All 12 cases" in whole
    less = report(run, verdict, limit=len(whole) - 1)
    assert "All 12 cases" not in less
    assert "<pre>" in less


def test_nothing_users_or_systems_wrote_leaves_its_place() -> None:
    case = Case(
        EVIL, query=EVIL, answer=EVIL, relevant=["a|b"], got=[EVIL, "a|b"], reference=EVIL, thresholds={"recall@5": 2}
    )
    run = run_of([case, case.with_(id="down", error=f"E: {EVIL}")], suite=EVIL, variant=EVIL, owner=EVIL)
    text = report(run, verdict_of(run, {"mrr@10": 1.0}, note=BaselineNote("unreadable", detail=EVIL)))
    page = Page(text)
    assert page.open == []
    assert page.seen <= {"details", "summary", "b", "pre", "sub", "br"}
    assert text.count("<!--") == 1
    assert not re.search(r"(?<![\w/])[@#](?=[a-z0-9])", re.sub(r"#+ ", "", text.replace(MARKER, "")))


def test_every_row_of_a_table_has_as_many_cells_as_its_heading() -> None:
    run = run_of([Case("a|b\n|c")], ["refusal_correctness[refusal_patterns=a|b]", "recall@5"])
    lines = [line for line in report(run, verdict_of(run)).splitlines() if line.startswith("|")]
    cells = [len(re.findall(r"(?<!\\)\|", line)) for line in lines]
    assert cells
    at = lines.index("| --- | --- | ---: |")
    assert set(cells[: at - 1]) == {cells[0]}
    assert set(cells[at - 1 :]) == {4}


def test_commands_are_code_in_steps_notes_gates_and_the_cause() -> None:
    baseline = baseline_of(run_of([Case("a"), Case("gone")]))
    run = run_of([Case("a", got=["x"])], baseline=baseline)
    verdict = verdict_of(run, baseline=baseline)
    verdict.notes.append(Note("looked once", detail="workers"))
    verdict.cause = Cause(refusal="workers")
    code = re.findall(r"(?<!\\)`([^`]*)`", report(run, verdict).replace("\\`", ""))
    assert {
        "pytest --auepora-update", "pytest --auepora-update=prune", "pytest --auepora -p no:xdist",
        "auepora why last",
    } <= {*code}  # fmt: skip


def test_slices_and_what_is_undecided_are_folded_in_a_red_run() -> None:
    cases = [hundred(i) for i in range(100)]
    baseline, policy = baseline_of(run_of(cases)), RegressionPolicy(slices=("topic",))
    now = [broken(case, i) for i, case in enumerate(cases)]
    now[13] = cases[13].with_(got=["x", *cases[13].got[:1]])
    run = run_of(now, baseline=baseline, policy=policy)
    verdict = verdict_of(run, baseline=baseline, policy=policy)
    lines = markdown_report(Report([run], [verdict])).splitlines()
    gates = next(i for i, line in enumerate(lines) if line.endswith("gates failed: why**"))
    slices = next(i for i, line in enumerate(lines) if line.endswith("slices got worse</summary>"))
    undecided = next(i for i, line in enumerate(lines) if line.endswith("inconclusive: no loss is shown</summary>"))
    assert gates < slices < undecided
    assert not any("topic=" in line for line in lines[:slices]), "neither in the table"
    short = markdown_report(Report([run], [verdict]), limit=4000)
    assert short.count("<details>") == short.count("</details>") == 0


FIVE = [Case(f"case-{i}", got=["refunds.md", "x"], thresholds={"recall@5": 0.5}) for i in range(5)]


def test_the_step_summary_stands_apart_from_what_is_there() -> None:
    run = run_of(FIVE)
    text = step_summary(Report([run], [verdict_of(run)]))
    assert text.startswith(f"\n{MARKER}\n")
    assert text.endswith("\n")


def test_the_step_summary_fits_into_the_room_that_is_left() -> None:
    run = run_of([case.with_(error="😀" * 500) for case in FIVE])
    for room in (100_000, 20_000, 8_000, 3_000, 0, -5):
        text = step_summary(Report([run], [verdict_of(run)]), room=room)
        assert len(text.encode()) <= max(room, 0)
        assert bool(text) == (room >= 8_000)


def test_a_mistake_is_named_with_its_place() -> None:
    lines = markdown_report(Report(mistakes=MISTAKES)).splitlines()
    assert lines[1] == "## ⚪ auepora: not judged"
    assert lines[5] == f"- **a.golden.yaml\\:2:11** {MISTAKES[0].message}"
    assert lines[6] == "- **a.golden.yaml\\:7:9** id 'one' is &lt;b>taken&lt;/b> \\| by \\*another\\*"
    assert lines[7] == f"- **b.golden.yaml** {MISTAKES[2].message}"


def test_a_metric_that_raised_is_not_called_na() -> None:
    run = run_of([Case("one"), Case("two")])
    run.cases["one"].scores["mrr@10"] = Score.failed("KeyError: x")
    (row,) = (
        line for line in markdown_report(Report([run], [verdict_of(run)])).splitlines() if line.startswith("| one")
    )
    assert row.count(" error ") == 1


@pytest.mark.slow
def test_more_mistakes_than_fit() -> None:
    many = [Problem("a.golden.yaml", line, 1, "x" * 100) for line in range(1, 3000)]
    text = markdown_report(Report(mistakes=many))
    assert len(text) <= 65_536
    assert "2,999 mistakes in 1 file" in text
    left = re.search(r"- … and ([\d,]+) more", text)
    assert left is not None
    assert int(left[1].replace(",", "")) + text.count("- **a") == 2999
    assert step_summary(Report(mistakes=many), room=8000).count("- **a") >= 10
