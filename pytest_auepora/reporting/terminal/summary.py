"""The closing summary of a pytest run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...core.grouping import grouped
from ...core.run import Run
from ...errors import ACCEPTED_SHAPES
from ...regression.guards.gates import REGRESSION, GateOutcome
from ...regression.verdict import Verdict
from .. import notes
from ..diagnosis import alike, diagnose, worst_first
from ..findings import titled
from ..metric_rows import MetricRow, metric_rows, state_mark
from ..numbers import change, plural
from ..tally import FAILING, cases_of, comparison_word, headline, headline_style
from ..text import Symbols, listed, text_width
from .layout import Cell, Column, Line, Page, table

MOST_CASES = 10
MOST_SLICES = 4
"""Slices of which each has its own line, or its name in one line of all."""

_COLUMNS = (
    Column("metric", least=12),
    Column("value", right=True),
    Column("n", right=True),
    Column("baseline", right=True, expendable=1),
    Column("change", right=True),
    Column("gate", least=8),
)
_PLAIN: tuple[str, ...] = ()
_STATE_STYLE = {"passed": ("green",), "failed": ("red", "bold"), "inconclusive": ("yellow",)}


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
    """Return the closing summary of one run, at most about a screen and a half: what happened, the metrics, the worst
    cases, the gates, and last, with *steps*, what to do next, but for what is said below *later* verdicts as well;
    *html* is the HTML report that was written, if any.
    """
    page = Page(width, ascii_only=ascii_only)
    page.title(run.title, ", ".join(filter(None, [run.path, f"owner {run.owner}" if run.owner else ""])))
    page.free(notes.balance_note(verdict), "yellow", "bold")
    told = [comparison_word(verdict), headline([verdict], [run])]
    page.free(": ".join(filter(None, told)), *headline_style([verdict]))
    rows = metric_rows(run, verdict)
    _metrics(page, run, verdict, rows)
    _worst_cases(page, run, verdict)
    named = _moved(page, run, verdict)
    if cases_of(run, verdict, FAILING):
        named |= run.cases.keys()
    _gates(page, verdict, run, rows, named)
    for note in notes.warnings(verdict):
        page.free(note, "yellow")
    for note in notes.run_notes(run, verdict):
        page.free(note, "light")
    page.free(notes.changed_note(verdict), "light", most=4)
    below = {step for one in later for step in notes.next_steps(one, html)}
    for step in notes.next_steps(verdict, html) if steps else ():
        page.free(f"{page.marks.arrow} {step}" if step not in below else "", "bold")
    return page.lines


def _metrics(page: Page, run: Run, verdict: Verdict, rows: Sequence[MetricRow]) -> None:
    if rows:
        room = "  " if any(row.mark for row in rows) else ""
        cells = [_cells(row, page.marks, room) for row in rows]
        page.lines += table(_COLUMNS, cells, page.width, ascii_only=page.ascii_only)
    if told := notes.latency_line(run, verdict):
        page.free(told, "light")
    for note in notes.missing_notes(run, verdict, rows):
        page.free(note, "light", most=4)


def _cells(row: MetricRow, marks: Symbols, room: str) -> list[Cell]:
    gate_style = _STATE_STYLE.get(row.gate_state, ("light",)) if row.gate is not None else ()
    moved, style = row.change_text, _PLAIN
    if row.mark:
        moved, style = f"{moved} {state_mark(row.mark, marks)}", _STATE_STYLE[row.mark]
    elif moved:
        moved += room  # for the marks of other rows, so that digits stand below each other
        style = ("green",) if row.sign > 0 else ()
    return [
        Cell(row.name),
        Cell(row.value_text, ("red",) if row.gate_state == "failed" else ()),
        Cell(row.n_text, ("yellow",) if row.n_error else ()),
        Cell(row.baseline_text),
        Cell(moved, style),
        Cell(row.gate_text(marks), gate_style),
    ]


def _worst_cases(page: Page, run: Run, verdict: Verdict) -> None:
    """List the worst cases, those with the same cause together: an outage is one thing, not forty."""
    compared = verdict.comparison.cases if verdict.comparison is not None else {}
    found = cases_of(run, verdict, (*FAILING, "fixed"))
    fixed = found.pop("fixed", [])
    left = MOST_CASES
    for after, (kind, cases) in enumerate(found.items(), 1 - len(found)):
        by: dict[str, tuple[str, list[str]]] = {}
        for case in worst_first(cases, compared):
            told = str(diagnose(case, compared.get(case.case_id), run.metrics) or case.state)
            by.setdefault(alike(told, case) or told, (told, []))[1].append(case.case_id)
        page.free(kind, *(("red",) if kind == "still failing" else ("red", "bold")))
        most = max(left + after, 1)  # of every kind that follows there is room for one
        for why, ids in list(by.values())[:most]:
            _case(page, ids[0] if len(ids) == 1 else f"{plural(len(ids), 'case')} ({listed(ids, 2)})", why)
        if more := sum(len(ids) for _, ids in list(by.values())[most:]):
            page.free(f"{page.marks.dots} and {more} more", "light", indent=2)
        for line in dict.fromkeys(line for case in cases for line in case.error.splitlines()[1:]):
            if line.startswith(ACCEPTED_SHAPES):
                page.free(line, "light", indent=2)
        left -= min(len(by), most)
    if fixed:
        page.free(f"fixed: {listed([c.case_id for c in fixed], MOST_CASES)}", "green")


def _case(page: Page, who: str, why: str) -> None:
    """Add a case and its cause: in one line, else in two or, below a long name, in three."""
    who, why = page.clip(page.safe(who), page.width - 2), page.safe(why)
    room = page.width - text_width(who) - 4
    if room < page.width // 2:
        page.lines.append([Cell("  "), Cell(who, ("bold",))])
        page.lines += [[Cell(f"    {part}")] for part in page.wrap(why, page.width - 4, most=2)]
        return
    first, *rest = page.wrap(why, room)
    page.lines.append([Cell("  "), Cell(who, ("bold",)), Cell(f"  {first}")])
    if rest:
        left = why[len(first) :].strip()
        page.lines += [[Cell(f"    {part}")] for part in page.wrap(left, page.width - 4, most=2)]


def _moved(page: Page, run: Run, verdict: Verdict) -> set[str]:
    """Tell scores that moved without changing an outcome, which the mean would hide; of a green run also the lowest.

    Returns:
        The cases that it names.
    """
    compared = verdict.comparison.cases.values() if verdict.comparison is not None else ()
    unchanged = [case for case in compared if case.flip == "unchanged"]
    lower = sorted((case for case in unchanged if case.worst < 0), key=lambda case: case.worst)
    higher = sum(case.best > 0 and not case.worst for case in unchanged)
    if lower or higher:
        worst = ", ".join(f"{case.case_id} {change(case.worst, 2)}" for case in lower[:3])
        who = f" ({worst})" if worst else ""
        page.free(f"of those unchanged, {len(lower)} scored lower{who} and {higher} only higher", "light", most=2)
    if verdict.outcome != "failed":
        page.free(notes.lowest_note(run, verdict), "light", most=2)
    return {case.case_id for case in lower[:3]}


def _gates(page: Page, verdict: Verdict, run: Run, rows: Sequence[MetricRow], named: set[str]) -> None:
    """Tell what *rows* do not say of the gates that failed, then the inconclusive ones; slices by name.

    In a run that failed, what cannot be decided is no news.  Of gates that were not judged only a baseline that nothing
    compares with is; the headline says that few cases ran.
    """
    is_outage = all(case.state in ("error", "skipped") for case in run.cases.values())
    in_rows = [row.gate for row in rows if row.gate is not None and (row.gate.value is not None or is_outage)]
    for state in ("failed", "inconclusive", "not judged"):
        gates = [g for g in verdict.gates if g.state == state and (state != "not judged" or g.kind == "baseline")]
        slices = sorted((g for g in gates if g.is_of_slice), key=lambda g: -abs((g.value or 0.0) - (g.before or 0.0)))
        style = _STATE_STYLE.get(state, ("yellow",))
        if state == "inconclusive" and verdict.outcome == "failed":
            told = [g.part for g in gates if g not in slices]
            told += [plural(len(slices), "slice")] if slices else []
            page.free(f"{page.marks.unsure} inconclusive: {listed(told, 5)}" if told else "", *style)
            continue
        many_slices = len(slices) > MOST_SLICES
        for text in _stories([g for g in gates if not (many_slices and g in slices)], run, in_rows, named):
            page.free(f"{state_mark(state, page.marks)} {text}", *style)
        if many_slices:
            word = "worse" if state == "failed" else state
            moves = ((g, (g.value or 0.0) - (g.before or 0.0)) for g in slices)
            told = [f"{g.part} {change(by, 2)}" if None not in (g.value, g.before) else g.part for g, by in moves]
            text = f"{word} in {plural(len(slices), 'slice')}: {listed(told, MOST_SLICES)}"
            page.free(f"{state_mark(state, page.marks)} regression: {text}", *style)


def _stories(gates: Sequence[GateOutcome], run: Run, in_rows: Sequence[GateOutcome], named: set[str]) -> Iterator[str]:
    """Yield why *gates* are what they are, those with the same story together.

    Of those *in_rows*, owner and costs are left to tell; of metrics that got worse, in how many cases, all in one.
    """
    lost = [gate for gate in gates if gate.state == "failed" and gate.is_of_whole and gate.n_worse]
    worse = [gate for gate in lost if gate not in in_rows]
    if worse:
        counts = grouped((f"{gate.n_worse} worse, {gate.n_better} better", gate.part) for gate in worse)
        cases = "; ".join(f"{', '.join(parts)}: {many}" for many, parts in counts.items())
        yield ", ".join([f"regression: {cases}", *_owner_and_cost(worse, run, named)])
    found: list[tuple[tuple[str, str], GateOutcome]] = []
    for gate in gates:
        if gate in in_rows:
            if beside := _owner_and_cost([gate], run, named):
                found.append((("", ", ".join(beside)), gate))
        elif gate not in worse:
            brief = gate.brief if gate.is_of_whole else ""
            found.append(((gate.kind, brief or notes.gate_reason(gate)), gate))
    for (kind, story), same in grouped(found).items():
        text = titled(", ".join(gate.part for gate in same), story)
        beside = _owner_and_cost(same, run, named) if kind else []
        yield ", ".join([f"{REGRESSION if kind == 'regression' else ''}{text}", *beside])


def _owner_and_cost(gates: Sequence[GateOutcome], run: Run, named: set[str]) -> list[str]:
    """Return owner and costly cases, as far as they were not *named*."""
    owners = sorted({g.owner for g in gates if g.owner and g.owner != run.owner})
    owner = [f"owner {', '.join(owners)}"] if owners else []
    culprits = gates[0].culprits[:3] if gates[0].kind != "coverage" else ()
    cost = [f"costs most: {', '.join(culprits)}"] if not named.issuperset(culprits) else []
    return owner + cost
