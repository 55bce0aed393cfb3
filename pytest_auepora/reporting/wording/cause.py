"""Why a run got worse: what the generator of today made of the accepted documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...base.grouping import grouped
from ...core.run import MetricInfo, Run
from ...regression.cause import CaseCause, Cause, Culprit, LeftOut, MetricCause, Refusal
from ...regression.statistics.intervals import Difference
from ..numbers import metric_change, plural, score
from ..text import Code, Sentence, listed, where_to_read

CULPRITS: Mapping[Culprit, str] = {
    "retrieval": "retrieval", "generator": "the generator", "both": "both retrieval and the generator",
    "neither": "neither shows it: what changed is no more than what varies between answers",
}  # fmt: skip
_OF_CASE: Mapping[Culprit, str] = {
    "retrieval": "retrieval", "generator": "generator", "both": "both", "neither": "neither (it varies)",
}  # fmt: skip
_LEFT_OUT: Mapping[LeftOut, str] = {
    "not kept": "the accepted documents are not kept",
    "not kept whole": "the accepted documents were cut, or changed by pytest_auepora_redact",
    "without texts": "the accepted documents are ids without texts",
    "limit": "beyond the most cases that are asked",
    "calls": "no call may be made any more",
    "raised": "the generator raised with the accepted documents",
    "nothing to compare": "no metric of the answer compares",
}
_MOST_METRICS = 3
_MOST_CASES = 5


def cause_lines(cause: Cause | None, run: Run, *, effects: bool = True) -> list[str]:
    """Return what a run got worse by: the culprit, the effects, the cases of each, and what was not asked.

    Without *effects* those of metrics of the answer are left out, for who shows `effects_in_words`.
    """
    if cause is None:
        return []
    if cause.refusal:
        return _refusal_lines(cause)
    told = _fallen(cause) + ([_effect_text(effect) for effect in effects_in_words(cause, run)] if effects else [])
    lines = [_culprit_line(cause), *(["; ".join(told)] if told else [])]
    by_culprit = grouped((case.culprit, case_id) for case_id, case in cause.cases.items())
    parts = [f"{_OF_CASE[word]} {len(by_culprit[word])} ({listed(by_culprit[word], _MOST_CASES)})"
             for word in _OF_CASE if word in by_culprit]  # fmt: skip
    if len(cause.cases) > 1:
        lines.append(f"by case: {', '.join(parts)}")
    return [*lines, *_left_out_lines(cause)]


def case_cause_text(case: CaseCause, metrics: Mapping[str, MetricInfo]) -> str:
    """Return what a case got worse by: ``generator: with the accepted documents token_f1 is 0.10, accepted 0.90``."""
    if case.metric not in case.effects:
        fell = f": {listed(case.fell, _MOST_METRICS)} fell" if case.fell and case.culprit == "retrieval" else ""
        return f"{_OF_CASE[case.culprit]}{fell}"
    effect, info = case.effects[case.metric], metrics.get(case.metric)
    accepted, swapped, now = (score(value) for value in (effect.accepted, effect.swapped, effect.now))
    given = "today's documents are the accepted ones" if not case.calls else f"with the accepted documents {swapped}"
    parts = f"generator {metric_change(effect.swapped - effect.accepted, info)}"
    parts += f", retrieval {metric_change(effect.now - effect.swapped, info)}"
    return f"{_OF_CASE[case.culprit]}: {case.metric} accepted {accepted}, {given}, now {now} ({parts})"


def _culprit_line(cause: Cause) -> str:
    calls = plural(cause.calls, "call") if cause.calls else "without a call, as the same documents were retrieved"
    how = f"{plural(len(cause.cases), 'case')}, {calls}"
    how += " with the accepted documents" if cause.calls else ""
    return f"why: {CULPRITS[cause.culprit or 'neither']} ({how})"


class PartOfChange(NamedTuple):
    """What one part of a system adds to a change, in words; ``interval`` is empty where nothing differs."""

    part: str
    value: str
    interval: str


class EffectWords(NamedTuple):
    """The change of one metric over the cases that were asked, and its parts."""

    name: str
    change: str
    parts: Sequence[PartOfChange]


def effects_in_words(cause: Cause | None, run: Run) -> list[EffectWords]:
    """Return what changed in the metrics of the answer that lost, the one that lost most first."""
    if cause is None:
        return []
    names = [cause.metric] if cause.metric in cause.metrics else []
    names += [name for name in cause.metrics if name not in names and _lost(cause.metrics[name])]
    return [_effect_words(name, cause.metrics[name], run.metrics.get(name)) for name in names[:_MOST_METRICS]]


def _effect_words(name: str, one: MetricCause, info: MetricInfo | None) -> EffectWords:
    differences = (("generator", one.generator), ("retrieval", one.retrieval))
    parts = [
        PartOfChange(part, metric_change(difference.value or 0.0, info), _interval(difference, info))
        for part, difference in differences
    ]
    return EffectWords(name, metric_change(one.effect.now - one.effect.accepted, info), parts)


def _fallen(cause: Cause) -> list[str]:
    return [f"{name} is worse by {score(abs(gain))}" for name, gain in cause.retrieval.items()][:_MOST_METRICS]


def _lost(one: MetricCause) -> bool:
    return abs(one.effect.now - one.effect.accepted) > 0.005


def _effect_text(effect: EffectWords) -> str:
    parts = (" ".join(filter(None, part)) for part in effect.parts)
    return f"of the {effect.change} in {effect.name}, {', '.join(parts)}"


def _interval(difference: Difference, info: MetricInfo | None) -> str:
    """Return ``[-0.450, -0.270]``; nothing where nothing differs between cases."""
    low, high = difference.low, difference.high
    if low is None or high is None or high - low < 0.0005:
        return ""
    return f"[{metric_change(low, info)}, {metric_change(high, info)}]"


def _left_out_lines(cause: Cause) -> list[str]:
    by_reason = grouped((why, case_id) for case_id, why in cause.left_out.items())
    return [
        f"not asked: {plural(len(ids), 'case')} ({listed(ids, _MOST_CASES)}): {_LEFT_OUT[why]}"
        for why, ids in by_reason.items()
    ]


_REFUSALS: Mapping[Refusal, str] = {
    "no retriever":
        "no document was seen, neither when the answers were accepted nor today; return them with the answer",
    "partial run": "not all cases of the suite ran: run the whole golden file",
    "workers": Sentence("workers of pytest-xdist ran the cases: run without -n, or ", Code("auepora why last")),
    "scope": "the system lives for one test only: give its fixture the scope of a module or session",
    "no accepted documents": "the accepted documents cannot be given again",
    "calls": "no call may be made any more: raise --auepora-max-calls, or the budget",
    "evaluate": Sentence("a test evaluates this suite: ask with ", Code("run.why()"), " there"),
}  # fmt: skip


def _refusal_lines(cause: Cause) -> list[str]:
    not_shown = "why: not shown: "
    match cause.refusal:
        case "nothing worse":
            return ["why: no case is worse than when it was accepted, and the suite is not"]
        case "no baseline":
            return ["why: there is no baseline that the suite could be worse than"]
        case "no generator":
            first, *rest = cause.detail.splitlines()
            return [f"{not_shown}{first}", *rest]
        case "no accepted documents" if set(cause.left_out.values()) == {"not kept"} or not cause.left_out:
            text = _not_kept(cause)
        case "raised":
            text = f"the generator raised with the accepted documents: {cause.detail}"
        case refusal:
            text = _REFUSALS[refusal]
    return [Sentence(not_shown, text), *_left_out_lines(cause)]


def _not_kept(cause: Cause) -> str:
    detail = f" ({cause.detail})" if cause.detail else ""
    return Sentence(
        f"the documents of the accepted answers are not kept here{detail}: the next ",
        Code("pytest --auepora-update"), " keeps them, ", Code("auepora_accepted = texts"),
        " beside the baseline for other checkouts (", where_to_read("why"), ")",
    )  # fmt: skip
