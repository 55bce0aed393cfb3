"""Data sets: named, sized, iterable collections of samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from .types import EvaluationSample

__all__ = ["EvaluationDataset", "InMemoryDataset"]


class EvaluationDataset(ABC):
    """A named collection of samples, in a fixed order."""

    @abstractmethod
    def __iter__(self) -> Iterator[EvaluationSample]: ...

    @property
    @abstractmethod
    def name(self) -> str:
        """What reports call it."""

    @abstractmethod
    def __len__(self) -> int: ...


class InMemoryDataset(EvaluationDataset):
    """A data set that is a list."""

    name = ""

    def __init__(self, name: str, samples: Sequence[EvaluationSample]) -> None:
        self.name = name
        self._samples = list(samples)

    def __iter__(self) -> Iterator[EvaluationSample]:
        return iter(self._samples)

    def __len__(self) -> int:
        return len(self._samples)
