"""What the command line and the ini file ask for, read once and checked; every pytest run imports it."""

from __future__ import annotations

import shlex
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..base.retry import RetryPolicy
    from ..history.settings import Keep

T = TypeVar("T")

UPDATE_WORDS = ("all", "new", "improved", "anew", "prune", "anchor", "preview")
LABEL_WORDS = ("check", "repair", "strict", "old=FILE")
KEEP = ("runs=200", "answers=20", "characters=1000000")
"""As `history.settings.Keep` has it; every pytest run would have to import that."""
SUGGEST_REPEATS = 5
"""Answers to each case that a suggestion is made from, where ``--auepora-repeat`` does not say."""

OVERRIDE = "auepora_baseline"
"""Key of a worker's input: ``--auepora-baseline`` as a path from the rootdir, as the worker may run elsewhere."""


def setting(config: pytest.Config, name: str, read: Callable[[str], T]) -> T:
    """Return the value of a setting that is no text; *read* makes it from a text where native TOML has one.

    pytest takes lists, numbers and booleans there, and refuses what every other file says: ``"runs=5 answers=1"``.

    Raises:
        pytest.UsageError: the value cannot be read.
    """
    try:
        value: T = config.getini(name)
    except (ValueError, TypeError, pytest.UsageError) as exc:
        from ..history.settings import read_settings

        text = read_settings(config.inipath).get(name) if config.inipath is not None else None
        if isinstance(text, str):
            with suppress(ValueError, KeyError):
                return read(text)
        raise pytest.UsageError(f"{name}: {exc}") from None
    else:
        return value


def words_of(config: pytest.Config, name: str) -> list[str]:
    """Return a setting that is a list of words."""
    return setting(config, name, shlex.split)


def lines_of(config: pytest.Config, name: str) -> list[str]:
    """Return a setting that is a list of texts, each on a line of its own in an ini file."""
    return setting(config, name, lambda text: [line.strip() for line in text.splitlines() if line.strip()])


def flag(config: pytest.Config, name: str) -> bool:
    """Return a setting that is true or false."""
    return setting(config, name, lambda text: {"true": True, "false": False}[text.lower()])


def is_asked_for(config: pytest.Config) -> bool:
    """Whether the settings or any option of ours ask for golden cases; no option means anything without them."""
    return flag(config, "auepora") or is_asked_for_by_option(config)


def is_asked_for_by_option(config: pytest.Config) -> bool:
    """Whether any option of ours is given."""
    values = (value for name, value in vars(config.option).items() if name.startswith("auepora"))
    return any(value is not None and value is not False for value in values)  # 0 is a seed


def runs_tests(config: pytest.Config) -> bool:
    """False under --collect-only and --setup-only."""
    option = config.option
    return not (option.collectonly or getattr(option, "setuponly", False))  # --setup-plan sets it as well


