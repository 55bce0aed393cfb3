"""How often whole runs are red: default settings, all guards on, through the functions that the plugin calls.

    python -m tests.benchmarks.verdict.verdict_rates --write docs/pages/verdict-simulation.md

A baseline is accepted as an update does it, with as many answers as it asks for; then the candidate is run against it
again and again.  Everything is seeded: the same command gives the same tables.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import fmean
from typing import NamedTuple

import numpy as np

from pytest_auepora.regression.policy import RegressionPolicy

from .other_rules import RULES, Rule
from .score_sources import ClapNq, Mixture, Question, Source, made_up_answers, real_answers
from .simulated_suite import SimulatedSuite, Told, first_scores
from .tables import BETTER, BROKEN, CHANGED, FIFTH, MADE_UP, MAIN, REAL, TENTH, UNCHANGED, Kept, Rates, pages
from .verdict_scenarios import (
    RAISES,
    Change,
    Scenario,
    asserted,
    chunks_lost,
    in_slices,
    jumping,
    lost,
    nearly_steady,
    neutral,
    one_document,
    sampling,
    swapped,
    uneven,
    variants,
    with_metric,
    won,
)

__all__ = ["SHARED", "Counted", "Row", "rates", "rates_of", "rows"]

SIZES = (7, 20, 60, 200)
LARGE = 60
"""Suites of more cases take long, so only some rows have them."""
SHARED = Path(__file__).resolve().parents[3].parent / "shared" / "data"
SUITE_ONLY = RegressionPolicy(case_guard="suite")


class Row(NamedTuple):
    """A row of the tables: what happens, how it is judged, and whether nothing can be asked a second time.

    The change is drawn anew in each run; *runs_again* is False where all runs of a baseline are alike.  Other rules are
    counted too where it is *compared*; *large* suites are simulated as well; *of_data* says whether the scores come
    from data, where there are any.
    """

    scenario: Scenario
    change: Change | None = None
    policy: RegressionPolicy = RegressionPolicy()
    looks_once: bool = False
    runs_again: bool = True
    compared: bool = False
    large: bool = False
    of_data: bool = False


class OneBaseline(NamedTuple):
    """The runs against one baseline, what the update asked, and by other rule in how many runs it is red."""

    runs: Sequence[Told]
    asked: int
    others: Sequence[float] = ()


def one_baseline(row: Row, n: int, runs: int, seed: str, rules: Sequence[Rule] = RULES) -> OneBaseline:
    """Accept one baseline of *n* cases, and run the candidate."""
    rng = Random(seed)
    suite = SimulatedSuite(row.scenario(n, rng), row.policy, looks_once=row.looks_once)
    asked, systems, told = suite.calls, suite.systems, list[Told]()
    for _ in range(runs if row.runs_again else 1):
        told.append(suite.run(row.change(systems, rng) if row.change else None))
    if not row.compared:
        return OneBaseline(told, asked)
    before = first_scores(suite.accepted)
    return OneBaseline(told, asked, [fmean(rule(before, one.scores) for one in told) for rule in rules])


def rates_of(baselines: Sequence[OneBaseline]) -> Rates:
    """Return what the runs against several baselines came to."""
    red = np.array([fmean(told.red for told in one.runs) for one in baselines])
    runs = [told for one in baselines for told in one.runs]
    calls = np.array([told.calls for told in runs])
    return Rates(
        len(baselines), len(baselines[0].runs),
        float(red.mean()), float(red.std() / len(red) ** 0.5), float(np.quantile(red, 0.95)),
        fmean(told.by_case for told in runs), fmean(told.by_suite for told in runs),
        {word: fmean(told.word == word for told in runs) for word in {told.word for told in runs}},
        float(calls.mean()), float(np.quantile(calls, 0.95)), fmean(one.asked for one in baselines),
        [fmean(one.others[i] for one in baselines) for i in range(len(baselines[0].others))],
    )  # fmt: skip


def rates(row: Row, n: int, baselines: int, runs: int, seed: int = 0) -> Rates:
    """Return what *runs* against each of so many *baselines* of *n* cases come to."""
    return rates_of([one_baseline(row, n, runs, f"{seed} {n} {b}") for b in range(baselines)])


@lru_cache(maxsize=1)
def rows(data: Path | None) -> dict[str, dict[str, Row]]:
    """Return the rows by heading and name; with made-up scores where there are no *data*."""
    source: Source = ClapNq(data / "clapnq-dev") if data else Mixture()
    answers: Sequence[Question] = (
        real_answers(data / "llm-noise-dev", steady=False) if data else made_up_answers(220, steady=False)
    )
    model = sampling(answers)

    def hard(share: float, rate: float) -> Callable[[Random], float]:
        return lambda rng: rate if rng.random() < share else 1.0

    slices = RegressionPolicy(slices=("part", "half"))
    return {
        UNCHANGED: {
            MAIN: Row(model, compared=True, large=True, of_data=True),
            "… one look (`-n`, replays)": Row(model, looks_once=True, large=True, of_data=True),
            "… behind a deterministic retriever": Row(sampling(answers, retriever=True), of_data=True),
            "… in five slices": Row(in_slices(model), policy=slices, of_data=True),
            "… a metric n/a in 30 % of the cases, in 1 of 10 answers": Row(
                with_metric(model, 0.3, 0.1, None), of_data=True
            ),
            "… a metric n/a in 30 % of the cases, in half of the answers": Row(
                with_metric(model, 0.3, 0.5, None), of_data=True
            ),
            "… a metric that raises in 2 % of the answers": Row(with_metric(model, 1.0, 0.02, RAISES), of_data=True),
            "… each case better or worse by 0.2 for good": Row(neutral(model), runs_again=False, of_data=True),
            "assertions: 27 % of the cases pass 60 %": Row(asserted(hard(0.27, 0.6)), large=True),
            "assertions: 27 % of the cases pass 40 %": Row(asserted(hard(0.27, 0.4))),
            "assertions: every case passes 60 to 100 %, Beta(8, 1)": Row(asserted(lambda rng: rng.betavariate(8, 1))),
            "assertions: half pass 90 %, a tenth 50 %": Row(
                asserted(lambda rng: rng.choices((0.9, 0.5, 1.0), (0.5, 0.1, 0.4))[0])
            ),
            "a score of 1, or of 0.45 in 40 % of the answers": Row(jumping(0.45, 0.4)),
            "nearly steady: 10 % of the cases vary, bad in 30 %": Row(nearly_steady(0.1, 0.3)),
            "nearly steady: every case, bad in 5 %": Row(nearly_steady(1.0, 0.05)),
            "re-chunked, `case_guard: suite`": Row(swapped(source), policy=SUITE_ONLY, runs_again=False, of_data=True),
            "re-chunked, `suite`, five forms of each question": Row(
                variants(source), policy=SUITE_ONLY, runs_again=False, of_data=True
            ),
            "a tenth fell by 0.5, the others rose, `suite`": Row(uneven(-0.5), policy=SUITE_ONLY, runs_again=False),
            "a tenth rose by 0.5, the others fell, `suite`": Row(uneven(0.5), policy=SUITE_ONLY, runs_again=False),
        },
        CHANGED: {
            BROKEN: Row(model, lost(), compared=True, large=True, of_data=True),
            "sampling model, two cases broken": Row(model, lost(cases=2), of_data=True),
            TENTH: Row(model, lost(0.1), compared=True, large=True, of_data=True),
            FIFTH: Row(model, lost(0.2), compared=True, large=True, of_data=True),
            "assertions, 27 % of the cases pass 60 %: one case broken": Row(asserted(hard(0.27, 0.6)), lost()),
            "one document lost, deterministic retriever": Row(one_document, runs_again=False),
            "a tenth of the chunks lost": Row(chunks_lost(source, 0.1), runs_again=False, of_data=True),
            "a tenth of the chunks lost, `case_guard: suite`": Row(
                chunks_lost(source, 0.1), policy=SUITE_ONLY, runs_again=False, of_data=True
            ),
        },
        BETTER: {
            "sampling model, a fifth of the answers won": Row(won(model, 0.2), of_data=True),
            "a tenth of the chunks won": Row(chunks_lost(source, 0.1, back=True), runs_again=False, of_data=True),
            "a tenth of the chunks won, `case_guard: suite`": Row(
                chunks_lost(source, 0.1, back=True), policy=SUITE_ONLY, runs_again=False, of_data=True
            ),
        },
    }


class Counted(NamedTuple):
    """How much is simulated: the sizes of suites, the baselines of each, the runs against one; by which other rules."""

    data: Path | None
    sizes: Sequence[int]
    baselines: int
    runs: int
    seed: int
    rules: Sequence[Rule] = RULES
    processes: int | None = None

    def one(self, job: tuple[str, str, int, int]) -> OneBaseline:
        """Simulate one baseline of a row; scenarios are functions, which do not travel between processes."""
        heading, name, n, b = job
        runs = self.runs if heading == UNCHANGED else max(1, self.runs // 5)
        row = rows(self.data)[heading][name]
        return one_baseline(row, n, runs, f"{self.seed} {n} {b}", self.rules)

    def all(self, only: str, kept: Kept) -> None:
        """Simulate side by side what is not *kept* yet, of the rows whose name holds *only*."""
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for products this small, threads cost more than they gain
        with ProcessPoolExecutor(self.processes or os.cpu_count(), get_context("spawn")) as pool:
            for heading, of_heading in rows(self.data).items():
                for name, row in of_heading.items():
                    key = REAL if self.data else MADE_UP, heading, name
                    for n in self.sizes if only in name and (row.of_data or self.data or not kept.of(REAL)) else ():
                        if kept.has(key, n) or (n > LARGE and not row.large):
                            continue
                        baselines = self.baselines * (1 if row.runs_again else 4)
                        jobs = [(heading, name, n, b) for b in range(baselines)]
                        kept.add(key, n, rates_of(list(pool.map(self.one, jobs, chunksize=4))))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, and put them below the marker of a page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--baselines", type=int, default=150, help="accepted baselines per row and size")
    parser.add_argument("--runs", type=int, default=20, help="runs against each; a fifth of them where it changed")
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES), metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, help="how many at once (default: one for each core)")
    parser.add_argument("--only", default="", help="rows whose name holds this text")
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with clapnq-dev and llm-noise-dev, or none")
    parser.add_argument("--kept", type=Path, help="file of what was counted already, which is not counted again")
    parser.add_argument("--write", type=Path, help="put the tables below the marker of this Markdown file")
    given = parser.parse_args(arguments)
    data = given.data if given.data.is_dir() else None
    kept = Kept(given.kept, [(heading, name) for heading, of_heading in rows(data).items() for name in of_heading])
    Counted(data, given.sizes, given.baselines, given.runs, given.seed, processes=given.processes).all(given.only, kept)
    text = "\n".join(pages(kept, given.seed))
    print(text)
    if given.write:
        head, marker, _ = given.write.read_text("utf-8").partition("<!-- tables -->\n")
        given.write.write_text(f"{head}{marker}\n{text}", "utf-8")


if __name__ == "__main__":
    main()
