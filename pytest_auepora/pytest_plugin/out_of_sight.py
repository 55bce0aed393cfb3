"""Keeps what a run of many cases holds to its end out of the garbage collector's sight.

It stays because a run of 1,000 cases moves further over its budget of time without it.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ..core.garbage import set_aside

__all__ = ["MANY", "OutOfSight"]

MANY = 100
"""Cases from which on it is worth it: a tenth of the time of a run of 1,000."""


class OutOfSight:
    """While tests run, and once more when pytest looks for garbage at the very end.

    Not in between: plugins that report at the end may ask the collector who refers to what, as hypothesis does.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._bring_back: Callable[[], None] | None = None
        if not hasattr(config, "workerinput"):  # that process ends: the interpreter would walk all of it
            config.add_cleanup(self.show)  # so early that pytest's own, which collects garbage, comes before

    def put(self, n_cases: int) -> None:
        """Put away what there is, if *n_cases* are many; later calls change nothing."""
        if n_cases >= MANY and self._bring_back is None:
            self._bring_back = set_aside()

    def show(self) -> None:
        """Bring it back."""
        if self._bring_back is not None:
            self._bring_back()
            self._bring_back = _nothing

    def put_again(self) -> None:
        """Put away what there is if there was anything before."""
        if self._bring_back is not None:
            self._bring_back = set_aside()


def _nothing() -> None:
    """There is nothing to bring back."""
