"""The results of cases as their reports arrive, by run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from ...core.run import CaseResult, Run
from ...evaluation.answer_codec import RecordedOutputs
from ..case_reports import CaseReport
from ..session import AueporaSession

Key = tuple[str, str]
"""A golden file, as node ids write it, and a configuration."""


@dataclass(eq=False, repr=False)
class GatheredResults:
    """What the reports of cases say, by golden file and configuration.

    ``runs`` have the results; ``provenance``, that of each case; ``nodeids``, those of the cases; ``digests``, of what
    was retrieved, where ``--auepora-why`` asks; ``full_answers``, those that are to be kept beside the baseline.
    """

    session: AueporaSession
    runs: dict[Key, Run] = field(default_factory=dict)
    provenance: dict[Key, dict[str, Mapping[str, Any]]] = field(default_factory=lambda: defaultdict(dict))
    nodeids: dict[Key, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    digests: dict[Key, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    full_answers: dict[Key, dict[str, RecordedOutputs]] = field(default_factory=lambda: defaultdict(dict))
    _keeps_answers: bool = field(init=False)
    _looks: dict[Key, list[dict[str, CaseResult]]] = field(default_factory=lambda: defaultdict(list))  # answers of each

    def __post_init__(self) -> None:
        self._keeps_answers = self.session.options.keeps_answers

    def add(self, case_report: CaseReport, nodeid: str) -> None:
        """Add what an item measured to its run; a rerun replaces the earlier result."""
        key, result = (case_report.path, case_report.variant), case_report.result
        looks = self._looks[key]
        if case_report.kind == "look":
            looks.extend({} for _ in range(len(looks), result.looks))
            looks[result.looks - 1][result.case_id] = result
            self.run(*key).cases[result.case_id].looks = result.looks
            return
        self.run(*key).add([result])
        if case_report.kind:
            return
        for look in looks:
            look.pop(result.case_id, None)
        if self.session.options.why:
            self._note_documents(key, case_report)
        if self._keeps_answers:
            outputs = next((r.outputs for r in case_report.recordings if r.outputs is not None), None)
            self.full_answers[key] |= {result.case_id: outputs} if outputs is not None else {}
        self.nodeids[key][nodeid] = None
        if case_report.provenance:  # a skipped case has none
            self.provenance[key][result.case_id] = case_report.provenance

    def _note_documents(self, key: Key, case_report: CaseReport) -> None:
        """Note what was retrieved, where all answers to the case had the same documents."""
        from ...history.accepted import documents_digest

        found = [one.outputs.retrieved if one.outputs is not None else [] for one in case_report.recordings]
        digests = {documents_digest((doc.id, doc.text, doc.metadata) for doc in documents) for documents in found}
        if len(digests) == 1:
            self.digests[key][case_report.result.case_id] = digests.pop()

    def run(self, path: str, variant: str) -> Run:
        """Return the run of a golden file under a configuration."""
        if (run := self.runs.get((path, variant))) is None:
            run = self.runs[path, variant] = self.session.load(path).variant(variant).blank_run()
        return run

    def looks_at(self, key: Key) -> list[Run]:
        """Return the further answers to all cases, where a test asked for them."""
        cases = self.runs[key].cases
        asked = {i for i, result in cases.items() if result.state != "skipped"}
        looks = takewhile(lambda look: look and asked <= look.keys(), self._looks[key])
        return [replace(self.runs[key], cases={**cases, **look}) for look in looks]
