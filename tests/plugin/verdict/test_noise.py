"""Irrelevant documents in the context: pairs for noise robustness, and systems that have no context."""

from __future__ import annotations

import pytest

from ..conftest import Example
from ..listening import judged

GOLDEN = """\
suite: shop
metrics: [recall@1, "noise_robustness[contains_answer]"]
thresholds: {"noise_robustness[contains_answer]": 0.9}
cases:
  - id: warehouse
    query: When do parcels leave the warehouse?
    relevant_docs: [shipping]
    reference_answer: Parcels leave the warehouse within two working days.
  - id: warehouse-noise-1
    variant_of: warehouse
    scenario: noise
    query: When do parcels leave the warehouse?
    relevant_docs: [shipping]
    reference_answer: Parcels leave the warehouse within two working days.
    noise_docs: ["When do parcels leave the warehouse? asks a customer.", {id: x, text: Cakes are sweet.}]
"""

SYSTEM = """
def rag():
    def retrieve(query):
        return [{"id": key, "text": DOCS[key]} for key in search(query)]

    def generate(query, documents):
        return max(documents, key=lambda d: RULE)["text"]

    return retrieve, generate
"""
CONFUSED = 'len(set(query.split()) & set(d["text"].split()))'
STEADY = '("within" in d["text"], "warehouse" in d["text"])'


@pytest.mark.parametrize(("rule", "value"), [(STEADY, 1), (CONFUSED, 0)])
def test_noise_robustness_by_noise_in_the_context(project: Example, rule: str, value: float) -> None:
    project.write("shop.golden.yaml", GOLDEN)
    project.system(SYSTEM.replace("RULE", rule))
    result = project.run()
    aggregates = judged(result).verdict.aggregates
    assert aggregates["noise_robustness[contains_answer]"].value == value
    assert result.ret == (value == 0)
    assert aggregates["recall@1"].value == 1, "what was retrieved has no noise in it"


def test_a_system_without_a_context_is_an_error_not_a_pass(project: Example) -> None:
    project.write("shop.golden.yaml", GOLDEN)
    result = project.run()
    assert result.ret == 1
    cases = judged(result).run.cases
    assert [case.state for case in cases.values()] == ["passed", "error"]
    assert "noise_docs: answer " in cases["warehouse-noise-1"].error


def test_a_system_that_reads_them_itself(project: Example) -> None:
    project.write("shop.golden.yaml", GOLDEN)
    project.system(
        "def rag():\n"
        "    def ask(query, sample):\n"
        "        assert len(sample.labels.get('noise_docs', [0, 0])) == 2\n"
        "        return answer(query)\n\n"
        "    ask.takes_noise_docs = True\n"
        "    return ask\n"
    )
    assert project.run().ret == 0
