"""A progress bar for long work, shown only on a terminal and never in a CI job."""

from __future__ import annotations

import os
import sys
import threading
from time import monotonic
from typing import Any


def is_watched() -> bool:
    """Whether standard error is a terminal, and this is no CI job."""
    return not os.environ.get("CI") and sys.stderr is not None and sys.stderr.isatty()


_FEW = 1000  # up to so many steps each is drawn: rate-limited, the last of several that end together is not shown
_EVERY = 0.5  # seconds after which an idle bar is redrawn, for its clock


class Progress:
    """Counts finished steps; shows a bar on standard error where *show*, by default where `is_watched`.

    Any thread may count; only the thread that created it draws.  *unit* is in the plural, *total* None if not known.
    """

    def __init__(self, unit: str, total: int | None = None, *, show: bool | None = None) -> None:
        self._bar: Any = None
        self._pending, self._lock = 0, threading.Lock()
        self._drawing_thread, self._drawn_at = threading.get_ident(), 0.0
        if is_watched() if show is None else show:
            self.start(unit, total)

    def start(
        self, unit: str, total: int | None, description: str = "", *, file: Any = None, columns: int | None = None
    ) -> None:
        """Show a bar from now on, behind *description*; on standard error, or in *file*, which is *columns* wide."""
        from tqdm import tqdm

        self._bar = tqdm(
            total=total, unit=f" {unit}", file=file or sys.stderr, dynamic_ncols=columns is None, leave=False,
            desc=description or None, ncols=columns, miniters=1, position=None if file is None else 0,
            mininterval=0.1 if total is None or total > _FEW else 0,
        )  # fmt: skip

    def done(self, count: int = 1) -> None:
        """Count *count* finished steps."""
        if self._bar is None:
            return
        with self._lock:
            self._pending += count
        if threading.get_ident() == self._drawing_thread:
            self.draw()

    def draw(self) -> None:
        """Show the steps that other threads counted, and the time; called by the thread that waits for them."""
        if self._bar is None or not (self._pending or monotonic() - self._drawn_at > _EVERY):
            return
        with self._lock:
            count, self._pending = self._pending, 0
        if self._bar.total is not None:
            self._bar.total = max(self._bar.total, self._bar.n + count)
        self._drawn_at = monotonic()
        if not self._bar.update(count) and (not count or self._bar.n == self._bar.total):
            self._bar.refresh()

    def hide(self) -> None:
        """Clear the bar until it is drawn again."""
        if self._bar is not None:
            self._bar.clear()
            self._drawn_at = 0.0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
