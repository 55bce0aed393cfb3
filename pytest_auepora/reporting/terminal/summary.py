"""The closing summary of a pytest run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...base.grouping import grouped
from ...core.run import CaseResult, Run
from ...regression.outcomes import GateOutcome
from ...regression.verdict import Verdict
from ..numbers import change, plural
from ..relevant_docs import as_shown
from ..tally import FAILING, STATE_STYLES, CaseStatus, cases_of, headline_style
from ..text import ARROW, cases_words, clip, listed, text_width, wrap
from ..wording.cases import ToldGroup, accepted_text, told_groups
from ..wording.cause import cause_lines
from ..wording.checks import failed_lines, still_failing_lines
from ..wording.gates import brief_text, gate_groups, owner_and_cost, part_text
from ..wording.metric_rows import MetricRow, metric_rows, state_symbol
from ..wording.metrics import latency_text, lowest_text, table_notes
from ..wording.notes import run_notes
from ..wording.statistics import loss_text
from ..wording.steps import next_steps
from ..wording.verdict import changed_line, first_line, lost_cases, lost_groups, warnings
from .layout import Cell, Column, Line, Page, table

MOST_CASES = 10
_MOST_ANSWERS = 3  # cases that are shown with question and answer
_MOST_CHECKS = 2  # lines on the checks of a case
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
    html: str | None = None,
    steps: bool = True,
    later: Sequence[tuple[Run, Verdict]] = (),
) -> list[Line]:
    """Return the closing summary of one run, about a screen and a half at most.

    It has the first line, the cases that it is due to, the metrics, the gates and, with *steps*, the next steps, except
    those that *later* verdicts repeat.  *html* is the HTML report that was written, if any.
    """
    page = Page(width)
    page.title(run.title, ", ".join(filter(None, [run.path, f"owner {run.owner}" if run.owner else ""])))
    page.paragraph(first_line(run, verdict), *headline_style([verdict]))
    named_cases = _add_lost_cases(page, run, verdict)
    _add_worst_cases(page, run, verdict)
    for i, line in enumerate(cause_lines(verdict.cause, run)):
        page.paragraph(line, *(("bold",) if not i else ()), indent=2 * (i > 0))
    rows = metric_rows(run, verdict)
    if rows:
        room = "  " if any(row.mark for row in rows) else ""
        cells = [_cells(row, room) for row in rows]
        page.lines += table(_COLUMNS, cells, page.width)
    page.paragraph(latency_text(run, verdict), "light")
    for note in table_notes(run, verdict, rows):
        page.paragraph(note, "light", most=4)
    named_cases |= _add_moved_scores(page, run, verdict)
    if cases_of(run, verdict, FAILING):
        named_cases |= run.cases.keys()
    _add_gates(page, verdict, run, rows, named_cases)
    for note in warnings(run, verdict):
        page.paragraph(note, "yellow")
    for note in run_notes(run, verdict):
        page.paragraph(note, "light")
    page.paragraph(changed_line(verdict), "light", most=4)
    later_steps = {step for pair in later for step in next_steps(*pair, html)}
    for step in next_steps(run, verdict, html) if steps else ():
        page.paragraph(f"{ARROW} {step}" if step not in later_steps else "", "bold")
    return page.lines


def _cells(row: MetricRow, room: str) -> list[Cell]:
    """Return the cells of a row; *room* stands for the symbols of other rows, so that digits are aligned."""
    gate_style = STATE_STYLES.get(row.gate_state, ("light",)) if row.gate is not None else ()
    change_text = f"{row.change_text}{room}" if row.change_text else ""
    style = STATE_STYLES["passed"] if row.sign > 0 else ()
    if row.mark:
        change_text, style = f"{row.change_text} {state_symbol(row.mark)}", STATE_STYLES[row.mark]
    return [
        Cell(row.name),
        Cell(row.value_text, ("red",) if row.gate_state == "failed" else ()),
        Cell(row.n_text, ("yellow",) if row.n_error else ()),
        Cell(row.baseline_text),
        Cell(change_text, style),
        Cell(row.gate_text, gate_style),
    ]


def _add_lost_cases(page: Page, run: Run, verdict: Verdict) -> set[str]:
    """Add the cases by which the suite lost where no case failed by itself; return those named."""
    lost = lost_cases(run, verdict)
    groups = list(lost_groups(lost, run).items())
    for n, (reason, cases) in enumerate(groups[:MOST_CASES]):
        _add_case(page, cases_words([case.case_id for case in cases]), reason)
        if n < _MOST_ANSWERS:
            _add_answer(page, cases[0])
    page.more(sum(len(cases) for _, cases in groups[MOST_CASES:]))
    return {one.case.case_id for one in lost}


def _add_worst_cases(page: Page, run: Run, verdict: Verdict) -> None:
    """Add the worst cases, grouped by cause: an outage is one problem, not forty."""
    cases_by_kind = cases_of(run, verdict, (*FAILING, "fixed"))
    fixed = cases_by_kind.pop("fixed", [])
    n_left, n_answers = MOST_CASES, _MOST_ANSWERS
    for offset, (kind, cases) in enumerate(cases_by_kind.items(), 1 - len(cases_by_kind)):
        groups = told_groups(cases, run, verdict.case_comparisons)
        page.paragraph(kind, *(("red",) if kind == "still failing" else ("red", "bold")))
        most = max(n_left + offset, 1)  # leaves room for one case of each kind that follows
        for group in groups[:most]:
            _add_group(page, run, kind, group, with_answer=n_answers > 0)
            n_answers -= 1
        page.more(sum(len(group.cases) for group in groups[most:]))
        for accepted in dict.fromkeys(case.accepted for case in cases if case.accepted):
            page.paragraph(accepted_text(accepted), "light", indent=2)
        n_left -= min(len(groups), most)
    if fixed:
        page.paragraph(f"fixed: {listed([c.case_id for c in fixed], MOST_CASES)}", "green")


def _add_group(page: Page, run: Run, kind: CaseStatus, group: ToldGroup, *, with_answer: bool) -> None:
    """Add the cases of one cause; of a single case the checks that failed, its question and its answer as well."""
    name, reason, (case, *others) = group
    if others:
        _add_case(page, name, reason)
        return
    failures = failed_lines(case) if case.state == "failed" else []
    for line in failures[:_MOST_CHECKS]:
        page.paragraph(line, "red", indent=2)
    page.more(len(failures) - _MOST_CHECKS)
    if failures:
        for part in wrap(page.safe(reason), page.width - 4, most=2):
            page.lines.append([Cell(f"    {part}")])
    elif kind == "still failing" and (lines := still_failing_lines(case, run.metrics)):
        _add_case(page, name, "; ".join(lines))
    else:
        _add_case(page, name, reason)
    if with_answer and case.state == "failed":
        _add_answer(page, case)


def _add_answer(page: Page, case: CaseResult) -> None:
    """Add the question and the answer of a case, one line each."""
    shown = as_shown(case)
    for label, text in (("asked", shown.query), ("answer", str(shown.outputs.get("answer") or "(empty)"))):
        for part in wrap(page.safe(text), page.width - 13, most=1):
            page.lines.append([Cell(f"    {label.ljust(8)}", ("light",)), Cell(part, ("light",))])


def _add_case(page: Page, name: str, reason: str) -> None:
    name, reason = clip(page.safe(name), page.width - 2), page.safe(reason)
    line = [Cell("  "), Cell(name, ("bold",))]
    room = page.width - text_width(name) - 4
    if room >= page.width // 2:
        first, *rest = wrap(reason, room)
        line.append(Cell(f"  {first}"))
        reason = reason[len(first) :].strip() if rest else ""
    page.lines += [line, *([Cell(f"    {part}")] for part in wrap(reason, page.width - 4, most=2))]


def _add_moved_scores(page: Page, run: Run, verdict: Verdict) -> set[str]:
    """Add scores that changed and no outcome with them, for a green run also the lowest; return the cases named.

    Above a red verdict no line weighs gains against losses: it would read as the all-clear.
    """
    if verdict.outcome == "failed":
        return set()
    unchanged = [case for case in verdict.case_comparisons.values() if case.flip == "unchanged"]
    lower = sorted((case for case in unchanged if case.worst < 0), key=lambda case: case.worst)
    higher = sum(case.best > 0 and not case.worst for case in unchanged)
    if lower:
        names = ", ".join(f"{case.case_id} {change(case.worst, 2)}" for case in lower[:3])
        text = f"of those unchanged, {len(lower)} scored lower ({names}) and {higher} only higher"
        page.paragraph(text, "light", most=2)
    page.paragraph(lowest_text(run, verdict), "light", most=2)
    return {case.case_id for case in lower[:3]}


def _add_gates(page: Page, verdict: Verdict, run: Run, rows: Sequence[MetricRow], named: set[str]) -> None:
    """Add the gates that did not pass and *rows* do not show; undecided ones are named, and no more."""
    is_outage = all(case.state in ("error", "skipped") for case in run.cases.values())
    in_rows = [row.gate for row in rows if row.gate is not None and (row.gate.value is not None or is_outage)]
    for group in gate_groups(verdict):
        state, gates = group.state, group.gates
        if state == "advisory":  # the warnings have these
            continue
        slices = sorted((g for g in gates if g.is_of_slice), key=lambda g: -abs((g.value or 0.0) - (g.before or 0.0)))
        style = STATE_STYLES.get(state, ("yellow",))
        if state == "inconclusive":
            texts = [part_text(g) for g in gates if g not in slices]
            texts += [plural(len(slices), "slice")] if slices else []
            page.paragraph(f"inconclusive: no loss is shown in {listed(texts, 5)}", "light")
            continue
        many_slices = len(slices) > _MOST_SLICES
        for text in _reasons(verdict, [g for g in gates if not (many_slices and g in slices)], run, in_rows, named):
            page.paragraph(f"{state_symbol(state)} {text}", *style)
        if many_slices:
            word = "worse" if state == "failed" else state
            moves = ((g, (g.value or 0.0) - (g.before or 0.0)) for g in slices)
            texts = [f"{g.part} {change(d, 2)}" if None not in (g.value, g.before) else g.part for g, d in moves]
            text = f"{word} in {plural(len(slices), 'slice')}: {listed(texts, _MOST_SLICES)}"
            page.paragraph(f"{state_symbol(state)} regression: {text}", *style)


def _reasons(
    verdict: Verdict, gates: Sequence[GateOutcome], run: Run, in_rows: Sequence[GateOutcome], named: set[str]
) -> Iterator[str]:
    """Yield the reasons of *gates*, grouped where equal.

    Gates *in_rows* get only owner and costly cases; metrics that got worse share one line with their case counts.
    """
    worse = [g for g in gates if g.state == "failed" and g.is_of_whole and g.test is not None and g not in in_rows]
    worse = [g for g in worse if g.word == "worse"]
    if worse:
        counts = grouped((loss_text(gate.test), part_text(gate)) for gate in worse if gate.test is not None)
        cases = "; ".join(f"{', '.join(parts)}: {counts_text}" for counts_text, parts in counts.items())
        yield ", ".join([f"regression: {cases}", *owner_and_cost(worse, run, named)])
    entries: list[tuple[tuple[str, str], GateOutcome]] = []
    for gate in gates:
        if gate in in_rows:
            if extras := owner_and_cost([gate], run, named):
                entries.append((("", ", ".join(extras)), gate))
        elif gate not in worse:
            entries.append(((gate.kind, brief_text(gate, run, verdict.notes)), gate))
    for (kind, story), group in grouped(entries).items():
        parts = ", ".join(filter(None, map(part_text, group)))
        prefix = f"{kind}: " if kind and kind != "threshold" else ""
        extras = owner_and_cost(group, run, named) if kind else []
        yield ", ".join([f"{prefix}{f'{parts}: ' if parts else ''}{story}", *extras])
