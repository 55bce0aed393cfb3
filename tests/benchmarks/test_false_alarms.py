"""The promise itself, in small: false alarms at the level asked for, and losses seen.

`docs/pages/verdict-simulation.md` has it at length.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from .score_sources import METRICS, ClapNq, Mixture, scores_at, with_typo
from .simulate_verdict import (
    DATA,
    losing,
    main,
    rechunked,
    simulate,
    sliced,
    variants,
    variants_unclustered,
)

RUNS = 300
MOST_FALSE_ALARMS = 27
"""Of 300 runs at 5 % a thousandth have more; below 3, as few have less."""


@pytest.mark.slow
def test_false_alarms_are_rare_and_the_naive_gate_has_dozens() -> None:
    tally = simulate(rechunked, Mixture(), 50, RUNS)
    assert 3 <= tally.outcomes["fail"] <= MOST_FALSE_ALARMS
    assert tally.naive >= 100


@pytest.mark.slow
def test_a_loss_is_seen_and_the_more_cases_the_more_surely() -> None:
    seen = [simulate(losing(0.10), Mixture(), n, 100).outcomes["fail"] for n in (30, 50, 100)]
    assert seen[0] < seen[1] < seen[2]
    assert seen[1] >= 50
    assert seen[2] >= 90


@pytest.mark.slow
def test_slices_are_no_further_chances_of_a_false_alarm() -> None:
    tally = simulate(sliced(rechunked), Mixture(), 100, 150)
    assert tally.outcomes["fail"] <= 16, "a thousandth of 150 runs at 5 % have more"
    assert tally.naive >= 100
    whole, parts = (simulate(s, Mixture(), 50, 60).outcomes["fail"] for s in (losing(0.10), sliced(losing(0.10))))
    assert parts >= whole / 2


@pytest.mark.slow
def test_variants_of_a_question_need_their_clusters() -> None:
    clustered = simulate(variants, Mixture(), 100, 150)
    ignored = simulate(variants_unclustered, Mixture(), 100, 150)
    assert clustered.outcomes["fail"] <= 16, "a thousandth of 150 runs at 5 % have more"
    assert ignored.outcomes["fail"] >= 2 * clustered.outcomes["fail"]
    assert ignored.outcomes["fail"] >= 16


@pytest.mark.slow
@pytest.mark.shared_data
@pytest.mark.skipif(not DATA.is_dir(), reason="the real questions are not beside the project")
def test_on_real_retrieval_too() -> None:
    pytest.importorskip("bm25s", reason="the real questions are retrieved with bm25s")
    source = ClapNq(DATA)
    assert len(source) == 300
    null, lost = simulate(rechunked, source, 50, 150), simulate(losing(0.10), source, 50, 60)
    assert null.outcomes["fail"] <= 16
    assert null.naive >= 45
    assert lost.outcomes["fail"] >= 30


def test_a_simulation_repeats_itself() -> None:
    first, again, other = (simulate(rechunked, Mixture(), 30, 20, seed=s) for s in (0, 0, 1))
    assert first == again
    assert first != other


def test_scores_of_a_rank() -> None:
    assert scores_at(1) == (1.0, 1.0, 1.0, 1.0)
    assert scores_at(3) == (1.0, 0.0, 1 / 3, 0.5)
    assert scores_at(11) == (0.0,) * len(METRICS)


def test_a_typing_error_swaps_two_inner_letters() -> None:
    rng = Random(0)
    typed = {with_typo("why do cats purr loudly", rng) for _ in range(50)}
    assert typed == {f"why do cats purr {word}" for word in ("luodly", "loduly", "louldy")}
    assert with_typo("to be or not", rng) == "to be or not"


def test_the_script_writes_its_tables_below_the_marker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Kept\n\n<!-- tables -->\nold tables\n", "utf-8")
    main(["--runs", "2", "--sizes", "30", "--synthetic", "--write", str(page)])
    text = page.read_text("utf-8")
    assert text.startswith("# Kept\n")
    assert "old tables" not in text
    assert "| 10 % of the chunks lost | 30 |" in text
    assert "a synthetic mixture of ranks" in capsys.readouterr().out
