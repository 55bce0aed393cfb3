"""What the page shows of cases: some of their rows at a time, and everything about one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from ...core.files import shown_path
from ...core.run import CaseResult
from ...errors import AueporaError
from ...evaluation.answer_codec import TEXT
from ...evaluation.recording import RecordedAnswer
from ...regression.guards.steadiness import as_shown
from ...reporting.html.cases import MOST_HITS, case_details, shown
from ...reporting.numbers import metric_value
from ...reporting.relevant_docs import score_texts, source_text
from ...reporting.tally import ORDER
from .library import Library, Pair, label_path, labels_of

PAGE = 100
"""Rows that are sent at a time."""

_AROUND = 320
"""Characters of a long passage that are shown before and behind what is highlighted."""

_PLACE = {kind: place for place, kind in enumerate(ORDER)}


def chosen(pair: Pair, asked: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the rows that *asked* wants, in its order.

    Args:
        pair: the runs.
        asked: ``show`` (a word of a row's ``is``), ``tag``, ``slice`` (``label=value``), ``text``; ``sort`` (``id``,
            ``state``, ``change`` or the place of a column), ``down``.
    """
    label, _, value = asked.get("slice", "").partition("=")
    show, tag, text = asked.get("show", ""), asked.get("tag", ""), asked.get("text", "").strip().lower()
    rows = [
        line for line in pair.lines
        if (not show or show in line["is"])
        and (not tag or tag in line.get("tags", ()))
        and (not label or line.get("labels", {}).get(label) == value)
        and text in line["text"]
    ]  # fmt: skip
    by, down = asked.get("sort") or "state", bool(asked.get("down"))
    keyed = [(_key(line, by), line) for line in rows]
    some = [one for one in keyed if one[0] is not None]
    some.sort(key=lambda one: (one[1].get("worst") or 0.0, one[1]["index"]))
    some.sort(key=lambda one: one[0], reverse=down)
    return [line for _, line in some] + [line for key, line in keyed if key is None]


def _key(line: Mapping[str, Any], by: str) -> Any:
    if by == "id":
        return line["id"]
    if by == "change":
        return line.get("worst")
    if by.isdecimal():
        cells = line.get("cells", ())
        return cells[int(by)][0] if int(by) < len(cells) else None
    return _PLACE[line["kind"]]


