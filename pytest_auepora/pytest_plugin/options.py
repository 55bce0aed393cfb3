"""What the command line and the ini file ask for, read once and checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..errors import did_you_mean

if TYPE_CHECKING:
    from ..core.retry import RetryPolicy

__all__ = ["OVERRIDE", "Options"]

TO_LEARN = 5
"""Answers to each case that a suggestion is made from, where ``--auepora-repeat`` does not say."""

OVERRIDE = "auepora_baseline"
"""What a worker is told of ``--auepora-baseline``: a path from the rootdir, as it may stand in another folder."""


class Options:
    """The settings of one pytest process.

    Raises:
        pytest.UsageError: a value that cannot be read.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.intents = self._intents()
        self.prune: bool = config.getoption("auepora_prune")
        self.anchoring: bool = config.getoption("auepora_anchor")
        self.timeout: float | None = self._number("auepora_timeout", float)
        self.concurrency: int | None = self._number("auepora_concurrency", int)
        self.retry = self._retry()
        self.repeat: int | None = self._number("auepora_repeat", int)
        self.suggest: str | None = config.getoption("auepora_suggest")
        self.seed: int | None = self._number("auepora_seed", int, zero=True)
        self.checking = bool(config.getoption("auepora_check") or config.getoption("auepora_reanchor"))
        self.override = self._override()

    @property
    def accepting(self) -> bool:
        """Whether every result of this run is about to become the baseline."""
        return "all" in self.intents

    @property
    def updating(self) -> bool:
        """Whether any baseline file may be written."""
        return bool(self.intents) or self.prune

    def repeats(self, suite: int) -> int:
        """Return how often cases are asked where their golden file says *suite*."""
        if self.suggest:
            return max(self.repeat or TO_LEARN, 2)
        return self.repeat or suite

    def _override(self) -> Path | None:
        if (told := getattr(self.config, "workerinput", {}).get(OVERRIDE)) is not None:
            return self.config.rootpath / str(told)
        given = self.config.getoption("auepora_baseline")
        return self.config.invocation_params.dir / given if given else None

    def _intents(self) -> frozenset[str]:
        words = frozenset(filter(None, (self.config.getoption("auepora_update") or "").split(",")))
        if not words:
            return words
        from ..regression.baseline.accept import INTENTS

        if unknown := words - set(INTENTS):
            told = ", ".join(f"{word}{did_you_mean(word, INTENTS)}" for word in sorted(unknown))
            raise pytest.UsageError(f"--auepora-update: unknown word {told}; there is {', '.join(INTENTS)}")
        return words

    def _number(self, name: str, kind: type[int] | type[float], *, zero: bool = False) -> Any:
        given = self.config.getoption(name)
        if given is None and (text := self.config.getini(name)):
            try:
                given = kind(text)
            except ValueError:
                raise pytest.UsageError(f"{name} = {text}: expected a number") from None
        if given is not None and not (given > 0 or (zero and given == 0)):  # so put, it refuses nan
            wanted = "0 or more" if zero else "more than 0"
            raise pytest.UsageError(f"--{name.replace('_', '-')} {given}: expected {wanted}")
        return given

    def _retry(self) -> RetryPolicy | None:
        names = self.config.getini("auepora_retry")
        if not names:
            return None
        from ..core.retry import RetryPolicy

        try:
            return RetryPolicy(tuple(names))
        except ValueError:
            raise pytest.UsageError(
                f"auepora_retry = {' '.join(names)}: expected names of exception classes, with blanks between them, "
                "such as RateLimitError openai.RateLimitError"
            ) from None
