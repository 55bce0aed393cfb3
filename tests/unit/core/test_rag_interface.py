"""The framework as a library: a system of a retriever and a generator, a plan, the evaluator."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_auepora.core.dataset import InMemoryDataset
from pytest_auepora.core.plan import EvaluationPlan
from pytest_auepora.core.rag_interface import Generator, RAGSystemProtocol, Retriever, SimpleRAGSystem
from pytest_auepora.core.runner import AueporaEvaluator
from pytest_auepora.core.targets import component_of
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, TargetCategory
from pytest_auepora.metrics.generation_text import RougeLAnswer
from pytest_auepora.metrics.retrieval_basic import RecallAtK

SHARED = Path(__file__).resolve().parents[3].parent / "shared"


class Words(Retriever):
    def __init__(self, docs: dict[str, str]) -> None:
        self.docs = docs

    def retrieve(self, query: str, *, top_k: int = 5) -> list[RetrievedDocument]:
        asked = set(query.lower().split())
        found = sorted(self.docs, key=lambda d: (-len(asked & set(self.docs[d].lower().split())), d))
        return [RetrievedDocument(Document(d, self.docs[d]), 1.0 / (i + 1), i + 1) for i, d in enumerate(found)][:top_k]


class First(Generator):
    def generate(self, query: str, context_docs: list[Document]) -> Response:
        return Response(text=context_docs[0].text)


def dataset() -> InMemoryDataset:
    return InMemoryDataset(
        "toy",
        [
            EvaluationSample("1", "red apples", [Document("a", "red apples")], reference_answer=Response("red apples")),
            EvaluationSample("2", "green pears", [Document("b", "green pears"), Document("c")]),
            EvaluationSample("3", "nothing known"),
        ],
    )


SYSTEM = SimpleRAGSystem(Words({"a": "red apples", "b": "green pears", "d": "blue plums"}), First())


def test_the_evaluator_gives_one_result_per_metric() -> None:
    results = AueporaEvaluator(SYSTEM, EvaluationPlan([RecallAtK(k=1), RougeLAnswer()]), top_k=2).evaluate(dataset())
    assert [(r.name, r.target) for r in results] == [
        ("recall@1", TargetCategory.RETRIEVAL_RELEVANCE),
        ("rougeL_answer", TargetCategory.GENERATION_CORRECTNESS),
    ]
    assert results[0].value == pytest.approx(0.75)
    assert results[0].details["num_samples"] == 2
    assert results[1].value == pytest.approx(1.0)
    assert results[1].details == {**results[1].details, "num_samples": 1, "num_skipped": 2}


def test_every_target_belongs_to_a_component() -> None:
    assert {component_of(t) for t in TargetCategory} == {"retrieval", "generation", "system"}


@pytest.mark.shared_data
def test_the_classic_example_runs_with_our_package_name(capsys: pytest.CaptureFixture[str]) -> None:
    seeds = sorted((SHARED / "seeds").glob("002_*.txt"))
    if not seeds:
        pytest.skip("the specification's text is not beside the project")
    section = seeds[0].read_text(encoding="utf-8").split("## 11.")[1]
    found = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert found is not None
    code = found[1].replace("auepora_eval", "pytest_auepora")
    retriever = Words({"d1": "by Ashish Vaswani et al.", "d2": "something else"})
    exec(compile(code, "example", "exec"), {"retriever": retriever, "llm": lambda prompt: "Ashish Vaswani"})
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("recall@5 1.0")
    assert out[1].startswith("rougeL_answer 0.666")


def test_a_simple_system_times_its_parts() -> None:
    timings = SYSTEM.run(EvaluationSample("1", "red"), top_k=1).timings
    assert timings["retrieval"] + timings["generation"] == pytest.approx(timings["end_to_end"])
    assert isinstance(SYSTEM, RAGSystemProtocol)
