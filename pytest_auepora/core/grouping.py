"""What is alike, told in one go."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Return the values of each key, all in their order."""
    by: dict[K, list[V]] = {}
    for key, value in pairs:
        by.setdefault(key, []).append(value)
    return by
