"""Gates beside each other: the same answers, judged by ours, by what teams write themselves, and by other programs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from ..verdict.other_rules import RULES
from ..verdict.tables import COMPARED, Rates
from ..verdict.verdict_rates import Counted, rates_of, rows
from .rivals import PROGRAMS, digline, installed

__all__ = ["tables"]

SIZES, BASELINES, RUNS = (20, 60), 60, 5


def _rates(counted: Counted) -> Iterator[tuple[int, str, Rates]]:
    """Yield the rates of each size and compared row, by its short name."""
    headings = {name: heading for heading, of_heading in rows(counted.data).items() for name in of_heading}
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        for n in counted.sizes:
            for short, name in COMPARED.items():
                jobs = [(headings[name], name, n, b) for b in range(counted.baselines)]
                yield n, short, rates_of(list(pool.map(counted.one, jobs, chunksize=4)))


def tables(data: Path, sizes: Sequence[int] = SIZES, baselines: int = BASELINES, runs: int = RUNS) -> Iterator[str]:
    """Yield the lines of a table for each size: the share of red runs by gate and by what happened."""
    there = installed()
    rules = [*RULES, *there.values(), digline]
    titles = [
        *((rule.__doc__ or "").strip() for rule in RULES),
        *(f"{name}: {_lower(rule.__doc__)}" for name, rule in there.items()),
        f"digline, its rule written out: {_lower(digline.__doc__)}",
    ]
    found: dict[int, dict[str, Rates]] = {}
    for n, short, rates in _rates(Counted(data, sizes, baselines, runs, 0, rules)):
        found.setdefault(n, {})[short] = rates
    for n, of_size in found.items():
        yield from _table(n, of_size, titles)
    missing = [name for name in PROGRAMS if not any(one.startswith(f"{name} ") for one in there)]
    told = f"{baselines} baselines, {runs} runs against each where nothing changed and {runs // 5} where something did."
    yield f"{told} Left out, not being installed: {', '.join(missing)}." if missing else told


def _lower(text: str | None) -> str:
    text = (text or "").strip()
    return text if text.split()[0][1:].isupper() else text[:1].lower() + text[1:]


def _table(n: int, of_size: Mapping[str, Rates], titles: Sequence[str]) -> Iterator[str]:
    yield f"| red, of {n} cases | {' | '.join(of_size)} |"
    yield f"|---|{'--:|' * len(of_size)}"
    yield f"| **`pytest --auepora`** | {' | '.join(f'**{rates.red:.0%}**' for rates in of_size.values())} |"
    for i, title in enumerate(titles):
        yield f"| {title} | {' | '.join(f'{rates.others[i]:.0%}' for rates in of_size.values())} |"
    yield ""
