"""RAG regression testing for pytest, and the Auepora framework as a library.

The public names below are imported when they are first used: importing this package costs nothing,
which every pytest run of a project that has it installed would otherwise pay for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .adapters.http import HttpRag as HttpRag
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
    from .evaluation.suite import Evaluation as Evaluation
    from .evaluation.suite import evaluate as evaluate
    from .history.store import HistoryStore as HistoryStore
    from .metrics.rankings import RankingScores as RankingScores
    from .metrics.rankings import score_rankings as score_rankings
    from .metrics.registry import Registry as Registry

__version__ = "0.1.0"

_HOMES = {
    "core.dataset": ("EvaluationDataset", "InMemoryDataset"),
    "core.metrics_base": ("Measurement", "Metric", "NotApplicable"),
    "core.plan": ("EvaluationPlan",),
    "core.rag_interface": ("Generator", "RAGSystem", "RAGSystemProtocol", "Retriever", "SimpleRAGSystem"),
    "core.run": ("CaseResult", "Run"),
    "core.runner": ("AueporaEvaluator",),
    "core.types": (
        "Document",
        "EvaluationSample",
        "MetricResult",
        "Response",
        "RetrievedDocument",
        "SystemOutputs",
        "TargetCategory",
    ),
    "adapters.http": ("HttpRag",),
    "errors": ("AueporaError",),
    "evaluation.suite": ("Evaluation", "evaluate"),
    "history.store": ("HistoryStore",),
    "metrics.rankings": ("RankingScores", "score_rankings"),
    "metrics.registry": ("Registry",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME_OF])
