"""Counts the comparisons with other people's numbers, and says at the end how many there were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.metrics.registry import Registry

from .rankings import EXACT, Case

_COUNTS: pytest.StashKey[Counter[str]] = pytest.StashKey()
SHARED_DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"


@pytest.fixture
def compared(request: pytest.FixtureRequest) -> Callable[[str, int], None]:
    """A function that notes that this test compared *n* numbers with those of an oracle."""
    counts = request.config.stash.setdefault(_COUNTS, Counter())

    def note(oracle: str, n: int) -> None:
        assert n > 0, f"nothing was compared with {oracle}"
        counts[oracle] += n

    return note


@pytest.fixture
def same(
    compared: Callable[[str, int], None], record_property: Callable[[str, object], None]
) -> Iterator[Callable[..., None]]:
    """Compare our metric on a case with the number somebody else has for it; at least 500 times in a test."""
    done: Counter[str] = Counter()
    registry = Registry()

    def compare(name: str, case: Case, theirs: float, oracle: str) -> None:
        seen = registry.get(name).measure(case.sample, case.outputs)
        assert isinstance(seen, Measurement), (name, case, seen)
        assert seen.value == pytest.approx(theirs, abs=EXACT, rel=EXACT), (name, oracle, case)
        done[oracle] += 1

    yield compare
    for oracle, n in done.items():
        compared(oracle, n)
    record_property("comparisons", done.total())
    assert done.total() >= 500


@pytest.fixture
def shared_data() -> Path:
    """The folder of real data beside the project; skips where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"no real data at {SHARED_DATA}")
    return SHARED_DATA


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    counts = config.stash.get(_COUNTS, Counter())
    if counts:
        terminalreporter.section("comparisons with oracles")
        for oracle, n in sorted(counts.items()):
            terminalreporter.write_line(f"{n:>9,}  {oracle}")
        terminalreporter.write_line(f"{sum(counts.values()):>9,}  in all")
