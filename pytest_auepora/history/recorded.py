"""Which stored runs can answer for a system, and those runs as they answer: here, or on a host they are sent to."""

from __future__ import annotations

import re

from ..core.run import CaseResult
from ..errors import UnknownRunError
from ..evaluation.replay import RecordedRun
from .codec import run_of, run_text
from .recordings import Block, Packing, Recorded
from .store import HistoryStore

Chosen = dict[tuple[str, str], str]
"""Run ids by suite and configuration."""

Sent = tuple[str, list[bytes], list[Block]]
"""A run with its answers as it is sent to another host, in texts and bytes."""

_LAST = re.compile(r"last(?:~(\d+))?")


def choose(store: HistoryStore, name: str) -> Chosen:
    """Return the run that *name* means for every suite and configuration.

    ``last`` is the latest run of each whose answers are recorded, ``last~2`` the second before it; an id is one run
    of one suite.  A run that was itself replayed stands for the run it was replayed from.

    Raises:
        UnknownRunError: there is no such run, or its answers are not recorded.
    """
    kept = store.recorded()
    if match := _LAST.fullmatch(name):
        back = int(match[1] or 0)
        by: dict[tuple[str, str], list[str]] = {}
        for run in kept:
            by.setdefault((run.suite, run.variant), []).append(run.run_id)
        out = {key: ids[back] for key, ids in by.items() if len(ids) > back}
        if not out:
            most = max(map(len, by.values()), default=0)
            raise UnknownRunError(f"no run {name!r}: {store.name} has the answers of {most or 'no'} runs of a suite")
        return out
    said = store.info(name)
    kind, _, source = said.origin.partition(" ")
    if kind == "replayed":
        said = store.info(source)
    if said.run_id not in {run.run_id for run in kept}:
        raise UnknownRunError(f"the answers of run {said.run_id} are not recorded, or not any more")
    return {(said.suite, said.variant): said.run_id}


def load_recorded(store: HistoryStore, run_id: str) -> RecordedRun:
    """Return a stored run with its answers.

    Raises:
        HistoryError: it cannot be read.
    """
    return RecordedRun(run_id, store.load(run_id), store.recordings(run_id), store.name)


def to_send(recorded: RecordedRun) -> Sent:
    """Return what another host needs to answer as *recorded* does: of its results, what became of each case."""
    run = recorded.run
    cases = (CaseResult(i, state=case.state, error=case.error) for i, case in run.cases.items())
    packing = Packing.of(cases, recorded.recordings)
    return run_text(run), packing.results(), packing.answers()


def received(run_id: str, sent: Sent) -> RecordedRun:
    """Return the run that `to_send` made *sent* of."""
    text, results, answers = sent
    return RecordedRun(run_id, run_of(text, results), Recorded(answers))
