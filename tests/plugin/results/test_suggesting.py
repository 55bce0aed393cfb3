"""``--auepora-suggest``: noise is told, thresholds go into the golden file or a patch, and the system keeps them."""

from __future__ import annotations

import subprocess

import pytest

from ..conftest import Example

NOISY = """\
def rag():
    import random

    def ask(query):
        text, found = answer(query)
        return (text if random.random() < 0.8 else text + " I think so."), found

    return ask
"""
HEAD = """\
suite: shop
metrics: [recall@1, recall@3, token_f1, assertion_pass]
thresholds:
  recall@3: 0.9
  token_f1: 0.95  # agreed with sales
  recall@1: {min: 0.2, owner: ann, slice: {tag: smoke}}
cases:
"""
CASE = """\
  - id: warehouse-{}
    query: When do parcels leave the warehouse?
    relevant_docs: [shipping]
    reference_answer: Parcels leave the warehouse within two working days.
    must_contain: [two working days]
    tags: [smoke]
"""


@pytest.fixture
def noisy(project: Example) -> Example:
    project.system(NOISY)
    project.golden.write_text(HEAD + "".join(map(CASE.format, range(24))), encoding="utf-8")
    return project


@pytest.mark.slow
def test_the_golden_file_gets_thresholds_and_loses_nothing(noisy: Example) -> None:
    before = noisy.golden.read_text()
    result = noisy.run("--auepora-seed", "1", "--auepora-suggest=shop.golden.yaml", auepora=False)
    assert f" {noisy.golden}" in str(result.stdout)
    after = noisy.golden.read_text()
    added = [line for line in after.splitlines() if line not in before.splitlines()]
    assert added == ["  token_f1: 0.82  # agreed with sales", "  assertion_pass: {min: 0.92}"]
    assert [line for line in before.splitlines() if line not in after] == ["  token_f1: 0.95  # agreed with sales"]
    assert noisy.run("--auepora-update", "--auepora-seed", "2").ret == 0
    for seed in ("3", "4"):
        result = noisy.run("--auepora-seed", seed)
        assert result.ret == 0, str(result.stdout)


@pytest.mark.slow
def test_a_patch_says_the_same_and_applies(noisy: Example) -> None:
    before = HEAD.replace("ann", '"ann\u2028lee"') + "".join(map(CASE.format, range(24)))
    noisy.golden.write_text(before, encoding="utf-8")
    result = noisy.run("--auepora-seed", "1", "--auepora-suggest=out/my.patch", auepora=False)
    patch = noisy.read("out/my.patch")
    assert all(line in str(result.stdout) for line in patch.splitlines() if "lee" not in line)
    assert noisy.golden.read_text() == before
    subprocess.run(["git", "apply", "out/my.patch"], cwd=noisy.path, check=True)
    patched = noisy.golden.read_text()
    noisy.golden.write_text(before)
    assert noisy.run("--auepora-seed", "1", "--auepora-suggest=shop.golden.yaml", auepora=False).ret == 0
    assert noisy.golden.read_text() == patched


def test_recorded_answers_suggest_without_a_call(counted: Example) -> None:
    counted.run("--auepora-repeat", "2", "--auepora-suggest", "shop.golden.yaml", auepora=False)
    calls = counted.read("calls.txt")
    result = counted.run("--auepora-replay", "--auepora-suggest=x.patch")
    assert "2 answers to each of 5 cases" in str(result.stdout)
    assert counted.read("calls.txt") == calls


def test_assertions_that_hold_by_chance_are_named(noisy: Example) -> None:
    noisy.golden.write_text(noisy.golden.read_text().replace("[two working days]", "[I think so]"))
    result = noisy.run("--auepora-seed", "1", "--auepora-suggest=shop.golden.yaml", auepora=False)
    assert "some answers only: warehouse-" in str(result.stdout)
    assert "\nassertions: report\ncases:\n" in noisy.golden.read_text()


def test_a_partial_run_suggests_nothing_a_bad_path_is_told(noisy: Example) -> None:
    result = noisy.run("-k", "warehouse-1", "--auepora-suggest")
    assert "nothing: 11 of 24 cases ran" in str(result.stdout)
    result = noisy.run("--auepora-suggest=shop.py/my.patch")
    result.stdout.fnmatch_lines(["shop.py/my.patch: *: File exists"])


def test_a_file_that_cannot_be_changed_in_place_is_named(noisy: Example) -> None:
    text = noisy.golden.read_text().replace(
        "thresholds:\n", "defaults: {labels: &own {recall@3: 0.9}}\nthresholds: *own\nx:\n"
    )
    own = text.index("x:"), text.index("cases:")
    noisy.golden.write_text(text[: own[0]] + text[own[1] :])
    before = noisy.golden.read_text()
    result = noisy.run("--auepora-suggest")
    assert f"{noisy.golden}: its thresholds " in str(result.stdout)
    assert noisy.golden.read_text() == before
