"""Pictures of scores: what they show in words, and that no text of a user is drawn."""

from __future__ import annotations

import pytest

from pytest_auepora.reporting.plots import metric_plots, trend_plot

from .builders import Case, baseline_of, run_of, verdict_of

pytest.importorskip("matplotlib", reason="draws the pictures")

NAMES = ["recall@5", "mrr@10"]


def test_baseline_against_candidate() -> None:
    before = run_of([Case("a"), Case("<b>")], NAMES)
    run = run_of([Case("a", got=["x"]), Case("<b>")], NAMES, baseline=baseline_of(before))
    plots = metric_plots(run, verdict_of(run, baseline=baseline_of(before)), "s0")
    assert [p.name for p in plots if p.leads] == ["recall@5"]
    for plot in plots:
        assert plot.words == "2 cases compare: 1 worse, 0 better, 1 the same"
        assert plot.distribution.startswith("<svg")
        assert plot.scatter.startswith("<svg")
        assert "<b>" not in plot.distribution + plot.scatter


def test_without_a_baseline_there_is_nothing_to_compare() -> None:
    run = run_of([Case("a")], NAMES)
    (plot,) = metric_plots(run, verdict_of(run), "s0", most=1)
    assert (plot.words, plot.scatter) == ("1 case; nothing to compare with", "")


def test_a_figure_over_the_runs() -> None:
    assert trend_plot([0.5, None, 0.75], "t0", "recall@5 over 3 runs", "2026-01-01").startswith("<svg")
