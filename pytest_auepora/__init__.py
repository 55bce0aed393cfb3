"""RAG regression testing for pytest, and the Auepora framework as a library.

The names in ``__all__`` are public, and so are the modules that the framework's specification names
(``pytest_auepora.core.types``, ``pytest_auepora.metrics.retrieval_basic``, …); everything else is private.  Each
name is imported when it is first used: every pytest run of a project that has this package installed imports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # each as itself, as type checkers read a name that is exported
    from .adapters.haystack import from_haystack as from_haystack
    from .adapters.http import HttpRag as HttpRag
    from .adapters.langchain import from_langchain as from_langchain
    from .adapters.llamaindex import from_llamaindex as from_llamaindex
    from .api.evaluation import Evaluation as Evaluation
    from .api.evaluation import evaluate as evaluate
    from .api.recorded import score_recorded as score_recorded
    from .core.comparable_score import ComparableScore as ComparableScore
    from .core.dataset import EvaluationDataset as EvaluationDataset
    from .core.dataset import InMemoryDataset as InMemoryDataset
    from .core.metrics_base import Measurement as Measurement
    from .core.metrics_base import Metric as Metric
    from .core.metrics_base import NotApplicable as NotApplicable
    from .core.plan import EvaluationPlan as EvaluationPlan
    from .core.rag_interface import Generator as Generator
    from .core.rag_interface import RAGSystem as RAGSystem
    from .core.rag_interface import RAGSystemProtocol as RAGSystemProtocol
    from .core.rag_interface import Retriever as Retriever
    from .core.rag_interface import SimpleRAGSystem as SimpleRAGSystem
    from .core.run import CaseResult as CaseResult
    from .core.run import Run as Run
    from .core.runner import AueporaEvaluator as AueporaEvaluator
    from .core.types import Document as Document
    from .core.types import EvaluationSample as EvaluationSample
    from .core.types import MetricResult as MetricResult
    from .core.types import Response as Response
    from .core.types import RetrievedDocument as RetrievedDocument
    from .core.types import SystemOutputs as SystemOutputs
    from .core.types import TargetCategory as TargetCategory
    from .errors import AueporaError as AueporaError
    from .errors import BaselineError as BaselineError
    from .errors import GoldenFileError as GoldenFileError
    from .errors import OutputShapeError as OutputShapeError
    from .history.store import HistoryStore as HistoryStore
    from .io.golden.load import load_golden as load_golden
    from .io.importers.imported import ImportedSuite as ImportedSuite
    from .io.importers.imported import Importer as Importer
    from .io.streams import open_dataset as open_dataset
    from .metrics.judge.critic import LLMCritic as LLMCritic
    from .metrics.registry import Registry as Registry
    from .metrics.retrieval_ranking import RankingScores as RankingScores
    from .metrics.retrieval_ranking import score_rankings as score_rankings
    from .regression.verdict import Verdict as Verdict
    from .reporting.report import Report as Report

__version__ = "0.1.0"

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
_MODULE_OF = dict(sorted((name, module) for module, names in _MODULES.items() for name in names.split()))

__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
