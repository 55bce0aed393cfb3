"""A progress bar on long work: on a terminal, for a person, and nowhere else."""

from __future__ import annotations

import os
import sys
from typing import Any

__all__ = ["Progress", "is_watched"]


def is_watched() -> bool:
    """Whether somebody looks at standard error: it is a terminal, and this is no CI job."""
    return not os.environ.get("CI") and sys.stderr is not None and sys.stderr.isatty()


class Progress:
    """Counts what is done; shows a bar on standard error where *show*, by default where somebody looks.

    Args:
        what: the unit, in the plural.
        total: how many there will be; None if that is not known.
        show: whether there is a bar; None asks `is_watched`.
        why: what stands before the bar.
        file: where it is drawn instead, *columns* wide.
    """

    def __init__(
        self, what: str, total: int | None = None, *, show: bool | None = None, why: str = "", file: Any = None,
        columns: int | None = None,
    ) -> None:  # fmt: skip
        self._bar: Any = None
        if is_watched() if show is None else show:
            from tqdm import tqdm

            self._bar = tqdm(
                total=total, unit=f" {what}", file=file or sys.stderr, dynamic_ncols=columns is None, leave=False,
                desc=why or None, ncols=columns, miniters=1,
            )  # fmt: skip

    def done(self, more: int = 1) -> None:
        """Count *more*."""
        if self._bar is not None:
            self._bar.update(more)

    def hide(self) -> None:
        """Take it off until more is done."""
        if self._bar is not None:
            self._bar.clear()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
