"""Rows of the table that run whole pytest processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from .measuring import ACCEPT, ENTRY, FLOOR, GOLDEN, NO_PLUGIN, Row, process, pytest_process
from .projects import CORPUS, FAILING, golden, parametrized

__all__ = ["rows"]


def rows(folder: Path, *, quick: bool) -> Iterator[Callable[[], Row]]:
    """Yield what makes each row."""
    many = 3000 if quick else 10_000

    def idle() -> Row:
        """idle: pytest on a trivial file, plugin installed"""
        one = parametrized(folder / "idle", 1)
        return Row(
            idle.__doc__ or "", "<= 1.03", lambda: pytest_process(one, *ENTRY).cpu,
            lambda: pytest_process(one, *NO_PLUGIN).cpu, "pytest without it",
        )  # fmt: skip

    def thousand() -> Row:
        """1,000 golden cases, six metrics, baseline compared"""
        return _sized(thousand.__doc__ or "", "<= 2.2", folder, 1000)

    def stemmer() -> Row:
        """of that, the import of rouge-score's stemmer"""
        _, floor = _pair(folder, 1000)
        return Row(
            stemmer.__doc__ or "", FLOOR, lambda: process(floor, "-c", "import rouge_score.tokenizers").cpu,
            lambda: pytest_process(floor, *NO_PLUGIN).cpu, "empty parametrize",
        )  # fmt: skip

    def ten_thousand() -> Row:
        return _sized(ten_thousand.__doc__ or "", "<= 2.2", folder, many)

    def memory() -> Row:
        """peak memory at 10,000 cases"""
        ours, floor = _pair(folder, many)
        return Row(
            f"peak memory at {many:,} cases", "<= 3", lambda: pytest_process(ours, *GOLDEN).memory,
            lambda: pytest_process(floor, *NO_PLUGIN).memory, "empty parametrize", "MiB",
        )  # fmt: skip

    def failing() -> Row:
        """1,000 failing cases"""
        ours = folder / "failing"
        if not ours.exists():
            pytest_process(golden(ours, 1000, corpus=CORPUS), *ACCEPT)
            golden(ours, 1000, failing=True, corpus=CORPUS)
        floor = parametrized(folder / "floor-1000", 1000)
        return Row(
            failing.__doc__ or "", "<= 3.5", lambda: pytest_process(ours, *GOLDEN, expect=(1,)).cpu,
            lambda: pytest_process(floor, *NO_PLUGIN).cpu, "empty parametrize, passing",
        )  # fmt: skip

    def failing_alone() -> Row:
        """of that, pytest alone: 1,000 tests that fail with two lines"""
        fails = parametrized(folder / "floor-failing", 1000, body=FAILING)
        floor = parametrized(folder / "floor-1000", 1000)
        return Row(
            failing_alone.__doc__ or "", FLOOR, lambda: pytest_process(fails, *NO_PLUGIN, expect=(1,)).cpu,
            lambda: pytest_process(floor, *NO_PLUGIN).cpu, "empty parametrize, passing",
        )  # fmt: skip

    ten_thousand.__doc__ = f"{many:,} golden cases"
    yield from (idle, thousand, stemmer, failing, failing_alone, ten_thousand, memory)
    yield _constant(folder, 5000 if quick else 100_000)


def _pair(folder: Path, n: int) -> tuple[Path, Path]:
    ours = folder / f"golden-{n}"
    if not ours.exists():
        pytest_process(golden(ours, n, corpus=CORPUS), *ACCEPT)
    floor = parametrized(folder / f"floor-{n}", n)
    pytest_process(floor, "--collect-only")  # byte code
    return ours, floor


def _sized(title: str, goal: str, folder: Path, n: int) -> Row:
    ours, floor = _pair(folder, n)
    return Row(
        title,
        goal,
        lambda: pytest_process(ours, *GOLDEN).cpu,
        lambda: pytest_process(floor, *NO_PLUGIN).cpu,
        "empty parametrize",
    )


def _constant(folder: Path, many: int, few: int = 1000) -> Callable[[], Row]:
    """What a case costs at two sizes, without what a process costs that has one case."""

    def constant() -> Row:
        def project(n: int) -> Path:
            made = golden(folder / f"corpus-{n}", n, corpus=CORPUS)
            pytest_process(made, *ACCEPT)
            return made

        one, small, large = map(project, (1, few, many))

        def cost(path: Path, n: int) -> float:
            return 1e3 * (pytest_process(path, *GOLDEN).cpu - pytest_process(one, *GOLDEN).cpu) / (n - 1)

        return Row(
            constant.__doc__ or "", "<= 1.2", lambda: cost(large, many), lambda: cost(small, few),
            f"{few:,} cases, each without start-up", "ms of processor time", at_most=2,
        )  # fmt: skip

    constant.__doc__ = f"cost of a case at {many:,} as at {few:,}"
    return constant