def cases_page(pair: Pair, asked: Mapping[str, str]) -> dict[str, Any]:
    """Return one page of the rows, as `chosen`; ``page`` counts from 1."""
    rows = chosen(pair, asked)
    pages = max(1, -(-len(rows) // PAGE))
    said = asked.get("page", "")
    page = min(max(int(said) if said.isdecimal() else 1, 1), pages)
    here = rows[(page - 1) * PAGE : page * PAGE]
    return {
        "rows": [{k: v for k, v in row.items() if k != "text"} for row in here],
        "page": page, "pages": pages, "found": len(rows), "all": len(pair.lines),
    }  # fmt: skip


def case_page(library: Library, pair: Pair, case_id: str, asked: Mapping[str, str]) -> dict[str, Any]:
    """Return everything about one case, and which cases stand beside it among those that *asked* wants.

    Raises:
        UnknownRunError: there is no such case.
    """
    case = library.case(pair, case_id)
    before = pair.before(case)
    line = next(one for one in pair.lines if one["id"] == shown(case_id))
    ids = [one["id"] for one in chosen(pair, asked)]
    place = ids.index(line["id"]) if line["id"] in ids else None
    compared = pair.compared(case_id)
    return {
        **{k: v for k, v in line.items() if k != "text"},
        **case_details(case, compared, pair.run, pair.verdict.flaky.get(case_id, "")),
        "place": None if place is None else place + 1,
        "of": len(ids),
        "previous": ids[place - 1] if place else None,
        "next": ids[place + 1] if place is not None and place + 1 < len(ids) else None,
        "now": _side(case, before),
        "then": _side(before, case) if before is not None else None,
        "repeats": _repeats(library, pair, case, before),
        "judges": list(_judges(library, pair, case)),
    }


def _side(case: CaseResult, other: CaseResult | None) -> dict[str, Any]:
    """Return the answer and the ranking of one of two runs; each hit with its rank in the other one."""
    case = as_shown(case)
    hits = case.outputs.get("retrieved") or ()
    elsewhere = {hit.get("id"): i for i, hit in reversed([*enumerate(_hits(other), 1)])} if other is not None else None
    out = []
    for rank, (hit, score) in enumerate(zip(hits, score_texts(hits), strict=True), 1):
        grade = int(hit.get("grade") or 0)
        if rank <= MOST_HITS or grade > 0:
            out.append({
                "rank": rank, "id": shown(hit.get("id")), "score": score, "grade": grade,
                "source": shown(source_text(hit)), "text": list(_passage(hit, case.expected.get("relevant") or ())),
                "was": 0 if elsewhere is None else elsewhere.get(hit.get("id")),
            })  # fmt: skip
    answer = case.outputs.get("answer")
    return {
        "hits": out, "returned": len(hits), "state": case.state,
        "answer": None if answer is None else shown(answer, keep_lines=True),
    }  # fmt: skip


def _hits(case: CaseResult) -> Sequence[Mapping[str, Any]]:
    return as_shown(case).outputs.get("retrieved") or ()


def _passage(hit: Mapping[str, Any], labels: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, bool]]:
    """Yield the text of a hit in pieces, and whether each is what a label quotes or points to."""
    text = str(hit.get("text") or "")
    places = sorted(place for label in labels if (place := _place(text, hit, label)) is not None)
    start = max(places[0][0] - _AROUND, 0) if places else 0
    if start:
        yield "… ", False
    at = start
    for first, last in places:
        if first >= at:
            yield shown(text[at:first], keep_lines=True) if text[at:first].strip() else " " * (first > at), False
            yield shown(text[first:last], keep_lines=True), True
            at = last
    rest = text[at : at + 2 * _AROUND]
    yield shown(rest, keep_lines=True) + (" …" if at + len(rest) < len(text) else ""), False


def _place(text: str, hit: Mapping[str, Any], label: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return where in *text* the passage of a label is."""
    if quote := str(label.get("quote") or "").strip():
        found = re.search(r"\s+".join(map(re.escape, quote.split())), text, re.IGNORECASE)
        return found.span() if found else None
    span, own = label.get("span"), hit.get("span")
    if not span or not own or label.get("id") not in (hit.get("id"), hit.get("doc")):
        return None
    first, last = max(span[0] - own[0], 0), min(span[1] - own[0], len(text))
    return (first, last) if first < last else None


def _repeats(library: Library, pair: Pair, case: CaseResult, before: CaseResult | None) -> dict[str, Any] | None:
    """Return every single value of a case that was asked several times, and the answers as far as they are kept."""
    asked = case.extra.get("repeats") or {}
    varies = case.extra.get("varies") or {}
    twice = before if before is not None and before.repeats > 1 else None
    if not asked and not varies and twice is None:
        return None
    metrics = pair.run.metrics
    values = [
        {"metric": shown(name), "now": [metric_value(v, metrics[name]) for v in case.values(name)],
         "then": [metric_value(v, metrics[name]) for v in twice.values(name)] if twice is not None else []}
        for name in asked or case.scores if name in metrics and metrics[name].target != "LATENCY"
    ]  # fmt: skip
    answers = [{"now": now, "then": then} for now, then in zip_longest(
        _answers(library, pair.info.run_id, case.case_id),
        _answers(library, pair.other_info.run_id, case.case_id) if pair.other_info else (),
    )]  # fmt: skip
    said = f"{varies['passed']} of {varies['answers']} answers passed when it was asked again" if varies else ""
    return {"values": [one for one in values if one["now"] or one["then"]], "answers": answers, "varies": said}


def _answers(library: Library, run_id: str, case_id: str) -> list[str]:
    """Return the recorded answers of a case, as far as they are still kept."""
    return [shown(raw["parts"].get("answer") or "" if "parts" in raw else raw.get("error", ""), keep_lines=True)
            for raw in _recorded(library, run_id, case_id)]  # fmt: skip


def _recorded(library: Library, run_id: str, case_id: str) -> list[dict[str, Any]]:
    try:
        return [RecordedAnswer(one).raw for one in library.store.recordings(run_id).get(case_id, [])]
    except AueporaError:
        return []


def evidence_of(library: Library, pair: Pair, case: CaseResult) -> list[str]:
    """Return the texts of the documents of a case: whole where its answer is recorded, else as far as they are kept."""
    raws = _recorded(library, pair.info.run_id, case.case_id)
    hits = raws[0]["parts"].get("retrieved") if raws and "parts" in raws[0] else None
    texts = [hit[TEXT] for hit in hits] if hits else [hit.get("text") for hit in case.outputs.get("retrieved") or ()]
    return [str(text) for text in texts if text]


def _judges(library: Library, pair: Pair, case: CaseResult) -> Iterator[dict[str, Any]]:
    """Yield the score of each judge, what people said of the same answer, and the file for that."""
    for name, info in pair.run.metrics.items():
        if info.judge and (score := case.scores.get(name)) is not None:
            value = metric_value(score.value, info) if score.state == "number" else f"{score.state}: {score.reason}"
            path = label_path(library.labels, pair.run.suite, name)
            yield {
                "metric": shown(name), "value": shown(value), "labels": labels_of(path, case),
                "file": shown_path(path, library.root),
            }  # fmt: skip