class Options:
    """The settings of one pytest process.

    Raises:
        pytest.UsageError: a value that cannot be read.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        words = _words(config, "auepora_update")
        check_words("--auepora-update", words, UPDATE_WORDS)
        self.preview = "preview" in words
        self.intents = frozenset(words) - {"prune", "anchor", "preview"}
        self.prune = "prune" in words
        self.anchoring = "anchor" in words
        if self.preview and not (self.intents or self.prune or self.anchoring):
            self.intents = frozenset({"all"})
        self.accepting = bool({"all", "anew"} & self.intents)  # every result is about to become the baseline
        self.updating = bool(self.intents) or self.prune  # any baseline file may be written
        self.timeout: float | None = self._number("auepora_timeout")
        self.concurrency: int | None = self._number("auepora_concurrency")
        self.retry = self._retry()
        self.repeat: int | None = self._number("auepora_repeat")
        self.max_calls: int | None = self._number("auepora_max_calls")
        self.why = bool(config.getoption("auepora_why"))
        self.suggest: str | None = config.getoption("auepora_suggest")
        self.seed: int | None = self._number("auepora_seed", zero=True)
        self.keep = self._keep()
        self.old_corpus, labels = self._labels()
        self.checking = "check" in labels or "repair" in labels
        self.repairing = "repair" in labels
        self.strict_labels = "strict" in labels
        self.override = self._override()
        self.keeps_texts = self._keeps_texts() and self.updating and not self.preview

    @cached_property
    def history_place(self) -> str | Path | None:
        """Where runs are kept, or None where no history is wanted.

        Raises:
            pytest.UsageError: this Python has no sqlite3; a worker keeps no runs, and may do without.
        """
        from ..history.settings import find_place, lacks_sqlite
        from .compat import is_worker

        place = find_place(self.config.getini("auepora_history"), self.config.rootpath)
        if place is not None and lacks_sqlite(place) and not is_worker(self.config):
            raise pytest.UsageError("this Python has no sqlite3 to keep runs with; -o auepora_history=off does without")
        return place

    @cached_property
    def keeps_answers(self) -> bool:
        """Whether this run keeps the answers that it accepts in full: beside its baselines, else beside its history."""
        return self.keeps_texts or (self.updating and not self.preview and self.history_place is not None)

    @property
    def wants_baselines(self) -> bool:
        """Whether baselines are required, or about to be written."""
        return self.updating or self.anchoring or bool(self.config.getoption("auepora_require_baseline"))

    def repeats(self, suite: int) -> int:
        """Return how often cases are asked where their golden file says *suite*."""
        if self.suggest:
            return max(self.repeat or SUGGEST_REPEATS, 2)
        return self.repeat or suite

    def _override(self) -> Path | None:
        from .compat import worker_input

        if (path := worker_input(self.config, OVERRIDE)) is not None:
            return self.config.rootpath / str(path)
        option = self.config.getoption("auepora_baseline")
        return self.config.invocation_params.dir / option if option else None

    def _labels(self) -> tuple[str, list[str]]:
        """Return the file of the old corpus, or an empty string, and the words beside it."""
        words = _words(self.config, "auepora_labels")
        if not words and self.config.getoption("auepora_labels") is not None:
            raise pytest.UsageError(f"--auepora-labels: expected some of {', '.join(LABEL_WORDS)}")
        old = [word for word in words if word.startswith("old=")]
        plain = [word for word in words if word not in old]
        check_words("--auepora-labels", plain, LABEL_WORDS)
        return (old[-1].removeprefix("old=") if old else ""), plain

    def _keeps_texts(self) -> bool:
        """Return whether the project keeps accepted answers in full beside its baselines."""
        word = str(self.config.getini("auepora_accepted")).strip()
        if word not in ("", "texts"):
            raise pytest.UsageError(f"auepora_accepted = {word}: expected texts, or nothing")
        return bool(word)

    def _keep(self) -> Keep:
        from ..errors import HistoryError
        from ..history.settings import read_keep

        try:
            return read_keep(words_of(self.config, "auepora_keep"))
        except HistoryError as exc:
            raise pytest.UsageError(str(exc)) from None

    def _number(self, name: str, *, zero: bool = False) -> Any:
        number = self.config.getoption(name)
        if number is None and name in ("auepora_concurrency", "auepora_timeout"):
            number = setting(self.config, name, int if name == "auepora_concurrency" else float)
        if number is not None and not (number > 0 or (zero and number == 0)):  # so put, it refuses nan
            expected = "0 or more" if zero else "more than 0"
            raise pytest.UsageError(f"--{name.replace('_', '-')} {number}: expected {expected}")
        return number

    def _retry(self) -> RetryPolicy | None:
        names = words_of(self.config, "auepora_retry")
        if not names:
            return None
        from ..base.retry import RetryPolicy

        try:
            return RetryPolicy(tuple(names))
        except ValueError:
            raise pytest.UsageError(
                f"auepora_retry = {' '.join(names)}: expected names of exception classes, with blanks between them, "
                "such as RateLimitError openai.RateLimitError"
            ) from None


def _words(config: pytest.Config, name: str) -> list[str]:
    return [word for word in (config.getoption(name) or "").split(",") if word]


def check_words(name: str, words: Iterable[str], known: Sequence[str]) -> None:
    """Check the words of the option or setting *name*.

    Raises:
        pytest.UsageError: some are not *known*.
    """
    if unknown := sorted(set(words) - set(known)):
        from ..base.text import did_you_mean

        listed = ", ".join(f"{word}{did_you_mean(word, known)}" for word in unknown)
        raise pytest.UsageError(f"{name}: unknown word {listed}; available: {', '.join(known)}")
