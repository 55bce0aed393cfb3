"""The settings of a project's judge: a small YAML file, overridden by environment variables.

The file is named by the setting ``auepora_judge`` or the variable AUEPORA_JUDGE.
"""

from __future__ import annotations

import os
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Gt

from ...base.files import read_text
from ...base.pages import reference
from ...base.records import Count, HandWritten, RecordError, check_record
from ...errors import MetricError
from ..options import UNSPELLED
from .usage import Amount, Budget, Prices

if TYPE_CHECKING:
    from .client import OpenAICompatibleCritic
    from .critic import LLMCritic

_ENVIRONMENT = {"url": "AUEPORA_JUDGE_URL", "model": "AUEPORA_JUDGE_MODEL", "cache": "AUEPORA_JUDGE_CACHE"}
_OPTIONS = ("timeout", "key_header", "query", "schema", "concurrency", "attempts")


@dataclass(slots=True)
class JudgeSettings(HandWritten):
    """The values of the file; ``path`` is empty where there is none, ``lines`` has the places of its keys."""

    url: str = ""
    """Of the server, up to and without `/chat/completions`."""
    model: str = ""
    """Name of the model."""
    key: str = "AUEPORA_JUDGE_API_KEY"
    """Name of the environment variable that holds the key (`AUEPORA_JUDGE_API_KEY`)."""
    key_header: str | None = None
    """Header of the key: `Authorization` (default; sent as `Bearer <key>`), or another for the bare key."""
    query: dict[str, Any] | None = None
    """What follows the `?` of the URL, as `{api-version: …}`."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """Of the model: `temperature` (0), `seed` (0), `max_tokens`, any other; `null` leaves one out."""
    schema: Literal["auto", "json_schema", "json_object", "none"] | None = None
    """How the form of replies is asked for: `auto` (default), `json_schema`, `json_object`, `none`."""
    prices: Prices | dict[str, Prices] | None = None
    """Of a million tokens: `{input: 0.25, output: 2.00, cached_input: 0.025}`; or such a table by model, with those of
    the system."""
    budget: Amount | Budget | None = None
    """What one run may spend: a cost, or `{cost: 2, tokens: 1000000, requests: 500}`."""
    concurrency: Count | None = None
    """Requests at once (8)."""
    timeout: Annotated[float, Gt(0)] | None = None
    """Seconds that a request may take (60)."""
    attempts: Count | None = None
    """How often a request is tried while the server is busy or out of reach (5)."""
    cache: str = ""
    """Folder that keeps replies, so that nothing is asked twice; relative to this file."""
    prompts: str = ""
    """Folder of prompts of your own; relative to this file."""
    path: str = field(default="", init=False)
    lines: dict[str, tuple[int, int]] = field(default_factory=dict, init=False)

    def critic(self, concurrency: int | None = None, processes: int = 1) -> OpenAICompatibleCritic:
        """Return the critic; raises `MetricError` for a value that makes no sense.  *processes* share the budget."""
        from .client import OpenAICompatibleCritic

        if not self.url or not self.model:
            where = "set AUEPORA_JUDGE_URL and AUEPORA_JUDGE_MODEL"
            where = f"{self.path} needs url and model" if self.path else where
            read = reference("judge-providers")
            raise MetricError(f"there is no judge: name its settings by auepora_judge, or {where}; see {read}")
        options = {name: value for name in _OPTIONS if (value := getattr(self, name)) is not None}
        if concurrency is not None:
            options.setdefault("concurrency", concurrency)
        budget = self.budget if isinstance(self.budget, Budget) else Budget(self.budget)
        if (prices := self.prices_of(self.model)) is None and self.prices is not None:
            line, col = self.lines.get("prices", (1, 1))
            raise MetricError(f"{self.path}:{line}:{col}: no prices of {self.model}")
        try:
            return OpenAICompatibleCritic(
                self.model, base_url=self.url, extra=self.parameters, api_key_env=self.key, prices=prices,
                budget=budget.shared_by(processes), **options,
                cache_dir=self.path_of(self.cache) if self.cache else None,
            )  # fmt: skip
        except (MetricError, TypeError, ValueError) as exc:
            raise MetricError(f"{self.path}: {exc}" if self.path else str(exc)) from None

    def path_of(self, name: str) -> Path:
        """Return the path *name* of the file, which is relative to its folder."""
        return Path(self.path).parent / Path(name).expanduser()

    def prices_of(self, model: str) -> Prices | None:
        """Return the prices of *model*; None where the file has none, or only those of another judge."""
        if isinstance(self.prices, dict):
            return self.prices.get(model)
        return self.prices if self.model in ("", model) else None


def load_settings(path: Path) -> JudgeSettings:
    """Read a file of judge settings; raises `MetricError` with ``file:line:col``, what was found and expected."""
    import yaml

    text = read_text(path, MetricError)
    try:
        node: Any = yaml.compose(text, yaml.SafeLoader)
        values, places = yaml.safe_load(text), _places_of_keys(node)
    except yaml.MarkedYAMLError as exc:
        place = (path, *_position(exc.problem_mark)) if exc.problem_mark is not None else (path,)
        raise MetricError(f"{':'.join(map(str, place))}: {exc.problem}") from None
    except Exception as exc:  # PyYAML's constructors raise whatever the text trips over
        raise MetricError(f"{path}: {' '.join(str(exc).split())}") from None
    if not isinstance(values, dict):
        raise MetricError(f"{path}:1:1: expected keys and values, as `url: http://localhost:11434/v1`")
    try:
        settings = check_record(JudgeSettings, values)
    except RecordError as exc:
        keys = tuple(map(str, exc.keys))
        known = (places[keys[:n]] for n in range(len(keys), 0, -1) if keys[:n] in places)
        line, col = next(known, _position(node.start_mark))
        raise MetricError(f"{path}:{line}:{col}: {exc}") from None
    settings.path, settings.lines = str(path), {keys[0]: place for keys, place in places.items() if not keys[1:]}
    return settings


def _places_of_keys(node: Any, above: tuple[str, ...] = ()) -> dict[tuple[str, ...], tuple[int, int]]:
    """Return line and column, from 1, of all keys of nested mappings, by the way to each; raises for a repeated one."""
    from yaml import MarkedYAMLError

    places: dict[tuple[str, ...], tuple[int, int]] = {}
    for key, value in node.value if getattr(node, "id", "") == "mapping" else ():
        if (keys := (*above, str(key.value))) in places:
            raise MarkedYAMLError(problem=f"{key.value!r} is given twice", problem_mark=key.start_mark)
        places |= {keys: _position(key.start_mark), **_places_of_keys(value, keys)}
    return places


def _position(mark: Any) -> tuple[int, int]:
    return mark.line + 1, mark.column + 1


class _Active:
    """The settings in use, and one critic for all metrics, so that its limits and its budget hold for the run."""

    file: Path | None = None
    concurrency: int | None = None
    processes: int = 1
    cached_critic: tuple[str, OpenAICompatibleCritic] | None = None


_ACTIVE = _Active()


def use_judge(file: Path | None = None, *, concurrency: int | None = None, processes: int = 1) -> None:
    """Let metrics without a critic of their own ask the judge of *file*; forgets what was spent so far.

    Args:
        file: the settings; None leaves them to the environment.
        concurrency: requests at once, where the file does not say.
        processes: how many processes share the budget.
    """
    _ACTIVE.file, _ACTIVE.concurrency, _ACTIVE.processes, _ACTIVE.cached_critic = file, concurrency, processes, None


def _current_settings() -> JudgeSettings:
    path = os.environ.get("AUEPORA_JUDGE")
    file = Path(path) if path else _ACTIVE.file
    settings = JudgeSettings() if file is None else _load_cached(file, file.stat().st_mtime_ns if file.exists() else 0)
    settings = copy(settings)
    for key, name in _ENVIRONMENT.items():
        if value := os.environ.get(name):
            setattr(settings, key, str(Path.cwd() / value) if key == "cache" else value)
    return settings


_load_cached = lru_cache(maxsize=4)(lambda file, _changed: load_settings(file))


def critic_from_environment() -> OpenAICompatibleCritic:
    """Return the critic that the settings name: the same for the same settings, so that all metrics share it.

    AUEPORA_JUDGE_URL, AUEPORA_JUDGE_MODEL and AUEPORA_JUDGE_CACHE go before what the file says; the key is in
    AUEPORA_JUDGE_API_KEY unless the file names another variable.

    Raises:
        MetricError: neither names a judge, or the file is wrong.
    """
    settings = _current_settings()
    if _ACTIVE.cached_critic is None or _ACTIVE.cached_critic[0] != repr(settings):
        _ACTIVE.cached_critic = repr(settings), settings.critic(_ACTIVE.concurrency, _ACTIVE.processes)
    return _ACTIVE.cached_critic[1]


def prices_in_use(model: str) -> Prices | None:
    """Return the prices of *model* in the settings of the judge; None where they have none.

    Raises:
        MetricError: the file is wrong.
    """
    return _current_settings().prices_of(model)


def prompts_in_use() -> Path | None:
    """Return the folder of the project's own prompts."""
    settings = _current_settings()
    return settings.path_of(settings.prompts) if settings.prompts else None


@dataclass(eq=False, repr=False)
class AsksCritic:
    """Asks *critic*, or that of the judge's settings; no metric's name can spell it."""

    critic: LLMCritic | None = field(default=None, metadata=UNSPELLED)

    def critic_in_use(self) -> LLMCritic:
        """Return the critic; raises `MetricError` where none was given and the settings name none."""
        return critic_from_environment() if self.critic is None else self.critic

    @property
    def concurrency(self) -> int:
        """How many questions the critic takes at once."""
        try:
            return self.critic_in_use().concurrency
        except MetricError:
            return 1

    def critic_params(self) -> dict[str, Any]:
        """Return what the critic says of itself; nothing where there is none."""
        try:
            return dict(self.critic_in_use().params())
        except MetricError:
            return {}
