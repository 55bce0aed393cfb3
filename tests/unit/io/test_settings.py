"""Thresholds merged into a golden file: every other byte stays, in each way they may be written."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from pytest_auepora.errors import GoldenFileError
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.settings import with_settings
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.regression.thresholds import Bound, Gate

CASES = "cases:\n  - {id: a, query: Q, relevant_docs: [d], scenario: typo}\n"
MRR = Gate("mrr", Bound("min", 0.7))


def merged(text: str, *gates: Gate, name: str = "x.golden.yaml", **keys: str) -> str:
    return with_settings(Path(name), text, gates, keys)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("mrr: 0.8  # agreed", "mrr: 0.7  # agreed"),
        ('mrr: ">= 0.8"', "mrr: '>= 0.7'"),
        ("mrr: {min: 0.8, owner: ann}", "mrr: {min: 0.7, owner: ann}"),
        ("mrr:\n    min: 0.8  # x\n    owner: ann", "mrr:\n    min: 0.7  # x\n    owner: ann"),
        ("mrr: [0.8, {min: 0.5, slice: {scenario: typo}}]", "mrr: [0.7, {min: 0.5, slice: {scenario: typo}}]"),
        ("mrr:\n    - {min: 0.5, slice: {scenario: typo}}\n    - 0.8",
         "mrr:\n    - {min: 0.5, slice: {scenario: typo}}\n    - 0.7"),
        ("recall@5: 0.9  # x\n  # y", "recall@5: 0.9  # x\n  mrr: {min: 0.7}\n  # y"),
    ],
)  # fmt: skip
def test_a_bound_is_exchanged_in_the_form_it_has(before: str, after: str) -> None:
    text = f"# top\nmetrics: [mrr, recall@5]\nthresholds:\n  {before}\n\n# the cases\n{CASES}"
    assert merged(text, MRR) == text.replace(before, after)


def test_the_bound_of_a_slice_is_another_than_that_of_all() -> None:
    text = f"thresholds:\n  mrr: [0.8, {{min: 0.5, slice: {{scenario: typo}}}}]\n{CASES}"
    changed = merged(text, Gate("mrr", Bound("min", 0.4), slice={"scenario": "typo"}))
    assert changed == text.replace("0.5", "0.4")


def test_an_upper_bound_is_one_of_a_metric_where_less_is_better() -> None:
    text = f"thresholds: {{duplicate_rate@5: 0.1, mrr: 0.8}}\n{CASES}"
    assert merged(text, Gate("duplicate_rate@5", Bound("max", 0.2))) == text.replace("0.1", "0.2")


def test_new_keys_come_before_the_cases_and_their_comment() -> None:
    head = "suite: s\nmetrics: [mrr, 'ndcg@10[gain=linear]']  # what counts\n"
    gate = Gate("ndcg@10[gain=linear]", Bound("min", 0.6))
    wanted = "assertions: report\nthresholds:\n  mrr: {min: 0.7}\n  'ndcg@10[gain=linear]': {min: 0.6}\n"
    assert merged(f"{head}# cases\n{CASES}", MRR, gate, assertions="report") == f"{head}{wanted}# cases\n{CASES}"


@pytest.mark.parametrize("text", [
    f"thresholds: {{}}\n{CASES}", CASES, CASES.rstrip("\n"), f"\ufeffsuite: s\n{CASES}", f"suite: s\r\n{CASES}",
    f"description: |\n  long\n\n{CASES}", f"{CASES}thresholds:\n  recall@5: 0.5", f"{CASES}metrics: [mrr]",
    '{suite: s, cases: [{id: a, query: "Q"}]}', f"metrics:\n- mrr\n{CASES}",
    "cases:\n  - {id: a, query: Why so?, relevant_docs: [d]}\n",
])  # fmt: skip
def test_it_says_what_it_said_and_the_new_bound(text: str) -> None:
    changed = merged(text, MRR)
    before, after = (yaml.load(one, yaml.CSafeLoader) for one in (text, changed))
    assert after.pop("thresholds") == {**before.pop("thresholds", {}), "mrr": {"min": 0.7}}
    assert after == before
    assert changed.startswith("\ufeff") == text.startswith("\ufeff")
    assert ("\r\n" in text) == ("mrr: {min: 0.7}\r\n" in changed)


def test_the_first_of_json_lines_is_changed_or_written() -> None:
    case = '{"id": "a", "query": "Q"}\n'
    text = merged(f'{{"suite": "s", "thresholds": {{"mrr": 0.8}}}}\n{case}', MRR, name="x.golden.jsonl")
    assert text == f'{{"suite": "s", "thresholds": {{"mrr": 0.7}}}}\n{case}'
    assert merged(case, MRR, name="x.golden.jsonl") == f'{{"thresholds": {{"mrr": {{"min": 0.7}}}}}}\n{case}'


def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "x.golden.yaml"
    path.write_text(merged(f"metrics: [mrr]\n{CASES}", MRR, assertions="report"))
    suite = load_golden(path, Registry())
    assert [(gate.title, gate.bound) for gate in suite.gates] == [("mrr", Bound("min", 0.7))]
    assert suite.policy.assertions == "report"


@pytest.mark.parametrize("text", [f"x: &t {{mrr: 0.8}}\nthresholds: *t\n{CASES}", f"thresholds:\n{CASES}"])
def test_what_cannot_be_changed_in_place_is_refused(text: str) -> None:
    with pytest.raises(GoldenFileError, match="cannot be changed in place"):
        merged(text, MRR)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_byte_order_mark_moves_no_place(mark: str) -> None:
    text = f"{mark}thresholds:\n  mrr: 0.8  # agreed\n{CASES}"
    assert merged(text, MRR) == text.replace("0.8", "0.7")


def test_blank_lines_before_json_lines_stay() -> None:
    case = '{"id": "a", "query": "Q"}\n'
    header = '{"thresholds": {"mrr": {"min": 0.7}}}'
    assert merged(f"\n \r\n{case}", MRR, name="x.jsonl") == f"\n \r\n{header}\n{case}"


def test_line_ends_of_json_lines_stay() -> None:
    case = '{"id": "a", "query": "Q"}\r\n'
    text = f'{{"suite": "s"}}\r\n{case}'
    assert merged(text, MRR, name="x.jsonl").splitlines(keepends=True)[1] == case
    assert all(line.endswith("\r\n") for line in merged(text, MRR, name="x.jsonl").splitlines(keepends=True))
    assert merged(case, MRR, name="x.jsonl").count("\r\n") == 2
