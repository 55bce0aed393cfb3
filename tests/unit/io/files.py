"""Golden files written and read in tests."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_auepora.errors import GoldenFileError
from pytest_auepora.io.golden import GoldenSuite, load_golden

CASE = "\ncases: [{id: a, query: Q}]\n"


def write(folder: Path, text: str | bytes, name: str = "shop.golden.yaml") -> Path:
    """Write *text*, its common indentation taken away."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())
    return path


def load(folder: Path, text: str | bytes, name: str = "shop.golden.yaml") -> GoldenSuite:
    return load_golden(write(folder, text, name))


def problems(folder: Path, text: str | bytes, name: str = "shop.golden.yaml") -> list[str]:
    """What reading *text* complains about: ``line:col: message``, the path left out."""
    path = write(folder, text, name)
    with pytest.raises(GoldenFileError) as caught:
        load_golden(path)
    for line in str(caught.value).splitlines():
        assert line.startswith(f"{path}:")
    return [str(p).removeprefix(f"{path}:").strip() for p in caught.value.problems]


@contextmanager
def complains(told: str) -> Iterator[None]:
    with pytest.raises(GoldenFileError) as caught:
        yield
    assert told in str(caught.value)
