"""The promise itself, in small: an unchanged system is rarely red, and losses are seen.

`docs/pages/verdict-simulation.md` has it at length.
"""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.suggest import learn

from .real_runs import CHANGES, Project
from .score_sources import METRICS, Mixture, made_up_answers, real_answers, scores_at, with_typo
from .simulated_suite import SimulatedSuite
from .tables import BROKEN, MAIN, TENTH
from .verdict_rates import SHARED, SUITE_ONLY, Row, main, rates, rows
from .verdict_scenarios import (
    RAISES,
    Change,
    Scenario,
    System,
    asserted,
    chunks_lost,
    in_slices,
    jumping,
    lost,
    nearly_steady,
    one_document,
    sampling,
    swapped,
    variants,
    with_metric,
    won,
    worded,
)

MODEL = sampling(made_up_answers(steady=False))
SLICED = RegressionPolicy(slices=("part", "half"))


def red(row: Row, n: int, baselines: int = 16, runs: int = 6) -> float:
    return rates(row, n, baselines, runs).red


def of_rate(share: float, rate: float) -> Scenario:
    return asserted(lambda rng: rate if rng.random() < share else 1.0)


UNCHANGED = {
    "model": MODEL, "pass 60 %": of_rate(0.27, 0.6), "n/a": with_metric(MODEL, 0.3, 0.5, None),
    "raises": with_metric(MODEL, 1.0, 0.02, RAISES), "some steady": nearly_steady(0.1, 0.3),
    "nearly steady": nearly_steady(1.0, 0.05),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("n", [7, 20])
@pytest.mark.parametrize("name", UNCHANGED)
def test_an_unchanged_system_is_rarely_red(name: str, n: int) -> None:
    """In three of these 96 runs at most; were no case asked again, it were four to fifty."""
    assert red(Row(UNCHANGED[name]), n) <= 3.5 / 96


@pytest.mark.slow
def test_assertions_that_hold_in_few_answers_are_rarely_red() -> None:
    """In 2 % of the runs: two answers may be alike by luck.  Without asking again it were 7 %."""
    assert red(Row(of_rate(0.27, 0.4)), 7, 60, 6) <= 0.04


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_few_wordings_of_a_few_answers_are_rarely_red(n: int) -> None:
    """2 % of the runs for one case; two looks would be 6 %, one 11 %."""
    scores = ({"token_f1": 1.0}, {"token_f1": 0.44}, {"token_f1": 0.6})
    assert red(Row(worded(*scores)), n, 300, 2) <= 0.035


@pytest.mark.slow
@pytest.mark.parametrize(("n", "baselines"), [(7, 40), (20, 20)])
def test_scores_that_jump_are_rarely_red(n: int, baselines: int) -> None:
    """The gap is a little more than `case_max_drop`, so no accepted answer is that far below its centre."""
    assert red(Row(jumping(0.45, 0.4)), n, baselines, 6) <= 0.07


@pytest.mark.slow
def test_a_larger_suite_is_red_no_more_often() -> None:
    assert red(Row(sampling(made_up_answers(steady=False), retriever=True)), 60, 10) <= 0.08


@pytest.mark.slow
def test_one_look_keeps_alpha() -> None:
    once, twice = (rates(Row(MODEL, looks_once=once), 20, 16, 6) for once in (True, False))
    assert 0 < once.by_suite <= 0.1
    assert 2 * twice.by_suite <= once.by_suite


@pytest.mark.slow
@pytest.mark.parametrize(("change", "n", "least"), [
    (lost(), 7, 0.8), (lost(), 60, 0.8), (lost(cases=2), 20, 0.9), (lost(0.1), 60, 0.95), (lost(0.2), 20, 0.95),
])  # fmt: skip
def test_lost_answers_are_seen(change: Change, n: int, least: float) -> None:
    assert red(Row(MODEL, change), n, 12, 2) >= least


@pytest.mark.slow
def test_what_got_better_is_never_red_by_the_suite() -> None:
    """A single case may fail by chance, as ever."""
    for row in (Row(won(MODEL, 0.2)), Row(chunks_lost(Mixture(), 0.2, back=True), runs_again=False)):
        found = rates(row, 60, 10, 2)
        assert (found.by_suite, found.words.get("better", 0) >= 0.8) == (0, True)
        assert found.red <= 0.05


@pytest.mark.slow
def test_slices_are_no_further_chances_of_a_false_alarm() -> None:
    assert red(Row(in_slices(MODEL), policy=SLICED), 40) <= 0.08
    assert red(Row(in_slices(MODEL), lost(0.2), policy=SLICED), 40, 6, 2) == 1


@pytest.mark.slow
def test_variants_of_a_question_need_their_clusters() -> None:
    clustered = variants(Mixture())

    def ignored(n: int, rng: Random) -> list[System]:
        return [system._replace(cluster="") for system in clustered(n, rng)]

    kept, without = (
        red(Row(scenario, policy=SUITE_ONLY, runs_again=False), 50, 60, 1) for scenario in (clustered, ignored)
    )
    assert kept <= 0.12
    assert without > max(0.12, 2 * kept)


@pytest.mark.slow
def test_swapped_retrievers_are_rarely_red() -> None:
    assert 0 < red(Row(swapped(Mixture()), policy=SUITE_ONLY, runs_again=False), 30, 100, 1) <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("scenario", [MODEL, nearly_steady(0.1, 0.3)], ids=["model", "some steady"])
def test_suggested_thresholds_live_with_the_noise(scenario: Scenario) -> None:
    told = []
    for seed in range(10):
        suite = SimulatedSuite(scenario(20, Random(seed)))
        gates = learn(suite.measured(5), (), suite.suite.policy).gates
        assert gates
        told += [suite.run(gates=gates) for _ in range(5)]
    assert sum(one.red for one in told) <= 4


@pytest.mark.slow
@pytest.mark.shared_data
@pytest.mark.skipif(not SHARED.is_dir(), reason="the real answers are not beside the project")
@pytest.mark.parametrize(("name", "n", "runs", "figure"), [
    (MAIN, 7, 8, 0.010), (MAIN, 20, 8, 0.016), (BROKEN, 20, 2, 0.96), (TENTH, 7, 2, 0.95), (TENTH, 20, 2, 1.0),
])  # fmt: skip
def test_the_rates_of_real_answers(name: str, n: int, runs: int, figure: float) -> None:
    """Those of an independent implementation, within two standard errors, but for few runs, and 0.01."""
    pytest.importorskip("bm25s", reason="the real questions are retrieved with bm25s")
    assert len(real_answers(SHARED / "llm-noise-dev", steady=False)) == 215
    row = next(of_heading[name] for of_heading in rows(SHARED).values() if name in of_heading)
    found = rates(row._replace(compared=False), n, 25, runs)
    assert found.red == pytest.approx(figure, abs=2 * max(found.error, 0.005) + 0.01)


@pytest.mark.parametrize("n", [6, 60])
def test_one_lost_document_is_red_and_named(n: int) -> None:
    suite = SimulatedSuite(one_document(n, Random(1)))
    assert suite.calls == 2 * n
    told = suite.run()
    assert (told.red, len(told.regressed), told.calls) == (True, 1, 3)


def test_a_steady_system_asks_nothing_further() -> None:
    suite = SimulatedSuite(nearly_steady(0, 0)(30, Random(1)))
    assert (suite.calls, suite.run()[:5]) == (60, (False, False, False, "same", 0))


@pytest.mark.slow
def test_a_simulation_repeats_itself() -> None:
    first, again, other = (rates(Row(MODEL), 20, 2, 3, seed) for seed in (0, 0, 1))
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
    pytest.importorskip("scipy", reason="other rules are counted with scipy (group oracles)")
    page = tmp_path / "page.md"
    page.write_text("# Kept\n\n<!-- tables -->\nold tables\n", "utf-8")
    shared = ["--data", str(tmp_path / "absent"), "--kept", str(tmp_path / "counted.json"), "--write", str(page)]
    main(["--baselines", "2", "--runs", "2", "--sizes", "20", "--only", "sampling", *shared])
    text = page.read_text("utf-8")
    main(["--sizes", "20", "--only", "sampling model", *shared])
    assert page.read_text("utf-8") == text, "what was counted is kept"
    assert text.startswith("# Kept\n")
    assert "old tables" not in text
    assert re.search(r"\n\| sampling model \| \d+\.\d% ± \d+\.\d% \(\d+%\) \|\n", text)
    assert re.search(r"\n\| Wilcoxon's signed-rank test of each metric \| \d+% \|\n", text)
    assert "Scores are made up" in capsys.readouterr().out


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    pytest.importorskip("bm25s", reason="the project's index is made with bm25s")
    return Project(tmp_path_factory.mktemp("project").resolve(), 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["unchanged", "two workers"])
def test_real_runs_of_an_unchanged_system_are_rarely_red(project: Project, name: str) -> None:
    outcomes = [project.run(CHANGES[name]) for _ in range(4 if name == "unchanged" else 2)]
    assert sum(one.red for one in outcomes) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, change in CHANGES.items() if change.settings])
def test_real_runs_tell_what_changed(project: Project, name: str) -> None:
    outcome = project.run(CHANGES[name])
    assert outcome.red == CHANGES[name].is_loss, outcome.text
    assert outcome.told[1].startswith(("worse", "mixed") if outcome.red else ("better", "same", "inconclusive"))
    assert not outcome.red or "\u2192 " in outcome.text, "it says what to do next"
