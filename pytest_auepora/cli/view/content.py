"""The data of the page: the list of runs, a run with its cases, everything about one case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

from ...base.files import shown_path
from ...core.run import CaseResult, MetricInfo
from ...errors import AueporaError
from ...evaluation.recording import Recording
from ...history.tables import StoredRun
from ...reporting.numbers import metric_value
from ...reporting.page.case_data import case_details, safe_text
from ...reporting.page.run_data import history_data, run_data
from ...reporting.report import other_runs, runs_beside
from ...reporting.wording.two_runs import causes, left_out
from ...reporting.wording.verdict import headline_against
from .library import Library, Pair, label_path, labels_of

RUNS = 200
"""Runs of a list that are sent at a time."""

_MOST_CHOICES = 200  # runs of a suite that can be chosen, whatever their configuration
_MOST_FIGURES = 5  # metrics of a run in the list


# -- the list of runs


def runs_page(library: Library, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the stored runs of a ``suite``, or of all, ``from`` a place in the list on."""
    stored_runs = library.store.runs(None)
    suites = list(dict.fromkeys(run.title for run in stored_runs))
    in_suite = [run for run in stored_runs if query.get("suite", "") in ("", run.title)]
    offset = query.get("from", "")
    first = int(offset) if offset.isdecimal() else 0
    shown = in_suite[first : first + RUNS]
    ids = [run.run_id for run in shown]
    measured, words = library.store.measured(ids), library.store.words(ids)
    rows = [
        {
            **run_entry(run),
            "word": _word(run, words.get(run.run_id, "")),
            "metrics": _figures(measured.get(run.run_id, {})),
        }
        for run in shown
    ]
    return {
        "name": library.store.name, "suites": [*map(safe_text, suites)], "runs": rows, "found": len(in_suite),
    }  # fmt: skip


def run_entry(info: StoredRun) -> dict[str, Any]:
    """Return the entry of a run in a list of runs."""
    return {
        "id": info.run_id, "started": info.started, "title": safe_text(info.title), "path": safe_text(info.path),
        "commit": safe_text(info.git_commit[:10]), "name": safe_text(info.name), "note": safe_text(info.note),
        "complete": info.complete, "outcome": info.outcome, "cases": info.cases, "failed": info.failed,
        "origin": safe_text(str(info.origin.get("kind", ""))),
    }  # fmt: skip


def _word(info: StoredRun, word: str) -> str:
    """Return how a run compared with its baseline, where the outcome does not say so already."""
    return "" if word in (info.outcome, "not judged") else word


def _figures(measured: Mapping[str, tuple[MetricInfo, float | None]]) -> list[list[str]]:
    """Return the metrics that the suite asked for."""
    own = [(name, info, value) for name, (info, value) in measured.items() if info.baselined and value is not None]
    return [[safe_text(name), metric_value(value, info)] for name, info, value in own[:_MOST_FIGURES]]


# -- a run: the verdict and its reasons, its cases, the runs before it


def run_page(library: Library, pair: Pair) -> dict[str, Any]:
    """Return what the page of a run begins with."""
    if pair.data is None:
        pair.data = _run_data(pair)
    store, run_id = library.store, pair.info.run_id
    before, after = (other_runs(store, pair.run, runs) for runs in runs_beside(store, pair.run, run_id))
    return {
        **pair.data,
        "run": run_entry(pair.info),
        "history": history_data(pair.run, pair.verdict, before, after, run_id=run_id),
        "runs": [run_entry(other) for other in library.store.runs(_MOST_CHOICES, pair.info.suite, path=pair.info.path)],
    }


def _run_data(pair: Pair) -> dict[str, Any]:
    """Return what stays as it is."""
    details = partial(_details, pair)
    if (report := pair.report) is None or (other := pair.other_info) is None:
        return {**run_data(pair.rows, details), "against": ""}
    data = run_data(pair.rows, details, changed=causes(report), steps=False)
    against = f"against the run {other.name or other.run_id} of {other.title}, not its baseline"
    return {
        **data, "against": safe_text(against), "headline": safe_text(headline_against(pair.run, pair.verdict)),
        "notes": [*map(safe_text, left_out(report)), *data["notes"]],
    }  # fmt: skip


# -- everything about one case


def case_page(library: Library, pair: Pair, case_id: str) -> dict[str, Any]:
    """Return all about a case; `UnknownRunError` where there is none of that name."""
    case = library.case(pair, case_id)
    (details,) = _details(pair, [case_id])
    return {
        **details,
        "answers": _answers(library, pair, case),
        "judges": list(_judge_scores(library, pair, case)),
    }


def _details(pair: Pair, ids: Sequence[str]) -> list[dict[str, Any]]:
    cases = [pair.run.cases[case_id] for case_id in ids]
    earlier = pair.earlier_cases(cases)
    return [case_details(c, pair.run, pair.verdict, earlier.get(c.case_id), pair.other_name) for c in cases]


def _answers(library: Library, pair: Pair, case: CaseResult) -> list[dict[str, Any]]:
    """Return the answers to a case one by one, as far as they are still kept."""
    infos = (pair.info, pair.other_info if pair.earlier_cases([case]) else None)
    texts = [
        [_answer_text(recording) for recording in _recorded_answers(library, info, case.case_id)] for info in infos
    ]
    return [{"now": now, "then": then} for now, then in zip_longest(*texts)]


def _answer_text(recording: Recording) -> str:
    text = recording.error if recording.outputs is None else recording.outputs.answer
    return safe_text(text or "")


def _recorded_answers(library: Library, info: StoredRun | None, case_id: str) -> list[Recording]:
    """Return the recorded answers to a case, as far as they are still kept."""
    try:
        return library.store.recordings(info.run_id, [case_id]).get(case_id, []) if info is not None else []
    except AueporaError:
        return []


def evidence_of(library: Library, pair: Pair, case: CaseResult) -> list[str]:
    """Return the texts of the documents of a case: whole where its answer is recorded, else what is kept of them."""
    recordings = _recorded_answers(library, pair.info, case.case_id)
    hits = recordings[0].outputs.retrieved if recordings and recordings[0].outputs is not None else None
    texts = [hit.text for hit in hits] if hits else [hit.get("text") for hit in case.outputs.get("retrieved") or ()]
    return [str(text) for text in texts if text]


def _judge_scores(library: Library, pair: Pair, case: CaseResult) -> Iterator[dict[str, Any]]:
    """Yield the score of each judge, people's labels of the same answer, and the file of these labels."""
    for name, info in pair.run.metrics.items():
        if info.judge and (score := case.scores.get(name)) is not None:
            value = metric_value(score.value, info) if score.state == "number" else f"{score.state}: {score.reason}"
            path = label_path(library.labels, pair.run.suite, name)
            yield {
                "metric": safe_text(name), "value": safe_text(value), "labels": labels_of(path, case),
                "file": shown_path(path, library.root),
            }  # fmt: skip
