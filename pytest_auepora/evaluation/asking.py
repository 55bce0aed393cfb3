"""Putting a golden case to a system.  Nothing that scores answers is imported here: calls are under way before that."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..adapters.systems import System
from ..io.golden.load import GoldenCase
from .replay import Answering

__all__ = ["ask_case"]


def ask_case(system: System, case: GoldenCase, repeat: int = 0, *, seed: int | None = None) -> Callable[[], Any]:
    """Return the call that puts *case* to *system* for the time *repeat*, counted from 0, its random numbers seeded.

    What an earlier run answers in place of the system is not asked.
    """
    if isinstance(system, Answering) and (recorded := system.answer(case, repeat)) is not None:
        return recorded
    fn = partial(system.invoke, case.sample, case.top_k)
    if seed is None:
        return fn
    from ..core.seeding import derive_seed, seeded

    return seeded(fn, derive_seed(seed, case.id, repeat), is_async=system.is_async)
