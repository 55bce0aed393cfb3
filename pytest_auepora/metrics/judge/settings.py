"""The settings of a project's judge: a small YAML file, overridden by environment variables.

The file is named by the setting ``auepora_judge`` or the variable AUEPORA_JUDGE; `KEYS` are the words in it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.pages import reference
from ...base.text import did_you_mean
from ...errors import MetricError
from ..options import UNSPELLED
from .usage import Budget, Prices

if TYPE_CHECKING:
    from .client import OpenAICompatibleCritic
    from .critic import LLMCritic

KEYS = {
    "url": "of the server, up to and without `/chat/completions`",
    "model": "name of the model",
    "key": "name of the environment variable that holds the key (`AUEPORA_JUDGE_API_KEY`)",
    "key_header": "header of the key: `Authorization` (default; sent as `Bearer <key>`), or another for the bare key",
    "query": "what follows the `?` of the URL, as `{api-version: …}`",
    "parameters": "of the model: `temperature` (0), `seed` (0), `max_tokens`, any other; `null` leaves one out",
    "schema": "how the form of replies is asked for: `auto` (default), `json_schema`, `json_object`, `none`",
    "prices": "of a million tokens: `{input: 0.25, output: 2.00, cached_input: 0.025}`; or such a table by model, "
    "with those of the system",
    "budget": "what one run may spend: a cost, or `{cost: 2, tokens: 1000000, requests: 500}`",
    "concurrency": "requests at once (8)",
    "timeout": "seconds that a request may take (60)",
    "attempts": "how often a request is tried while the server is busy or out of reach (5)",
    "cache": "folder that keeps replies, so that nothing is asked twice; relative to this file",
    "prompts": "folder of prompts of your own; relative to this file",
}
"""Words of the file, and what they mean."""

_NUMBERS = ("concurrency", "timeout", "attempts")
_TEXTS = ("url", "model", "key", "key_header", "cache", "prompts")
_ENVIRONMENT = {"url": "AUEPORA_JUDGE_URL", "model": "AUEPORA_JUDGE_MODEL", "cache": "AUEPORA_JUDGE_CACHE"}
_NAMED_PARAMETERS = {"temperature", "seed", "max_tokens"}


@dataclass
class JudgeSettings:
    """The checked values of the file, and the lines they are on.  ``path`` is empty where there is none."""

    path: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, tuple[int, int]] = field(default_factory=dict)

    def critic(self, concurrency: int | None = None, processes: int = 1) -> OpenAICompatibleCritic:
        """Return the critic; raises `MetricError` for a value that makes no sense.  *processes* share the budget."""
        from .client import OpenAICompatibleCritic

        values = self.values
        if not values.get("url") or not values.get("model"):
            where = "set AUEPORA_JUDGE_URL and AUEPORA_JUDGE_MODEL"
            where = f"{self.path} needs url and model" if self.path else where
            read = reference("judge-providers")
            raise MetricError(f"there is no judge: name its settings by auepora_judge, or {where}; see {read}")
        parameters = dict(values.get("parameters") or {})
        options: dict[str, Any] = {name: parameters.pop(name) for name in _NAMED_PARAMETERS if name in parameters}
        options |= {name: values[name] for name in ("timeout", "key_header", "query", "schema") if name in values}
        options |= {name: int(values[name]) for name in ("concurrency", "attempts") if name in values}
        if concurrency is not None:
            options.setdefault("concurrency", concurrency)
        prices, budget = self._prices(), self._budget()
        budget = Budget(*(None if limit is None else limit / processes for limit in budget))
        try:
            return OpenAICompatibleCritic(
                str(values["model"]), base_url=str(values["url"]), extra=parameters,
                api_key_env=values.get("key", "AUEPORA_JUDGE_API_KEY"), prices=prices, budget=budget,
                cache_dir=self.path_of(values["cache"]) if values.get("cache") else None, **options,
            )  # fmt: skip
        except (MetricError, TypeError, ValueError) as exc:
            raise MetricError(f"{self.path}: {exc}" if self.path else str(exc)) from None

    def path_of(self, name: str) -> Path:
        """Return the path *name* of the file, which is relative to its folder."""
        return Path(self.path).parent / Path(name).expanduser()

    def _prices(self) -> Prices | None:
        if self.values.get("prices") is None:
            return None
        if (prices := self.prices_of(model := self.values["model"])) is None:
            raise self.error_at("prices", f"no prices of {model}")
        return prices

    def prices_of(self, model: str) -> Prices | None:
        """Return the prices of *model*; None where the file has none, or only those of another judge."""
        table = self.values.get("prices")
        if isinstance(table, Mapping) and not {"input", "output"} & set(table):
            table = table.get(model)
        elif self.values.get("model") not in (None, model):
            return None
        if table is None:
            return None
        if not _are_amounts(table, Prices._fields) or not {"input", "output"} <= set(table):
            raise self.error_at("prices", f"prices are {{input: N, output: N, cached_input: N}}, not {table!r}")
        return Prices(**table)

    def _budget(self) -> Budget:
        raw = self.values.get("budget")
        if raw is None:
            return Budget()
        limits = raw if isinstance(raw, Mapping) else {"cost": raw}
        if not limits or not _are_amounts(limits, Budget._fields):
            raise self.error_at("budget", f"a budget is a cost, or {{cost: N, tokens: N, requests: N}}, not {raw!r}")
        return Budget(**limits)

    def error_at(self, key: str, message: str) -> MetricError:
        """Return an error at the place of *key*."""
        line, col = self.lines.get(key, (1, 1))
        return MetricError(f"{self.path}:{line}:{col}: {message}")


def _is_amount(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < float("inf")


def _are_amounts(table: Any, names: Sequence[str]) -> bool:
    return isinstance(table, Mapping) and set(table) <= set(names) and all(map(_is_amount, table.values()))


def load_settings(path: Path) -> JudgeSettings:
    """Read a file of judge settings; raises `MetricError` with ``file:line:col``, what was found and expected."""
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
        node, values = yaml.compose(text, yaml.SafeLoader), yaml.safe_load(text)
    except (OSError, UnicodeError) as exc:
        raise MetricError(f"{path}: the judge's settings cannot be read: {exc}") from None
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark is not None else str(path)
        raise MetricError(f"{place}: {exc.problem}") from None
    except Exception as exc:  # PyYAML's constructors raise whatever the text trips over
        raise MetricError(f"{path}: {' '.join(str(exc).split())}") from None
    if not isinstance(values, dict) or not isinstance(node, yaml.MappingNode):
        raise MetricError(f"{path}:1:1: expected keys and values, as `url: http://localhost:11434/v1`")
    lines = {key.value: (key.start_mark.line + 1, key.start_mark.column + 1) for key, _ in node.value}
    settings = JudgeSettings(str(path), values, lines)
    for key, value in values.items():
        if key not in KEYS:
            raise settings.error_at(key, f"unknown key {key!r}{did_you_mean(str(key), KEYS)}")
        if key in _NUMBERS and not (_is_amount(value) and value > 0 and (key == "timeout" or value == int(value))):
            raise settings.error_at(key, f"{key} is a number above 0, not {value!r}")
        if key in ("parameters", "query") and not isinstance(value, Mapping):
            raise settings.error_at(key, f"{key} are keys and values, not {value!r}")
        if key in _TEXTS and value and not isinstance(value, str):
            raise settings.error_at(key, f"{key} is a text, not {value!r}")
    return settings


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
    overrides = {key: os.environ[name] for key, name in _ENVIRONMENT.items() if os.environ.get(name)}
    if "cache" in overrides:
        overrides["cache"] = str(Path.cwd() / overrides["cache"])
    return replace(settings, values=settings.values | overrides)


_load_cached = lru_cache(maxsize=4)(lambda file, _changed: load_settings(file))


def critic_from_environment() -> OpenAICompatibleCritic:
    """Return the critic that the settings name: the same for the same settings, so that all metrics share it.

    AUEPORA_JUDGE_URL, AUEPORA_JUDGE_MODEL and AUEPORA_JUDGE_CACHE go before what the file says; the key is in
    AUEPORA_JUDGE_API_KEY unless the file names another variable.

    Raises:
        MetricError: neither names a judge, or the file is wrong.
    """
    settings = _current_settings()
    if _ACTIVE.cached_critic is None or _ACTIVE.cached_critic[0] != repr(settings.values):
        _ACTIVE.cached_critic = repr(settings.values), settings.critic(_ACTIVE.concurrency, _ACTIVE.processes)
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
    return settings.path_of(settings.values["prompts"]) if settings.values.get("prompts") else None


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
