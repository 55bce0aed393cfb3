"""What the project and installed packages say by the hooks of `hookspecs`."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from traceback import walk_tb
from typing import Any

from ..base.files import shown_path
from ..base.plugins import ask, is_implemented
from ..core.run import CaseResult, Run
from ..metrics.registry import Registry, project_registry
from ..regression.verdict import Verdict
from .case_result import withhold
from .measure import Convert
from .recording import Redact


class ProjectHooks:
    """The answers of one process; what is asked once is kept.

    Args:
        root: places in messages are relative to it.
        raised: what a hook may raise by mistake.
        passed: of these, what ends the run on purpose.
    """

    def __init__(
        self,
        root: Path | None = None,
        raised: tuple[type[BaseException], ...] = (Exception, SystemExit),
        passed: tuple[type[BaseException], ...] = (),
    ) -> None:
        self._root, self._raised, self._passed = root or Path.cwd(), raised, passed

    @cached_property
    def registry(self) -> Registry:
        """All metrics, the project's own included."""
        return project_registry()

    @property
    def has_corpus(self) -> bool:
        """Whether anybody may say what the corpus is."""
        return is_implemented("pytest_auepora_corpus")

    def corpus(self, suite: str, path: Path) -> Any:
        """Return the corpus of the golden file at *path*, None where nobody knows."""
        return ask("pytest_auepora_corpus", suite=suite, path=path)

    def provenance(self, suite: str, path: Path) -> dict[str, Any]:
        """Return what is known of how the answers to the golden file at *path* come about; the first hook wins."""
        out: dict[str, Any] = {}
        for part in reversed(ask("pytest_auepora_provenance", suite=suite, path=path)):
            out.update(part or {})
        return out

    @cached_property
    def convert(self) -> Convert | None:
        """The hook that converts an answer, or returns None to leave it to us; None without a hook."""
        if not is_implemented("pytest_auepora_convert"):
            return None
        return lambda output, sample: ask("pytest_auepora_convert", output=output, sample=sample)

    @cached_property
    def redact(self) -> Redact | None:
        """The hook that removes secrets from a result before it is stored and shown; None without a hook.

        A result that it raises on is an error, and has no text: nobody knows which of them may be shown.
        """
        return self._redact if is_implemented("pytest_auepora_redact") else None

    def _redact(self, result: CaseResult) -> None:
        if told := self._failure_of("pytest_auepora_redact", result=result):
            withhold(result, told)

    def tell_finished(self, run: Run, verdict: Verdict) -> str:
        """Hand a finished run to whoever wants it; return which hook raised what and where, or an empty string."""
        return self._failure_of("pytest_auepora_run_finished", run=run, verdict=verdict)

    def _failure_of(self, hook: str, **arguments: Any) -> str:
        """Ask *hook*, and return what it raised and where; not the message, which may hold what the project hides."""
        try:
            ask(hook, **arguments)
        except self._passed:
            raise
        except self._raised as exc:
            frames = list(walk_tb(exc.__traceback__))
            calls = [i for i, (f, _) in enumerate(frames) if str(f.f_globals.get("__name__")).startswith("pluggy.")]
            place = ""
            if calls and calls[-1] + 1 < len(frames):
                frame, line = frames[calls[-1] + 1]
                place = f" ({shown_path(Path(frame.f_code.co_filename), self._root)}:{line})"
            return f"{hook} raised {type(exc).__name__}{place}"
        return ""
