"""Scores in ``--junitxml``: properties of each test that ran golden cases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..reporting.numbers import number
from .keys import PARCELS, SESSION
from .xdist_messages import Parcel

__all__ = ["JUnitProperties"]


class JUnitProperties:
    """In every process that runs tests: pytest carries the properties of an item to whoever writes the file."""

    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Add the properties while the last report of the item, from which the file is made, is still to come."""
        parcels = item.stash.get(PARCELS, [])
        for parcel in parcels:
            prefix = f"auepora.{parcel.result.case_id}." if len(parcels) > 1 else "auepora."
            session = item.config.stash[SESSION]
            owner = session.suite(session.root / parcel.path).owner
            item.user_properties += [(f"{prefix}{name}", text) for name, text in _properties(parcel, owner)]


def _properties(parcel: Parcel, owner: str) -> Iterator[tuple[str, str]]:
    yield "state", parcel.result.state
    if owner:
        yield "owner", owner
    if parcel.variant:
        yield "configuration", parcel.variant
    for name, score in parcel.result.scores.items():
        if score.value is not None:
            yield name, number(score.value, 4)
        elif score.state != "aggregate":
            yield name, f"{score.state}: {score.reason}" if score.reason else score.state
