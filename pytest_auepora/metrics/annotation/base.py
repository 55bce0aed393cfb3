"""What the metrics over labels have in common: the option that says where labels come from."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from ...errors import MetricError
from ..options import Configured
from .labels import LabelSource
from .sources import AnnotationFile, GoldenLabels

__all__ = ["Labelled"]


class Labelled(Configured):
    """A metric over labels.

    Args:
        labels: ``golden`` (what the case itself says), ``judge`` (the one of the environment), the path of an
            annotation file, or in Python a `LabelSource`.
    """

    labels: str | LabelSource
    oracle: ClassVar[str] = "counted independently on 700 labelled answers, and by hand"
    source: ClassVar[str] = "label taxonomy for retrieval, grounding and generation"

    def __post_init__(self) -> None:
        self._source = _source(self.labels)
        if not self._source.deterministic:
            vars(self)["deterministic"] = False
        vars(self)["judged"] = self._source.judged
        vars(self)["concurrency"] = self._source.concurrency
        super().__post_init__()

    def spelled_options(self) -> dict[str, Any]:
        """Return the options of the bracket; a `LabelSource` is shown by its class."""
        options = super().spelled_options()
        if isinstance(self.labels, LabelSource):
            options["labels"] = type(self.labels).__name__
        return options

    def params(self) -> dict[str, Any]:
        """Return the options that change the score, with where labels come from."""
        return {**super().params(), "labels": self._source.params()}


def _source(labels: str | LabelSource) -> LabelSource:
    if isinstance(labels, LabelSource):
        return labels
    if labels == "golden":
        return GoldenLabels()
    if labels == "judge":
        from ..judge.settings import critic_from_environment
        from .judge import JudgeLabels

        return JudgeLabels(critic_from_environment())
    if not Path(labels).suffix:
        raise MetricError(f"labels must be golden, judge or the path of an annotation file, got {labels!r}")
    return AnnotationFile(labels)
