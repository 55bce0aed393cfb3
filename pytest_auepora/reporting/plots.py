"""The plots of the report as SVG: distribution of scores, baseline against candidate, trends over the runs.

User text is never drawn: the page has it in HTML, so that no font lacks a letter and no name is read as a formula.

The content security policy admits no ``style`` attributes, and colours must follow the theme.  So every colour of a
figure is one of `INKS` and becomes a class (``f-ink`` for a fill, ``s-ink`` for a stroke); other properties become
attributes; identifiers are hashes with a salt, so that they are unique on the page.
"""

from __future__ import annotations

import io
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as ET

from ..base.grouping import grouped
from ..core.run import MetricInfo, Run
from ..errors import MissingExtraError
from ..regression.compare import ScoreChange
from ..regression.verdict import Verdict
from .numbers import plural, sign
from .wording.metric_rows import chosen_metrics, rank_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INKS = {
    "ink": "#010101", "muted": "#020202", "line": "#030303", "base": "#040404", "now": "#050505", "worse": "#060606",
    "better": "#070707", "same": "#080808",
}  # fmt: skip
"""Name of a colour → its placeholder value in a figure."""

_CLASS = {value: name for name, value in INKS.items()}
_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_REFERENCE = re.compile(r"(?:^|\()#([^)]+)")
_KEPT_PROPERTIES = {
    "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "fill-opacity",
    "stroke-opacity", "opacity", "text-anchor", "font-size",
}  # fmt: skip
_DOTS = "dots:"
_LONG_DECIMALS = re.compile(r"(\.\d\d)\d+")
_UPRIGHT = re.compile(r"rotate\(-?0 .*\)")

MOST_PLOTS = 6
_BINS = 20
_GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
_SPREAD = 0.1  # of the axis: the longest distance that dots with equal scores are moved


class MetricPlots(NamedTuple):
    """The plots of a metric as SVG, no scatter without a baseline; their summary; whether it is shown first."""

    name: str
    distribution: str
    scatter: str
    words: str
    leads: bool


def metric_plots(run: Run, verdict: Verdict, prefix: str, most: int = MOST_PLOTS) -> list[MetricPlots]:
    """Draw the *most* metrics of *run* that matter most; raises `MissingExtraError` without matplotlib."""
    names = chosen_metrics(run, verdict, most, times=True)
    first = min(names, key=lambda n: rank_of(n, run, verdict), default="")
    out = []
    for n, name in enumerate(names):
        changes = verdict.comparison.changes_of(name) if verdict.comparison is not None else {}
        pairs = {i: changes[case_id] for i, case_id in enumerate(run.cases) if case_id in changes}
        now = [score.value for score in run.scores_of(name) if score.value is not None]
        before = [pair.before for pair in pairs.values()]
        ends = _axis_range(run.metrics[name], [*now, *before, *(pair.after for pair in pairs.values())])
        words = f"{plural(len(now), 'case')}; nothing to compare with"
        if pairs:
            counts = Counter(sign(pair.gain) for pair in pairs.values())
            changed = f"{counts[-1]} worse, {counts[1]} better, {counts[0]} the same"
            words = f"{plural(len(pairs), 'case')} compare: {changed}"
        distribution = _distribution(now, before, ends, run.metrics[name], f"{prefix}m{n}")
        scatter = _scatter(pairs, ends, f"{prefix}m{n}s", words) if pairs else ""
        out.append(MetricPlots(name, distribution, scatter, words, name == first))
    return out


