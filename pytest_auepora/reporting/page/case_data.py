"""The details of a case for the page.

Numbers are formatted as in every other report, with the raw value where the page sorts or draws by it.  The page builds
its elements from these texts; none of them is ever markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...core.document_forms import FORBIDDEN_DOCS
from ...core.findings import Value
from ...core.run import CaseResult, MetricInfo, Run
from ...core.scoring import Score
from ...regression.compare import CaseComparison
from ...regression.thresholds import Bound
from ...regression.verdict import Verdict
from ..diagnosis import cutoff
from ..numbers import metric_gain, metric_value, seconds, sign
from ..relevant_docs import as_shown, grade_of, relevant_docs, score_texts, source_text
from ..text import printable
from ..wording.cases import details_text, rationales, repeat_text
from ..wording.cause import case_cause_text
from ..wording.checks import advisory_lines, evidence_lines, fault_lines, still_failing_lines
from ..wording.notes import flaky_text
from ..wording.spending import case_spending_text, case_usage_text

MOST_HITS = 20  # shown of a ranking; relevant ones further down are shown as well
_AROUND = 320  # characters of a long passage that are shown before and behind what is highlighted


def safe_text(value: object) -> str:
    """Return user text with control characters as visible escapes, as in every other report."""
    return printable(str(value), keep_lines=True)


def safe_data(value: Any) -> Any:
    """Return data for the page, with every text in them as `safe_text` has it."""
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, dict):
        return {safe_text(key): safe_data(inner) for key, inner in value.items()}
    return [safe_data(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def case_details(
    case: CaseResult, run: Run, verdict: Verdict, earlier: CaseResult | None = None, earlier_name: str = ""
) -> dict[str, Any]:
    """Return the details of a case, shown when it is opened, without empty values.

    *earlier* is the same case in the run before, *earlier_name*: its answer and its ranking stand beside.
    """
    compared = verdict.case_comparisons.get(case.case_id)
    shown = as_shown(case)
    cuts = {k: n for n in case.scores if n in run.metrics and (k := cutoff(run.metrics[n])) is not None}
    details = {
        "where": case.where,
        "owner": run.owner,
        "problems": fault_lines(case, run.metrics),
        "evidence": evidence_lines(case),
        "still": still_failing_lines(case, run.metrics),
        "advice": advisory_lines(case, run.metrics),
        "cause": _cause(case, run, verdict),
        "error": case.error,
        "turns": [
            [str(turn.get("role", "")), str(turn.get("content", ""))]
            for turn in case.expected.get("chat_history") or ()
        ],
        "expected": _expected(shown),
        "leaks": [*map(str, shown.scores["no_leak"].details.get("leaked", ()))] if "no_leak" in shown.scores else [],
        "docs": [[d.label, d.grade, d.rank, d.before, d.known] for d in relevant_docs(shown, compared)],
        "cut": [max(cuts), cuts[max(cuts)]] if cuts else [],  # the deepest
        "scores": [_score(n, s, compared, run.metrics.get(n), case) for n, s in shown.scores.items()],
        "judged": [[name, *said] for name, score in shown.scores.items() for said in rationales(score)],
        "facts": list(_facts(case, flaky_text(case.case_id, verdict))),
        "now": _side(shown, earlier),
        "then": _side(as_shown(earlier), shown) if earlier is not None else None,
        "earlier": earlier_name if earlier is not None else "",
        "repeats": _repeats(case, run.metrics, earlier),
    }
    return without_empty(safe_data(details))


def _cause(case: CaseResult, run: Run, verdict: Verdict) -> list[str]:
    """Return which part the case got worse by, and what the generator answered to the accepted documents."""
    found = verdict.cause.cases.get(case.case_id) if verdict.cause is not None else None
    if found is None:
        return []
    return [case_cause_text(found, run.metrics), *([] if found.answer is None else [found.answer])]


def _side(case: CaseResult, other: CaseResult | None) -> dict[str, Any]:
    """Return the answer and the ranking of one of two runs; each hit with its rank in the other one, 0 without it."""
    other_hits = (other.outputs.get("retrieved") or ()) if other is not None else ()
    elsewhere = {hit.get("id"): rank for rank, hit in reversed([*enumerate(other_hits, 1)])}
    hits = [
        {
            "rank": rank, "id": str(hit.get("id")), "score": score, "grade": grade, "source": source_text(hit),
            "text": list(_marked_text(hit, case.expected.get("relevant") or ())),
            "was": 0 if other is None else elsewhere.get(hit.get("id")),
        }
        for rank, hit, score, grade in shown_hits(case)
    ]  # fmt: skip
    returned = len(case.outputs.get("retrieved") or ())
    return {"hits": hits, "returned": returned, "state": case.state, "answer": answer_text(case)}


def answer_text(case: CaseResult) -> str | None:
    """Return the answer that is shown of a case; None where there is none."""
    answer = as_shown(case).outputs.get("answer")
    return None if answer is None else str(answer)


def without_empty(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return *row* without empty values; an empty answer stays."""
    return {k: v for k, v in row.items() if v not in (None, "", [], {}) or (k == "answer" and v is not None)}


