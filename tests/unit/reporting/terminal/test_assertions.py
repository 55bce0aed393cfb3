from __future__ import annotations

import math

from pytest_auepora.core.comparable_score import ComparableScore
from pytest_auepora.core.run import Run
from pytest_auepora.reporting.terminal.assertions import explain_score
from pytest_auepora.reporting.text import text_width

from ..builders import METRICS, Case, judged, run_of, verdict_of

CASES = [Case(f"case-{i}", got=["refunds.md", "x"]) for i in range(8)]
LOST = [c.with_(got=["x", "y"], line=40 + i) for i, c in enumerate(CASES[:6])]


def score_of(run: Run, name: str) -> ComparableScore:
    found = verdict_of(run).aggregates[name]
    return ComparableScore(name, found.gated, "", run, None, run.metrics[name], found)


def test_the_cases_that_cost_most_and_what_they_missed() -> None:
    run = run_of([*LOST, *CASES[6:]])
    assert explain_score(score_of(run, "recall@5"), ">=", 0.8) == [
        "recall@5 0.250 >= 0.8",
        "over 8 of 8 cases of billing",
        *[f"  golden/billing.golden.yaml:{40 + i} case-{i}: 0.000 missed refunds.md" for i in range(5)],
        "  … and 1 more",
    ]


def test_errors_and_gaps_stand_in_the_denominator() -> None:
    cases = [CASES[0], CASES[1].with_(error="E: no route"), CASES[2].with_(relevant=None)]
    lines = explain_score(score_of(run_of(cases), "recall@5"), ">=", 0.8)
    assert lines[0] == "recall@5 0.500 >= 0.8"
    text = " ".join(line.strip() for line in lines)
    assert "over 1 of 3 cases of billing, 1 errored and counts as the worst value, 1.000 without them, 1 n/a" in text
    assert "case-1: error: E: no route" in text


def test_a_score_just_short_of_the_mark_shows_it() -> None:
    run = run_of(CASES)
    score = ComparableScore("recall@5", math.nextafter(0.8, 0), "", run, None, run.metrics["recall@5"])
    assert explain_score(score, ">=", 0.8)[0] != "recall@5 0.800 >= 0.8"
    assert explain_score(score, ">=", 0.8)[0].startswith("recall@5 0.79999")


def test_where_lower_is_better_the_slowest_come_first() -> None:
    cases = [c.with_(seconds=float(i)) for i, c in enumerate(CASES)]
    lines = explain_score(score_of(run_of(cases), "mean_latency"), "<=", 2)
    assert lines[0] == "mean_latency 3.50 s <= 2"
    assert [line.split()[1] for line in lines[2:4]] == ["case-7:", "case-6:"]


def test_other_comparisons_show_what_is_not_perfect() -> None:
    run = run_of([LOST[0], *CASES[1:]])
    lines = explain_score(score_of(run, "recall@5"), "==", score_of(run, "mrr@10"))
    assert lines[0] == "recall@5 0.875 == mrr@10 0.875"
    assert len(lines) == 3
    assert explain_score(score_of(run, "recall@5"), "==", "text")[0] == "recall@5 0.875 == 'text'"


def test_rates_count_cases() -> None:
    run = run_of([LOST[0].with_(thresholds={"recall@5": 0.5}), CASES[1].with_(error="E: x"), *CASES[2:]])
    lines = explain_score(ComparableScore("pass_rate", 0.75, "", run), ">=", 0.9)
    assert lines[:2] == ["pass_rate 0.750 >= 0.9", "6 of 8 cases of billing passed"]
    assert lines[2].endswith("case-0: recall@5 0.000, wanted >= 0.5")
    assert lines[3].endswith("case-1: E: x")
    assert explain_score(ComparableScore("error_rate", 0.125, "", run), "<=", 0)[1] == "1 of 8 cases of billing errored"


def test_one_case_shows_what_was_expected_and_what_came() -> None:
    result, _, infos = judged(LOST[0].with_(got=[*(f"d{i}" for i in range(8)), "refunds.md"]))
    score = ComparableScore("recall@5", 0.0, "", None, result, infos["recall@5"])
    lines = explain_score(score, ">=", 0.8)
    assert lines[:2] == ["recall@5 0.000 >= 0.8", "golden/billing.golden.yaml:40  case-0"]
    assert "details    missed refunds.md" in lines
    assert "expected   ✗ refunds.md  rank 9" in lines
    assert any(line.strip().startswith("9 ✓ refunds.md") for line in lines)


def test_lines_fit() -> None:
    cases = [c.with_(id=f"返金-{i}" * 9, got=["あ"]) for i, c in enumerate(CASES)]
    for name in METRICS[:3]:
        lines = explain_score(score_of(run_of(cases), name), ">=", 0.9)
        assert all(text_width(line) <= 76 for line in lines)
