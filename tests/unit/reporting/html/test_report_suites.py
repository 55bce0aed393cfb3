from __future__ import annotations

import base64
import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.reporting.html.cases import safe_text
from pytest_auepora.reporting.html.report import MOST_BAD_CASES, embedded_json, hash_source, suite_views, what_broke
from pytest_auepora.reporting.report import Report

from ..builders import Case, baseline_of, run_of, verdict_of
from ..terminal.test_screens import broken, hundred
from .pages import read

pytestmark = pytest.mark.usefixtures("undrawn")

NASTY = [
    "</script>",
    "<!--",
    "<script>",
    "-->",
    "]]>",
    "\u2028",
    "\u2029",
    "\ud800",
    "&lt;",
    "\x00",
    "\u202e",
    '"',
    "\\",
]
TEXT = st.lists(st.one_of(st.sampled_from(NASTY), st.text(alphabet=st.characters()))).map("".join)


@given(TEXT)
def test_embedded_text_reads_back_and_holds_nothing_special(text: str) -> None:
    made = embedded_json({"text": text, text: [1, None, 0.5]})
    assert json.loads(made) == {"text": text, text: [1, None, 0.5]}
    assert not set("<>&\u2028\u2029") & set(made)
    made.encode()


@given(TEXT)
def test_a_script_of_data_ends_where_it_should(text: str) -> None:
    page = read(f'<p>before</p><script type="application/json">{embedded_json(text)}</script><p>after</p>')
    assert [one.tag for one in page.inside if one.tag] == ["p", "script", "p"]
    assert json.loads(page.inside[1].text) == text


@given(TEXT)
def test_shown_text_has_no_controls(text: str) -> None:
    assert safe_text(text).isprintable() or not any(ord(c) < 32 or 0xD800 <= ord(c) < 0xE000 for c in safe_text(text))
    safe_text(text, keep_lines=True).encode()


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_what_json_cannot_say_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        embedded_json(value)


def test_a_hash_is_that_of_the_text() -> None:
    digest = base64.b64encode(hashlib.sha256(b"alert(1)").digest()).decode()
    assert hash_source("alert(1)") == f"'sha256-{digest}'"


def test_gates_that_failed_stand_open_and_the_rest_is_folded() -> None:
    cases = [hundred(i) for i in range(100)]
    baseline, policy = baseline_of(run_of(cases), steady=True), RegressionPolicy(slices=("topic",))
    now = [broken(case, i) for i, case in enumerate(cases)]
    now[13] = cases[13].with_(got=["x", *cases[13].got[:1]])
    run = run_of(now, baseline=baseline, policy=policy)
    verdict = verdict_of(run, {"recall@5": 0.95}, baseline=baseline, policy=policy)
    view = suite_views(Report([run], [verdict]))[0]
    assert [(one.title.partition(" ")[2], one.open, one.state) for one, _ in view["messages"]] == [
        ("gates failed: why", True, "failed"),
        ("slices got worse", False, "failed"),
        ("gate could not be decided", False, "inconclusive"),
    ]
    told = [message for _, messages in view["messages"] for message in messages]
    assert told[0].startswith("recall@5 0.9000 is not >= 0.95")
    assert not any("owner" in message for message in told), "that of the suite is said above"
    assert not any("{" in row.name for row in view["metrics"]), "slices are not in the table"


GONE = {"got": ["index.md"]}


def test_nothing_broke() -> None:
    run = run_of([Case("a")])
    assert not what_broke(run, verdict_of(run, {"recall@5": 0.5}))


def test_all_point_to_one_part() -> None:
    cases = [Case(f"c{i}") for i in range(10)]
    baseline = baseline_of(run_of(cases), steady=True)
    run = run_of([case.with_(**GONE) for case in cases], baseline=baseline)
    broken = what_broke(run, verdict_of(run, {"recall@5": 0.5}, baseline=baseline))
    assert broken["summary"] == "All 10 failing cases point to retrieval."
    assert len(broken["cases"]) == MOST_BAD_CASES
    assert broken["n_cases"] == 10


def test_most_point_to_one_part() -> None:
    cases = [Case(f"c{i}", thresholds={"recall@5": 0.5, "token_f1": 0.9}) for i in range(4)]
    run = run_of([case.with_(**(GONE if i else {"answer": "Never."})) for i, case in enumerate(cases)])
    broken = what_broke(run, verdict_of(run))
    assert broken["summary"] == "Mostly retrieval: 3 of 4 failing cases."
    assert broken["parts"] == [("retrieval", 3), ("generation", 1)]


def test_an_outage_is_told_once() -> None:
    run = run_of([Case(f"c{i}", error="ConnectionError: refused") for i in range(30)])
    broken = what_broke(run, verdict_of(run))
    assert [case["case_id"] for case in broken["cases"]] == ["c0"]
    assert broken["n_cases"] == 30
    assert broken["summary"] == "All 30 failing cases point to the call: it raised."


def test_only_the_suite_as_a_whole_failed() -> None:
    run = run_of([Case("a", got=["index.md", "refunds.md"])])
    broken = what_broke(run, verdict_of(run, {"mrr@10": 0.9}))
    assert broken["summary"] == "No case failed by itself; the suite as a whole did."
    assert not broken["cases"]


def test_gates_without_a_metric_are_told_in_full() -> None:
    both = [Case("a"), Case("b")]
    baseline = baseline_of(run_of(both))
    run = run_of(both[:1], baseline=baseline)
    broken = what_broke(run, verdict_of(run, baseline=baseline))
    assert len(broken["gates"]) == 1
    assert "b" in broken["gates"][0]


def test_what_is_listed_and_not_red_did_not_break() -> None:
    run = run_of([Case("known"), Case("lost", got=["index.md"], thresholds={"recall@5": 0.5})])
    run.cases["known"].extra["still_failing"] = ["assertion_pass: the answer misses '30 days'"]
    baseline = baseline_of(run_of([Case("known"), Case("lost")]))
    found = what_broke(run, verdict_of(run, baseline=baseline))
    assert found["n_cases"] == 1
    assert [case["case_id"] for case in found["cases"]] == ["lost"]
    assert found["parts"] == [("retrieval", 1)]


def test_a_coverage_gate_names_its_cases_once() -> None:
    baseline = baseline_of(run_of([Case("a"), Case("gone")]))
    run = run_of([Case("a")], baseline=baseline)
    (view,) = suite_views(Report([run], [verdict_of(run, baseline=baseline)]))
    ((_, (message,)),) = view["messages"]
    assert message.count("gone") == 1
