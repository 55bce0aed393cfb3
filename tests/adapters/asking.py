"""Calls a system as the plugin does."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

from pytest_auepora.adapters.systems import System, as_system
from pytest_auepora.core.types import EvaluationSample, SystemOutputs

SAMPLE = EvaluationSample("case-1", "When can I ask for a refund?")


def ask(obj: Any, sample: EvaluationSample = SAMPLE) -> SystemOutputs:
    """Adapt *obj* unless it is adapted, call it, and read what it gave."""
    system = as_system(obj)
    raw = system.invoke(sample, 5)
    assert inspect.isawaitable(raw) == system.is_async
    if inspect.isawaitable(raw):
        raw = asyncio.run(_settled(raw))
    return system.as_outputs(raw, 1.5)


async def _settled(raw: Any) -> Any:
    return await raw


def ids(outputs: SystemOutputs) -> list[str]:
    return [r.doc.doc_id for r in outputs.retrieved]


def is_async(obj: Any) -> bool:
    return as_system(obj).is_async


__all__ = ["SAMPLE", "System", "ask", "ids", "is_async"]
