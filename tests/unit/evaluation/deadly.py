"""Metrics at the top level of a module, so that other processes find them."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

from pytest_auepora.core.metrics_base import Measurement, Metric, NotApplicable
from pytest_auepora.core.types import EvaluationSample, SystemOutputs, TargetCategory


class Deadly(Metric):
    """Ends the process over the case ``at``, once if ``mark`` is a path."""

    name = "deadly"
    target = TargetCategory.GENERATION_RELEVANCE

    def __init__(self, at: str = "c300", mark: str = "") -> None:
        self.at, self.mark = at, mark

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement:
        if sample.sample_id == self.at and not (self.mark and Path(self.mark).exists()):
            if self.mark:
                Path(self.mark).touch()
            os._exit(9)
        return Measurement(1.0)


class Locked(Deadly):
    """Cannot be sent anywhere."""

    name = "locked"

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


class InBatches(Metric):
    """Scores the length of an answer, notes how many cases it got at once, and dislikes one of them."""

    name = "in_batches"
    target = TargetCategory.GENERATION_RELEVANCE
    range = (0.0, float("inf"))

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        return self.measure_many([sample], [outputs])[0]

    def measure_many(
        self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]
    ) -> list[Measurement | NotApplicable]:
        self.sizes.append(len(samples))
        if any("bad" in o.response.text for o in outputs):
            raise ValueError("bad answer")
        return [Measurement(float(len(o.response.text))) for o in outputs]
