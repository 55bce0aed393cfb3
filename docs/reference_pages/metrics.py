"""The page of all metrics, one section a class."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from pytest_auepora.core.metrics_base import Metric, NotApplicable
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.metrics.judge.critic import JudgeReplyError, LLMCritic
from pytest_auepora.metrics.registry import Registry, parameters_of

from .layout import cell

__all__ = ["all_metrics", "example_name", "metrics_page"]

EXAMPLES = {"percent": "95", "n": "2"}
"""What stands in for a whole number of a spelling; 5 where nothing is said."""
WRAPPERS = {"noise_robustness": "noise_robustness[recall@5]", "sliced": "sliced[recall@5,scenario:typo]"}
"""Metrics of metrics, which need one to be made."""

CORE = ("recall@{k}", "mrr@{k}", "ndcg@{k}", "token_f1", "assertion_pass", "refusal_correctness")
"""The six to begin with."""

HEAD = """\
# Metrics

Generated from the classes. Names are written as here in golden files, in `run[…]` and in baselines; options go into
brackets: `ndcg@10[gain=linear]`, `mean_latency[retrieval]`.

### Start with these six

| Metric | What it says | Needs |
|---|---|---|
CORE
Hallucination, faithfulness and groundedness: `k_precision`, `unsupported_numbers` and `evidence_overlap` need no model;
`faithfulness` and `hallucination` go claim by claim, `llm_faithfulness` and `llm_groundedness` ask an LLM-as-a-judge.

### By target

[Auepora](https://arxiv.org/abs/2405.07437) divides the evaluation of a RAG system into targets, data sets and
metrics.

| Auepora's target | `TargetCategory` | Metrics |
|---|---|---|
| Retrieval: relevance | `RETRIEVAL_RELEVANCE` | `recall@k`, `precision@k`, `hit@k` |
| Retrieval: accuracy | `RETRIEVAL_ACCURACY` | `mrr`, `map`, `ndcg@k` |
| Generation: relevance | `GENERATION_RELEVANCE` | `rougeL[compare_to=query]`; by a judge `answer_relevancy` |
| Generation: faithfulness | `GENERATION_FAITHFULNESS` | `evidence_overlap`; by claims `faithfulness` |
| Generation: correctness | `GENERATION_CORRECTNESS` | `exact_match`, `token_f1`, `rougeL`, `bleu`, `assertion_pass` |
| Latency | `LATENCY` | `mean_latency`, `p95_latency` |
| Diversity | `DIVERSITY` | `distinct_2`, `intra_list_diversity` |
| Noise robustness | `NOISE_ROBUSTNESS` | `noise_robustness[recall@5]` |
| Negative rejection | `NEGATIVE_REJECTION` | `refusal_correctness`, `negative_rejection` |
| Counterfactual robustness | `COUNTERFACTUAL_ROBUSTNESS` | `counterfactual_consistency` |
| beyond the framework | `OPERATIONAL`, `PRIVACY` | `error_rate_per_1k`, `retries`, `redaction_efficacy` |
"""


def example_name(spelling: str) -> str:
    """Return *spelling* with its numbers filled in."""
    name = re.sub(r"\{(\w+)\}", lambda hole: EXAMPLES.get(hole[1], "5"), spelling)
    return WRAPPERS.get(name, name)


def all_metrics() -> Iterator[tuple[str, Metric]]:
    """Yield every spelling of the registry with a metric of that name."""
    registry = Registry()
    for spelling in registry.spellings():
        yield spelling, registry.get(example_name(spelling))


def metrics_page() -> str:
    """Return the page: a section for each class, under all its spellings."""
    by_class: dict[type[Metric], list[tuple[str, Metric]]] = {}
    for spelling, metric in all_metrics():
        by_class.setdefault(type(metric), []).append((spelling, metric))
    return "\n".join([HEAD.replace("CORE", _core()), *(_section(group) for group in by_class.values())])


def _core() -> str:
    rows = []
    for spelling, metric in all_metrics():
        if spelling in CORE:
            said = " ".join((inspect.getdoc(type(metric)) or "").split("\n\n")[0].split())
            name = example_name(spelling)
            rows.append(
                f"| [`{name}`](#{type(metric).__name__.lower()}) | {cell(said)} | {_needs(spelling, metric)} |\n"
            )
    return "".join(rows)


def _section(group: list[tuple[str, Metric]]) -> str:
    spelling, metric = group[0]
    kind = type(metric)
    summary = (inspect.getdoc(kind) or "").split("\n\n")[0]
    names = ", ".join(f"`{name}`" for name, _ in group)
    rows = {
        "Target": f"`{metric.target.name}`",
        "Formula": cell(metric.formula),
        "Range": _range(metric),
        "Needs": _needs(spelling, metric),
        "Options": cell(_options(kind, spelling)),
        "Source": cell(metric.source),
        "Held to": cell(metric.oracle),
        "Class": f"`{kind.__module__}.{kind.__name__}`, version {metric.version}",
    }
    table = ["| | |", "|---|---|", *(f"| {key} | {value} |" for key, value in rows.items())]
    return "\n".join([f"## {kind.__name__}", "", names, "", " ".join(summary.split()), "", *table, ""])


_BARE = EvaluationSample("a case without annotations", "What is it?")
_FOUND = [RetrievedDocument(Document("d", "It is a thing."), 1.0, 1)]
_ANSWERED = SystemOutputs(_FOUND, Response("It is a thing."), {"end_to_end": 1.0})


def _needs(spelling: str, metric: Metric) -> str:
    """Return the fields that *metric* requires, or why it is n/a for a case without annotations."""
    if fields := metric.required_fields():
        return ", ".join(f"`{name}`" for name in fields)
    registry = Registry()
    registry.give(critic=_Critic(), checker=lambda premises, _: [True] * len(premises))
    try:
        score = registry.get(example_name(spelling)).measure(_BARE, _ANSWERED)
    except JudgeReplyError:  # it was asked
        return "no annotation"
    return f"n/a if: {score.reason}" if isinstance(score, NotApplicable) else "no annotation"


class _Critic(LLMCritic):
    """A judge that gives no verdict."""

    def complete(self, **_: Any) -> str:
        """Return an empty reply."""
        return ""


def _range(metric: Metric) -> str:
    low, high = ("∞" if value == float("inf") else f"{value:g}" for value in metric.range)
    chance = "" if metric.deterministic else ", not deterministic"
    return f"{low} to {high}, {metric.direction} is better{chance}"


def _options(kind: Callable[..., Any], spelling: str) -> str:
    """Return the options of a metric class with their defaults, but those the spelling already holds."""
    held = set(re.findall(r"\{(\w+)\}", spelling))
    out = []
    for name, parameter in parameters_of(kind).items():
        if name in held:
            continue
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        plain = " object at 0x" not in default and len(default) < 60
        out.append(f"`{name}{default if plain else ''}`")
    return ", ".join(out) or "none"
