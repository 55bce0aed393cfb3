"""Hooks that a project's conftest.py or another plugin may implement, and how the plugin asks them."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

import pytest

from ..base.files import shown_path

if TYPE_CHECKING:
    from ..core.run import CaseResult, Run
    from ..core.types import EvaluationSample, SystemOutputs
    from ..evaluation.measure import Convert
    from ..evaluation.recording import Redact
    from ..metrics.registry import Registry
    from ..regression.verdict import Verdict


def pytest_auepora_metrics(registry: Registry, config: pytest.Config) -> None:
    """Add metrics of your own.

    Called once in every process, before the first golden file is read:

    .. code-block:: python

        def pytest_auepora_metrics(registry):
            registry.add("answer_words", AnswerWords)

    Golden files may then name ``answer_words``.  ``registry.give(critic=…, checker=…)`` hands a judge to all metrics
    that take one.
    """


@pytest.hookspec(firstresult=True)
def pytest_auepora_convert(output: Any, sample: EvaluationSample, config: pytest.Config) -> SystemOutputs | None:
    """Turn what your system returned into `SystemOutputs`; return None to leave it to the built-in conversion.

    Called in the process that ran the case, after every call that did not raise.  Stops at the first
    implementation that returns something.
    """


def pytest_auepora_provenance(config: pytest.Config, suite: str, path: Path) -> dict[str, Any] | None:
    """Say what produced the answers of *suite*: corpus, chunker_version, embedding, prompt, model, ….

    Stored with the baseline and shown when it differs.  Scores that are then measured differently do not compare:
    those that count chunks where ``chunker``, ``chunker_version`` or ``chunk_ids`` differs, distances between
    embeddings where ``embedding`` does, scores of a judge where ``judge``, ``judge_model`` or ``judge_prompt`` does,
    and whatever the golden file names under ``not_comparable``.  ``git_commit`` is added by itself.  Values must be
    JSON-able; several implementations are merged.
    """


@pytest.hookspec(firstresult=True)
def pytest_auepora_corpus(config: pytest.Config, suite: str, path: Path) -> Any:
    """Say what the system can return for *suite*: ids, a mapping of ids to texts, or documents.

    Asked where no fixture ``auepora_corpus_ids`` is defined, once per suite and process.  With it, labels whose chunk
    ids are gone are told from chunks that were not found; with texts, moves can be proven and repaired.  Stops at the
    first implementation that returns something.
    """


def pytest_auepora_redact(result: CaseResult, config: pytest.Config) -> None:
    """Change *result* in place before it is stored, shown or leaves its process.

    Its texts are ``query``, ``outputs["answer"]``, ``outputs["retrieved"][i]["text"]``, ``expected`` and
    ``error``, which the reasons of its scores repeat.  Scores are computed before, from the real texts.

    Called for every answer to a case, before its repeats are merged and judged, and for a case that has none because
    it was skipped or failed.  Called once more for every recorded answer, with a copy of its result and its texts in
    full, which are recorded as it leaves them (see "Replay recorded answers").
    """


def pytest_auepora_run_finished(run: Run, verdict: Verdict, config: pytest.Config) -> None:
    """Receive each finished run with its verdict, before the closing summary is printed.

    Called in the controller only, once per suite and configuration.
    """


_RAISED = (Exception, pytest.fail.Exception, pytest.skip.Exception)
"""What a hook may raise by mistake."""


class ProjectHooks:
    """What the project says by the hooks above; one per process."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._hook = config.hook

    @cached_property
    def registry(self) -> Registry:
        """All metrics, the project's own included."""
        from ..metrics.registry import Registry

        registry = Registry(installed=True)
        self._hook.pytest_auepora_metrics(registry=registry, config=self._config)
        return registry

    @property
    def has_corpus(self) -> bool:
        """Whether it may say what the corpus is."""
        return bool(self._hook.pytest_auepora_corpus.get_hookimpls())

    def corpus(self, suite: str, path: Path) -> Any:
        """Return the corpus of the golden file at *path*, None where nobody knows."""
        return self._hook.pytest_auepora_corpus(config=self._config, suite=suite, path=path)

    def provenance(self, suite: str, path: Path) -> dict[str, Any]:
        """Return what it knows of how the answers to the golden file at *path* come about; the first hook wins."""
        out: dict[str, Any] = {}
        for part in reversed(self._hook.pytest_auepora_provenance(config=self._config, suite=suite, path=path)):
            out.update(part or {})
        return out

    @cached_property
    def convert(self) -> Convert | None:
        """The hook that converts an answer, or returns None to leave it to us; None without a hook."""
        hook = self._hook.pytest_auepora_convert
        if not hook.get_hookimpls():
            return None
        return lambda output, sample: hook(output=output, sample=sample, config=self._config)

    @cached_property
    def redact(self) -> Redact | None:
        """The hook that removes secrets from a result before it is stored and shown; None without a hook.

        A result that it raises on is an error, and has no text: nobody knows which of them may be shown.
        """
        hook = self._hook.pytest_auepora_redact
        if not hook.get_hookimpls():
            return None

        def redact(result: CaseResult) -> None:
            try:
                hook(result=result, config=self._config)
            except pytest.exit.Exception:
                raise
            except _RAISED as exc:
                withhold(result, self._told("pytest_auepora_redact", exc))

        from ..evaluation.case_result import withhold

        return redact

    def tell_finished(self, run: Run, verdict: Verdict) -> str:
        """Hand a finished run to whoever wants it; return which hook raised what and where, or an empty string."""
        try:
            self._hook.pytest_auepora_run_finished(run=run, verdict=verdict, config=self._config)
        except pytest.exit.Exception:
            raise
        except _RAISED as exc:
            return self._told("pytest_auepora_run_finished", exc)
        return ""

    def _told(self, name: str, exc: BaseException) -> str:
        """Return which hook raised what and where; not its message, which may hold what the project hides."""
        frames = list(walk_tb(exc.__traceback__))
        calls = [i for i, (frame, _) in enumerate(frames) if str(frame.f_globals.get("__name__")).startswith("pluggy.")]
        place = ""
        if calls and calls[-1] + 1 < len(frames):
            frame, line = frames[calls[-1] + 1]
            place = f" ({shown_path(Path(frame.f_code.co_filename), self._config.rootpath)}:{line})"
        return f"{name} raised {type(exc).__name__}{place}"
