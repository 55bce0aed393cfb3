"""How often whole runs are red: default settings, all guards on, through the functions that the plugin calls.

    python -m tests.benchmarks.verdict.verdict_rates --write docs/pages/verdict-simulation.md

A baseline is accepted as an update does it, with as many answers as it asks for; then the candidate is run against it
again and again.  Everything is seeded: the same command gives the same tables.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from .tables import Rates, table
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

__all__ = ["COMPARED", "SHARED", "Counted", "Rates", "Row", "rates", "rates_of", "rows"]

SIZES = (7, 20, 60, 200)
LARGE = 100
"""Suites of more cases take long, so only some rows have them."""
SHARED = Path(__file__).resolve().parents[3].parent / "shared" / "data"
SUITE_ONLY = RegressionPolicy(case_guard="suite")
UNCHANGED, CHANGED, BETTER = "Nothing got worse", "Something did", "Something got better"
MAIN, BROKEN = "sampling model", "sampling model, one case broken"
TENTH, FIFTH = "sampling model, a tenth of the cases lost", "sampling model, a fifth of the cases lost"
COMPARED = {"unchanged": MAIN, "one case broken": BROKEN, "a tenth lost": TENTH, "a fifth lost": FIFTH}
"""The rows of which other rules are counted too, by their short names."""


class Row(NamedTuple):
    """A row of the tables: what happens, how it is judged, and whether nothing can be asked a second time.

    The change is drawn anew in each run; *runs_again* is False where all runs of a baseline are alike.  Other rules are
    counted too where it is *compared*; *large* suites are simulated as well.
    """

    scenario: Scenario
    change: Change | None = None
    policy: RegressionPolicy = RegressionPolicy()
    looks_once: bool = False
    runs_again: bool = True
    compared: bool = False
    large: bool = False


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
            MAIN: Row(model, compared=True, large=True),
            "… one look (`-n`, replays)": Row(model, looks_once=True, large=True),
            "… behind a deterministic retriever": Row(sampling(answers, retriever=True)),
            "… in five slices": Row(in_slices(model), policy=slices),
            "… a metric n/a in 30 % of the cases, in 1 of 10 answers": Row(with_metric(model, 0.3, 0.1, None)),
            "… a metric n/a in 30 % of the cases, in half of the answers": Row(with_metric(model, 0.3, 0.5, None)),
            "… a metric that raises in 2 % of the answers": Row(with_metric(model, 1.0, 0.02, RAISES)),
            "… each case better or worse by 0.2 for good": Row(neutral(model)),
            "assertions: 27 % of the cases pass 60 %": Row(asserted(hard(0.27, 0.6)), large=True),
            "assertions: 27 % of the cases pass 40 %": Row(asserted(hard(0.27, 0.4))),
            "assertions: every case passes 60 to 100 %, Beta(8, 1)": Row(asserted(lambda rng: rng.betavariate(8, 1))),
            "assertions: half pass 90 %, a tenth 50 %": Row(
                asserted(lambda rng: rng.choices((0.9, 0.5, 1.0), (0.5, 0.1, 0.4))[0])
            ),
            "a score of 1, or of 0.45 in 40 % of the answers": Row(jumping(0.45, 0.4)),
            "nearly steady: 10 % of the cases vary, bad in 30 %": Row(nearly_steady(0.1, 0.3)),
            "nearly steady: every case, bad in 5 %": Row(nearly_steady(1.0, 0.05)),
            "re-chunked, `case_guard: suite`": Row(swapped(source), policy=SUITE_ONLY, runs_again=False),
            "re-chunked, `suite`, five forms of each question": Row(
                variants(source), policy=SUITE_ONLY, runs_again=False
            ),
            "a tenth fell by 0.5, the others rose, `suite`": Row(uneven(-0.5), policy=SUITE_ONLY, runs_again=False),
            "a tenth rose by 0.5, the others fell, `suite`": Row(uneven(0.5), policy=SUITE_ONLY, runs_again=False),
        },
        CHANGED: {
            BROKEN: Row(model, lost(), compared=True, large=True),
            "sampling model, two cases broken": Row(model, lost(cases=2)),
            TENTH: Row(model, lost(0.1), compared=True, large=True),
            FIFTH: Row(model, lost(0.2), compared=True, large=True),
            "assertions, 27 % of the cases pass 60 %: one case broken": Row(asserted(hard(0.27, 0.6)), lost()),
            "one document lost, deterministic retriever": Row(one_document, runs_again=False),
            "a tenth of the chunks lost": Row(chunks_lost(source, 0.1), runs_again=False),
            "a tenth of the chunks lost, `case_guard: suite`": Row(
                chunks_lost(source, 0.1), policy=SUITE_ONLY, runs_again=False
            ),
        },
        BETTER: {
            "sampling model, a fifth of the answers won": Row(won(model, 0.2)),
            "a tenth of the chunks won": Row(chunks_lost(source, 0.1, back=True), runs_again=False),
            "a tenth of the chunks won, `case_guard: suite`": Row(
                chunks_lost(source, 0.1, back=True), policy=SUITE_ONLY, runs_again=False
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

    def one(self, job: tuple[str, str, int, int]) -> OneBaseline:
        """Simulate one baseline of a row; scenarios are functions, which do not travel between processes."""
        heading, name, n, b = job
        runs = self.runs if heading == UNCHANGED else max(1, self.runs // 5)
        row = rows(self.data)[heading][name]
        return one_baseline(row, n, runs, f"{self.seed} {n} {b}", self.rules)

    def all(self, only: str = "") -> Iterator[tuple[str, str, int, Rates]]:
        """Simulate everything, side by side: heading, name of the row, size, rates."""
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for products this small, threads cost more than they gain
        with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
            for heading, of_heading in rows(self.data).items():
                for name, row in of_heading.items():
                    for n in self.sizes if only in name else ():
                        if n > LARGE and not row.large:
                            continue
                        baselines = self.baselines * (1 if row.runs_again else 4)
                        jobs = [(heading, name, n, b) for b in range(baselines)]
                        found = rates_of(list(pool.map(self.one, jobs, chunksize=4)))
                        print(f"{name}, {n}: {found}", file=sys.stderr, flush=True)
                        yield heading, name, n, found


def page(sizes: Sequence[int], found: Mapping[tuple[str, str], Mapping[int, Rates]]) -> list[str]:
    """Return the tables of the page."""

    def lines(heading: str, cell: Callable[[Rates], str]) -> dict[str, list[str]]:
        return {name: cells(of_row, cell) for (of, name), of_row in found.items() if of == heading}

    def cells(of_row: Mapping[int, Rates], cell: Callable[[Rates], str]) -> list[str]:
        return [cell(of_row[n]) if n in of_row else "" for n in sizes]

    def share_of(word: str) -> Callable[[Rates], str]:
        return lambda rates: f"{rates.words.get(word, 0):.0%}"

    def share_by(rule: int) -> Callable[[Rates], str]:
        return lambda rates: f"{rates.others[rule]:.0%}"

    by_name = {name: of_row for (_, name), of_row in found.items()}
    out = [f"## {UNCHANGED}", ""]
    out += table("**red**: mean (95th percentile over baselines)", sizes,
                 lines(UNCHANGED, lambda r: f"{r.red:.1%} ({r.unlucky:.0%})"))  # fmt: skip
    out += table("*inconclusive*", sizes, lines(UNCHANGED, share_of("inconclusive")))
    out += [f"## {CHANGED}", "", *table("**red**", sizes, lines(CHANGED, lambda r: f"{r.red:.0%}"))]
    out += table("red by a case, red by the suite", sizes,
                 lines(CHANGED, lambda r: f"{r.by_case:.0%}, {r.by_suite:.0%}"))  # fmt: skip
    out += [f"## {BETTER}", "", *table("**red**", sizes, lines(BETTER, lambda r: f"{r.red:.1%}"))]
    out += table("*better*", sizes, lines(BETTER, share_of("better")))
    if MAIN in by_name:
        calls = "further answers in an unchanged run: mean (95th percentile)"
        out += ["## What it costs", "", *table("sampling model", sizes, {
            "answers that an update asks for": cells(by_name[MAIN], lambda r: f"{r.asked:.0f}"),
            calls: cells(by_name[MAIN], lambda r: f"{r.calls:.1f} ({r.most_calls:.0f})"),
        })]  # fmt: skip
    if all(name in by_name for name in COMPARED.values()):
        out += ["## What else a team would use", ""]
        for short, name in COMPARED.items():
            rules = {"**`pytest --auepora`**": cells(by_name[name], lambda r: f"**{r.red:.0%}**")}
            for i, rule in enumerate(RULES):
                rules[(rule.__doc__ or "").strip()] = cells(by_name[name], share_by(i))
            out += table(f"sampling model, {short}: red", sizes, rules)
    return out


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, and put them below the marker of a page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--baselines", type=int, default=150, help="accepted baselines per row and size")
    parser.add_argument("--runs", type=int, default=20, help="runs against each; a fifth of them where it changed")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="rows whose name holds this text")
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with clapnq-dev and llm-noise-dev")
    parser.add_argument("--write", type=Path, help="put the tables below the marker of this Markdown file")
    given = parser.parse_args(arguments)
    data = given.data if given.data.is_dir() else None
    counted = Counted(data, given.sizes, given.baselines, given.runs, given.seed)
    found: dict[tuple[str, str], dict[int, Rates]] = {}
    for heading, name, n, of_size in counted.all(given.only):
        found.setdefault((heading, name), {})[n] = of_size
    told = f"{given.baselines} baselines with {given.runs} runs each per row, seed {given.seed}."
    text = "\n".join([told if data else f"{told} Scores are made up.", "", *page(given.sizes, found)])
    print(text)
    if given.write:
        head, marker, _ = given.write.read_text("utf-8").partition("<!-- tables -->\n")
        given.write.write_text(f"{head}{marker}\n{text}", "utf-8")


if __name__ == "__main__":
    main()
