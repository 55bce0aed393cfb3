"""From the name people type to the metric, and back: ``"ndcg@10[gain=linear]"`` ⇄ ``NDCGAtK(k=10, gain="linear")``.

A *spelling* is a name with its whole-number parameters in braces (``recall@{k}``, ``p{percent}_latency``).
Further options follow in brackets: ``name[option=value,other=value]``; a lone value goes to the first option
of the class that has none yet, so ``mean_latency[retrieval]`` works, and ``noise_robustness[ndcg@10[gain=linear]]``
as well: an option called ``base`` is a metric by name.  Modules are imported when one of their names is first used.

Metrics of other people come from installed packages and from modules of a project.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

from ..base.plugins import ask, errors_of, import_from
from ..base.text import did_you_mean, unknown_name
from ..core.metrics_base import Metric
from ..core.types import TargetCategory
from ..errors import AueporaError, MetricError
from .catalogue import PAPER_SPELLINGS, SPELLINGS

_HOLE = r"\\\{(\w+)\\\}"
_NAMED_OPTION = r"(?s)(\w+)\s*=\s*(.*)"

_LONGEST_NAME = 1_000

SHARED_OPTIONS = ("checker", "corpus", "critic", "embed_fn")
"""Options that are objects; `Registry.give` sets them on all metrics that have them."""


class Registry:
    """Knows every metric name.  Made with the metrics of this package; `add` takes further ones.

    Args:
        installed: also know what `add_installed` adds.  As that is slow to find, it is done when a name is not known,
            a metric is added, or all are listed.
    """

    def __init__(self, *, installed: bool = False) -> None:
        self._factories: dict[str, Callable[..., Metric] | None] = dict.fromkeys(SPELLINGS)  # None: a class of ours
        self._metrics: dict[str, Metric] = {}
        self._shared: dict[str, Any] = {}
        self._installed_missing = installed

    def add(self, spelling: str, metric: Metric | Callable[..., Metric]) -> None:
        """Add a metric under *spelling*: an instance, or a class or function that makes one from its options.

        Raises:
            MetricError: the spelling is taken.
        """
        self._add_installed()
        if spelling in self._factories:
            raise MetricError(f"there already is a metric called {spelling!r}")
        self._factories[spelling] = (lambda: metric) if isinstance(metric, Metric) else metric
        self._metrics.clear()

    def give(self, **objects: Any) -> None:
        """Give *objects* to every metric that has an option of that name and is told nothing else for it.

        Args:
            objects: ``critic``: an `LLMCritic`; ``checker``: a `ClaimChecker` or a function; ``embed_fn``; ``corpus``.

        Raises:
            UnknownNameError: metrics have no such option.
        """
        for name in objects:
            if name not in SHARED_OPTIONS:
                raise unknown_name("option that all metrics can be given", name, SHARED_OPTIONS)
        self._shared.update(objects)
        self._metrics.clear()

    def _add_installed(self) -> bool:
        """Add what installed packages offer, all of it or nothing; return whether that was still to be done."""
        if not self._installed_missing:
            return False
        self._installed_missing, factories = False, dict(self._factories)
        try:
            add_installed(self)
        except BaseException:
            self._installed_missing, self._factories = True, factories
            raise
        return True

    def spellings(self) -> list[str]:
        """Every spelling known, in catalogue order."""
        self._add_installed()
        return list(self._factories)

    def get(self, name: str) -> Metric:
        """Return the metric called *name*; the same object for the same name.

        Raises:
            UnknownNameError: nothing is called that; the message names near ones.
            MetricError: an option is unknown, or has a value the metric cannot work with.
        """
        if (metric := self._metrics.get(name)) is None:
            metric = self._metrics[name] = self._make(name)
        return metric

    def _make(self, name: str) -> Metric:
        if len(name) > _LONGEST_NAME:
            raise MetricError(f"{name[:60]}…: a metric's name has at most {_LONGEST_NAME:,} characters")
        head, bracket, rest = name.partition("[")
        if bracket and not rest.endswith("]"):
            raise MetricError(f"{name}: the bracket is not closed; write name[option=value]")
        match = self._find(head) or (self._find(head) if self._add_installed() else None)
        match = match or self._find(_from_paper_spelling(head))
        if match is None:
            cutoff = (re.findall(r"\d+", head) or ["5"])[-1]
            raise unknown_name("metric", head, [re.sub(r"\{\w+\}", cutoff, s) for s in self.spellings()])
        spelling, numbers = match
        factory, kwargs = self._factories[spelling], dict[str, Any](numbers)
        if factory is None:
            factory = _class_of(spelling)
            kwargs |= {"level": "doc"} if spelling.endswith("_doc") else {}
        if bracket:
            kwargs |= _read_options(name, rest[:-1], factory, fixed=set(kwargs))
        for option, value in self._shared.items():
            if option in parameters_of(factory):
                kwargs.setdefault(option, value)
        if isinstance(base := kwargs.get("base"), str):
            kwargs["base"] = self.get(base)
        try:
            metric = factory(**kwargs)
        except MetricError as exc:
            raise MetricError(f"{name}: {exc}") from None
        if not isinstance(getattr(metric, "target", None), TargetCategory):
            expected = "a TargetCategory, such as target = TargetCategory.GENERATION_RELEVANCE"
            raise MetricError(f"{name}: {type(metric).__name__} has no target; expected {expected}")
        metric.name = name
        return metric

    def _find(self, head: str) -> tuple[str, dict[str, int]] | None:
        """Return the spelling that *head* fits, and the numbers in the holes of that spelling."""
        for spelling in self._factories:
            if head.startswith(spelling.partition("{")[0]):
                pattern = re.sub(_HOLE, r"(?P<\1>-?\\d+)", re.escape(spelling))
                if (match := re.fullmatch(pattern, head)) is not None:
                    return spelling, {name: int(digits) for name, digits in match.groupdict().items()}
        return None


def _class_of(spelling: str) -> type[Metric]:
    """Return the class of ours whose own name is *spelling*, or goes on after it: ``mrr`` is ``mrr@{k}`` without k."""
    module = import_module(f"pytest_auepora.metrics.{SPELLINGS[spelling]}")
    classes = [obj for obj in vars(module).values() if isinstance(obj, type) and issubclass(obj, Metric)]
    named = [metric for metric in classes if _own_name(metric).startswith(spelling.removesuffix("_doc"))]
    if not named:
        raise MetricError(f"catalogue.py lists {spelling!r}, and no metric of {module.__name__} has such a stem")
    return min(named, key=lambda metric: len(_own_name(metric)))


def _own_name(obj: Any) -> str:
    return getattr(obj, "name", "") or getattr(obj, "stem", "")


def _from_paper_spelling(head: str) -> str:
    """Return the spelling of a metric that is written as in papers: ``NDCG@5``, ``On-Topic Rate``."""
    stem, at, cutoff = re.sub(r"[ -]|(?<=[a-z])(?=[A-Z])", "_", head).lower().partition("@")
    stem = re.sub(r"end_to_end_(p\d+)", r"\1_latency", stem)
    return PAPER_SPELLINGS.get(stem, stem) + at + cutoff


def parse_value(text: str) -> Any:
    """Read an option's value: ``true`` / ``false`` / ``none``, a number, else the text itself."""
    words: dict[str, Any] = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def _split_options(text: str) -> list[str]:
    """Split at the commas that stand in no bracket, for options that are metric names themselves."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "[") - (char == "]")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [stripped for part in parts if (stripped := part.strip())]


def parameters_of(factory: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the named parameters of *factory*; of a class those of its ``__init__``, even if it has a ``__new__``."""
    function = factory.__init__ if isinstance(factory, type) else factory  # type: ignore[misc]  # of this very class
    parameters = list(inspect.signature(function).parameters.values())[function is not factory :]
    return {p.name: p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def _read_options(name: str, text: str, factory: Callable[..., Metric], fixed: set[str]) -> dict[str, Any]:
    options = [p for p in parameters_of(factory) if p not in fixed]
    values: dict[str, Any] = {}
    for part in _split_options(text):
        if (match := re.fullmatch(_NAMED_OPTION, part)) is not None:
            key, value = match.groups()
        else:
            unset = [p for p in options if p not in values]
            if not unset:
                raise MetricError(f"{name}: takes no {'further ' if options else ''}option, got {part!r}")
            key, value = unset[0], part
        if key not in options:
            raise MetricError(
                f"{name}: no option {key!r}{did_you_mean(key, options)}; available: {', '.join(options) or 'none'}"
            )
        values[key] = parse_value(value)
    return values


def project_registry() -> Registry:
    """Return a registry with the metrics of installed packages, and of whoever has the hook for metrics."""
    registry = Registry(installed=True)
    ask("pytest_auepora_metrics", registry=registry)
    return registry


GROUP = "auepora.metrics"
"""The entry point group: the name is that of the metric, the object a metric, a class of one, or a function that adds
several to the registry it is given."""


def add_installed(registry: Registry) -> None:
    """Add what installed packages offer as entry points; raises `MetricError` where one of them cannot be added."""
    from importlib import metadata  # reads what is known of every installed package

    for point in metadata.entry_points(group=GROUP):
        with errors_of(f"entry point {point.name} = {point.value} of {GROUP}", error=MetricError):
            obj = point.load()
        _add_object(registry, obj, point.value, point.name)


def add_from(registry: Registry, spelling: str) -> None:
    """Add what ``module:object`` or ``path/of/file.py:object`` names, relative to the working directory.

    A function is called with *registry* (and ``config=None`` if it takes one, so that a
    ``pytest_auepora_metrics`` hook will do); a metric or a class of one is added under its name.

    Raises:
        MetricError: there is no such thing, it cannot be imported, or it is neither.
    """
    _add_object(registry, import_object(spelling, "metrics are"), spelling)


def import_object(spelling: str, what: str) -> Any:
    """Return what ``module:object`` or ``path/of/file.py:object`` names; *what* says of it in messages that it "is".

    Raises:
        MetricError: there is no such thing, or it cannot be imported.
    """
    location, _, name = spelling.rpartition(":")
    if not location or not name:
        raise MetricError(f"{what} named as module:object or file.py:object, got {spelling!r}")
    with errors_of(f"{spelling}: cannot be imported", error=MetricError):
        obj = module = import_from(location)
    for part in name.split("."):
        if not hasattr(obj, part):
            raise MetricError(f"{spelling}: {location} has no {part!r}{did_you_mean(part, vars(module))}")
        obj = getattr(obj, part)
    return obj


def _add_object(registry: Registry, obj: Any, spelling: str, name: str = "") -> None:
    if isinstance(obj, Metric) or (isinstance(obj, type) and issubclass(obj, Metric)):
        if not (name := name or _own_name(obj)):
            raise MetricError(f"{spelling}: the metric has no name")
        registry.add(name, obj)
    elif callable(obj) and not isinstance(obj, type):
        config = {"config": None} if "config" in parameters_of(obj) else {}
        with errors_of(spelling, AueporaError, error=MetricError):
            obj(registry=registry, **config)
    else:
        raise MetricError(f"{spelling}: expected a metric or a function that takes the registry, got {obj!r:.80}")
