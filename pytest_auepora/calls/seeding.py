"""Seeds for the global random generators: set before a call, put back after it.

A global generator has one state for the whole process, so this is exact only where one call runs at a time.
"""

from __future__ import annotations

import hashlib
import inspect
import random
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any


def derive_seed(seed: int, case_id: str, repeat: int = 0) -> int:
    """Return the seed of one call: the first 63 bits of SHA-256 over ``seed|case id|repeat``, *repeat* from 0.

    It depends on nothing else, so a case draws the same numbers alone, among others, and in any process.
    """
    digest = hashlib.sha256(f"{seed}|{case_id}|{repeat}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def seeded(fn: Callable[[], Any], seed: int, *, is_async: bool = False) -> Callable[[], Any]:
    """Return *fn* with the generators seeded each time it is called, and while what it returns is awaited.

    With *is_async*, *fn* is called when the coroutine that is returned first runs, not before.
    """

    async def later() -> Any:
        with generators_seeded(seed):
            return await fn()

    async def awaited(value: Awaitable[Any]) -> Any:
        with generators_seeded(seed):
            return await value

    def now() -> Any:
        with generators_seeded(seed):
            value = fn()
        return awaited(value) if inspect.isawaitable(value) else value

    return later if is_async else now


@contextmanager
def generators_seeded(seed: int) -> Iterator[None]:
    """Seed ``random`` and, where they are loaded, numpy's and torch's generators; restore their states at the end.

    numpy takes the lower 32 bits.  Generators that somebody made for themselves are not touched.
    """
    with ExitStack() as states:
        states.callback(random.setstate, random.getstate())
        random.seed(seed)
        if (numpy := sys.modules.get("numpy")) is not None:
            states.callback(numpy.random.set_state, numpy.random.get_state())
            numpy.random.seed(seed % 2**32)
        if (torch := sys.modules.get("torch")) is not None:
            states.callback(torch.set_rng_state, torch.get_rng_state())
            if torch.cuda.is_initialized():
                states.callback(torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all())
            torch.manual_seed(seed)
        yield
