"""A progress bar on long work: on a terminal, for a person, and nowhere else."""

from __future__ import annotations

import os
import sys
import threading
from time import monotonic
from typing import Any


def is_watched() -> bool:
    """Whether somebody looks at standard error: it is a terminal, and this is no CI job."""
    return not os.environ.get("CI") and sys.stderr is not None and sys.stderr.isatty()


_FEW = 1000  # steps that may each be drawn: the last of some that end together would wait for the next
_EVERY = 0.5  # seconds after which a bar that stands still shows the time


class Progress:
    """Counts what is done; shows a bar on standard error where *show*, by default where somebody looks.

    Any thread may count; the one that made it draws.

    Args:
        what: the unit, in the plural.
        total: how many there will be; None if that is not known.
        show: whether there is a bar from the start; None asks `is_watched`.
    """

    def __init__(self, what: str, total: int | None = None, *, show: bool | None = None) -> None:
        self._bar: Any = None
        self._undrawn, self._lock = 0, threading.Lock()
        self._draws, self._drawn = threading.get_ident(), 0.0
        if is_watched() if show is None else show:
            self.start(what, total)

    def start(
        self, what: str, total: int | None, why: str = "", *, file: Any = None, columns: int | None = None
    ) -> None:
        """Show a bar from now on, behind *why*; on standard error, or in *file*, which is *columns* wide."""
        from tqdm import tqdm

        self._bar = tqdm(
            total=total, unit=f" {what}", file=file or sys.stderr, dynamic_ncols=columns is None, leave=False,
            desc=why or None, ncols=columns, miniters=1, mininterval=0.1 if total is None or total > _FEW else 0,
        )  # fmt: skip

    def done(self, more: int = 1) -> None:
        """Count *more*."""
        if self._bar is None:
            return
        with self._lock:
            self._undrawn += more
        if threading.get_ident() == self._draws:
            self.draw()

    def draw(self) -> None:
        """Show what other threads counted, and how much time has passed; for who waits for them."""
        if self._bar is None or not (self._undrawn or monotonic() - self._drawn > _EVERY):
            return
        with self._lock:
            more, self._undrawn = self._undrawn, 0
        if self._bar.total is not None:
            self._bar.total = max(self._bar.total, self._bar.n + more)
        self._drawn = monotonic()
        if not self._bar.update(more) and (not more or self._bar.n == self._bar.total):
            self._bar.refresh()

    def hide(self) -> None:
        """Take it off until it is drawn again."""
        if self._bar is not None:
            self._bar.clear()
            self._drawn = 0.0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
