"""Any stored run, held against its baseline or another run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.cli.view.content import run_page
from pytest_auepora.core.run import Run
from pytest_auepora.errors import NotComparableError, UnknownRunError
from pytest_auepora.history.accepted import NAME, accepted_path, find_accepted
from pytest_auepora.history.compare import WHY_NOT, as_baseline
from pytest_auepora.regression.baseline import baseline_path
from pytest_auepora.regression.verdict import Verdict

from ...reporting.builders import Case, baseline_of, run_of, verdict_of
from .histories import CASES, WORSE, Stored


def test_a_run_stands_against_its_baseline_by_default(history: Stored) -> None:
    pair = history.library.pair(history.worse)
    assert pair.by_baseline
    assert pair.verdict.outcome == "failed"
    assert pair.other_info is not None
    assert pair.other_info.run_id == history.good, "the run before has the texts that a baseline lacks"
    assert [*pair.earlier_cases([*pair.run.cases.values()][:2])] == ["steady", "fell-out"]


@pytest.mark.parametrize("beside", ["the baseline", "the history"])
def test_the_accepted_run_is_shown_wherever_its_texts_are(history: Stored, beside: str) -> None:
    library = history.library
    worse = library.store.load(history.worse)
    accepted = library.store.load(history.good)
    place = baseline_path(library.root / worse.path, worse.suite, worse.variant)
    place.parent.mkdir(parents=True)
    place.write_text(as_baseline(accepted).dumps(), encoding="utf-8")
    texts = find_accepted(place, worse.path, library.store.place, library.root)
    assert texts is not None
    texts.path = texts.path if beside == "the history" else accepted_path(place)
    texts.save({i: (case, None) for i, case in accepted.cases.items()}, as_baseline(accepted).cases)
    pair = library.pair(history.worse)
    assert (pair.by_baseline, pair.other_info, pair.other_name) == (True, None, NAME)
    shown = pair.earlier_cases([pair.run.cases["wrong-answer"]])
    assert shown["wrong-answer"].outputs["answer"] == accepted.cases["wrong-answer"].outputs["answer"]


def test_any_two_runs_are_judged_as_the_command_does(history: Stored) -> None:
    pair = history.library.pair(history.good, history.worse)
    assert not pair.by_baseline
    assert {row["kind"] for row in pair.rows.all} == {"fixed", "unchanged"}
    assert pair.verdict.comparison is not None
    assert pair.verdict.comparison.cases["fell-out"].best == 1.0
    assert pair.verdict.notes == []


def test_cases_are_called_by_what_happened_since_the_other_run(history: Stored) -> None:
    """Whatever was said of them against the baseline of their time."""
    library = history.library
    fell = {"fell-out", "wrong-answer"}
    again = library.pair(library.store.add(*_since_accepted(CASES[:3], WORSE[:3])), history.worse)
    assert {row["id"] for row in again.rows.all if row["kind"] == "still failing"} == fell
    assert again.verdict.outcome == "passed"
    accepted = library.pair(library.store.add(*_since_accepted(WORSE[:3], WORSE[:3])), history.good)
    assert {row["id"] for row in accepted.rows.all if row["kind"] == "newly failing"} == fell
    assert accepted.verdict.outcome == "inconclusive", "three cases prove nothing, as `auepora compare` says"


def _since_accepted(before: list[Case], now: list[Case]) -> tuple[Run, Verdict]:
    baseline = baseline_of(run_of(before))
    run = run_of(now, baseline=baseline)
    return run, verdict_of(run, baseline=baseline)


def test_another_configuration_can_be_chosen(history: Stored) -> None:
    store = history.library.store
    run = run_of([*CASES[:3], Case("newcomer")], variant="bm25")
    pair = history.library.pair(store.add(run, verdict_of(run)), history.good)
    told = run_page(history.library, pair)
    assert [name in note for name, note in zip(("raises", "newcomer"), told["notes"], strict=False)] == [True, True]
    assert [one["title"] for one in told["runs"]] == ["billing[bm25]", "billing", "billing", "billing"]
    assert told["steps"] == [], "nothing of it can be accepted"


def test_runs_of_another_golden_file_are_left_out(history: Stored, tmp_path: Path) -> None:
    run = run_of(CASES)
    store, golden = history.library.store, tmp_path / run.path
    store.root = tmp_path
    golden.parent.mkdir()
    golden.touch()
    run.path = "boats/billing.golden.yaml"
    pair = history.library.pair(store.add(run, verdict_of(run)))
    assert (pair.other, pair.other_info) == (None, None)
    told = run_page(history.library, pair)
    assert [one["path"] for one in told["runs"]] == [run.path]
    assert told["history"]["runs"] == []


def test_what_does_not_compare_is_said(history: Stored) -> None:
    store = history.library.store
    shop = run_of([Case("x")], suite="shop")
    edited = run_of([Case("steady"), Case("raises"), Case("newcomer")])
    edited.cases["steady"].content_hash = "other words"
    ids = [store.add(run, verdict_of(run)) for run in (shop, edited)]
    with pytest.raises(NotComparableError, match="is a run of"):
        history.library.pair(ids[0], history.good)
    pair = history.library.pair(ids[1], history.good)
    assert (pair.report is not None, pair.by_baseline) == (True, False)
    assert [row.get("notComparable") for row in pair.rows.all][:2] == [WHY_NOT["edited"], None]
    assert pair.rows.all[2]["notComparable"]
    assert pair.earlier_cases([pair.run.cases["steady"]]) == {}
    assert ["incomparable" in row.get("is", ()) for row in pair.rows.all] == [True, False, True]


def test_of_an_unknown_run_or_case_the_names_are_told(history: Stored) -> None:
    with pytest.raises(UnknownRunError, match="no run 'nope'"):
        history.library.pair("nope")
    with pytest.raises(UnknownRunError, match="has no case 'nope'"):
        history.library.case(history.library.pair(history.good), "nope")


def test_a_pair_is_read_once(history: Stored) -> None:
    pair = history.library.pair(history.worse)
    assert history.library.pair("last~1") is pair
    assert history.library.pair(history.worse, history.good).run is pair.run