def _expected(case: CaseResult) -> dict[str, Any]:
    expected = case.expected
    answer = str(case.outputs.get("answer") or "").casefold()
    out: dict[str, Any] = {}
    if expected.get("expect", "answer") != "answer":
        out["expect"] = expected["expect"]
    if references := [r for r in expected.get("references") or () if r]:
        out["references"] = references
    if names := expected.get(FORBIDDEN_DOCS):
        out["forbidden_docs"] = [*map(str, names)]
    details = case.scores["assertion_pass"].details if "assertion_pass" in case.scores else {}
    for key, details_key in (("must_contain", "missing"), ("forbidden", "forbidden_present")):
        if key in expected:
            phrases = expected[key] if isinstance(expected[key], (list, tuple)) else [expected[key]]
            broken = details.get(details_key)
            if broken is None:  # not measured
                broken = [p for p in phrases if (str(p).casefold() in answer) == (key == "forbidden")]
            out[key] = [[str(p), p not in broken] for p in phrases]
    return out


def shown_hits(case: CaseResult) -> Iterator[tuple[int, Mapping[str, Any], str, int]]:
    """Yield rank, hit, score and grade of the first `MOST_HITS` documents, and of relevant ones further down."""
    hits = case.outputs.get("retrieved") or ()
    for rank, (hit, score) in enumerate(zip(hits, score_texts(hits), strict=True), 1):
        if rank <= MOST_HITS or grade_of(hit) > 0:
            yield rank, hit, score, grade_of(hit)


def _marked_text(hit: Mapping[str, Any], labels: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, bool]]:
    """Yield the text of a hit in pieces, and whether a label quotes or points to each."""
    text = str(hit.get("text") or "")
    places = sorted(place for label in labels if (place := _find_label(text, hit, label)) is not None)
    start = max(places[0][0] - _AROUND, 0) if places else 0
    if start:
        yield "… ", False
    position = start
    for first, last in places:
        if first >= position:
            gap = text[position:first]
            yield gap if gap.strip() else " " * (first > position), False
            yield text[first:last], True
            position = last
    rest = text[position : position + 2 * _AROUND]
    yield rest + (" …" if position + len(rest) < len(text) else ""), False


def _find_label(text: str, hit: Mapping[str, Any], label: Mapping[str, Any]) -> tuple[int, int] | None:
    if quote := str(label.get("quote") or "").strip():
        match = re.search(r"\s+".join(map(re.escape, quote.split())), text, re.IGNORECASE)
        return match.span() if match else None
    label_span, hit_span = label.get("span"), hit.get("span")
    if not label_span or not hit_span or label.get("id") not in (hit.get("id"), hit.get("doc")):
        return None
    first, last = max(label_span[0] - hit_span[0], 0), min(label_span[1] - hit_span[0], len(text))
    return (first, last) if first < last else None


def _score(
    name: str, score: Score, compared: CaseComparison | None, info: MetricInfo | None, case: CaseResult
) -> list[Any]:
    """Return metric, value, baseline, change, sign of the gain, own threshold, whether it holds, details."""
    change = compared.changes.get(name) if compared is not None else None
    bounds = [Bound(op, limit) for op, limit in case.thresholds.get(name, ())]
    holds = None if score.value is None or not bounds else all(b.holds(score.value) for b in bounds)
    note = score.reason if score.state == "n/a" else details_text(score)
    value = {"n/a": "n/a", "error": "error", "aggregate": "counted"}.get(score.state)
    value = value or metric_value(score.value, info, bounds[0] if bounds else None)
    before, gain, turn = "", "", 0
    if change is not None:
        before, gain, turn = metric_value(change.before, info), metric_gain(change.gain, info), sign(change.gain)
    return [name, value, before, gain, turn, ", ".join(map(str, bounds)), holds, note]


def _facts(case: CaseResult, flaky: str) -> Iterator[list[str]]:
    timings = case.outputs.get("timings") or {}
    if timings:
        yield ["time", ", ".join(f"{k.replace('_', ' ')} {seconds(v)}" for k, v in timings.items())]
    elif case.seconds:
        yield ["time", seconds(case.seconds)]
    if text := case_spending_text(case):
        yield ["system", text]
    if text := case_usage_text(case):
        yield ["judge", text]
    if flaky:
        yield ["flaky", flaky]
    if case.quarantine:
        yield ["quarantined", f"until {case.quarantine}"]
    if case.must_pass:
        yield ["must pass", "held to its baseline under every policy"]
    if case.xfail is not None:
        yield ["expected to fail", case.xfail]
    if text := repeat_text(case):
        yield ["repeats", text]


def _repeats(case: CaseResult, metrics: Mapping[str, MetricInfo], earlier: CaseResult | None) -> list[dict[str, Any]]:
    """Return the value of each answer to a case that was asked several times, now and before, without times."""
    now, then = (one.answers.values if one is not None and one.answers is not None else {} for one in (case, earlier))
    names = [n for n in dict.fromkeys([*now, *then]) if n in metrics and metrics[n].target != "LATENCY"]
    several = [n for n in names if max(len(now.get(n, ())), len(then.get(n, ()))) > 1]
    return [
        {
            "metric": name,
            "now": _single_texts(now.get(name, ()), metrics[name]),
            "then": _single_texts(then.get(name, ()), metrics[name]),
        }
        for name in several
    ]


def _single_texts(values: Iterable[Value], info: MetricInfo) -> list[str]:
    return ["error" if value == "error" else metric_value(value, info) for value in values]
