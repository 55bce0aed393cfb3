"""The result of a calibration as text."""

from __future__ import annotations

from ...calibration.agreement import Estimate
from ...calibration.study import Study
from .layout import Cell, Page, render

_WAYS = {
    "fixed": "fixed beforehand",
    "cv": "chosen; the figures are of held-out tenths, each with the threshold of the others",
    "split": "chosen on one half; the figures are of the other",
}
_WIDTH = 100


def study_text(study: Study, *, ascii_only: bool = False) -> str:
    """Return the decision, the figures with their intervals, the bias checks, and further remarks."""
    page = Page(_WIDTH, ascii_only=ascii_only)
    n_yes, n = sum(answer for answer, _ in study.labels.values()), len(study.labels)
    page.paragraph(f"{study.metric}: {'may gate' if study.gate else 'stays advisory'}: {study.reason}")
    threshold = f"the judge says yes from {study.decisions.threshold:g} ({_WAYS[study.decisions.method]})"
    page.paragraph(f"{n} labels, {n_yes} yes and {n - n_yes} no; {threshold}")
    page.lines.append([])
    room = max(map(len, study.figures))
    page.lines += [[Cell(f"  {name:<{room}}  {_figure_text(figure)}")] for name, figure in study.figures.items()]
    if study.biases:
        page.lines.append([])
        page.paragraph("Biases of the judge:")
        for bias in study.biases:
            sign = "" if bias.figure.source == "Wilson" else "+"
            text = f"{bias.name}: {_figure_text(bias.figure, sign)}: {bias.meaning}"
            page.paragraph(f"{'!' if bias.suspicious else '-'} {text}")
        page.lines.append([])
    if (change := study.change) is not None:
        page.paragraph(
            f"against the judge calibrated before, on {change.n} items: {change.fixed} now right, "
            f"{change.broken} now wrong, {change.outcome} (mid-p McNemar {change.p:.4f})"
        )
    for remark in study.remarks:
        page.paragraph(f"note: {remark}")
    return render(page.lines) + "\n"


def _figure_text(figure: Estimate, sign: str = "") -> str:
    if figure.value is None:
        return "n/a"
    value = f"{figure.value:{sign}.3f}"
    if figure.source == "none":
        return value
    ends = ["?" if end is None else f"{end:{sign}.3f}" for end in (figure.low, figure.high)]
    return f"{value}  95 % {ends[0]} to {ends[1]} ({figure.source})"
