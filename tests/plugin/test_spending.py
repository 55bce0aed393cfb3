"""What the system itself spends: the sum of a run to the last token, and a budget that ends it."""

from __future__ import annotations

import json

import pytest

from pytest_auepora.history.store import HistoryStore
from pytest_auepora.pytest_plugin.endings import read_budget

from .conftest import Example
from .listening import gates, notes
from .suite.varying import N_CASES, accepted, calls, says, vary

SYSTEM = """\
def rag():
    def ask(query):
        with open("calls.txt", "a") as file:
            file.write(query + "\\n")
        number = len(pathlib.Path("calls.txt").read_text().splitlines())
        bad = pathlib.Path("bad").exists()
        usage = {"prompt_tokens": 100 + number, "completion_tokens": 7, "cost": 0.25, "model": "m-1"}
        return {"answer": "good", "documents": ["bad" if bad else "good"], "usage": usage}

    return ask
"""
NUMBERS = [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)]


@pytest.fixture
def spending(project: Example) -> Example:
    project.system(SYSTEM)
    case = "  - {{id: c{0:02}, query: number {0}?, relevant_docs: [good]}}\n"
    cases = "".join(case.format(i) for i in range(N_CASES))
    project.golden.write_text(f"suite: shop\nmetrics: [recall@1, mean_tokens, total_cost]\ncases:\n{cases}")
    return project


def said(result: pytest.RunResult) -> str:
    return " ".join(str(result.stdout).split())


def calls_of(project: Example) -> int:
    """Return how many calls were made, and forget them."""
    n = len(project.read("calls.txt").splitlines())
    project.write("calls.txt", "")
    return n


def tokens_of(calls: int) -> int:
    return sum(100 + number for number in range(1, calls + 1))


def test_the_sum_of_a_run_has_every_call(spending: Example) -> None:
    result = spending.run("--auepora-report", "json:r.json")
    assert calls_of(spending) == N_CASES
    total = f"{tokens_of(N_CASES):,} + {7 * N_CASES} tokens, cost {0.25 * N_CASES:g}"
    assert f"system: {N_CASES} model calls, {total}" in said(result)
    (suite,) = json.loads(spending.read("r.json"))["suites"]
    spent = {"calls": N_CASES, "input_tokens": tokens_of(N_CASES), "output_tokens": 7 * N_CASES, "cost": 3.0}
    assert suite["system"] == {"total": spent, "models": {"m-1": spent}}
    (stored,) = HistoryStore(spending.path / ".auepora" / "history.sqlite").runs()
    assert stored.aggregate.system == spent


def test_the_sum_has_updates_and_second_looks(spending: Example) -> None:
    result = spending.run("--auepora-update")
    n = calls_of(spending)
    assert n == 2 * N_CASES
    assert f"{n} model calls, {tokens_of(n):,} + {7 * n} tokens" in said(result)
    spending.write("bad", "")
    result = spending.run()
    n = calls_of(spending)
    assert n >= 2 * N_CASES, "every case was asked once more, and those about to fail as well"
    assert f"{n} model calls, {tokens_of(n):,} + {7 * n} tokens" in said(result)
    stored = HistoryStore(spending.path / ".auepora" / "history.sqlite").runs()[0]
    assert (stored.aggregate.system["calls"], stored.aggregate.system["input_tokens"]) == (n, tokens_of(n))


@pytest.mark.parametrize("cost", [0.25, 0.00003], ids=["dear", "cheap"])
def test_a_prompt_of_twice_the_tokens_is_worse(spending: Example, cost: float) -> None:
    spending.edit('"cost": 0.25', f'"cost": {cost:f}', "conftest.py")
    spending.edit(
        "metrics: [recall@1, mean_tokens, total_cost]\n",
        "metrics: [recall@1, mean_tokens, mean_cost]\n"
        "regression: {metrics: {mean_tokens: {policy: auto}, mean_cost: {policy: auto}}}\n",
    )
    assert spending.run("--auepora-update").ret == 0
    calls_of(spending)
    sound = spending.run()
    assert (sound.ret, calls_of(spending)) == (0, N_CASES)
    spending.edit(
        f'100 + number, "completion_tokens": 7, "cost": {cost:f}',
        f'207, "completion_tokens": 7, "cost": {2 * cost:f}',
        "conftest.py",
    )
    result = spending.run()
    assert result.ret == 1
    n = calls_of(spending)
    assert (
        f"system: {n} model calls, {207 * n:,} + {7 * n} tokens, cost {f'{2 * cost * n:f}'.rstrip('0').rstrip('.')}"
        in said(result)
    )
    assert f"mean_cost: {cost:.4f}" in said(result) or f"mean_cost: {cost:.7f}" in said(result)
    assert "worse:" in said(result)
    assert gates(result) == ["regression: mean_tokens", "regression: mean_cost"]


@pytest.mark.parametrize("numbers", NUMBERS)
def test_a_budget_ends_the_run(spending: Example, numbers: tuple[str, ...]) -> None:
    if numbers:
        pytest.importorskip("xdist", reason="needs pytest-xdist")
    result = spending.run("-o", "auepora_budget=cost=1", *numbers, plugins=("xdist",) if numbers else ())
    assert result.ret in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
    assert "auepora_budget: cost 1.25 of 1" in said(result)
    assert calls_of(spending) < N_CASES


def test_a_run_within_its_budget_passes(spending: Example) -> None:
    assert spending.run("-o", f"auepora_budget=cost=3 tokens={tokens_of(N_CASES) + 7 * N_CASES}").ret == 0


def test_a_case_that_fails_is_asked_again_within_the_budget(spending: Example) -> None:
    assert spending.run("--auepora-update").ret == 0
    spending.write("bad", "")
    calls_of(spending)
    result = spending.run("-o", "auepora_budget=cost=5")
    assert notes(result)["call limit"].names == ("c05",)
    assert calls_of(spending) == 21, "it ends with the case that costs more"


def test_there_is_no_second_look_that_would_cost_more(project: Example) -> None:
    usage = '{"prompt_tokens": 1, "completion_tokens": 1}'
    vary(project).edit(
        'return (f"{word} {number}", [word])',
        f'return {{"answer": f"{{word}} {{number}}", "documents": [word], "usage": {usage}}}', "conftest.py",
    )  # fmt: skip
    accepted(project)
    for tokens, looks in ((4 * N_CASES - 1, 1), (4 * N_CASES, 2)):
        says(project, "bad")
        result = project.run("-o", f"auepora_budget=tokens={tokens}")
        assert len(calls(project)) == looks * N_CASES
        once = notes(result).get("looked once")
        assert (once is not None and once.detail == "budget") == (looks == 1)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"usage": usage', '"x": usage', "does not report the tokens of all its model calls"),
        ('"cost": 0.25, ', "", "not every model call has a cost or a price"),
    ],
)
def test_what_a_budget_cannot_count_is_warned_of(spending: Example, old: str, new: str, told: str) -> None:
    spending.edit(old, new, "conftest.py")
    result = spending.run("-o", "auepora_budget=cost=1", "-W", "default")
    assert result.ret == 0
    assert told in said(result)


def test_limits_are_read() -> None:
    assert read_budget(["cost=2.5", "tokens=1_000_000"]) == {"cost": 2.5, "tokens": 1e6}
    for word in ("cost", "money=1", "cost=-1", "tokens=x", "cost=inf"):
        with pytest.raises(pytest.UsageError, match="expected cost=NUMBER or tokens=NUMBER"):
            read_budget([word])
