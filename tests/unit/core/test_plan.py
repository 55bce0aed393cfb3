"""A plan groups metrics by target and checks the data set."""

from __future__ import annotations

import pytest

from pytest_auepora.core.dataset import InMemoryDataset
from pytest_auepora.core.plan import EvaluationPlan
from pytest_auepora.core.rag_interface import RAGSystem
from pytest_auepora.core.runner import AueporaEvaluator
from pytest_auepora.core.types import (
    EvaluationSample,
    SystemOutputs,
)
from pytest_auepora.metrics.generation_text import RougeLAnswer
from pytest_auepora.metrics.retrieval_basic import RecallAtK


def test_the_plan_checks_the_data_before_any_call() -> None:
    plan = EvaluationPlan([RecallAtK(1), RecallAtK(5), RougeLAnswer()])
    assert [len(g) for g in plan.grouped_by_target().values()] == [2, 1]
    plan.validate_dataset([])
    bare = InMemoryDataset("bare", [EvaluationSample("1", "q", relevant_docs=[])])

    class Never(RAGSystem):
        def run(self, sample: EvaluationSample, *, top_k: int = 5) -> SystemOutputs:
            raise AssertionError("called")

    with pytest.raises(ValueError, match="missing required field 'reference_answer' for metric 'rougeL_answer'"):
        AueporaEvaluator(Never(), plan).evaluate(bare)
