"""How often the verdict raises a false alarm, and how often it sees a real loss, beside the naive gate.

    python -m tests.benchmarks.simulate_verdict --runs 1000 --write docs/pages/verdict-simulation.md

Each run draws n of the source's cases, changes the system in one of several ways and judges four metrics with
the gate exactly as users get it.  Everything is seeded: the same command gives the same table.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import fmean

from pytest_auepora.regression.policy import CLUSTERS_FOR_STATISTICS
from pytest_auepora.regression.statistics.significance import PairedMetric, judge_family

if __package__ in (None, ""):  # run as a script, not as a module
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks.score_sources import METRICS, VARIANTS, ClapNq, Mixture, Pair, Source

SIZES = (30, 50, 100, 200)
NAIVE_DROP = 0.02
DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "clapnq-dev"


@dataclass(frozen=True, slots=True)
class Experiment:
    """The cases of one simulated run: id → scores before and after, which of them belong together, slices of them."""

    pairs: dict[str, Pair]
    clusters: dict[str, str] = field(default_factory=dict)
    slices: tuple[frozenset[str], ...] = ()

    def family(self) -> list[PairedMetric]:
        """The metrics over all cases, then over each slice that is large enough to be judged."""
        return [
            PairedMetric(f"{name} {s}", {i: self.pairs[i][1][m] - self.pairs[i][0][m] for i in sorted(part)})
            for s, part in enumerate([frozenset(self.pairs), *self.slices])
            for m, name in enumerate(METRICS)
            if not s or len({self.clusters.get(case, case) for case in part}) >= CLUSTERS_FOR_STATISTICS
        ]


Scenario = Callable[[Source, int, Random], Experiment]


def swapped(pair: Pair, rng: Random) -> Pair:
    """Exchange before and after at random: whatever the pair is, nothing changed on average."""
    return (pair[1], pair[0]) if rng.random() < 0.5 else pair


def drawn(pairs: Sequence[Pair], n: int, rng: Random) -> dict[str, Pair]:
    return {f"c{i}": swapped(pairs[i], rng) for i in rng.sample(range(len(pairs)), n)}


def rechunked(source: Source, n: int, rng: Random) -> Experiment:
    return Experiment(drawn(source.rechunked(), n, rng))


def retuned(source: Source, n: int, rng: Random) -> Experiment:
    return Experiment(drawn(source.retuned(), n, rng))


def sliced(scenario: Scenario) -> Scenario:
    """Judge four slices beside the whole: two of a third of the cases, and two that overlap with them."""

    def parted(source: Source, n: int, rng: Random) -> Experiment:
        seen = scenario(source, n, rng)
        ids = sorted(seen.pairs)
        parts = [ids[: n // 3], ids[n // 3 : 2 * n // 3], ids[::2], ids[1::3]]
        return Experiment(seen.pairs, seen.clusters, tuple(map(frozenset, parts)))

    return parted


def skewed(rare: float) -> Scenario:
    """Nothing changed on average, but unevenly: a tenth of the cases move by *rare*, the others against it."""

    def uneven(source: Source, n: int, rng: Random) -> Experiment:
        changes = [rare if rng.random() < 0.1 else -rare / 9 for _ in range(n)]
        width = len(METRICS)
        return Experiment({f"c{i}": ((0.5,) * width, (0.5 + d,) * width) for i, d in enumerate(changes)})

    return uneven


def variants(source: Source, n: int, rng: Random) -> Experiment:
    """n cases that are n / 5 questions, each asked five ways; what happens to a question happens to all of them."""
    questions = source.variants()
    pairs: dict[str, Pair] = {}
    clusters: dict[str, str] = {}
    for q in rng.sample(range(len(questions)), n // VARIANTS):
        exchange = rng.random() < 0.5
        for v, (before, after) in enumerate(questions[q]):
            pairs[f"c{q}-{v}"] = (after, before) if exchange else (before, after)
            clusters[f"c{q}-{v}"] = f"c{q}"
    return Experiment(pairs, clusters)


def variants_unclustered(source: Source, n: int, rng: Random) -> Experiment:
    return Experiment(variants(source, n, rng).pairs)


def losing(share: float) -> Scenario:
    def lost(source: Source, n: int, rng: Random) -> Experiment:
        cases = rng.sample(range(len(source)), n)
        pairs = source.lost_chunks(share, cases, rng)
        return Experiment({f"c{i}": pair for i, pair in zip(cases, pairs, strict=True)})

    return lost


@dataclass(slots=True)
class Tally:
    """What became of the runs of one scenario at one size."""

    runs: int = 0
    naive: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    detectable: list[float] = field(default_factory=list)

    def share(self, *outcomes: str) -> float:
        return sum(self.outcomes[o] for o in outcomes) / self.runs


def simulate(scenario: Scenario, source: Source, n: int, runs: int, seed: int = 0) -> Tally:
    """Judge *runs* simulated runs of *n* cases."""
    rng = Random(f"{seed} {n}")
    tally = Tally()
    for _ in range(runs):
        experiment = scenario(source, n, rng)
        family = experiment.family()
        verdict = judge_family(family, experiment.clusters)
        tally.runs += 1
        tally.naive += any(fmean(m.differences.values()) <= -NAIVE_DROP for m in family)
        tally.outcomes[verdict.outcome] += 1
        if verdict.metrics[0].mde is not None:
            tally.detectable.append(verdict.metrics[0].mde)
    return tally


FALSE_ALARMS: dict[str, Scenario] = {
    "other chunking, nothing changed on average": rechunked,
    "small retuning, nothing changed on average": retuned,
    "five variants of each question, clustered": variants,
    "five variants of each question, clusters ignored": variants_unclustered,
    "few cases lose 0.5, the others gain, mean 0": skewed(-0.5),
    "few cases gain 0.5, the others lose, mean 0": skewed(0.5),
}
LOSSES: dict[str, Scenario] = {
    "5 % of the chunks lost": losing(0.05),
    "10 % of the chunks lost": losing(0.10),
    "20 % of the chunks lost": losing(0.20),
}
SLICED: dict[str, Scenario] = {
    "other chunking, four slices judged as well": sliced(rechunked),
    "10 % of the chunks lost, four slices judged as well": sliced(losing(0.10)),
}


def report(source: Source, runs: int, sizes: Sequence[int], seed: int) -> str:
    """Simulate everything and lay it out as Markdown tables."""
    out = [
        f"Scores: {source.name}; metrics {', '.join(METRICS)}; {runs:,} runs per row, seed {seed}.",
        f"One standard error of a share of 5 % is {math.sqrt(0.05 * 0.95 / runs):.1%}.",
        "",
        "## False alarms: nothing got worse",
        "",
        *_table(FALSE_ALARMS, source, runs, sizes, seed, "false alarms"),
        "",
        "## Power: something did",
        "",
        *_table(LOSSES, source, runs, sizes, seed, "detected"),
    ]
    return "\n".join(out) + "\n"


def _table(
    scenarios: dict[str, Scenario], source: Source, runs: int, sizes: Sequence[int], seed: int, what: str
) -> list[str]:
    rows = [
        f"| change | n | naive gate, {what} | this gate, {what} | inconclusive | passes | detects ({METRICS[0]}) |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, scenario in scenarios.items():
        for n in sizes:
            tally = simulate(scenario, source, n, runs, seed)
            detectable = f"{fmean(tally.detectable):.3f}" if tally.detectable else "n/a"
            rows.append(
                f"| {name} | {n} | {tally.naive / runs:.1%} | **{tally.share('fail'):.1%}** | "
                f"{tally.share('inconclusive'):.1%} | {tally.share('pass', 'same'):.1%} | {detectable} |"
            )
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000, help="simulated runs per row")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--synthetic", action="store_true", help="do not use the real questions")
    parser.add_argument("--slices", action="store_true", help="only the rows with slices; five times the work")
    parser.add_argument("--write", type=Path, help="put the tables below the marker of this Markdown file")
    options = parser.parse_args(arguments)
    source: Source = Mixture() if options.synthetic or not DATA.is_dir() else ClapNq(DATA)
    start = time.perf_counter()
    if options.slices:
        print("\n".join(_table(SLICED, source, options.runs, options.sizes, options.seed, "red")))
        return
    tables = report(source, options.runs, options.sizes, options.seed)
    print(tables)
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    if options.write:
        head, marker, _ = options.write.read_text("utf-8").partition("<!-- tables -->\n")
        options.write.write_text(f"{head}{marker}\n{tables}", "utf-8")


if __name__ == "__main__":
    # before numpy is loaded: for products this small, threads cost more than they gain
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
