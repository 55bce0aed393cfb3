"""What is said before anything is collected; what results take to be shown is not imported for it."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["header_lines"]


def header_lines(
    *,
    files: Sequence[str] = (),
    concurrency: int | None = None,
    timeout: float | None = None,
    seed: int | None = None,
    spread: bool = False,
    accepting: str = "",
    baseline: str = "",
) -> list[str]:
    """Return what stands below pytest's own header, before anything is collected.

    Args:
        files: the globs of golden files.
        concurrency: calls in flight, if given.
        timeout: seconds a call may take, if given.
        seed: of the random generators, if given.
        spread: whether the cases are shared out among workers, each of which makes one call at a time.
        accepting: the words of ``--auepora-update``.
        baseline: where baselines are looked for, if not beside the golden files.
    """
    said = [f"golden files {' '.join(files)}"] if files else []
    singly = "one call at a time" + (" in each worker" if spread else "")
    if concurrency is not None and seed is None:
        said.append(singly if spread else f"concurrency {concurrency}")
    if timeout is not None:
        said.append(f"timeout {timeout:g} s")
    if seed is not None:
        said.append(f"seed {seed}, {singly}")
    if baseline:
        said.append(f"baselines in {baseline}")
    lines = [f"auepora: {', '.join(said)}"] if said else []
    if accepting:
        lines.append(f"auepora: accepting results into the baseline ({accepting})")
    return lines
