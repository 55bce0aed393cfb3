"""A red run of a hundred cases fits two screens, and a green one names its worst cases."""

from __future__ import annotations

import re

from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.reporting.relevant_docs import RelevantDoc
from pytest_auepora.reporting.terminal.summary import MOST_CASES

from ..builders import Case, baseline_of, run_of, verdict_of
from .test_summary import THRESHOLDS, shown


def test_a_red_run_of_a_hundred_cases_is_short() -> None:
    cases = [Case(f"case-{i:03}", relevant=[f"doc-{i}.md"], got=[f"doc-{i}.md", "x"]) for i in range(100)]
    baseline = baseline_of(run_of(cases))
    now = [c.with_(got=[f"other-{i}.md"] * (i % 3 + 1)) if i % 2 else c for i, c in enumerate(cases)]
    run = run_of(now, baseline=baseline)
    lines = shown(run, verdict_of(run, THRESHOLDS, baseline=baseline))
    assert len(lines) < 60
    assert sum("fell out" in line for line in lines) == MOST_CASES
    assert "  … and 40 more" in lines
    assert lines[-1].startswith(("→ ", "  "))


def hundred(index: int) -> Case:
    """A case of one of ten topics; of the first three topics each breaks in its own way."""
    doc, topic = f"doc-{index}.md", f"topic-{index % 10}"
    days, labels = f"{index + 5} days", {"topic": topic, "must_contain": [f"{index + 5} days"]}
    return Case(f"{topic}-case-{index:03}", relevant=[doc], got=[doc, "x"], answer=days, reference=days, labels=labels)


def broken(case: Case, index: int) -> Case:
    how = (
        {"got": [f"other-{index}.md", "y"]},
        {"answer": "Please ask the team for the details of your own case."},
        {"got": ["x", *case.got[:1]], "answer": "I don't know."},
    )
    return case.with_(**how[index % 10]) if index % 10 < 3 else case


def test_slices_do_not_fill_the_screens() -> None:
    cases = [hundred(i) for i in range(100)]
    baseline = baseline_of(run_of(cases))
    policy = RegressionPolicy(slices=("topic",))
    now = [broken(case, i) for i, case in enumerate(cases)]
    now[41] = cases[41].with_(error="ConnectionError: the index refused the connection")
    run = run_of(now, baseline=baseline, policy=policy)
    lines = shown(run, verdict_of(run, THRESHOLDS, baseline=baseline, policy=policy), 100)
    assert len(lines) <= 70, "two screens of 50 lines, with what pytest says itself"
    text = "\n".join(lines)
    assert "topic-1-case-041  error: ConnectionError: the index refused" in text, "one of each kind is named"
    assert not re.search("would decide|above the margin|corrected for", text)
    assert re.search(r"✗ regression: worse in \d+ slices: recall@5\{topic=topic-0\} -1.00, ", text)
    assert all(" ".join(text.split()).count(one.split("  ")[-1]) == 1 for one in lines if one.startswith("✗"))
    assert sum(line.startswith(("  topic-", "  FAILED topic-")) for line in lines) == MOST_CASES


def test_a_green_run_with_slices_shows_metrics_alone() -> None:
    cases = [hundred(i) for i in range(100)]
    baseline, policy = baseline_of(run_of(cases)), RegressionPolicy(slices=("topic",))
    now = [cases[0], cases[1].with_(got=["x", *cases[1].got[:1]]), *cases[2:]]
    run = run_of(now, baseline=baseline, policy=policy)
    lines = shown(run, verdict_of(run, baseline=baseline, policy=policy), 100)
    assert not [line for line in lines if line.startswith("mrr@10{")]
    assert len(lines) < 20


def test_the_worst_cases_are_of_any_metric() -> None:
    cases = [hundred(i) for i in range(5)]
    run = run_of([cases[0].with_(got=["x", *cases[0].got[:1]]), *cases[1:]])
    gates = {"recall@5": 0.8, "token_f1": 0.8, "assertion_pass": 0.9}
    assert "worst mrr@10: topic-0-case-000 0.500" in shown(run, verdict_of(run, gates))


def test_a_quotation_that_is_cut_ends_as_one() -> None:
    doc = RelevantDoc('docs/refunds.md: "customers have thirty days to act under this policy"', 1, None)
    assert doc.short == 'docs/refunds.md: "customers have thirty…"'
