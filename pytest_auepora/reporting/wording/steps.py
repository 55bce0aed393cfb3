"""What to do next, each only where the numbers allow it."""

from __future__ import annotations

from collections.abc import Mapping

from ...base.text import decimal_text
from ...core.run import Run
from ...evaluation.further import Purpose
from ...regression.checks import ASSERTIONS
from ...regression.outcomes import PASS_RATE
from ...regression.verdict import Verdict
from ..text import Code, Sentence, listed, where_to_read

ASKED_FOR: Mapping[Purpose, str] = {
    "update": "asking again, to learn what varies",
    "look": "asking every case once more",
    "cause": "asking the generator with the accepted documents",
}
"""What several calls are made for, beside the bar that counts them."""


def next_steps(run: Run, verdict: Verdict, html: str | None = None) -> list[Sentence]:
    """Return what to do next, a sentence each; none for most green runs.

    *html* is the HTML report, where there is one; empty in the HTML report itself.
    """
    word = verdict.word
    if verdict.outcome != "failed":
        return [Sentence("got better: ", _ACCEPT_BETTER)] if word == "better" else []
    steps: list[Sentence] = []
    is_worse = word in ("worse", "mixed")
    errors = [g for g in verdict.gates if g.metric == "error_rate" and g.state != "passed" and g.value]
    if errors:
        errored = f"{round((errors[0].value or 0.0) * errors[0].n)} of {errors[0].n} cases errored"
        steps.append(Sentence(f"{errored}: fix that, then ", Code("pytest --auepora-resume"), " asks only those again"))
    elif is_worse:
        steps += [*_if_nothing_changed(verdict), *_if_it_varies(run, verdict), _if_intended(verdict)]
        if word == "mixed" and verdict.improved_cases:
            steps.append(Sentence("of the rest some got better: ", _ACCEPT_BETTER))
    elif _would_be_still_failing(run, verdict):
        steps.append(_BEGIN)
    if html is None and (is_worse or not steps):
        shows = " shows each case beside its baseline" if is_worse else ""
        steps.append(Sentence("look closer: ", Code("pytest --auepora-report html:report.html"), shows))
    return [*steps, Sentence("look closer: ", html)] if html else steps


_ACCEPT_BETTER = Sentence(
    Code("pytest --auepora-update=improved"),
    " accepts what improved, and later runs are held to it; commit the baseline",
)
_BEGIN = Sentence(
    "no baseline yet: mend these cases, or accept what the system does now with ", Code("pytest --auepora-update"),
    ": they are *still failing* then, and only what gets worse is red",
)  # fmt: skip


def _would_be_still_failing(run: Run, verdict: Verdict) -> bool:
    """Whether the first run of a suite is red by broken assertions alone, so that an update makes it green."""
    failing = [case for case in run.cases.values() if case.failures]
    return (
        verdict.baseline_note.state == "none"
        and run.is_full
        and bool(failing)
        and not any(gate.state == "failed" for gate in verdict.gates)
        and not any(case.must_pass for case in failing)
        and all(finding.kind == "assertion" for case in failing for finding in case.failures)
    )


def _if_intended(verdict: Verdict) -> Sentence:
    kinds, words = {gate.kind for gate in verdict.gates if gate.state == "failed" and gate.word == "worse"}, ""
    if "anchor" in kinds:
        words = "=all,anchor" if verdict.regressed_cases or "regression" in kinds else "=anchor"
    command = Code(f"pytest --auepora-update{words}")
    return Sentence("if it was intended: accept it with ", command, ", and commit the baseline")


def _if_nothing_changed(verdict: Verdict) -> list[Sentence]:
    """Return what may be the matter where nobody changed anything, as far as the project says; no reason to run again.

    A run that looked once may be chance; where every case was asked again, it is the system.
    """
    if verdict.comparison is None or verdict.comparison.provenance:
        return []
    failed = [g for g in verdict.gates if g.state == "failed"]
    varying = [g for g in failed if g.test is not None and not g.steady]
    if not verdict.regressed_cases and failed and len(varying) == len(failed) and verdict.look == "only":
        share = decimal_text(100 * max(gate.test.alpha for gate in varying if gate.test is not None))
        said = (
            f"if nothing was changed: today's answers alone decided, which is chance in up to {share} % "
            "of such runs; a run in one process looks again: "
        )
        return [Sentence(said, where_to_read("non-deterministic"))]
    if all(g.steady for g in failed if g.word == "worse") and not verdict.varies and not verdict.regressed_cases:
        return [Sentence("if nothing was changed here: the index or the documents may have")]
    said = "if nothing was changed here: a hosted model or an index may have drifted: "
    return [Sentence(said, where_to_read("non-deterministic"))]


_RATES = {PASS_RATE, *(metric for metric, _ in ASSERTIONS.values())}
"""What a gate over the assertions of all cases is about."""


def _if_it_varies(run: Run, verdict: Verdict) -> list[Sentence]:
    """Return the setting for assertions that hold in some answers only, where the run is red by nothing else."""
    by_rate = any(gate.state == "failed" and gate.metric in _RATES for gate in verdict.gates)
    names = dict.fromkeys(
        finding.metric
        for case in run.cases.values()
        if all(failure.kind == "assertion" or failure.metric in _RATES for failure in case.failures)
        for finding in case.findings
        if finding.kind == "assertion"
        if (finding.fails and (finding.varied or finding.passed)) or (by_rate and finding.status == "varies")
    )
    if not names:
        return []
    told = f"if {listed([*names])} holds in some right answers only: "
    where = " in the golden file judges it over all cases: "
    return [Sentence(told, Code("assertions: report"), where, where_to_read("non-deterministic"))]
