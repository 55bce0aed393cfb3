"""Options of a metric: dataclass fields that are checked, spelled in its name and part of its fingerprint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from typing_extensions import dataclass_transform

from ..base.text import did_you_mean
from ..core.metrics_base import CaseScore, Measurement, Metric, NotApplicable
from ..core.types import EvaluationSample, SystemOutputs
from ..errors import MetricError

T = TypeVar("T")

UNSPELLED = {"unspelled": True}
"""Field metadata of an option that no name can spell (a function, a collection); no part of the fingerprint."""


def choice(*words: str) -> Any:
    """Make an option that takes one of *words*; the first is the default."""
    return field(default=words[0], metadata={"words": words})


def limited(default: Any, holds: Callable[[Any], bool], limit: str) -> Any:
    """Make an option whose values are limited to those that *hold*; *limit* says what it ``must`` be.

    Without a default it has to be given: ``MISSING``.
    """
    return field(default=default, metadata={"limit": (holds, limit)})


def spell(value: Any) -> str:
    """Write an option's value the way `registry.parse_value` reads it; an object, which none can read, by its name."""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, tuple):
        return "|".join(map(str, value))
    if isinstance(value, Metric):
        return value.name
    if isinstance(value, (str, int, float, Path)):
        return str(value)
    return getattr(value, "__name__", type(value).__name__)


def read_words(raw: Any, name: str) -> tuple[str, ...]:
    """Read the option *name*, a list of words that are not empty; in a metric's name they are separated by ``|``."""
    parts = raw.split("|") if isinstance(raw, str) else raw
    is_list = isinstance(parts, (Sequence, set, frozenset)) and len(parts) > 0
    if not is_list or not all(isinstance(part, str) and part.strip() for part in parts):
        raise MetricError(f"{name} must be a list of words, got {raw!r}")
    return tuple(sorted(parts) if isinstance(parts, (set, frozenset)) else parts)


class DoesNotApply(Exception):
    """A case or its answer lacks what a metric needs, with the reason; `Configured` makes it `NotApplicable`."""


def needed(value: T | None, reason: str) -> T:
    """Return *value*; raises `DoesNotApply`, for this *reason*, where it is None or empty."""
    if not value:
        raise DoesNotApply(reason)
    return value


def applicable(score: CaseScore) -> Measurement:
    """Return the *score* that another metric gave; raises `DoesNotApply`, for its reason, where it gave none."""
    if isinstance(score, NotApplicable):
        raise DoesNotApply(score.reason)
    return score


def where_applicable(function: Callable[..., T], *args: Any) -> T | NotApplicable:
    """Return what *function* gives, or the reason for which it raises `DoesNotApply`."""
    try:
        return function(*args)
    except DoesNotApply as exc:
        return NotApplicable(str(exc))


