"""What earlier runs answered, for those of today: the accepted answers, the runs that answer in place of a system, and
what chunks said whose ids are gone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.files import write_atomically
from ..core.run import CaseResult, Run
from ..errors import HistoryError, UnknownRunError
from ..evaluation.replay import RecordedRun
from ..labels.corpus import Passage, Recall
from .codec import AnswerBlock, RecordedAnswers, ResultPacker, decode_run, encode_run

if TYPE_CHECKING:
    from .store import HistoryStore

_FOLDER = "accepted"


def save_accepted(folder: Path, name: str, run: Run, cases: Collection[str]) -> None:
    """Keep the answers to *cases* of *run* beside those kept before in *folder*, that of the history.

    *name* is that of the baseline's file.

    Raises:
        OSError: it cannot be written.
    """
    path = folder / _FOLDER / name
    kept = _read(path)
    for case in run.cases.values():
        if case.case_id in cases and case.state in ("passed", "failed"):
            kept[case.case_id] = {"hash": case.content_hash, "answer": str(case.outputs.get("answer", ""))}
    write_atomically(path, json.dumps(kept, ensure_ascii=False, sort_keys=True, indent=1) + "\n")


def load_accepted(folder: Path, name: str) -> dict[tuple[str, str], str]:
    """Return the accepted answers by case id and content hash; none where none are kept."""
    found = _read(folder / _FOLDER / name)
    return {(case_id, str(one.get("hash"))): str(one.get("answer", "")) for case_id, one in found.items()}


def _read(path: Path) -> dict[str, dict[str, str]]:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {k: v for k, v in said.items() if isinstance(v, dict)} if isinstance(said, dict) else {}


Chosen = dict[tuple[str, str], str]
"""Run ids by suite and configuration."""

Sent = tuple[str, list[bytes], list[AnswerBlock]]
"""A run with its answers as it is sent to another host, in texts and bytes."""


def choose(store: HistoryStore, name: str) -> Chosen:
    """Return the run that *name* means for every suite and configuration.

    ``last`` is the latest run of each whose answers are recorded, ``last~2`` the second before it; an id is one run
    of one suite.  A run that was itself replayed stands for the run it was replayed from.

    Raises:
        UnknownRunError: there is no such run, or its answers are not recorded.
    """
    from .store import LAST  # takes sqlite3, which a worker with accepted answers may not have

    kept = store.recorded()
    if match := re.fullmatch(LAST, name):
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
    packing = ResultPacker.of(cases, recorded.recordings)
    return encode_run(run), packing.results(), packing.answers()


def received(run_id: str, sent: Sent) -> RecordedRun:
    """Return the run that `to_send` made *sent* of."""
    text, results, answers = sent
    return RecordedRun(run_id, decode_run(text, results), RecordedAnswers(answers))


_CUT = "…"
"""How a text ends of which only the beginning was stored; it would be proof of nothing."""

_MOST = 10
"""Runs that are looked at from either end of the history."""


def history_recall(store: HistoryStore, suite: str, content_hashes: Mapping[str, str]) -> Recall:
    """Remember by the stored runs of *suite*; they are read when first asked.

    Only runs count in which the case said what it says now (*content_hashes*, by case id): an id that was put into the
    golden file later may have named another chunk before.
    """
    known: dict[tuple[str, str], list[Passage]] | None = None

    def recall(case_id: str, chunk_id: str) -> Sequence[Passage]:
        nonlocal known
        if known is None:
            try:
                known = _known_passages(store, suite, content_hashes)
            except HistoryError:  # whatever else is known of a label has to do
                known = {}
        return known.get((case_id, chunk_id), ())

    return recall


def _known_passages(
    store: HistoryStore, suite: str, content_hashes: Mapping[str, str]
) -> dict[tuple[str, str], list[Passage]]:
    ids = [run.run_id for run in reversed(store.runs(suite=suite))]
    out: dict[tuple[str, str], list[Passage]] = {}
    for run_id in dict.fromkeys(ids[:_MOST] + ids[-_MOST:]):
        run = store.load(run_id, answers=False)
        texts = _texts(run, f"run {run_id}")
        for case in run.cases.values():
            if content_hashes.get(case.case_id) != case.content_hash:
                continue
            for label in case.expected.get("relevant", ()):
                if label.get("match") is not None:  # found by its words, or known to have moved
                    continue
                passage = texts.get(label["id"])
                before = out.setdefault((case.case_id, label["id"]), [])
                said = [(one.text, one.source, one.span) for one in before]
                if passage is not None and (passage.text, passage.source, passage.span) not in said:
                    before.append(passage)
    return out


def _texts(run: Run, origin: str) -> dict[str, Passage]:
    """The chunks that a run retrieved, by id; those that were stored whole win."""
    out: dict[str, Passage] = {}
    for hit in chain.from_iterable(case.outputs.get("retrieved", ()) for case in run.cases.values()):
        text = hit.get("text", "")
        text = "" if text.endswith(_CUT) else text
        span = hit.get("span")
        passage = Passage(text, hit.get("doc", ""), (span[0], span[1]) if span else None, origin)
        if (passage.text or passage.source) and (text or hit["id"] not in out):
            out[hit["id"]] = passage
    return out
