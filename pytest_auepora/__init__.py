"""RAG regression testing for pytest, and the Auepora framework as a library.

The names in ``__all__`` are public, and so are the modules that the framework's specification names
(``pytest_auepora.core.types``, ``pytest_auepora.metrics.retrieval_basic``, …); everything else is private.  Each
name is imported when it is first used: every pytest run of a project that has this package installed imports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .adapters.haystack import from_haystack
    from .adapters.http import HttpRag
    from .adapters.langchain import from_langchain
    from .adapters.llamaindex import from_llamaindex
    from .api.evaluation import Evaluation, evaluate
    from .api.recorded import score_recorded
    from .core.comparable_score import ComparableScore
    from .core.dataset import EvaluationDataset, InMemoryDataset
    from .core.metrics_base import Measurement, Metric, NotApplicable
    from .core.plan import EvaluationPlan
    from .core.rag_interface import Generator, RAGSystem, RAGSystemProtocol, Retriever, SimpleRAGSystem
    from .core.run import CaseResult, Run
    from .core.runner import AueporaEvaluator
    from .core.types import (
        Document,
        EvaluationSample,
        MetricResult,
        Response,
        RetrievedDocument,
        SystemOutputs,
        TargetCategory,
    )
    from .errors import AueporaError, BaselineError, GoldenFileError, OutputShapeError
    from .history.store import HistoryStore
    from .io.golden.load import load_golden
    from .io.importers.imported import ImportedSuite, Importer
    from .io.streams import open_dataset
    from .metrics.judge.critic import LLMCritic
    from .metrics.registry import Registry
    from .metrics.retrieval_ranking import RankingScores, score_rankings
    from .regression.verdict import Verdict
    from .reporting.report import Report

__version__ = "0.1.0"

__all__ = [
    "AueporaError",
    "AueporaEvaluator",
    "BaselineError",
    "CaseResult",
    "ComparableScore",
    "Document",
    "Evaluation",
    "EvaluationDataset",
    "EvaluationPlan",
    "EvaluationSample",
    "Generator",
    "GoldenFileError",
    "HistoryStore",
    "HttpRag",
    "ImportedSuite",
    "Importer",
    "InMemoryDataset",
    "LLMCritic",
    "Measurement",
    "Metric",
    "MetricResult",
    "NotApplicable",
    "OutputShapeError",
    "RAGSystem",
    "RAGSystemProtocol",
    "RankingScores",
    "Registry",
    "Report",
    "Response",
    "RetrievedDocument",
    "Retriever",
    "Run",
    "SimpleRAGSystem",
    "SystemOutputs",
    "TargetCategory",
    "Verdict",
    "evaluate",
    "from_haystack",
    "from_langchain",
    "from_llamaindex",
    "load_golden",
    "open_dataset",
    "score_rankings",
    "score_recorded",
]

_MODULES = {
    "adapters.haystack": "from_haystack",
    "adapters.http": "HttpRag",
    "adapters.langchain": "from_langchain",
    "adapters.llamaindex": "from_llamaindex",
    "core.dataset": "EvaluationDataset InMemoryDataset",
    "core.metrics_base": "Measurement Metric NotApplicable",
    "core.plan": "EvaluationPlan",
    "core.rag_interface": "Generator RAGSystem RAGSystemProtocol Retriever SimpleRAGSystem",
    "core.comparable_score": "ComparableScore",
    "core.run": "CaseResult Run",
    "core.runner": "AueporaEvaluator",
    "core.types": "Document EvaluationSample MetricResult Response RetrievedDocument SystemOutputs TargetCategory",
    "errors": "AueporaError BaselineError GoldenFileError OutputShapeError",
    "api.recorded": "score_recorded",
    "api.evaluation": "Evaluation evaluate",
    "history.store": "HistoryStore",
    "io.golden.load": "load_golden",
    "io.importers.imported": "ImportedSuite Importer",
    "io.streams": "open_dataset",
    "metrics.judge.critic": "LLMCritic",
    "metrics.registry": "Registry",
    "metrics.retrieval_ranking": "RankingScores score_rankings",
    "regression.verdict": "Verdict",
    "reporting.report": "Report",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
