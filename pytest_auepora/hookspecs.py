"""The hooks that a project's conftest.py, another plugin or an installed package may implement.

Who asks them is `base.plugins`.  An implementation names the arguments that it needs.  ``config`` is pytest's; outside
pytest, in `evaluate` and in the commands, it is None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pluggy import HookspecMarker

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from .core.run import CaseResult, Run
    from .core.types import EvaluationSample, SystemOutputs
    from .io.importers.imported import Importer
    from .metrics.registry import Registry
    from .regression.verdict import Verdict
    from .reporting.report import Report

hookspec = HookspecMarker("pytest")


@hookspec
def pytest_auepora_metrics(registry: Registry, config: pytest.Config | None) -> None:
    """Add metrics of your own.

    Called once in every process, before the first golden file is read:

    .. code-block:: python

        def pytest_auepora_metrics(registry):
            registry.add("answer_words", AnswerWords)

    Golden files may then name ``answer_words``.  ``registry.give(critic=…, checker=…)`` hands a judge to all metrics
    that take one.
    """


@hookspec(firstresult=True)
def pytest_auepora_convert(output: Any, sample: EvaluationSample, config: pytest.Config | None) -> SystemOutputs | None:
    """Turn what your system returned into `SystemOutputs`; return None to leave it to the built-in conversion.

    Called in the process that ran the case, after every call that did not raise.  Stops at the first
    implementation that returns something.
    """


@hookspec
def pytest_auepora_provenance(config: pytest.Config | None, suite: str, path: Path) -> dict[str, Any] | None:
    """Say what produced the answers of *suite*: corpus, chunker_version, embedding, prompt, model, ….

    Stored with the baseline and shown when it differs.  Scores that are then measured differently do not compare:
    those that count chunks where ``chunker``, ``chunker_version`` or ``chunk_ids`` differs, distances between
    embeddings where ``embedding`` does, scores of a judge where ``judge``, ``judge_model`` or ``judge_prompt`` does,
    and whatever the golden file names under ``not_comparable``.  ``git_commit`` is added by itself.  Values must be
    JSON-able; several implementations are merged.
    """


@hookspec(firstresult=True)
def pytest_auepora_corpus(config: pytest.Config | None, suite: str, path: Path) -> Any:
    """Say what the system can return for *suite*: ids, a mapping of ids to texts, or documents.

    Asked by pytest only, once per suite and process, where no fixture ``auepora_corpus_ids`` is defined.  With it,
    labels whose chunk ids are gone are told from chunks that were not found; with texts, moves can be proven and
    repaired.  Stops at the first implementation that returns something.
    """


@hookspec
def pytest_auepora_redact(result: CaseResult, config: pytest.Config | None) -> None:
    """Change *result* in place before it is stored, shown or leaves its process.

    Its texts are ``query``, ``outputs["answer"]``, ``outputs["retrieved"][i]["text"]``, ``expected`` and
    ``error``, which the reasons of its scores repeat.  Scores are computed before, from the real texts.

    Called for every answer to a case, before its repeats are merged and judged, and for a case that has none because
    it was skipped or failed.  Called once more for every recorded answer, with a copy of its result and its texts in
    full, which are recorded as it leaves them (see "Replay recorded answers").
    """


@hookspec
def pytest_auepora_run_finished(run: Run, verdict: Verdict, config: pytest.Config | None) -> None:
    """Receive each finished run with its verdict, before the closing summary is printed.

    Called by pytest only, in the controller, once per suite and configuration.
    """


@hookspec
def pytest_auepora_importers(config: pytest.Config | None) -> Mapping[str, Importer] | None:
    """Offer formats of your own to ``auepora import``: name → `Importer`, which reads a path and may write one.

    .. code-block:: python

        def pytest_auepora_importers():
            return {"faq": Importer("question and answer by turns", load)}
    """


@hookspec
def pytest_auepora_report_formats(config: pytest.Config | None) -> Mapping[str, Callable[[Report], str]] | None:
    """Offer report formats of your own to ``--auepora-report`` and ``auepora report``: name → ``(Report) -> text``.

    .. code-block:: python

        def pytest_auepora_report_formats():
            return {"slack": one_line}
    """
