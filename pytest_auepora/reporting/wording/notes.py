"""What is worth knowing beside the verdict: labels, judges, quarantine, where answers come from, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...base.grouping import grouped
from ...base.pages import reference
from ...base.text import names_words
from ...core.run import CaseResult, MetricInfo, Run
from ...evaluation.reuse import Refusal, WhyNot
from ...metrics.judge.usage import JudgeUsage, usage_of
from ...regression.outcomes import Advisory, BaselineNote, Note
from ...regression.policy import CLUSTERS_FOR_STATISTICS
from ...regression.verdict import Verdict
from ..diagnosis import distinct
from ..numbers import number, percent, plural
from ..text import listed
from .changes import changes_text, incomparable_text
from .checks import advisory_lines, finding_line, is_known_to_vary
from .gates import JUDGE_GONE, label_hint, part_text, reason_text

if TYPE_CHECKING:
    from ...metrics.service.system_usage import Spending

_MATCHES = {
    "exact": "by the same text under another id",
    "span": "by the chunks that hold the passage (span)",
    "fallback_doc": "by document (fallback_doc)",
}
_MOST_METRICS = 4
_CHECK_HINT = "`pytest --auepora-labels check` lists them"


def note_text(note: Note) -> str:
    """Return the sentence of a note."""
    names, data, detail = names_words(note.names), note.data, note.detail
    why = incomparable_text(note.why) if note.why is not None else ""
    match note.kind:
        case "slices too small":
            slices = ", ".join(f"{name} ({n})" for name, n in data.get("clusters", {}).items()) or names
            return f"slices of fewer than {CLUSTERS_FOR_STATISTICS} clusters are not judged: {slices}"
        case "not comparable with the anchor":
            return f"not comparable with the anchor: {names} ({why})"
        case "anchor not compared":
            renew = "renew it with `pytest --auepora-update=anchor`"
            return f"nothing in this run compares with the anchor, so slow drift was not judged; {renew}"
        case "accepted once":
            cases = plural(data.get("cases", len(note.names)), "case")
            return (
                f"one accepted answer of {cases}: chance in them cannot be told from a change; "
                f"`pytest --auepora-update` asks them again ({reference('baselines')})"
            )
        case "reused":
            cases, reused = data.get("cases", 0), data.get("reused", 0)
            return f"{plural(cases, 'case')}: {plural(cases - reused, 'generator call')}, {reused} reused"
        case "falls add up":
            change = f"from {number(data.get('before', 0.0))} to {number(data.get('after', 0.0))}"
            anchor = "an anchor keeps such steps from adding up: `pytest --auepora-update=anchor`"
            return f"{names}: {data.get('falls', 0)} accepted falls in a row add up {change}; {anchor}"
        case "no label met":
            returned = [f"{hit} of {doc}" if doc else str(hit) for hit, doc in data.get("returned") or ()]
            came = f"returned {names_words(returned, 3)}; " if returned else ""
            cases, wanted = plural(data.get("cases", 0), "case"), names_words(note.names, 3)
            return f"no label was met in {cases}: wanted {wanted}; {came}{label_hint(note)}"
        case "stopped":
            return "the run was stopped, so the baseline was not touched"
        case "not pruned":
            return "not all cases ran, so nothing was pruned"
        case "anchor not written":
            return "not all cases ran, so the anchor was not touched"
        case "accepted answers not kept":
            return f"the accepted answers are not kept: {detail}"
        case "provenance differs":
            changes = note.why.changes if note.why is not None else ()
            said = ", ".join(f"{change.key} {change.before} and {change.after}" for change in changes)
            return f"not all cases have the same provenance: {said or detail}"
        case "replayed":
            return f"replayed from run {detail}: its answers, no calls"
        case "resumed":
            taken, cases = data.get("taken", 0), data.get("cases", 0)
            rest = ", the others asked" if taken < cases else ""
            return f"{taken} of {cases} answers taken from run {detail}{rest}"
        case "nothing recorded":
            return f"no recorded run{f' of {detail}' if detail else ''}; nothing was taken"
        case "recorded otherwise":
            return f"run {detail} has another provenance, so no answers were taken: {why}"
        case "recorded at another commit":
            commits = note.why.changes if note.why is not None else ()
            said = "; ".join(f"was made at commit {change.before}, this is {change.after}" for change in commits)
            return f"run {detail} {said}"
        case "history not written":
            return f"not kept in the history: {detail}"
        case "history not read":
            return detail
        case "answers cut":
            return (
                f"too large to be recorded in full (auepora_keep): the answers to {names}; "
                "metrics over the texts that were cut are not comparable in a replay"
            )
        case "no output":
            return f"no output for {names}"
        case "looked once":
            return {
                "workers": "one process looks again: `pytest --auepora -p no:xdist`",
                "scope": f"a fixture `{names}` that lives longer than one test can be asked again: scope='session'",
                "replay": "the replayed run has no second answers: `pytest --auepora` asks for them",
                "limit": "a higher --auepora-max-calls looks again",
                "budget": "a higher auepora_budget looks again",
            }.get(detail, detail)
        case "call limit":
            asked = f"; not asked again: {names}" if names else ""
            limit = f"--auepora-max-calls {data['limit']}" if data.get("limit") else "auepora_budget"
            return f"{limit} was used up{asked}"


def notes_of(run: Run, verdict: Verdict) -> list[str]:
    """Return the notes of a verdict, and what its gates, its comparison and the cases say beside."""
    lines = [note_text(note) for note in verdict.notes]
    if any(gate.reason == "suite not selected" for gate in verdict.gates):
        lines.append("gates not judged: the test `suite` was not selected")
    lines += _look_notes(verdict)
    lines += varies_lines(run, 3 if verdict.outcome == "failed" else 10)
    if (comparison := verdict.comparison) is not None and comparison.unsteady:
        names = ", ".join(comparison.unsteady)
        lines.append(
            f"{names}: no longer steady, answers to one case differed in this run; "
            "if intended, `pytest --auepora-update` stores it"
        )
    lines += _label_notes(run, verdict) + _quarantine_notes(run) + skipped_lines(run)
    return lines + advisory_notes(run, verdict)


def skipped_lines(run: Run) -> list[str]:
    """Return why cases were skipped, each reason once, with how many cases it cost."""
    by_reason = grouped((case.error_line, case.case_id) for case in run.in_state("skipped") if case.error_line)
    return [f"skipped: {_cases(ids)}: {reason}" for reason, ids in by_reason.items()]


def is_all_skipped(run: Run) -> bool:
    """Whether nothing was measured, as every case was skipped."""
    return bool(run.cases) and all(case.state == "skipped" for case in run.cases.values())


def varies_lines(run: Run, most: int = 10) -> list[str]:
    """Return a line for each case that varies or is suspect, at most *most*; more where its checks differ in that.

    Those that varied when they were accepted share a line: in an unchanged run there are some every time.
    """
    passed = [case for case in run.cases.values() if case.state == "passed"]
    found = [(case.case_id, f) for case in passed for f in distinct(case.with_status("suspect", "varies"))]
    known = {case_id: finding for case_id, finding in found if is_known_to_vary(finding)}
    if len(known) > 1:
        found = [(case_id, finding) for case_id, finding in found if not is_known_to_vary(finding)]
    lines = {finding_line(case_id, finding): case_id for case_id, finding in found}
    shown = [*lines][:most]
    if left := len({*lines.values()} - {lines[line] for line in shown}):
        shown.append(f"… and {plural(left, 'more case')} of this kind")
    if len(known) > 1:
        counts = [f"{case_id} ({finding.held} of {finding.accepted} accepted)" for case_id, finding in known.items()]
        shown.append(f"{len(known)} cases vary as when accepted, and cannot fail alone: {names_words(counts, 4)}")
    return shown


def _look_notes(verdict: Verdict) -> list[str]:
    """Return whether a second look was had or missed, where one was due."""
    if verdict.look == "only":
        names = [part_text(g) for g in verdict.gates if g.look == "only" and g.state == "failed"]
        about = f" ({names_words(names, 3)})" if names else ""
        return [f"looked once: no further answers were to be had, so today's alone decided{about}"]
    if verdict.look == "second" and all(gate.word != "worse" for gate in verdict.gates if gate.look == "second"):
        return ["every case was asked again: the further answers do not confirm a loss"]
    return []


def _label_notes(run: Run, verdict: Verdict) -> list[str]:
    """Return how labels that moved were matched, and in which cases retrieval is not comparable."""
    moved = [case.moved for case in run.cases.values() if case.moved is not None]
    out: list[str] = []
    if moved:
        became = Counter(label["became"] for one in moved for label in one["labels"].values())
        matched = Counter(one["match"] for one in moved)
        kinds = ", ".join(f"{n} {kind}" for kind, n in became.most_common())
        texts = ", ".join(f"{matched[match]} {text}" for match, text in _MATCHES.items() if matched[match])
        matches = f"; cases matched {texts}" if texts else ""
        out.append(f"labels moved in {len(moved)} of {len(run.cases)} cases: {kinds}{matches}; {_CHECK_HINT}")
    cases = verdict.case_comparisons.items()
    reasons = grouped((changes_text(case.not_comparable), case_id) for case_id, case in cases if case.not_comparable)
    return out + [f"retrieval not comparable in {plural(len(ids), 'case')}: {why}" for why, ids in reasons.items()]


def _quarantine_notes(run: Run) -> list[str]:
    cases = [case for case in run.cases.values() if case.quarantine]
    active = [f"{_until(case)}" for case in cases if case.quarantined()]
    expired = [_until(case) for case in cases if not case.quarantined()]
    notes = [f"in quarantine, not held to the baseline: {', '.join(active)}"] if active else []
    return notes + ([f"quarantine is over, held to the baseline again: {', '.join(expired)}"] if expired else [])


def _until(case: CaseResult) -> str:
    failing = "; a check fails" if case.quarantined() and case.with_status("excused") else ""
    return f"{case.case_id} (until {case.quarantine}{failing})"


# -- judges


def advisory_text(why: Advisory) -> str:
    """Return why a judge cannot fail the run."""
    if why.reason == "policy":
        return "the golden file says judge: advisory"
    if why.reason == "unusable":
        return why.detail
    if why.reason == "judge gone":
        return JUDGE_GONE
    said = {
        "no calibration": f"there is no {why.place or 'calibration'}; {reference('judges')}",
        "another judge": (
            f"the calibration is of another one ({changes_text(why.changes)}); run `auepora calibrate` again"
        ),
    }.get(why.reason, why.detail)
    return f"judge not calibrated: {said}"


def advisory_notes(run: Run, verdict: Verdict) -> list[str]:
    """Return which metrics are advisory and why, and what they would have failed."""
    would_fail = [gate for gate in verdict.gates if gate.would_be == "failed"]
    notes = [
        f"advisory: {part_text(gate)}: {reason_text(gate, run, verdict.notes)}"
        for gate in would_fail
        if not gate.is_of_slice
    ]
    if slices := [gate.part for gate in would_fail if gate.is_of_slice]:
        notes.append(f"advisory: would fail in slices: {names_words(slices, 3)}")
    silent = {gate.metric for gate in verdict.gates if gate.reason == "judge silent"}  # a failed gate says so
    if lines := _advisory_cases(run, silent):
        more = sum(len(ids) for _, ids in lines[3:])
        said = "; ".join(f"{_cases(ids)}: {line}" for line, ids in lines[:3])
        notes.append(f"advisory: would fail cases: {said}{f' and {more} more' if more else ''}")
    places = grouped((_shared(why, verdict.advisory), name) for name, why in verdict.advisory.items())
    notes += [f"advisory: cannot fail the run: {', '.join(names)} ({reason})" for reason, names in places.items()]
    return notes


def _advisory_cases(run: Run, silent: set[str]) -> list[tuple[str, list[str]]]:
    pairs = [
        (line, case.case_id)
        for case in run.cases.values()
        if any(finding.metric not in silent for finding in case.with_status("advisory"))
        for line in advisory_lines(case, run.metrics)
    ]
    return [*grouped(pairs).items()]


def _shared(why: Advisory, advisory: Mapping[str, Advisory]) -> str:
    """Return the reason; metrics without a file in one folder share one."""
    folder, slash, _ = why.place.rpartition("/")
    alike = [one for one in advisory.values() if one.reason == why.reason == "no calibration"]
    if slash and sum(one.place.rpartition("/")[0] == folder for one in alike) > 1:
        why = Advisory(why.reason, f"{folder}/<metric>.json")
    return advisory_text(why)


def _cases(ids: Sequence[str]) -> str:
    return f"{len(ids)} cases ({names_words(ids, 2)})" if len(ids) > 1 else ids[0]


def judge_lines(run: Run) -> list[str]:
    """Return ``judge: 24 requests, 2,400 + 240 tokens, cost 0.0072``, the same by metric, and problems, if any."""
    if not (usages := usage_of(run)):
        return []
    total = total_usage(usages)
    lines = [f"judge: {usage_text(total)}"]
    if len(usages) > 1:
        lines.append(f"judge by metric: {'; '.join(f'{name} {usage_text(usage)}' for name, usage in usages.items())}")
    unasked = [f"{plural(total.unasked, 'request')} to the judge not made"] if total.unasked else []
    return lines + total.notes + unasked


def total_usage(usages: Mapping[str, JudgeUsage]) -> JudgeUsage:
    """Return the sum of *usages*."""
    total = JudgeUsage()
    for usage in usages.values():
        total.add(**usage.to_dict())
    return total


def usage_text(usage: JudgeUsage) -> str:
    """Return ``24 requests (1 retry), 2,400 + 240 tokens, cost 0.0072``: tokens of prompts, then of replies."""
    extras = [plural(usage.retries, "retry", "retries")] if usage.retries else []
    extras += [f"{usage.cache_hits:,} more from the cache"] if usage.cache_hits else []
    parts = [plural(usage.requests, "request") + (f" ({', '.join(extras)})" if extras else "")]
    if usage.tokens or not usage.unreported:
        parts.append(f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens")
    if usage.unreported:
        parts.append(f"{plural(usage.unreported, 'reply', 'replies')} without token counts")
    if usage.cost is not None:
        parts.append(f"cost {cost_text(usage.cost)}")
    return ", ".join(parts)


def system_lines(run: Run) -> list[str]:
    """Return ``system: 24 model calls, 2,400 + 240 tokens, cost 0.0072``, the same by model, or nothing."""
    if not any(case.system_usage for case in run.cases.values()):
        return []
    from ...metrics.service.system_usage import spending_by_model, total_spending

    models = spending_by_model(run)
    total = total_spending(case.system_usage for case in run.cases.values())
    by_model = "; ".join(f"{model or 'unnamed'} {spending_text(spending)}" for model, spending in models.items())
    return [f"system: {spending_text(total)}", *([f"system by model: {by_model}"] if len(models) > 1 else [])]


def spending_text(spending: Spending) -> str:
    """Return ``24 model calls, 2,400 + 240 tokens, cost 0.0072``: tokens of input, then of output."""
    parts = [plural(spending.calls, "model call")]
    if spending.unreported < spending.calls:
        parts.append(f"{spending.input_tokens:,} + {spending.output_tokens:,} tokens")
    if spending.unreported:
        parts.append(f"{spending.unreported:,} without token counts")
    if spending.unpriced < spending.calls:
        parts.append(f"cost {cost_text(spending.cost)}")
        parts += [f"{spending.unpriced:,} without a cost"] if spending.unpriced else []
    return ", ".join(parts)


def case_usage_text(case: CaseResult) -> str:
    """Return what the judges of one case took, as `usage_text` has it; empty where none was asked."""
    usages = {name: JudgeUsage(**usage) for name, usage in case.judge_usage.items()}
    return usage_text(total_usage(usages)) if usages else ""


def case_spending_text(case: CaseResult) -> str:
    """Return what the system took for one case, as `spending_text` has it; empty where it reported nothing."""
    if not case.system_usage:
        return ""
    from ...metrics.service.system_usage import total_spending

    return spending_text(total_spending([case.system_usage]))


def cost_text(cost: float) -> str:
    """Return a cost with up to six decimals."""
    return f"{cost:,.6f}".rstrip("0").rstrip(".")


# -- the baseline, repeats, flaky cases, noise


def baseline_text(note: BaselineNote) -> str:
    """Return why there is no baseline; empty where there is one."""
    match note.state:
        case "none":
            return f"no baseline yet ({note.place})" if note.place else "no baseline yet"
        case "other variant":
            return f"no baseline yet ({note.place}; {note.detail} is of no variant)"
        case "unreadable":
            return note.detail
        case "replaced":
            return "an unreadable baseline was replaced"
        case "unnamed":
            return "no name of its own, so nothing is compared"
        case "not compared":
            return "not compared with a baseline"
        case _:
            return ""


def repeats_line(run: Run) -> str:
    """Return ``each case asked 5 times, seed 7``; empty where nothing was repeated or seeded."""
    times, parts = sorted({case.repeats for case in run.in_state("passed", "failed") if not case.reused}), []
    if times and times[-1] > 1:
        each = f"each case asked {times[0]} times"
        parts.append(each if len(times) == 1 else f"asked {times[0]} to {times[-1]} times")
    if (seed := run.provenance.get("seed")) is not None:
        parts.append(f"seed {seed}")
    return ", ".join(parts)


def flaky_text(case_id: str, verdict: Verdict) -> str:
    """Return ``passes in 40 % of the answers``; empty for a case that is not flaky."""
    share = verdict.flaky.get(case_id)
    return f"passes in {percent(share, 0)} of the answers" if share is not None else ""


def flaky_line(verdict: Verdict, most: int = 10) -> str:
    """Return ``2 flaky cases: late-return (passes in 40 % of the answers), …``; empty without any."""
    parts = [f"{case_id} ({flaky_text(case_id, verdict)})" for case_id in verdict.flaky]
    return f"{plural(len(parts), 'flaky case')}: {names_words(parts, most)}" if parts else ""


def noise_lines(verdict: Verdict) -> list[str]:
    """Return a line for each metric that varied between repeats, those that more repeats help most first."""
    splits = sorted(verdict.noise.items(), key=lambda item: -item[1].most_shrink)
    pairs = (
        (
            f"variance between cases {split.between:.4f}, within cases {max(0.0, split.total - split.between):.4f}; "
            f"more repeats can shrink the standard error by at most {split.most_shrink * 100:.0f} %",
            name,
        )
        for name, split in splits
    )
    by_split = grouped(pairs)
    lines = [f"{', '.join(names)}: {split}" for split, names in by_split.items()]
    n_left = sum(len(names) for names in list(by_split.values())[_MOST_METRICS:])
    return lines[:_MOST_METRICS] + ([f"{plural(n_left, 'other metric')} varied as well"] if n_left else [])


_NOT_REUSED: Mapping[WhyNot, str] = {
    "no baseline": "there is no baseline",
    "no digests": "the baseline does not say what was retrieved: accept it once more with `pytest --auepora-update`",
    "repeated": "each case is asked several times",
    "undeclared": "the provenance does not say {names} (pytest_auepora_provenance, auepora_provenance)",
    "provenance": "{names} of the provenance changed",
    "metrics changed": "{names} is defined otherwise than in the baseline",
    "not in baseline": "{names} needs answers of today",
}


def not_reused_text(title: str, refusal: Refusal) -> str:
    """Return why no accepted answer of a suite serves again."""
    why = _NOT_REUSED[refusal.why].format(names=names_words(list(refusal.names)))
    return f"{title}: reuse: generator leaves out no call: {why}"


def run_notes(run: Run, verdict: Verdict) -> list[str]:
    """Return notes on the run: its repeats, the noise between them, the cost of judges and of the system."""
    return [note for note in (repeats_line(run), *noise_lines(verdict), *judge_lines(run), *system_lines(run)) if note]


def gaps(run: Run, verdict: Verdict) -> Iterator[str]:
    """Yield where scores are n/a that are not always: where accepted answers had a number, or without a baseline.

    What is n/a as when it was accepted says nothing about this run; the table has its denominators.
    """
    if verdict.comparison is None:
        listed_gaps = grouped(_gaps(run, verdict, run.metrics))
        texts = [f"{n} in {', '.join(names)}{f' ({why})' if why else ''}" for (n, why), names in listed_gaps.items()]
        if texts:
            yield f"n/a: {'; '.join(texts)}"
        return
    for name, shares in verdict.comparison.has_number.items():
        lost = [i for i, change in shares.items() if change.gain < 0]
        if lost:
            yield f"n/a: {name} has no number in {plural(len(lost), 'case')} that had one: {listed(lost, 3)}"


def _gaps(run: Run, verdict: Verdict, metrics: Mapping[str, MetricInfo]) -> Iterator[tuple[tuple[int | str, str], str]]:
    """Yield each listed metric that is n/a in some cases, after their number and the reasons."""
    for name, aggregate in verdict.aggregates.items():
        if aggregate.n_na and name in metrics and metrics[name].baselined:
            reasons = sorted({s.reason for s in run.scores_of(name) if s.state == "n/a" and s.reason})[:2]
            yield (aggregate.n_na if aggregate.n or aggregate.n_error else "all", "; ".join(reasons)), name
