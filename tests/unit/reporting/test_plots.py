"""Pictures of scores: what they show in words, and that no text of a user is drawn."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import pytest

from pytest_auepora.reporting.plots import INKS, metric_plots, svg_text, trend_plot

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


figure_module = pytest.importorskip("matplotlib.figure", reason="draws the pictures")


def figure() -> Any:
    made = figure_module.Figure(figsize=(1, 1))
    axes = made.add_axes((0.2, 0.2, 0.7, 0.7))
    axes.plot([0, 1], [0, 1], color=INKS["now"], marker="o")
    return made


def test_colours_are_classes_and_nothing_is_styled_in_place() -> None:
    text = svg_text(figure(), "p", "a <line>")
    root = ET.fromstring(text)
    assert (root.get("aria-label"), root.get("role")) == ("a <line>", "img")
    assert INKS["now"] not in text
    assert "s-now" in text
    assert not any("style" in element.attrib for element in root.iter())


def test_two_figures_of_a_page_share_no_identifier() -> None:
    assert svg_text(figure(), "p", "x") == svg_text(figure(), "p", "x")
    ids = [{e.get("id") for e in ET.fromstring(svg_text(figure(), prefix, "x")).iter()} - {None} for prefix in "pq"]
    assert ids[0]
    assert ids[0].isdisjoint(ids[1])
