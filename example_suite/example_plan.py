"""The same RAG and the same cases without pytest: an `EvaluationPlan`, run by the `AueporaEvaluator`.

.. code-block:: console

    $ python example_suite/example_plan.py
"""

from __future__ import annotations

import sys
from pathlib import Path

from pytest_auepora.core.dataset import InMemoryDataset
from pytest_auepora.core.plan import EvaluationPlan
from pytest_auepora.core.runner import AueporaEvaluator
from pytest_auepora.core.types import MetricResult
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.metrics.additional import MeanLatency
from pytest_auepora.metrics.generation_overlap import EvidenceOverlapFaithfulness, TokenF1
from pytest_auepora.metrics.generation_text import RougeL
from pytest_auepora.metrics.retrieval_basic import RecallAtK
from pytest_auepora.metrics.retrieval_ranking import MRRAtK, NDCGAtK
from pytest_auepora.metrics.robustness import NegativeRejectionRate, RefusalCorrectness
from pytest_auepora.reporting.tables import results_to_markdown

HERE = Path(__file__).resolve().parent
if not __package__:  # run as a script: its own folder is on the import path then, not the one above
    sys.path.insert(0, str(HERE.parent))

from example_suite.simple_rag import Breakage, build_rag  # noqa: E402

GOLDEN = HERE / "python_reference.golden.yaml"
TOP_K = 5


def build_plan() -> EvaluationPlan:
    """Return metrics for retrieval, for generation, and for the system as a whole."""
    return EvaluationPlan(
        metrics=[
            RecallAtK(k=TOP_K),
            MRRAtK(k=TOP_K),
            NDCGAtK(k=TOP_K),
            TokenF1(),
            RougeL(),
            EvidenceOverlapFaithfulness(),
            RefusalCorrectness(),
            NegativeRejectionRate(),
            MeanLatency(),
        ]
    )


def load_dataset(path: Path = GOLDEN) -> InMemoryDataset:
    """Read the golden file as a data set.  Thresholds and gates are pytest's business and stay behind."""
    suite = load_golden(path)
    return InMemoryDataset(suite.name, [case.sample for case in suite.cases])


def evaluate(breakage: Breakage = Breakage.NONE) -> list[MetricResult]:
    """Run the plan over the golden cases."""
    evaluator = AueporaEvaluator(build_rag(breakage), build_plan(), top_k=TOP_K)
    return evaluator.evaluate(load_dataset())


def main() -> None:
    """Print what is measured of what, and the results as a Markdown table."""
    dataset = load_dataset()
    print(f"{dataset.name}: {len(dataset)} cases")
    for target, metrics in build_plan().grouped_by_target().items():
        print(f"  {target.name}: {', '.join(m.name for m in metrics)}")
    print()
    print(results_to_markdown(evaluate(Breakage.from_environment())))


if __name__ == "__main__":
    main()
