"""Figures as SVG for the inside of a page."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import pytest

from pytest_auepora.reporting.svg import INKS, svg_text

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
