"""From the name people type to the metric, and back: ``"ndcg@10[gain=linear]"`` ⇄ ``NDCGAtK(k=10, gain="linear")``.

A *spelling* is a name with its whole-number parameters in braces (``recall@{k}``, ``p{percent}_latency``).
Further options follow in brackets: ``name[option=value,other=value]``; a lone value goes to the first option
of the class that has none yet, so ``mean_latency[retrieval]`` works, and ``noise_robustness[ndcg@10[gain=linear]]``
as well: an option called ``base`` is a metric by name.  Modules are imported when one of their names is first used.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from ..core.metrics_base import Metric
from ..errors import MetricError, UnknownNameError, did_you_mean
from .catalogue import SPELLINGS

__all__ = ["Registry", "parse_value"]

_HOLE = re.compile(r"\\\{(\w+)\\\}")
_NAMED = re.compile(r"(\w+)\s*=\s*(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Entry:
    spelling: str
    pattern: re.Pattern[str]
    factory: str | Callable[..., Metric]
    fixed: dict[str, Any] = field(default_factory=dict)

    def load(self) -> Callable[..., Metric]:
        if not isinstance(self.factory, str):
            return self.factory
        module, name = self.factory.split(":")
        made: Callable[..., Metric] = getattr(import_module(f"pytest_auepora.metrics.{module}"), name)
        return made


class Registry:
    """Knows every metric name.  Made with the metrics of this package; `add` takes further ones."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._made: dict[str, Metric] = {}
        for spelling, (factory, fixed) in SPELLINGS.items():
            self._enter(spelling, factory, dict(fixed))

    def _enter(self, spelling: str, factory: str | Callable[..., Metric], fixed: dict[str, Any]) -> None:
        pattern = re.compile(_HOLE.sub(r"(?P<\1>-?\\d+)", re.escape(spelling)))
        self._entries.append(_Entry(spelling, pattern, factory, fixed))

    def add(self, spelling: str, metric: Metric | Callable[..., Metric]) -> None:
        """Add a metric under *spelling*: an instance, or a class or function that makes one from its options.

        Raises:
            MetricError: the spelling is taken.
        """
        if any(e.spelling == spelling for e in self._entries):
            raise MetricError(f"there already is a metric called {spelling!r}")
        if isinstance(metric, Metric):
            made = metric
            self._enter(spelling, lambda: made, {})
        else:
            self._enter(spelling, metric, {})
        self._made.clear()

    def spellings(self) -> list[str]:
        """Every spelling known, in catalogue order."""
        return [e.spelling for e in self._entries]

    def classes(self) -> Iterator[tuple[str, Callable[..., Metric]]]:
        """Yield each spelling with the loaded class or factory behind it."""
        for entry in self._entries:
            yield entry.spelling, entry.load()

    def get(self, name: str) -> Metric:
        """Return the metric called *name*; the same object for the same name.

        Raises:
            UnknownNameError: nothing is called that; the message names near ones.
            MetricError: an option is unknown, or has a value the metric cannot work with.
        """
        if (known := self._made.get(name)) is None:
            known = self._made[name] = self._make(name)
        return known

    def _make(self, name: str) -> Metric:
        head, bracket, rest = name.partition("[")
        if bracket and not rest.endswith("]"):
            raise MetricError(f"{name}: the bracket is not closed; write name[option=value]")
        for entry in self._entries:
            if (match := entry.pattern.fullmatch(head)) is not None:
                break
        else:
            raise UnknownNameError("metric", head, self._near_names(head))
        kwargs = {**entry.fixed, **{k: int(v) for k, v in match.groupdict().items()}}
        factory = entry.load()
        if bracket:
            kwargs.update(_options(name, rest[:-1], factory, taken=set(kwargs)))
        if isinstance(base := kwargs.get("base"), str):
            kwargs["base"] = self.get(base)
        try:
            metric = factory(**kwargs)
        except MetricError as exc:
            raise MetricError(f"{name}: {exc}") from None
        metric.name = name
        return metric

    def _near_names(self, name: str) -> list[str]:
        numbers = re.findall(r"\d+", name) or ["5"]
        return [re.sub(r"\{\w+\}", numbers[-1], s) for s in self.spellings()]


def parse_value(text: str) -> Any:
    """Read an option's value: ``true`` / ``false`` / ``none``, a number, else the text itself."""
    words: dict[str, Any] = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _parts(text: str) -> list[str]:
    """Split at the commas that stand in no bracket, for options that are metric names themselves."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "[") - (char == "]")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [stripped for part in parts if (stripped := part.strip())]


def _options(name: str, text: str, factory: Callable[..., Metric], taken: set[str]) -> dict[str, Any]:
    known = [p for p in inspect.signature(factory).parameters if p not in taken]
    out: dict[str, Any] = {}
    for part in _parts(text):
        if (named := _NAMED.fullmatch(part)) is not None:
            key, value = named.groups()
        else:
            free = [p for p in known if p not in out]
            if not free:
                raise MetricError(f"{name}: takes no {'further ' if known else ''}option, got {part!r}")
            key, value = free[0], part
        if key not in known:
            raise MetricError(
                f"{name}: no option {key!r}{did_you_mean(key, known)}; there is {', '.join(known) or 'none'}"
            )
        out[key] = parse_value(value)
    return out