def _axis_range(info: MetricInfo, values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the axis: those of the metric's range where finite, else those of the values."""
    finite = [v for v in values if math.isfinite(v)]
    lowest = info.range[0] if math.isfinite(info.range[0]) else min(finite, default=0.0)
    highest = info.range[1] if math.isfinite(info.range[1]) else max(finite, default=1.0)
    return (lowest, highest) if highest > lowest else (lowest, lowest + 1)


@contextmanager
def _figure(width: float, height: float, x: str = "", y: str = "") -> Iterator[tuple[Figure, Axes]]:
    """Yield an empty figure of this size in inches, under default settings instead of the user's."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("the HTML report", "html") from None
    with mpl.rc_context(rc={key: value for key, value in mpl.rcParamsDefault.items() if key != "backend"}):
        bottom = 0.45 if x else 0.25
        figure = Figure(figsize=(width, height))
        axes = figure.add_axes((0.42 / width, bottom / height, 1 - 0.55 / width, 1 - (bottom + 0.1) / height))
        axes.tick_params(colors=INKS["muted"], labelsize=9, length=3, width=0.6)
        for side, spine in axes.spines.items():
            spine.set_visible(side in ("left", "bottom"))
            spine.set_color(INKS["line"])
        axes.patch.set_visible(False)
        axes.set_axisbelow(True)
        axes.set_xlabel(x, color=INKS["muted"], fontsize=9)
        axes.set_ylabel(y, color=INKS["muted"], fontsize=9)
        yield figure, axes


def _distribution(
    now: Sequence[float], before: Sequence[float], ends: tuple[float, float], info: MetricInfo, prefix: str
) -> str:
    lowest, highest = ends
    step = (highest - lowest) / _BINS
    edges = [lowest + i * step for i in range(_BINS + 1)]
    label = "Distribution of the scores" + (", with the baseline as an outline" if before else "")
    with _figure(4.4, 2.9, "seconds" if info.target == "LATENCY" else "score", "cases") as (figure, axes):
        axes.grid(axis="y", color=INKS["line"], linewidth=0.5)
        axes.hist([v for v in now if math.isfinite(v)], bins=edges, color=INKS["now"], rwidth=0.86)
        if before:
            axes.hist(before, bins=edges, histtype="step", color=INKS["base"], linewidth=1.4)
        axes.locator_params(axis="y", integer=True)
        axes.set_xlim(lowest - step / 2, highest + step / 2)
        return svg_text(figure, prefix, label)


def _scatter(pairs: Mapping[int, ScoreChange], ends: tuple[float, float], prefix: str, words: str) -> str:
    lowest, highest = ends
    span = highest - lowest
    positions, spread, crowd = _spread_dots(pairs, span)
    size = min(20.0, max(1.0, 700 / crowd))
    with _figure(3.4, 2.9, "baseline", "this run") as (figure, axes):
        room = spread + span * 0.03
        corners = [lowest - room, highest + room]
        axes.plot(corners, corners, color=INKS["line"], linewidth=1, zorder=1)
        for name, direction, marker in (("same", 0, "o"), ("better", 1, "^"), ("worse", -1, "v")):
            chosen = [i for i, pair in pairs.items() if sign(pair.gain) == direction]
            if chosen:
                xs, ys = zip(*(positions[i] for i in chosen), strict=True)
                axes.scatter(
                    xs, ys, s=size, color=INKS[name], marker=marker, linewidths=0, alpha=0.85 if direction else 0.6,
                    zorder=3, gid=f"{_DOTS}{','.join(map(str, chosen))}",
                )  # fmt: skip
        axes.set_xlim(*corners)
        axes.set_ylim(*corners)
        axes.set_aspect("equal")
        return svg_text(figure, prefix, f"Baseline against this run, one dot a case: {words}")


def _spread_dots(pairs: Mapping[int, ScoreChange], span: float) -> tuple[dict[int, tuple[float, float]], float, int]:
    """Place cases with equal scores on a spiral around their point; return also the radius and size of the largest."""
    groups = grouped(((round(pair.before, 3), round(pair.after, 3)), i) for i, pair in pairs.items())
    largest = max(map(len, groups.values()))
    spread = min(_SPREAD, 0.008 * math.sqrt(largest)) * span
    step = spread / math.sqrt(largest)
    positions: dict[int, tuple[float, float]] = {}
    for place, crowd in groups.items():
        for n, i in enumerate(crowd):
            radius, angle = step * math.sqrt(n), n * _GOLDEN_ANGLE
            positions[i] = place[0] + radius * math.cos(angle), place[1] + radius * math.sin(angle)
    return positions, spread, largest


def trend_plot(values: Sequence[float | None], prefix: str, label: str, since: str) -> str:
    """Plot a figure from the day *since* to this run, None is a gap; raises `MissingExtraError` without matplotlib."""
    with _figure(2.4, 1.3) as (figure, axes):
        ys: list[Any] = [math.nan if v is None else v for v in values]
        axes.grid(axis="y", color=INKS["line"], linewidth=0.5)
        axes.plot(range(len(ys)), ys, color=INKS["base"], linewidth=1.4, marker="o", markersize=2.6)
        axes.plot([len(ys) - 1], ys[-1:], color=INKS["now"], marker="o", markersize=6)
        axes.set_ylim(-0.04, 1.04)
        axes.set_yticks([0, 0.5, 1])
        axes.set_xlim(-0.5, max(len(ys) - 0.5, 1))
        axes.set_xticks([0, len(ys) - 1], labels=[since, "this run"] if len(ys) > 1 else ["", "this run"])
        axes.get_xticklabels()[0].set_horizontalalignment("left")
        axes.get_xticklabels()[-1].set_horizontalalignment("right")  # it is at the edge of the plot
        axes.tick_params(axis="x", length=0)
        return svg_text(figure, prefix, label)


def svg_text(figure: Figure, prefix: str, label: str) -> str:
    """Draw *figure*, without user text and in colours of `INKS`, and return its ``<svg>`` element.

    *prefix* makes its identifiers its own; *label* is the text for screen readers.
    """
    import matplotlib as mpl

    out = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": prefix, "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    root = ET.fromstring(out.getvalue())
    for parent in root.iter():
        parent[:] = [child for child in parent if child.tag not in (f"{_SVG}metadata", f"{_SVG}style")]
    references = {name for e in root.iter() for value in e.attrib.values() for name in _REFERENCE.findall(value)}
    for element in root.iter():
        _convert_ids(element, references)
        _convert_style(element)
    root.attrib = {
        "viewBox": root.attrib["viewBox"], "preserveAspectRatio": "xMinYMin meet", "role": "img", "aria-label": label,
        "class": "plot",
    }  # fmt: skip
    return ET.tostring(root, encoding="unicode")


def _convert_ids(element: ET.Element, references: Collection[str]) -> None:
    """Drop an identifier that nothing refers to; groups of dots number their dots by case."""
    name = element.attrib.pop("id", "")
    if name in references:
        element.set("id", name)
    if name.startswith(_DOTS):
        for place, dot in zip(name.removeprefix(_DOTS).split(","), element.iter(f"{_SVG}use"), strict=True):
            dot.set("data-case", place)
    if link := element.attrib.pop(_LINK, ""):
        element.set("href", link)


def _convert_style(element: ET.Element) -> None:
    """Turn the style of *element* into classes and attributes; shorten its coordinates."""
    element.tag, element.tail = element.tag.rpartition("}")[2], None
    element.text = element.text if (element.text or "").strip() else None
    if _UPRIGHT.fullmatch(element.get("transform", "")):
        del element.attrib["transform"]
    for key in ("d", "x", "y"):
        if key in element.attrib:
            element.set(key, _LONG_DECIMALS.sub(r"\1", " ".join(element.attrib[key].split())))
    style_text = element.attrib.pop("style", "")
    style = dict(part.strip().split(": ", 1) for part in style_text.split(";") if ": " in part)
    for key in ("fill", "stroke"):
        if key in element.attrib:
            style.setdefault(key, element.attrib.pop(key))
    if "font" in style:
        style["font-size"] = next(part for part in style["font"].split() if part.endswith("px"))
    element.attrib |= {key: v for key, v in style.items() if key in _KEPT_PROPERTIES and v not in _CLASS}
    if classes := [f"{key[0]}-{_CLASS[value]}" for key, value in style.items() if value in _CLASS]:
        element.set("class", " ".join(classes))
