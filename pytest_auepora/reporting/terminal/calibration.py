"""The result of a calibration as text."""

from __future__ import annotations

from ...calibration.agreement import Estimate
from ...calibration.study import Bias, Study
from ..text import printable, wrap

_WAYS = {
    "fixed": "fixed beforehand",
    "cv": "chosen; the figures are of held-out tenths, each with the threshold of the others",
    "split": "chosen on one half; the figures are of the other",
}
_WIDTH = 100


def study_text(study: Study, *, ascii_only: bool = False) -> str:
    """Return the decision, the figures with their intervals, the bias checks, and further remarks."""
    answers = [answer for answer, _ in study.labels.values()]
    decision = "may gate" if study.gate else "stays advisory"
    room = max(map(len, study.figures))
    lines = [
        f"{study.metric}: {decision}: {study.reason}",
        f"{len(answers)} labels, {sum(answers)} yes and {len(answers) - sum(answers)} no; "
        f"the judge says yes from {study.decisions.threshold:g} ({_WAYS[study.decisions.method]})",
        "",
        *(f"  {name:<{room}}  {_figure_text(figure)}" for name, figure in study.figures.items()),
        *_bias_lines(study.biases),
        *_change_lines(study),
        *[f"note: {remark}" for remark in study.remarks],
    ]
    wrapped = [part for line in lines for part in (_wrap_line(line, ascii_only) if line.strip() else [line])]
    return "\n".join(wrapped) + "\n"


def _wrap_line(line: str, ascii_only: bool) -> list[str]:
    if line.startswith(" "):
        return [line]  # a row of the table, without user text
    first, *rest = wrap(printable(line, ascii_only=ascii_only), _WIDTH - 2, ascii_only=ascii_only)
    return [first, *(f"  {part}" for part in rest)]


def _figure_text(figure: Estimate, sign: str = "") -> str:
    if figure.value is None:
        return "n/a"
    value = f"{figure.value:{sign}.3f}"
    if figure.source == "none":
        return value
    ends = ["?" if end is None else f"{end:{sign}.3f}" for end in (figure.low, figure.high)]
    return f"{value}  95 % {ends[0]} to {ends[1]} ({figure.source})"


def _bias_lines(biases: list[Bias]) -> list[str]:
    if not biases:
        return []
    out = ["", "What the judge goes by besides:"]
    for bias in biases:
        mark = "!" if bias.suspicious else "-"
        sign = "" if bias.figure.source == "Wilson" else "+"
        out += [f"{mark} {bias.name}: {_figure_text(bias.figure, sign)}: {bias.meaning}"]
    return [*out, ""]


def _change_lines(study: Study) -> list[str]:
    change = study.change
    if change is None:
        return []
    return [
        f"against the judge calibrated before, on {change.n} items: {change.fixed} now right, "
        f"{change.broken} now wrong, {change.outcome} (mid-p McNemar {change.p:.4f})"
    ]
