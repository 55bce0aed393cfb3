"""Coverage: the run must measure what the baseline measured, and find labels that moved."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...base.grouping import grouped
from ...base.pages import reference
from ...base.text import names_words
from ...core.run import Run
from ...core.scoring import Aggregate
from ...core.types import Document
from ...metrics.catalogue import ALWAYS
from ...metrics.ranking.gold import sources_of
from ..compare import Comparison, Flip
from ..statistics.precision import cases_words
from .gates import GateOutcome

_UNPAIRED: Mapping[Flip, str] = {"new": "are new", "changed": "were edited", "skipped": "were skipped"}
_PRUNE = "accept with --auepora-update=prune"
_MATCH_TEXTS = {
    "exact": "by the same text under another id",
    "span": "by the chunks that hold the passage (span)",
    "fallback_doc": "by document (fallback_doc)",
}
_MAX_IDS = 3
_LABEL_HINT = "a plain label is an id, {doc: …} names a source document: see "
_PASSAGE = re.compile(r': ".*"$|\[\d+:\d+\]$', re.DOTALL)  # in the name of a label, after its document
_CHECK_HINT = "pytest --auepora-labels check lists them"


def coverage_outcomes(
    run: Run, aggregates: Mapping[str, Aggregate], comparison: Comparison | None, *, accepting: bool, pruning: bool
) -> Iterator[GateOutcome]:
    """Yield a failed outcome for each kind of loss, or one if nothing was measured."""
    losses = [*_losses(run, aggregates, comparison, accepting=accepting, pruning=pruning)]
    yield from losses
    if (unmeasured := metrics_without_numbers(run)) and not losses:
        message = f"no case has a number in {names_words(unmeasured)}, so nothing was judged"
        yield _failure(run, "numbers", message)


def _losses(
    run: Run, aggregates: Mapping[str, Aggregate], comparison: Comparison | None, *, accepting: bool, pruning: bool
) -> Iterator[GateOutcome]:
    """Yield an outcome for each kind of loss, from aggregates without a value to labels that match nothing."""
    for name, aggregate in aggregates.items():
        if aggregate.problem:  # nothing else would judge the metric
            yield _failure(run, f"aggregate of {name}", f"{name} was not judged: {aggregate.problem}")
    if skipped := [c.case_id for c in run.having("must_pass") if c.state == "skipped"]:
        yield _failure(run, "must_pass", f"{names_words(skipped)}: must pass, and was skipped", skipped)
    if comparison is not None and not pruning:
        yield from _vanished(run, comparison, accepting=accepting)
    if comparison is not None and not accepting:
        yield from _lost_scores(run, comparison)
    labels = {c.case_id: c.extra["labels"] for c in run.having("labels") if c.extra["labels"].get("match") == "none"}
    if labels:
        names = [n for m in labels.values() for n, label in m["labels"].items() if label["match"] == "none"]
        reason = f"moved labels without a match, so retrieval is n/a in {cases_words(len(labels))}"
        yield _failure(run, "labels", f"{names_words(names)}: {reason}; {_CHECK_HINT}", [*labels])


def metrics_without_numbers(run: Run) -> list[str]:
    """Return the metrics of *run*, but for those that are always measured, if all are n/a in every case that ran.

    A case or a metric that errored is no such case: that fails by itself.
    """
    names = [name for name in run.metrics if name not in ALWAYS]
    states = {score.state for name in names for score in run.scores_of(name)}
    return names if states == {"n/a"} and not any(run.in_state("error")) else []


def _vanished(run: Run, comparison: Comparison, *, accepting: bool) -> Iterator[GateOutcome]:
    """Yield outcomes for cases and metrics of the baseline that the suite no longer has."""
    if comparison.vanished:
        gone = [f"{old} (renamed to {new}?)" if new else old for old, new in comparison.vanished.items()]
        message = f"{names_words(gone)} in the baseline, no longer in the golden file; {_PRUNE}"
        yield _failure(run, "cases", message, gone)
    if comparison.lost_metrics and not accepting:
        message = f"{names_words(comparison.lost_metrics)} in the baseline, no longer computed; {_PRUNE}"
        yield _failure(run, "metrics", message)


def _lost_scores(run: Run, comparison: Comparison) -> Iterator[GateOutcome]:
    """Yield an outcome for scores of the baseline that are n/a now."""
    if lost := {case_id: case.lost for case_id, case in comparison.cases.items() if case.lost}:
        case_id, reasons = next(iter(lost.items()))
        name, why = next(iter(reasons.items()))
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        message = f"{case_id}{more} had a score in the baseline and has none now ({name}: {why})"
        yield _failure(run, "scores", f"{message}; accept with --auepora-update", [*lost])


def no_match_notes(run: Run, gates: Iterable[GateOutcome]) -> list[str]:
    """If no retrieved document matches any relevant document in any case: show both id formats.

    The ids probably differ, or the system returns no documents.  Not shown if the right document was returned without
    the passage.  Failed retrieval thresholds get the same hint.
    """
    cases = [c for c in run.cases.values() if c.state in ("passed", "failed") and c.ranks]
    if not cases or any(rank is not None for case in cases for rank in case.ranks.values()):
        return []
    hits = [hit for case in cases for hit in case.outputs.get("retrieved", ())[:_MAX_IDS]]
    relevant = dict.fromkeys(name for case in cases for name in case.ranks)
    returned_docs = {end for hit in hits for end in sources_of(Document(str(hit.get("doc", hit["id"]))))}
    if any(document != name and document in returned_docs for name in relevant if (document := _PASSAGE.sub("", name))):
        return []
    sources = {end for hit in hits if "doc" in hit for end in sources_of(Document("", "", {"doc": hit["doc"]}))}
    source = next((name for name in relevant if name in sources), None)
    if len(cases) < 2 and hits and source is None:
        return []
    message = f"no label was met in {cases_words(len(cases))}"
    hint = f"a plain label is an id; did you mean {{doc: {source}}}?"
    if source is None:
        hint = _LABEL_HINT + reference("recall-is-zero")
    if not hits:
        hint = "no document was returned; does the system return (answer, documents)?"
    for gate in gates:
        info = run.metrics.get(gate.metric)
        if gate.kind == "threshold" and gate.state == "failed" and info and info.target.startswith("RETRIEVAL"):
            gate.message += f"; {message} ({hint})"
    names = dict.fromkeys(f"{hit['id']} of {hit['doc']}" if "doc" in hit else str(hit["id"]) for hit in hits)
    returned = f"returned {names_words([*names], _MAX_IDS)}; " if hits else ""
    return [f"{message}: wanted {names_words([*relevant], _MAX_IDS)}; {returned}{hint}"]


def nothing_compares(run: Run, comparison: Comparison, *, required: bool) -> Iterator[GateOutcome]:
    """Yield an outcome if no score is comparable with the baseline: such a run must not count as passed.

    It is failed if a baseline is *required*, else not judged; a wholly skipped run then gives none.
    """
    counts = Counter(case.flip for case in comparison.cases.values())
    any_baselined = any(info.baselined for info in run.metrics.values())
    all_skipped = counts["skipped"] == len(comparison.cases)
    any_compares = any(c.changes or c.lost for c in comparison.cases.values())
    if not any_baselined or any_compares or (all_skipped and not required):
        return
    reasons = grouped((what, name) for name, what in comparison.incomparable.items())
    why = [f"{names_words(names)} ({what})" for what, names in reasons.items()]
    why += [f"{counts[flip]} of {len(run.cases)} cases {word}" for flip, word in _UNPAIRED.items() if counts[flip]]
    message = f"nothing in this run compares with it: {'; '.join(why) or 'they have no score in common'}"
    out = GateOutcome("baseline", "baseline", "failed" if required else "not judged", "", owner=run.owner)
    out.set_message(f"{message}; whether the run is worse was not judged", "baseline: ")
    yield out


def _failure(run: Run, what: str, message: str, worst_cases: Sequence[str] = ()) -> GateOutcome:
    worst = tuple(worst_cases[:5])
    return GateOutcome(f"coverage: {what}", "coverage", "failed", message, owner=run.owner, worst_cases=worst)


def label_notes(run: Run, comparison: Comparison | None) -> list[str]:
    """Return notes on how labels that moved were matched, and on cases whose retrieval is not comparable."""
    moved = [c.extra["labels"] for c in run.having("labels")]
    out: list[str] = []
    if moved:
        became = Counter(label["became"] for m in moved for label in m["labels"].values())
        matched = Counter(m["match"] for m in moved)
        kinds = ", ".join(f"{n} {kind}" for kind, n in became.most_common())
        texts = ", ".join(f"{matched[match]} {text}" for match, text in _MATCH_TEXTS.items() if matched[match])
        matches = f"; cases matched {texts}" if texts else ""
        out.append(f"labels moved in {len(moved)} of {len(run.cases)} cases: {kinds}{matches}; {_CHECK_HINT}")
    cases = comparison.cases.items() if comparison is not None else ()
    reasons = grouped((case.not_comparable, case_id) for case_id, case in cases if case.not_comparable)
    out += [f"retrieval not comparable in {cases_words(len(ids))}: {why}" for why, ids in reasons.items()]
    return out
