"""The accepted answers of a suite under one configuration: where they are kept, and keeping those of a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.run import Run
from ..errors import AueporaError, HistoryError
from ..evaluation.answer_codec import RecordedOutputs
from ..regression.baseline_file import read_baseline
from ..regression.outcomes import Note

if TYPE_CHECKING:
    from ..history.accepted import AcceptedTexts


@dataclass(eq=False, repr=False)
class AcceptedAnswers:
    """The answers that the baseline at *baseline_path* was made of, for the golden file *suite_path*.

    ``history`` is the place of the history beside which they are kept, None where nobody wants them there; ``root`` is
    the rootdir.
    """

    baseline_path: Path
    suite_path: str
    history: str | Path | None
    root: Path
    _: KW_ONLY
    beside_baseline: bool

    def texts(self) -> AcceptedTexts | None:
        """Return the accepted answers: beside the baseline, else beside the history; None where nobody keeps any.

        Raises:
            HistoryError: they cannot be read.
        """
        from ..history.accepted import AcceptedTexts, accepted_path, kept_beside_history
        from ..history.settings import journal_folder

        path = accepted_path(self.baseline_path)
        if self.beside_baseline or path.exists():
            return AcceptedTexts(path)
        if self.history is None:
            return None
        folder = journal_folder(self.history, self.root)
        return AcceptedTexts(kept_beside_history(folder, self.suite_path, self.baseline_path))

    def by_case(self) -> Mapping[tuple[str, str], str]:
        """Return the accepted answer by case and hash of its content; none where they cannot be read."""
        try:
            texts = self.texts()
        except HistoryError:  # an update says so
            return {}
        return {(case_id, kept.hash): kept.answer or "" for case_id, kept in texts.items()} if texts is not None else {}

    def keep(self, run: Run, changed: Collection[str], full: Mapping[str, RecordedOutputs]) -> list[Note]:
        """Keep the answers of *run* that were accepted, *full* ones if they are to be kept so; say why if not.

        Those to *changed* cases, whose blocks of the baseline are new, and those that are not kept yet.
        """
        try:
            if (texts := self.texts()) is None:
                return []
            accepted = read_baseline(self.baseline_path)
            cases = accepted.cases if accepted is not None else {}
            texts.save({
                i: (case, full.get(i))
                for i, case in run.cases.items()
                if case.state in ("passed", "failed") and i in cases
                and (i in changed or not texts.is_of(i, cases[i]) or texts[i].hash != case.content_hash)
            }, cases)  # fmt: skip
        except AueporaError as exc:
            return [Note("accepted answers not kept", detail=str(exc))]
        return []
