"""Answers of earlier runs for a new one: recorded runs to replay, and texts of chunks whose ids no longer exist."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from ..base.files import is_there
from ..base.grouping import grouped
from ..core.run import CaseResult, Run
from ..errors import HistoryError, UnknownRunError
from ..evaluation.replay import RecordedRun
from ..labels.corpus import Chunk, Recall
from .codec import CaseRow, RecordedAnswers, decode_run, encode_run, rows_of

if TYPE_CHECKING:
    from .store import HistoryStore
    from .tables import StoredRun

RunIds = dict[tuple[str, str, str], str]
"""Run ids by suite, configuration and golden file; an empty path stands for any file of the suite."""

SentRun = tuple[str, list[tuple[str, str, bytes, bytes]]]
"""A run with its answers, encoded for another host: builtins alone."""


def choose_runs(store: HistoryStore, name: str) -> RunIds:
    """Return the run that *name* means for every golden file and configuration.

    ``last`` is the latest run of each with recorded answers, ``last~2`` the second before it; an id is one run of one
    file.  For a replayed run, the run it was replayed from is chosen.  Where the golden files of all runs of a suite
    are gone, they were moved: any file of the suite may have the run.

    Raises:
        UnknownRunError: there is no such run, or its answers are not recorded.
    """
    from .store import LAST  # imports sqlite3, which a worker may not have

    recorded_runs = store.recorded()
    if match := re.fullmatch(LAST, name):
        back = int(match[1] or 0)
        runs_by_suite = grouped(((run.suite, run.variant), run) for run in recorded_runs)
        chosen = {}
        for (suite, variant), runs in runs_by_suite.items():
            for path in _golden_paths(store, runs):
                of_file = store.runs_of_file(runs, path)
                if len(of_file) > back:
                    chosen[suite, variant, path] = of_file[back].run_id
        if not chosen:
            most = max(map(len, runs_by_suite.values()), default=0)
            raise UnknownRunError(f"no run {name!r}: {store.name} has the answers of {most or 'no'} runs of a suite")
        return chosen
    info = store.info(name)
    if info.origin.get("kind") == "replayed":
        info = store.info(info.origin["run"])
    if info.run_id not in {run.run_id for run in recorded_runs}:
        raise UnknownRunError(f"the answers of run {info.run_id} are not recorded, or not any more")
    return {(info.suite, info.variant, path): info.run_id for path in _golden_paths(store, [info])}


def _golden_paths(store: HistoryStore, runs: Iterable[StoredRun]) -> Iterable[str]:
    """Return the golden files of *runs* that are there; if there are none, an empty path, which stands for any."""
    return {run.path for run in runs if is_there(store.root / run.path)} or [""]


def load_recorded(store: HistoryStore, run_id: str) -> RecordedRun:
    """Return a stored run with its answers; raises `HistoryError` where it cannot be read."""
    return RecordedRun(run_id, store.load(run_id, answers=False), store.recordings(run_id), store.name)


def encode_recorded(recorded: RecordedRun) -> SentRun:
    """Return *recorded* encoded for another host; of its results, what a replay reads."""
    run = recorded.run
    cases = (
        CaseResult(i, case.state, error=case.error, repeats=case.repeats, looks=case.looks)
        for i, case in run.cases.items()
    )
    return encode_run(run), [(*row,) for row in rows_of(cases, recorded.recordings)]


def decode_recorded(run_id: str, sent: SentRun) -> RecordedRun:
    """Return the run that `encode_recorded` encoded."""
    text, rows = sent[0], [CaseRow(*row) for row in sent[1]]
    return RecordedRun(run_id, decode_run(text, rows), RecordedAnswers(rows))


_MAX_RUNS = 10
"""Runs that are read from either end of the history."""


def history_recall(store: HistoryStore, suite: str, path: str, content_hashes: Mapping[str, str]) -> Recall:
    """Return a `Recall` of the passages in stored runs of *suite*, the golden file at *path*; read at the first call.

    Only runs with the present content of the case count (*content_hashes*, by case id): an id that was added to the
    golden file later may have named another chunk before.
    """

    @cache
    def passages() -> dict[tuple[str, str], list[Chunk]]:
        try:
            return _known_passages(store, suite, path, content_hashes)
        except HistoryError:  # other sources of passages have to suffice
            return {}

    return lambda case_id, chunk_id: passages().get((case_id, chunk_id), ())


def _known_passages(
    store: HistoryStore, suite: str, path: str, content_hashes: Mapping[str, str]
) -> dict[tuple[str, str], list[Chunk]]:
    ids = [run.run_id for run in reversed(store.runs(suite=suite, path=path))]
    passages: dict[tuple[str, str], list[Chunk]] = {}
    for run_id in dict.fromkeys(ids[:_MAX_RUNS] + ids[-_MAX_RUNS:]):
        run = store.load(run_id, answers=False)
        texts = _retrieved_passages(run, f"run {run_id}")
        for case in run.cases.values():
            if content_hashes.get(case.case_id) != case.content_hash:
                continue
            for label in case.expected.get("relevant", ()):
                if label.get("match") is not None:  # matched by its words, or moved already
                    continue
                passage = texts.get(label["id"])
                known = passages.setdefault((case.case_id, label["id"]), [])
                known_contents = [(p.text, p.source, p.span) for p in known]
                if passage is not None and (passage.text, passage.source, passage.span) not in known_contents:
                    known.append(passage)
    return passages


def _retrieved_passages(run: Run, origin: str) -> dict[str, Chunk]:
    """Return the chunks that a run retrieved, by id; those with complete texts win."""
    passages: dict[str, Chunk] = {}
    for hit in chain.from_iterable(case.outputs.get("retrieved", ()) for case in run.cases.values()):
        text = "" if hit.get("cut") else hit.get("text", "")  # a part identifies no passage
        span = hit.get("span")
        passage = Chunk(hit["id"], text, hit.get("doc", ""), (span[0], span[1]) if span else None, origin)
        if passage.is_known and (text or hit["id"] not in passages):
            passages[hit["id"]] = passage
    return passages
