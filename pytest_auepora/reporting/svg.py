"""A matplotlib figure as SVG for the inside of a page: coloured by the page's style sheet, equal for equal figures.

A strict content security policy admits no ``style`` attributes, and colours must follow the theme.  So every colour of
a figure is one of `INKS`, which becomes a class (``f-ink`` for a fill, ``s-ink`` for a stroke); other properties become
attributes; identifiers are numbered under a prefix, so that no two figures of a page share any.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INKS = {
    "ink": "#010101", "muted": "#020202", "line": "#030303", "base": "#040404", "now": "#050505", "worse": "#060606",
    "better": "#070707", "same": "#080808",
}  # fmt: skip
"""Name of a colour → the value that stands for it in a figure."""

_CLASS = {value: name for name, value in INKS.items()}
_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_KEPT = {"stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "fill-opacity", "stroke-opacity",
         "opacity", "text-anchor", "font-size"}  # fmt: skip
_DOTS = "dots:"
_LONG = re.compile(r"(\.\d\d)\d+")
_UPRIGHT = re.compile(r"rotate\(-?0 .*\)")


def svg_text(figure: Figure, prefix: str, label: str) -> str:
    """Draw *figure* and return its ``<svg>`` element.

    Args:
        figure: holds no text of a user; all colours are of `INKS`.
        prefix: begins every identifier.
        label: what a screen reader says in its place.
    """
    import matplotlib as mpl

    out = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": prefix, "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    root = ET.fromstring(out.getvalue())
    for parent in root.iter():
        for child in list(parent):
            if child.tag.rpartition("}")[2] in ("metadata", "style"):
                parent.remove(child)
    _number(root, prefix)
    for element in root.iter():
        _clean(element)
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "preserveAspectRatio": "xMinYMin meet",
        "role": "img",
        "aria-label": label,
        "class": "plot",
    }
    return ET.tostring(root, encoding="unicode", short_empty_elements=True)


def _number(root: ET.Element, prefix: str) -> None:
    """Rename the identifiers that are referred to; drop the others, but for groups of dots, which number their dots."""
    used: dict[str, str] = {}
    for element in root.iter():
        links = [element.attrib[_LINK][1:]] if _LINK in element.attrib else []
        for name in [*links, *(found for value in element.attrib.values() for found in _REFERENCE.findall(value))]:
            used.setdefault(name, f"{prefix}-{len(used)}")
    for element in root.iter():
        name = element.attrib.pop("id", "")
        if name in used:
            element.set("id", used[name])
        if name.startswith(_DOTS):
            for place, dot in zip(name.removeprefix(_DOTS).split(","), element.iter(f"{_SVG}use"), strict=True):
                dot.set("data-case", place)
        if link := element.attrib.pop(_LINK, ""):
            element.set("href", f"#{used[link[1:]]}")
        for key, value in element.attrib.items():
            element.set(key, _REFERENCE.sub(lambda found: f"url(#{used[found[1]]})", value))


def _clean(element: ET.Element) -> None:
    """Turn the style of *element* into classes and attributes; shorten what nobody sees."""
    element.tag = element.tag.rpartition("}")[2]
    element.tail = None
    if not (element.text or "").strip():
        element.text = None
    if _UPRIGHT.fullmatch(element.get("transform", "")):
        del element.attrib["transform"]
    for key in ("d", "x", "y"):
        if key in element.attrib:
            element.set(key, _LONG.sub(r"\1", " ".join(element.attrib[key].split())))
    said = element.attrib.pop("style", "")
    told = dict(part.strip().split(": ", 1) for part in said.split(";") if ": " in part)
    for key in ("fill", "stroke"):
        if key in element.attrib:
            told.setdefault(key, element.attrib.pop(key))
    if "font" in told:
        told["font-size"] = next(part for part in told["font"].split() if part.endswith("px"))
    classes: list[str] = []
    for key, value in told.items():
        if value in _CLASS:
            classes.append(f"{key[0]}-{_CLASS[value]}")
        elif key in ("fill", "stroke") or key in _KEPT:
            element.set(key, value)
    if classes:
        element.set("class", " ".join(classes))
