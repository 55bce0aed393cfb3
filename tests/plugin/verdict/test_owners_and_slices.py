"""Owners of metrics and slices of a suite, from the golden file to every report."""

from __future__ import annotations

import json

from ..conftest import Example
from ..listening import gates, mistakes, outcomes

HEAD = """\
suite: shop
owner: shop-team
owners: {mrr: search-team}
metrics: [mrr, token_f1]
thresholds: {mrr: 1.0}
regression: {slices: [{scenario: typo}, language]}
cases:
"""


def many(project: Example, typos: int = 12, others: int = 28) -> None:
    """Cases that the shop answers from one document each; the typos all ask about refunds."""
    cases = [("t", i, "refund", "refunds", "scenario: typo") for i in range(typos)]
    cases += [("c", i, "parcels warehouse", "shipping", "labels: {language: en}") for i in range(others)]
    text = "".join(
        f"  - id: {kind}{i:02}\n    query: {query} {i}?\n    relevant_docs: [{doc}]\n    {label}\n"
        for kind, i, query, doc, label in cases
    )
    project.write("shop.golden.yaml", HEAD + text)


def test_a_slice_that_got_worse_fails_and_names_its_owner(project: Example) -> None:
    many(project)
    project.edit("regression: {", "regression: {case_max_drop: 1, min_effect: 0.5, ")
    project.accept()
    project.break_retriever()
    result = project.run("--junitxml=junit.xml", "-o", "auepora_history=off")
    assert "regression: mrr{scenario=typo}" in gates(result)
    assert "regression: mrr" not in gates(result)  # the whole fell by less than min_effect
    assert outcomes(result)["regression: mrr{scenario=typo}"].owner == "search-team"
    assert "mrr{scenario=typo}" in str(result.stdout).split("= auepora =")[1]
    assert "mrr{scenario=typo}" in (project.path / "junit.xml").read_text()


def test_mistakes_in_owners_and_slices_have_their_line(project: Example) -> None:
    many(project, 1, 1)
    project.edit("owners: {mrr: search-team}", "owners: {mr: search-team}")
    project.edit("[{scenario: typo}, language]", "['scenario:typo', {language: fr}, {}, langage]")
    metric, empty = mistakes(project.run())
    assert (metric.line, metric.col, "'mrr'" in metric.message) == (3, 10, True)
    assert (empty.line, empty.col) == (6, 56)
    project.edit("owners: {mr: search-team}\n", "")
    project.edit("{}, ", "")
    found = mistakes(project.run())
    assert [(one.line, one.col) for one in found] == [(5, 23), (5, 40), (5, 56)]
    for one, wanted in zip(found, ("{scenario: typo}", "language: fr", "'language'"), strict=True):
        assert wanted in one.message


def test_owners_are_in_the_stored_run(project: Example) -> None:
    many(project, 1, 1)
    project.run()
    from pytest_auepora.history.store import HistoryStore

    store = HistoryStore(str(project.path / ".auepora" / "history.sqlite"))
    run = store.load(store.resolve("last"))
    assert (run.owner_of("mrr"), run.owner_of("token_f1")) == ("search-team", "shop-team")
    assert json.loads(json.dumps(run.to_dict()))["metrics"]["mrr"]["owner"] == "search-team"
