"""``--auepora-why`` shows by which part a run got worse: it asks the generator with the accepted documents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_auepora.history.accepted import accepted_path

from ..conftest import Example

PAIR = """
def rag():
    def retrieve(query):
        with open("retrievals.txt", "a") as file:
            file.write(query + "\\n")
        return [{"id": k, "text": DOCS[k]} for k in search(query)]

    def generate(query, documents):
        with open("generated.txt", "a") as file:
            file.write(query + "\\n")
        return documents[0]["text"] if documents else "I don't know."

    return retrieve, generate
"""
LESS = ("for k in search(query)]", "for k in search(query) if k != 'refunds']")
REFUSES = ('return documents[0]["text"] if documents else "I don\'t know."', 'return "I cannot tell."')
REPORT = ("--auepora-report", "json:r.json")
TOLD = "auepora: --auepora-why takes 1 call: asking the generator"


@pytest.fixture
def pair(project: Example) -> Example:
    project.system(PAIR)
    project.accept()
    (project.path / "generated.txt").unlink()
    return project


def generated(project: Example) -> int:
    path = project.path / "generated.txt"
    count = len(path.read_text().splitlines())
    path.unlink()
    return count


def why(project: Example, *args: str) -> tuple[dict[str, Any], str]:
    """Return the cause in the report, and what the terminal says."""
    result = project.run("--auepora-why", *REPORT, *args)
    (suite,) = json.loads(project.read("r.json"))["suites"]
    cause: dict[str, Any] = suite["verdict"]["cause"]
    return cause, " ".join(str(result.stdout).split())


def test_a_broken_retriever_is_the_culprit(pair: Example) -> None:
    pair.edit(*LESS, "conftest.py")
    cause, said = why(pair)
    assert cause["culprit"] == "retrieval"
    assert {i: case["culprit"] for i, case in cause["cases"].items()} == {"refund-window": "retrieval"}
    (case,) = cause["cases"].values()
    assert case["effects"]["must_contain"] == {"accepted": 1.0, "now": 0.0, "swapped": 1.0}
    assert "30 days" in case["answer"]
    assert cause["calls"] == 1
    assert "why: retrieval" in said


@pytest.mark.parametrize("options", [("--auepora-concurrency=1",), ("--auepora-concurrency=4",)])
def test_an_asynchronous_system_is_asked_as_well(project: Example, options: tuple[str, ...]) -> None:
    project.system(
        PAIR.replace("    def retrieve", "    async def retrieve").replace("    def gen", "    async def gen")
    )
    project.accept()
    project.edit(*LESS, "conftest.py")
    cause, _ = why(project, *options)
    assert (cause["culprit"], cause["calls"]) == ("retrieval", 1)


def test_a_broken_generator_is_the_culprit_without_a_call(pair: Example) -> None:
    pair.run()
    usual = generated(pair)
    pair.edit(*REFUSES, "conftest.py")
    pair.run()
    red = generated(pair)
    cause, said = why(pair)
    assert cause["culprit"] == "generator"
    assert set(cause["cases"]) >= {"refund-window", "warehouse"}
    assert cause["calls"] == 0  # the same documents were retrieved
    assert (generated(pair), red > usual) == (red, True)
    assert "why: the generator (" in said


def test_both_are_told_apart_from_one(pair: Example) -> None:
    pair.edit(*LESS, "conftest.py")
    pair.edit(*REFUSES, "conftest.py")
    pair.run()
    red = generated(pair)
    cause, _ = why(pair)
    assert cause["cases"]["refund-window"]["culprit"] == "generator"  # the accepted documents would not have helped
    assert (cause["culprit"], list(cause["retrieval"])) == ("both", ["recall@1", "recall@3", "mrr"])
    assert cause["calls"] == generated(pair) - red == 1


def test_a_green_run_asks_nothing(pair: Example) -> None:
    cause, said = why(pair)
    assert (cause["refusal"], cause["calls"]) == ("nothing worse", 0)
    assert generated(pair) == 5
    assert "why: " in said


def test_a_function_without_documents_is_refused_in_two_lines(project: Example) -> None:
    project.accept()
    project.break_retriever()
    cause, said = why(project)
    assert cause["refusal"] == "no generator"
    assert cause["detail"].startswith("answer: ")
    assert "(retriever, generator)" in said


def test_documents_that_nobody_kept_are_asked_for(pair: Example) -> None:
    pair.edit(*LESS, "conftest.py")
    for path in (pair.path / ".auepora" / "accepted").rglob("*.gz"):
        path.unlink()
    cause, said = why(pair)
    assert (cause["refusal"], cause["left_out"]) == ("no accepted documents", {"refund-window": "not kept"})
    assert "auepora_accepted = texts" in said


def test_documents_of_an_older_baseline_are_not_the_accepted(pair: Example) -> None:
    kept = next((pair.path / ".auepora" / "accepted").rglob("*.gz"))
    old = kept.read_bytes()
    pair.edit('"refunds": "A refund can', '"refunds": "So: a refund can', "shop.py")
    pair.accept()
    kept.write_bytes(old)
    pair.edit(*LESS, "conftest.py")
    assert why(pair)[0]["left_out"] == {"refund-window": "not kept"}


def test_a_fresh_checkout_has_what_lies_beside_the_baseline(pair: Example) -> None:
    import shutil

    options = ("-o", "auepora_accepted=texts")
    pair.run("--auepora-update=anew", *options)
    assert accepted_path(pair.baseline).exists()
    shutil.rmtree(pair.path / ".auepora")
    pair.edit(*LESS, "conftest.py")
    assert why(pair)[0]["culprit"] == "retrieval"


@pytest.mark.parametrize(
    ("args", "refusal"),
    [(("-k", "refund"), "partial run"), (("-n1", "-p", "xdist"), "workers")],
)
@pytest.mark.slow
def test_it_says_where_it_could_not_ask(pair: Example, args: tuple[str, ...], refusal: str) -> None:
    assert why(pair, "-k", "refund")[0]["refusal"] == "partial run", "also where there would be nothing to ask"
    pair.edit(*LESS, "conftest.py")
    cause, said = why(pair, *args)
    assert (cause["refusal"], "why: not shown: " in said) == (refusal, True)


def test_nothing_is_worse_without_a_baseline(project: Example) -> None:
    cause, said = why(project)
    assert cause["refusal"] == "no baseline"
    assert "why: " in said


def test_calls_are_said_before_they_are_made(pair: Example) -> None:
    pair.edit(*LESS, "conftest.py")
    _, said = why(pair)
    before, _, after = said.partition(TOLD)
    assert "FAILURES" not in before
    assert "why: retrieval" in after
    pair.edit(*REFUSES, "conftest.py")
    assert TOLD.partition(" takes")[0] not in why(pair, "-o", "auepora_history=off")[1]


def test_a_system_for_one_test_alone_is_not_asked(project: Example) -> None:
    project.system(PAIR, scope="function")
    project.accept()
    project.edit(*LESS, "conftest.py")
    assert why(project)[0]["refusal"] == "scope"


def test_the_most_calls_hold(pair: Example) -> None:
    pair.edit(*LESS, "conftest.py")
    pair.run()
    n_calls = generated(pair)
    cause, _ = why(pair, f"--auepora-max-calls={n_calls}")
    assert (cause["refusal"], cause["left_out"]) == ("calls", {"refund-window": "calls"})


def test_an_earlier_run_takes_calls_of_the_generator_alone(pair: Example) -> None:
    pair.edit(*LESS, "conftest.py")
    pair.run()
    generated(pair)
    (pair.path / "retrievals.txt").unlink()
    cause, _ = why(pair, "--auepora-replay=last")
    assert (cause["culprit"], cause["calls"]) == ("retrieval", 1)
    assert generated(pair) == 1


def test_what_the_generator_raises_with_them_is_not_its_fault(pair: Example) -> None:
    pair.edit(*LESS, "conftest.py")
    pair.edit("    def generate(query, documents):\n", "    def generate(query, documents):\n        assert "
              "all(d['id'] != 'refunds' for d in documents), 'cannot read it'\n", "conftest.py")  # fmt: skip
    cause, said = why(pair)
    assert (cause["refusal"], cause["left_out"]) == ("raised", {"refund-window": "raised"})
    assert "cannot read it" in said


TEST = """
def test_shop(auepora):
    run = auepora.evaluate("shop.golden.yaml")
    cause = run.why()
    assert cause is run.why()
    assert (cause.culprit, cause.calls, cause.refusal) == {}
"""


@pytest.mark.parametrize(
    ("edits", "found"),
    [((LESS,), ("retrieval", 1, "")), ((REFUSES,), ("generator", 0, "")), ((), (None, 0, "nothing worse"))],
)
def test_a_test_asks_by_run_why(pair: Example, edits: Any, found: Any) -> None:
    for old, new in edits:
        pair.edit(old, new, "conftest.py")
    pair.write("test_shop.py", TEST.format(found))
    result = pair.run("test_shop.py", auepora=False)
    assert result.ret == 0, str(result.stdout)


def test_evaluate_without_pytest_asks_as_well(pair: Example) -> None:
    from pytest_auepora import evaluate

    def found(query: str) -> list[dict[str, str]]:
        return [{"id": "x", "text": f"nothing on {query}"}]

    def said(query: str, documents: list[dict[str, str]]) -> str:
        return documents[0]["text"] if documents else "I don't know."

    cause = evaluate(pair.golden, (found, said)).why()
    assert (cause.culprit, cause.left_out) == ("retrieval", {})
    assert cause.calls == len(cause.cases) == 5
    assert evaluate(pair.golden, lambda query: ("no idea", [])).why().refusal == "no generator"
