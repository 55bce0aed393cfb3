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
    """

    def __init__(self, what: str, total: int | None = None, *, show: bool | None = None) -> None:
        self._bar: Any = None
        if is_watched() if show is None else show:
            from tqdm import tqdm

            self._bar = tqdm(total=total, unit=f" {what}", file=sys.stderr, dynamic_ncols=True, leave=False)

    def done(self, more: int = 1) -> None:
        """Count *more*."""
        if self._bar is not None:
            self._bar.update(more)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
