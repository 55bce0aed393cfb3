"""What the models of the system cost: tokens and money, as the system reports them with its answers.

Read from ``outputs.extra["usage"]`` (`core.model_calls`).  A cost is the one that the system reports, else that of its
tokens at the prices of the judge's settings.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...core.metrics_base import CaseScore, Measurement
from ...core.model_calls import USAGE
from ...core.types import EvaluationSample, MetricResult, SystemOutputs
from ...errors import MetricError
from ..additional import percent_option, quantile_of
from ..judge.settings import prices_in_use
from ..judge.usage import Tally, summed
from ..options import DoesNotApply, choice, needed
from .operational import Operational

if TYPE_CHECKING:
    from ...core.run import Run

_COUNTS = ("input_tokens", "output_tokens", "cached_tokens")
_NO_USAGE = "the system reported no usage"


def model_calls_of(outputs: SystemOutputs) -> list[Mapping[str, Any]]:
    """Return the model calls behind an answer; raises `MetricError` where what was reported counts no tokens."""
    raw = outputs.extra.get(USAGE)
    if raw is None:
        return []
    if not isinstance(raw, list) or not all(isinstance(call, Mapping) for call in raw):
        raise MetricError(f"usage must be a list of model calls, got {raw!r:.80}")
    return raw


def cost_of(call: Mapping[str, Any]) -> float | None:
    """Return the cost of a model call; None where neither it nor a price is known."""
    if (cost := call.get("cost")) is not None:
        return float(cost)
    if "input_tokens" not in call or (prices := prices_in_use(str(call.get("model", "")))) is None:
        return None
    return prices.cost(call["input_tokens"], call["output_tokens"], call.get("cached_tokens", 0))


@dataclass
class Spending(Tally):
    """Sums over model calls; ``unreported`` are those that counted no tokens, ``unpriced`` those without a cost."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    unreported: int = 0
    unpriced: int = 0
    cost: float = 0.0

    @property
    def tokens(self) -> int:
        """Of input and output together."""
        return self.input_tokens + self.output_tokens


def spending_of(outputs: SystemOutputs) -> dict[str, dict[str, Any]]:
    """Return what an answer cost, by model; nothing where the system reported nothing, or nothing that can be read."""
    totals: dict[str, Spending] = {}
    with suppress(MetricError):  # the metrics say what is wrong
        for call in model_calls_of(outputs):
            cost = None
            with suppress(MetricError):
                cost = cost_of(call)
            totals.setdefault(str(call.get("model", "")), Spending()).add(
                calls=1, unreported="input_tokens" not in call, unpriced=cost is None, cost=cost or 0.0,
                **{name: call.get(name, 0) for name in _COUNTS},
            )  # fmt: skip
    return {model: spending.to_dict() for model, spending in totals.items()}


def spending_by_model(run: Run) -> dict[str, Spending]:
    """Return what the models of the system cost in *run*."""
    return summed(Spending, (case.system_usage for case in run.cases.values() if case.system_usage))


def total_spending(by_model: Iterable[Mapping[str, Mapping[str, Any]]]) -> Spending:
    """Return the sum over all models."""
    total = Spending()
    for part in by_model:
        for spending in part.values():
            total.add(**spending)
    return total


class Tokens(Operational):
    """Base of the metrics over the tokens of an answer."""

    range = (0.0, math.inf)
    source = "usage as the APIs of models report it"
    kind = "total"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        calls = needed(model_calls_of(outputs), _NO_USAGE)
        silent = sum("input_tokens" not in call for call in calls)
        needed(not silent, f"{silent} of {len(calls)} model calls counted no tokens")
        names = _COUNTS[:2] if self.kind == "total" else (f"{self.kind}_tokens",)
        return Measurement(float(sum(call.get(name, 0) for call in calls for name in names)))


class MeanTokens(Tokens):
    """Mean tokens of an answer, over all model calls behind it.

    Options:
        kind: ``total``; ``input`` or ``output`` alone; ``cached``: of the input, those that the server had cached.
    """

    kind: str = choice("total", "input", "output", "cached")

    stem = "mean_tokens"
    positional = "kind"
    formula = "mean of input tokens + output tokens"


class PercentileTokens(Tokens):
    """A percentile of the tokens of an answer, by nearest rank, as `QuantileLatency` has it: ``p95_tokens``.

    Raises:
        MetricError: the percent is not in 1 … 100.
    """

    percent: int = percent_option()
    kind: str = choice("total", "input", "output", "cached")

    stem = "p{percent}_tokens"
    positional = "kind"
    formula = "sorted tokens, at index ceil(q n) - 1"
    oracle = 'numpy.quantile(method="inverted_cdf"), exact'

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        return quantile_of(self, measurements, self.percent / 100)


class MeanCost(Operational):
    """Mean cost of an answer, in the currency of the prices."""

    stem = "mean_cost"
    range = (0.0, math.inf)
    decimals = 9  # an answer of a small model costs a hundredth of a cent
    formula = "mean of the cost of all model calls behind an answer"
    source = "usage as the APIs of models report it, at the user's prices"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        costs = []
        for call in needed(model_calls_of(outputs), _NO_USAGE):
            if (cost := cost_of(call)) is None:
                what = "price" if "input_tokens" in call else "token count"
                raise DoesNotApply(f"no {what} of {call['model']}" if call.get("model") else f"no {what}")
            costs.append(cost)
        return Measurement(sum(costs))


class TotalCost(MeanCost):
    """Cost of one answer to each case, together, in the currency of the prices."""

    stem = "total_cost"
    formula = "sum of the cost of an answer over all cases"

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        costs = [m.value for m in measurements if m.value is not None]
        return MetricResult(self.name, self.target, math.fsum(costs), {"num_samples": len(costs)})
