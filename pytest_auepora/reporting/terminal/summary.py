"""The closing summary of a pytest run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...base.grouping import grouped
from ...core.run import Run
from ...errors import ACCEPTED_SHAPES
from ...regression.guards.gates import REGRESSION, GateOutcome
from ...regression.verdict import Verdict
from .. import notes
from ..diagnosis import group_by_cause
from ..findings import with_title
from ..metric_rows import MetricRow, metric_rows, state_symbol
from ..numbers import change, plural
from ..tally import FAILING, STATE_STYLES, cases_of, comparison_word, headline, headline_style
from ..text import Symbols, listed, text_width
from .layout import Cell, Column, Line, Page, table

MOST_CASES = 10
_MOST_SLICES = 4  # with a line each; more share one line, which names this many

_COLUMNS = (
    Column("metric", least=12),
    Column("value", right=True),
    Column("n", right=True),
    Column("baseline", right=True, expendable=1),
    Column("change", right=True),
    Column("gate", least=8),
)


def summary_lines(
    run: Run,
    verdict: Verdict,
    *,
    width: int = 80,
    ascii_only: bool = False,
    html: str | None = None,
    steps: bool = True,
    later: Sequence[Verdict] = (),
) -> list[Line]:
    """Return the closing summary of one run, about a screen and a half at most.

    It has the headline, the metrics, the worst cases, the gates and, with *steps*, the next steps, except those that
    *later* verdicts repeat.  *html* is the HTML report that was written, if any.
    """
    page = Page(width, ascii_only=ascii_only)
    page.title(run.title, ", ".join(filter(None, [run.path, f"owner {run.owner}" if run.owner else ""])))
    page.paragraph(notes.balance_note(verdict), "yellow", "bold")
    parts = [comparison_word(verdict), headline([verdict], [run])]
    page.paragraph(": ".join(filter(None, parts)), *headline_style([verdict]))
    rows = metric_rows(run, verdict)
    if rows:
        room = "  " if any(row.mark for row in rows) else ""
        cells = [_cells(row, page.symbols, room) for row in rows]
        page.lines += table(_COLUMNS, cells, page.width, ascii_only=page.ascii_only)
    page.paragraph(notes.latency_line(run, verdict), "light")
    for note in notes.missing_notes(run, verdict, rows):
        page.paragraph(note, "light", most=4)
    _add_worst_cases(page, run, verdict)
    named_cases = _add_moved_scores(page, run, verdict)
    if cases_of(run, verdict, FAILING):
        named_cases |= run.cases.keys()
    _add_gates(page, verdict, run, rows, named_cases)
    for note in notes.warnings(verdict):
        page.paragraph(note, "yellow")
    for note in notes.run_notes(run, verdict):
        page.paragraph(note, "light")
    page.paragraph(notes.changed_note(verdict), "light", most=4)
    later_steps = {step for later_verdict in later for step in notes.next_steps(later_verdict, html)}
    for step in notes.next_steps(verdict, html) if steps else ():
        page.paragraph(f"{page.symbols.arrow} {step}" if step not in later_steps else "", "bold")
    return page.lines


def _cells(row: MetricRow, symbols: Symbols, room: str) -> list[Cell]:
    """Return the cells of a row; *room* stands for the symbols of other rows, so that digits are aligned."""
    gate_style = STATE_STYLES.get(row.gate_state, ("light",)) if row.gate is not None else ()
    change_text = f"{row.change_text}{room}" if row.change_text else ""
    style = STATE_STYLES["passed"] if row.sign > 0 else ()
    if row.mark:
        change_text, style = f"{row.change_text} {state_symbol(row.mark, symbols)}", STATE_STYLES[row.mark]
    return [
        Cell(row.name),
        Cell(row.value_text, ("red",) if row.gate_state == "failed" else ()),
        Cell(row.n_text, ("yellow",) if row.n_error else ()),
        Cell(row.baseline_text),
        Cell(change_text, style),
        Cell(row.gate_text(symbols), gate_style),
    ]


def _add_worst_cases(page: Page, run: Run, verdict: Verdict) -> None:
    """Add the worst cases, grouped by cause: an outage is one problem, not forty."""
    cases_by_kind = cases_of(run, verdict, (*FAILING, "fixed"))
    fixed = cases_by_kind.pop("fixed", [])
    n_left = MOST_CASES
    for offset, (kind, cases) in enumerate(cases_by_kind.items(), 1 - len(cases_by_kind)):
        groups = group_by_cause(cases, run, verdict.case_comparisons, merge_equal=True)
        page.paragraph(kind, *(("red",) if kind == "still failing" else ("red", "bold")))
        most = max(n_left + offset, 1)  # leaves room for one case of each kind that follows
        for diagnosis, group in groups[:most]:
            ids = [case.case_id for case in group]
            name = ids[0] if len(ids) == 1 else f"{plural(len(ids), 'case')} ({listed(ids, 2)})"
            _add_case(page, name, str(diagnosis or group[0].state))
        page.more(sum(len(group) for _, group in groups[most:]))
        for line in dict.fromkeys(line for case in cases for line in case.error.splitlines()[1:]):
            if line.startswith(ACCEPTED_SHAPES):
                page.paragraph(line, "light", indent=2)
        n_left -= min(len(groups), most)
    if fixed:
        page.paragraph(f"fixed: {listed([c.case_id for c in fixed], MOST_CASES)}", "green")


def _add_case(page: Page, name: str, reason: str) -> None:
    name, reason = page.clip(page.safe(name), page.width - 2), page.safe(reason)
    line = [Cell("  "), Cell(name, ("bold",))]
    room = page.width - text_width(name) - 4
    if room >= page.width // 2:
        first, *rest = page.wrap(reason, room)
        line.append(Cell(f"  {first}"))
        reason = reason[len(first) :].strip() if rest else ""
    page.lines += [line, *([Cell(f"    {part}")] for part in page.wrap(reason, page.width - 4, most=2))]


def _add_moved_scores(page: Page, run: Run, verdict: Verdict) -> set[str]:
    """Add scores that changed and no outcome with them, for a green run also the lowest; return the cases named."""
    unchanged = [case for case in verdict.case_comparisons.values() if case.flip == "unchanged"]
    lower = sorted((case for case in unchanged if case.worst < 0), key=lambda case: case.worst)
    higher = sum(case.best > 0 and not case.worst for case in unchanged)
    if lower or higher:
        names = f" ({', '.join(f'{case.case_id} {change(case.worst, 2)}' for case in lower[:3])})" if lower else ""
        text = f"of those unchanged, {len(lower)} scored lower{names} and {higher} only higher"
        page.paragraph(text, "light", most=2)
    if verdict.outcome != "failed":
        page.paragraph(notes.lowest_note(run, verdict), "light", most=2)
    return {case.case_id for case in lower[:3]}


def _add_gates(page: Page, verdict: Verdict, run: Run, rows: Sequence[MetricRow], named: set[str]) -> None:
    """Add the gates that did not pass and *rows* do not show; of a failed run, inconclusive ones are only counted."""
    is_outage = all(case.state in ("error", "skipped") for case in run.cases.values())
    in_rows = [row.gate for row in rows if row.gate is not None and (row.gate.value is not None or is_outage)]
    for group in notes.gate_groups(verdict):
        state, gates = group.state, group.gates
        if state == "advisory":  # the warnings have these
            continue
        slices = sorted((g for g in gates if g.is_of_slice), key=lambda g: -abs((g.value or 0.0) - (g.before or 0.0)))
        style = STATE_STYLES.get(state, ("yellow",))
        if state == "inconclusive" and verdict.outcome == "failed":
            texts = [g.part for g in gates if g not in slices]
            texts += [plural(len(slices), "slice")] if slices else []
            page.paragraph(f"{page.symbols.unsure} inconclusive: {listed(texts, 5)}" if texts else "", *style)
            continue
        many_slices = len(slices) > _MOST_SLICES
        for text in _reasons([g for g in gates if not (many_slices and g in slices)], run, in_rows, named):
            page.paragraph(f"{state_symbol(state, page.symbols)} {text}", *style)
        if many_slices:
            word = "worse" if state == "failed" else state
            moves = ((g, (g.value or 0.0) - (g.before or 0.0)) for g in slices)
            texts = [f"{g.part} {change(d, 2)}" if None not in (g.value, g.before) else g.part for g, d in moves]
            text = f"{word} in {plural(len(slices), 'slice')}: {listed(texts, _MOST_SLICES)}"
            page.paragraph(f"{state_symbol(state, page.symbols)} regression: {text}", *style)


def _reasons(gates: Sequence[GateOutcome], run: Run, in_rows: Sequence[GateOutcome], named: set[str]) -> Iterator[str]:
    """Yield the reasons of *gates*, grouped where equal.

    Gates *in_rows* get only owner and costly cases; metrics that got worse share one line with their case counts.
    """
    worse = [g for g in gates if g.state == "failed" and g.is_of_whole and g.n_worse and g not in in_rows]
    if worse:
        counts = grouped((f"{gate.n_worse} worse, {gate.n_better} better", gate.part) for gate in worse)
        cases = "; ".join(f"{', '.join(parts)}: {counts_text}" for counts_text, parts in counts.items())
        yield ", ".join([f"regression: {cases}", *notes.owner_and_cost(worse, run, named)])
    entries: list[tuple[tuple[str, str], GateOutcome]] = []
    for gate in gates:
        if gate in in_rows:
            if extras := notes.owner_and_cost([gate], run, named):
                entries.append((("", ", ".join(extras)), gate))
        elif gate not in worse:
            brief = gate.brief if gate.is_of_whole else ""
            entries.append(((gate.kind, brief or notes.gate_reason(gate)), gate))
    for (kind, story), group in grouped(entries).items():
        text = with_title(", ".join(gate.part for gate in group), story)
        extras = notes.owner_and_cost(group, run, named) if kind else []
        yield ", ".join([f"{REGRESSION if kind == 'regression' else ''}{text}", *extras])
