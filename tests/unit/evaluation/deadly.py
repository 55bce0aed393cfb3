"""Metrics at the top level of a module, so that other processes find them."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

from pytest_auepora.core.metrics_base import Measurement, Metric, NotApplicable
from pytest_auepora.core.types import EvaluationSample, SystemOutputs, TargetCategory


class Deadly(Metric):
    """Ends the process over one case."""

    name = "deadly"
    target = TargetCategory.GENERATION_RELEVANCE

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement:
        if sample.sample_id == "c300":
            os._exit(9)
        return Measurement(1.0)


class Locked(Deadly):
    """Cannot be sent anywhere."""

    name = "locked"

    def __init__(self) -> None:
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
