"""What the project itself says by hooks: of its metrics, its answers, and what nobody may see of them."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..metrics.registry import Registry

if TYPE_CHECKING:
    from ..core.run import CaseResult
    from ..core.types import EvaluationSample, SystemOutputs

__all__ = ["ProjectHooks"]


class ProjectHooks:
    """One per process.  Where nobody has a hook, none is called: that still costs, and there are hooks per case."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._hook = config.hook

    @cached_property
    def registry(self) -> Registry:
        """All metrics, the project's own included."""
        registry = Registry()
        registry.defer(_add_installed)
        self._hook.pytest_auepora_metrics(registry=registry, config=self._config)
        return registry

    @property
    def has_corpus(self) -> bool:
        """Whether it may say what the corpus is."""
        return bool(self._hook.pytest_auepora_corpus.get_hookimpls())

    def corpus(self, suite: str, path: Path) -> Any:
        """Return the corpus of the golden file at *path*, None where nobody knows."""
        return self._hook.pytest_auepora_corpus(config=self._config, suite=suite, path=path)

    def provenance(self, suite: str, path: Path) -> dict[str, Any]:
        """Return what it knows of how the answers to the golden file at *path* come about; the first hook wins."""
        out: dict[str, Any] = {}
        for part in reversed(self._hook.pytest_auepora_provenance(config=self._config, suite=suite, path=path)):
            out.update(part or {})
        return out

    def convert(self, output: Any, sample: EvaluationSample) -> SystemOutputs | None:
        """Return how it reads an answer, None where that is left to us."""
        if not self._hook.pytest_auepora_convert.get_hookimpls():
            return None
        found: SystemOutputs | None = self._hook.pytest_auepora_convert(
            output=output, sample=sample, config=self._config
        )
        return found

    @property
    def redacts(self) -> bool:
        """Whether it takes anything out."""
        return bool(self._hook.pytest_auepora_redact.get_hookimpls())

    def redact(self, result: CaseResult) -> None:
        """Let it take secrets out of what is about to be stored and shown."""
        self._hook.pytest_auepora_redact(result=result, config=self._config)


def _add_installed(registry: Registry) -> None:
    from ..metrics.extensions import add_installed  # reads what is known of every installed package

    add_installed(registry)