@dataclass_transform(eq_default=False, field_specifiers=(field,))
@dataclass(eq=False, repr=False)
class Configured(Metric):
    """A metric whose options are dataclass fields; every subclass is a dataclass, without being decorated.

    Each sets ``stem``, its name with fields in braces (``"recall@{k}"``).  Fields that the stem does not show and that
    differ from their default follow in brackets, so that a metric made in Python carries the name the registry accepts
    for it.

    Options declared as ``int``, ``float``, ``bool`` and ``str`` are held to that; whole numbers are at least 1, or what
    the field's metadata call ``least``.  ``Sequence[str]`` is read by `read_words`.

    Raises:
        MetricError: an option has a value the metric cannot work with.
    """

    stem: ClassVar[str] = ""
    positional: ClassVar[str] = ""
    """The option that is spelled without its name; the first that the bracket may have."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclass(eq=False, repr=False)(cls)

    def __post_init__(self) -> None:
        for option in fields(self):
            if option.type == "Sequence[str]":
                setattr(self, option.name, read_words(getattr(self, option.name), option.name))
            self._check(option, getattr(self, option.name))
        self.name = self.spelling()

    def _check(self, option: Field[Any], value: Any) -> None:
        name = option.name
        if (allowed := option.metadata.get("words")) is not None and value not in allowed:
            raise MetricError(
                f"{name} must be one of {', '.join(allowed)}, got {value!r}{did_you_mean(str(value), allowed)}"
            )
        if option.type == "bool" and not isinstance(value, bool):
            raise MetricError(f"{name} must be true or false, got {value!r}")
        if option.type == "float" and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise MetricError(f"{name} must be a number, got {value!r}")
        if option.type == "str" and not isinstance(value, (str, Path)):
            raise MetricError(f"{name} must be a text, got {value!r}")
        is_whole = option.type in ("int", "int | None") and value is not None
        if is_whole and (not isinstance(value, int) or isinstance(value, bool)):
            raise MetricError(f"{name} must be a whole number, got {value!r}")
        holds, limit = option.metadata.get("limit", (None, ""))
        if holds is not None and not holds(value):
            raise MetricError(f"{name} {limit}, got {value!r}")
        if is_whole and value < (least := option.metadata.get("least", 1)):
            raise MetricError(f"{name} must be at least {least}, got {value}")

    def _options(self) -> list[Field[Any]]:
        return [f for f in fields(self) if "unspelled" not in f.metadata]

    def read_case(self, sample: EvaluationSample) -> Any:
        """Return what scoring an answer needs of the case, by default nothing; raises `DoesNotApply` where it lacks."""
        if name := self.missing_field(sample):
            raise DoesNotApply(f"no {name}")

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, material: Any, /) -> CaseScore:
        """Score an answer, with what `read_case` returned; raises `DoesNotApply` where the answer lacks something."""
        raise NotImplementedError

    def not_applicable(self, sample: EvaluationSample) -> NotApplicable | None:
        material = where_applicable(self.read_case, sample)
        return material if isinstance(material, NotApplicable) else None

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> CaseScore:
        try:
            return self.score_answer(sample, outputs, self.read_case(sample))
        except DoesNotApply as exc:
            return NotApplicable(str(exc))

    def spelled_stem(self) -> str:
        """Return the part of the name before the bracket, without a cut-off that is not set."""
        return self.stem.format(**{f.name: getattr(self, f.name) for f in fields(self)}).replace("@None", "")

    def spelled_options(self) -> dict[str, Any]:
        """Return the options that go into the bracket: those the stem does not show and that are not default."""
        hidden = {f: getattr(self, f.name) for f in self._options() if f"{{{f.name}}}" not in self.stem}
        return {f.name: value for f, value in hidden.items() if f.default not in (value, spell(value))}

    def spelling(self) -> str:
        """Return the name under which the registry makes this very metric."""
        options = ",".join(
            spell(value) if key == self.positional else f"{key}={spell(value)}"
            for key, value in self.spelled_options().items()
        )
        return f"{self.spelled_stem()}[{options}]" if options else self.spelled_stem()

    def params(self) -> dict[str, Any]:
        """Every option with its value; tuples as lists, as JSON has them."""
        values = {f.name: getattr(self, f.name) for f in self._options()}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}


class Batched(Configured):
    """Base of the metrics that score many cases together: in batches of a model, or side by side."""

    def prepare(self, sample: EvaluationSample, outputs: SystemOutputs, material: Any, /) -> Any:
        """Return what `score_prepared` takes of a case, or its score where nothing has to be asked."""
        raise NotImplementedError

    def score_prepared(self, prepared: Sequence[Any]) -> Iterable[CaseScore]:
        """Score cases, at least one, all at once; their order is kept."""
        raise NotImplementedError

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> CaseScore:
        return self.measure_many([sample], [outputs])[0]

    def measure_many(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> list[CaseScore]:
        cases = [
            where_applicable(lambda s=s, o=o: self.prepare(s, o, self.read_case(s)))
            for s, o in zip(samples, outputs, strict=True)
        ]
        is_known = [isinstance(case, (Measurement, NotApplicable)) for case in cases]
        asked = [case for case, known in zip(cases, is_known, strict=True) if not known]
        scores = iter(self.score_prepared(asked) if asked else ())
        return [case if known else next(scores) for case, known in zip(cases, is_known, strict=True)]
