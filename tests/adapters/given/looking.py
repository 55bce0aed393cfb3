"""Looks between the retriever and the generator of a system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pytest_auepora.adapters.parts import unless_served
from pytest_auepora.adapters.systems import System
from pytest_auepora.core.types import EvaluationSample, RetrievedDocument, SystemOutputs
from pytest_auepora.evaluation.reuse import digest_of

from ..asking import SAMPLE, ask


class Looked(NamedTuple):
    """What came of a call; ``seen`` are digests of what was retrieved."""

    outputs: SystemOutputs
    seen: list[str]


def look_at(system: System, *, serves: bool, sample: EvaluationSample = SAMPLE) -> Looked:
    """Ask *system*; where it is served, the answer is ``SERVED``."""
    seen: list[str] = []

    def serve(_: EvaluationSample, documents: Sequence[RetrievedDocument]) -> Any:
        seen.append(digest_of(documents))
        return {"answer": "SERVED", "documents": [*documents]} if serves else None

    return Looked(ask(replace(system, invoke=unless_served(system, serve)), sample), seen)


def check_looking(system: System, calls: list[Any], sample: EvaluationSample = SAMPLE) -> None:
    """Hold a system to what reuse builds on; *calls* are those of its generator."""
    plain = ask(system, sample)
    assert (before := len(calls)) > 0
    served, asked = (look_at(system, serves=serves, sample=sample) for serves in (True, False))
    assert served.outputs.response.text == "SERVED"
    assert asked.outputs.response.text == plain.response.text
    assert served.seen == asked.seen == [digest_of(plain.retrieved)], "what is seen is what a run records"
    assert digest_of(asked.outputs.retrieved) == digest_of(plain.retrieved)
    assert len(calls) == 2 * before, "the generator is asked once more, where nothing serves"
