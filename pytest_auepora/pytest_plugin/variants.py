"""Several configurations of one system in one pytest run: a parametrized ``rag``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pytest

from .keys import SESSION

if TYPE_CHECKING:
    from ..core.run import Run
    from ..reporting.side_by_side.table import SideBySide
    from ..reporting.terminal.layout import Line

__all__ = ["compared_of", "in_order", "variant_lines"]

_COMPARED: pytest.StashKey[list[SideBySide]] = pytest.StashKey()
"""On the config, once everything has been judged."""


def in_order(config: pytest.Config, runs: Mapping[tuple[str, str], Run]) -> list[Run]:
    """Return the runs by golden file, each with the configuration of ``auepora_reference`` first.

    The rest is in the order of names: that of execution differs from run to run under pytest-xdist.
    """
    reference = config.getini("auepora_reference")
    return [runs[key] for key in sorted(runs, key=lambda key: (key[0], key[1] != reference, key[1]))]


def compared_of(config: pytest.Config, runs: Sequence[Run]) -> list[SideBySide]:
    """Return the suites that several configurations ran, side by side; worked out once for all that show it."""
    if len({run.path for run in runs}) == len(runs):
        return []
    if _COMPARED not in config.stash:
        from ..reporting.side_by_side.table import side_by_sides

        config.stash[_COMPARED] = side_by_sides(runs, registry=config.stash[SESSION].project.registry)
    return config.stash[_COMPARED]


def variant_lines(config: pytest.Config, runs: Sequence[Run], *, width: int, ascii_only: bool) -> Iterator[Line]:
    """Yield what the closing summary says of suites that several configurations ran."""
    found = compared_of(config, runs)
    if not found:
        return
    from ..reporting.side_by_side.text import side_by_side_lines
    from ..reporting.terminal.layout import Cell

    reference = config.getini("auepora_reference")
    for compared in found:
        yield []
        yield from side_by_side_lines(compared, width=width, ascii_only=ascii_only)
        names = [column.name for column in compared.columns]
        if reference and reference not in names:
            text = f"auepora_reference = {reference}: no such configuration; there is {', '.join(names)}"
            yield [Cell(text, ("yellow",))]
