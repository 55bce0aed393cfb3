"""What a baseline holds: every key is checked, and the same results give the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.api.evaluation import evaluate
from pytest_auepora.errors import BaselineError
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.regression.accept import Acceptance, accept
from pytest_auepora.regression.baseline import baseline_path
from pytest_auepora.regression.baseline_file import parse_baseline
from pytest_auepora.regression.verdict import judge
from tests.mutations import damaged, mutated, tries

from . import runs
from .runs import case, run


@given(st.dictionaries(st.text(max_size=6), st.one_of(st.none(), st.floats(0, 1)), max_size=6))
def test_the_text_reads_back_the_same_and_is_stable(values: dict[str, float | None]) -> None:
    found = runs.accepted(run(*(case(name, mrr=v) for name, v in values.items())))
    again = parse_baseline(found.dumps(), "b.json")
    assert again == found
    assert again.dumps() == found.dumps()


GOLDEN = """\
suite: shop
metrics: [recall@1, mrr, token_f1, bleu, distinct_2, mean_latency, p95_latency]
regression: {metrics: {mean_latency: {policy: tolerance}}}
cases:
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A golden file, and the text of a baseline with every kind of key."""
    folder = tmp_path_factory.mktemp("stored")
    cases = [
        f"  - {{id: c{i}, query: question {i}, relevant_docs: [d{i}], reference_answer: 'a b c {i}'}}\n"
        for i in range(12)
    ]
    golden = folder / "shop.golden.yaml"
    golden.write_text(GOLDEN + "".join(cases), encoding="utf-8")
    path = baseline_path(golden, "shop", "")
    accept(path, evaluate(golden, answer, repeat=2).run, Acceptance({"all"}))
    return golden, path.read_text(encoding="utf-8")


asked = 0


def answer(query: str) -> tuple[str, list[dict[str, str]]]:
    """Answer another text every time."""
    global asked  # noqa: PLW0603 - a system that varies
    asked += 1
    return f"a b {asked} c", [{"id": f"d{query.rsplit(maxsplit=1)[-1]}", "text": "a b c"}]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("cases.c0.scores.mrr", float("nan"), "cases.c0.scores.mrr: expected a finite number"),
        ("cases.c0.scores.mrr", float("inf"), "cases.c0.scores.mrr: expected a finite number"),
        ("cases.c0.scores.mrr", "0.5", "cases.c0.scores.mrr: expected a finite number"),
        ("cases.c0.scores.mrr", [1], "cases.c0: expected scores.mrr to have a value for each of 2 answers"),
        ("cases.c0.ranks.d0", 0, "cases.c0.ranks.d0: expected a whole number from 1 on or null, found 0"),
        ("cases.c0.assertions", {"must_contain": 1}, "cases.c0.assertions.must_contain: expected true or false"),
        ("cases.c0.answers", -1, "cases.c0.answers: expected a whole number from 1 on, found -1"),
        ("cases.c0.data.bleu", "[1, NaN]", "cases.c0: expected data.bleu to be a text that is JSON of finite numbers"),
        ("metrics.mrr.version", 0, "metrics.mrr.version: expected a whole number from 1 on, found 0"),
    ],
)
def test_a_key_that_cannot_be_is_named(stored: tuple[Path, str], key: str, value: Any, said: str) -> None:
    raw = place = json.loads(stored[1])
    *way, last = key.split(".")
    for part in way:
        place = place[part]
    place[last] = value
    with pytest.raises(BaselineError) as seen:
        parse_baseline(json.dumps(raw), "b.json")
    assert str(seen.value).startswith(f"b.json: {said}")
    assert str(seen.value).endswith(" --auepora-update")


def test_a_case_that_a_merge_left_twice_is_named(stored: tuple[Path, str]) -> None:
    block = stored[1][stored[1].index('  "c0": {') : stored[1].index('  "c1": {')]
    with pytest.raises(BaselineError, match=r"^b\.json: 'c0' is there twice, as a merge leaves it: keep one; "):
        parse_baseline(stored[1].replace(block, block * 2), "b.json")


@tries(400, 20_000)
def test_whatever_was_edited_is_said_or_judged(stored: tuple[Path, str], tries: int) -> None:
    golden, text = stored
    pick = Random(20)
    suite = load_golden(golden, Registry())
    done = evaluate(golden, answer, repeat=2)
    refused = 0
    for _ in range(tries):
        made = mutated(text, pick) if pick.random() < 0.9 else damaged(text.encode(), pick).decode(errors="replace")
        try:
            baseline = parse_baseline(made, "b.json")
        except BaselineError as exc:
            assert str(exc).startswith("b.json:")  # noqa: PT017 - either is fine
            refused += 1
            continue
        judge(done.run, suite.gates, suite.policy, done.metrics, baseline=baseline)
    assert refused > tries / 4


def test_where_it_lies() -> None:
    golden = Path("golden/x.golden.yaml")
    assert baseline_path(golden, "x", "") == Path("golden/__baselines__/x.json")
    assert baseline_path(golden, "x", "bm25").name == "x@bm25.json"
    assert "/" not in baseline_path(golden, "x", "a/b:c").name.replace("x@", "")
    assert baseline_path(golden, "x", "", Path("d")) == Path("d/x.json")
    assert baseline_path(golden, "x", "v", Path("f.json")) == Path("f.json")
    long = [baseline_path(golden, "x", "parameter-" * 60 + end).name for end in "ab"]
    assert long[0] != long[1]
    assert max(map(len, long)) < 120
