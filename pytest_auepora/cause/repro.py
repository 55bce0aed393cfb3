"""One failed case as a file of its own: what was asked, what was found and answered, and the check that it fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from ..core.findings import Finding
from ..errors import AueporaError
from ..evaluation.answer_codec import RecordedOutputs
from ..evaluation.recording import RecordedAnswer
from ..evaluation.replay import RecordedRun
from ..io.golden.model import GoldenSuite
from ..io.json_lines import is_jsonl, load_lines
from ..io.source import Source
from ..metrics.registry import Registry
from ..regression.baseline import Baseline
from ..regression.checks import ASSERTIONS

_PACKAGE = "pytest-auepora"
_OF_CASES = ("case_thresholds", "thresholds")
_OF_SUITE = ("cases", "thresholds", "owner", "owners", "description", "tags", "fixture")
"""Keys of a golden file that say nothing of a single case."""


class NoReproError(AueporaError):
    """A case cannot be told apart from its system: it did not fail, nothing was answered, a judge said so."""


@dataclass(frozen=True, slots=True)
class Repro:
    """What a case needs to fail by itself.

    Attributes:
        suite, case_id: of the case.
        run_id: the run in which it failed.
        findings: the checks that failed it.
        golden: a golden file of this case alone.
        baseline: the text of a baseline of it alone; empty without one.
        answers: what the system gave in that run, in turn, as a system may return it.
        provenance: what the project said of the system.
        pins: the packages that judged it, as requirements.
    """

    suite: str
    case_id: str
    run_id: str
    findings: Sequence[Finding]
    golden: Mapping[str, Any]
    baseline: str
    answers: Sequence[Mapping[str, Any]]
    provenance: Mapping[str, Any]
    pins: Sequence[str]


def make_repro(suite: GoldenSuite, case_id: str, source: RecordedRun, baseline: Baseline | None) -> Repro:
    """Return what makes case *case_id* fail as it did in *source*.

    Raises:
        NoReproError: it did not fail there, or not by an answer that was recorded and can be judged by itself.
        GoldenFileError: the golden file cannot be read.
    """
    result, case = source.run.cases.get(case_id), suite.case(case_id)
    if result is None or not result.failures:
        raise NoReproError(f"{case_id} did not fail in run {source.run_id}")
    answers = [
        RecordedAnswer(recording, source.keys, source.run_id) for recording in source.recordings.get(case_id, ())
    ]
    answers = answers[: len(answers) - result.looks]
    outputs = [answer.outputs for answer in answers if answer.outputs is not None]
    if len(outputs) < len(answers) or not outputs:
        raise NoReproError(f"{case_id} failed in run {source.run_id} without an answer: {result.error_line}")
    if reason := answers[0].differs(case):
        raise NoReproError(f"{case_id} cannot be judged as in run {source.run_id}: {reason}")
    metrics = sorted({ASSERTIONS.get(finding.metric, (finding.metric,))[0] for finding in result.failures})
    registry = Registry()
    for name in metrics:
        info = source.run.metrics.get(name)
        if info is not None and info.judge:
            raise NoReproError(f"{case_id} fails by {name}, the opinion of an LLM judge, which has to be asked")
        registry.get(name)  # a metric of the project is an error, which names it
    return Repro(
        suite.name, case_id, source.run_id, result.failures, _golden(suite.path, case_id, metrics),
        _baseline(baseline, case_id, metrics), [_answer(one) for one in outputs],
        dict(source.run.provenance), _pins(),
    )  # fmt: skip


def _golden(path: Path, case_id: str, metrics: Sequence[str]) -> dict[str, Any]:
    """Return the golden file at *path* with one case, and those it is a variant of, and these metrics."""
    top, cases = _read(path)
    by_id = {str(case.get("id")): case for case in cases}
    wanted, name = dict[str, dict[str, Any]](), case_id
    while name in by_id and name not in wanted:
        wanted[name] = {key: value for key, value in by_id[name].items() if key not in _OF_CASES}
        if name == case_id:
            wanted[name] |= _of_metrics(by_id[name], metrics)
        else:
            wanted[name]["skip"] = "only what it is the base of"
        name = str(by_id[name].get("variant_of"))
    golden = {key: value for key, value in top.items() if key not in (*_OF_SUITE, *_OF_CASES)}
    golden |= _of_metrics(top, metrics, only=("case_thresholds",)) | {"metrics": [*metrics]}
    if isinstance(regression := golden.get("regression"), dict):
        own = regression.get("metrics") or {}
        kept = {"metrics": {name: value for name, value in own.items() if name in metrics}} if own else {}
        golden["regression"] = {k: v for k, v in regression.items() if k not in ("slices", "reuse")} | kept
    return golden | {"cases": [wanted[name] for name in reversed(wanted)]}


def _of_metrics(raw: Mapping[str, Any], metrics: Sequence[str], only: Sequence[str] = _OF_CASES) -> dict[str, Any]:
    """Return the thresholds of *raw* on cases, of these metrics."""
    kept = {key: {n: v for n, v in raw[key].items() if n in metrics} for key in only if isinstance(raw.get(key), dict)}
    return {key: bounds for key, bounds in kept.items() if bounds}


def _read(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the keys of a golden file, and its cases, as they are written."""
    source = Source.load(path)
    if is_jsonl(path):
        rows: list[dict[str, Any]] = list(load_lines(source).values())
        top = {} if rows and "query" in rows[0] else rows.pop(0)
        return top, rows
    from ..io.yaml.nodes import load_yaml

    root: dict[str, Any] = load_yaml(source)
    return root, root["cases"]


def _baseline(baseline: Baseline | None, case_id: str, metrics: Sequence[str]) -> str:
    if baseline is None or case_id not in baseline.cases:
        return ""
    block = baseline.cases[case_id]
    block = block.without({*block.scores, *block.data}.difference(metrics))
    kept = {name: metric for name, metric in baseline.metrics.items() if name in metrics}
    return replace(baseline, cases={case_id: block}, metrics=kept).dumps()


def _answer(outputs: RecordedOutputs) -> dict[str, Any]:
    """Return an answer as a system may return it."""
    documents = [
        {key: value for key, value in
         (("id", hit.id), ("text", hit.text), ("score", hit.score), ("metadata", hit.metadata)) if value}
        for hit in outputs.retrieved
    ]  # fmt: skip
    more = {"timings": outputs.timings, "metadata": outputs.metadata, "structured": outputs.structured}
    return {"answer": outputs.answer, "documents": documents} | {key: value for key, value in more.items() if value}


def _pins() -> list[str]:
    """Return this package and those it needs, with the versions that are installed here."""
    from packaging.requirements import Requirement  # comes with pytest

    names = [_PACKAGE]
    for text in requires(_PACKAGE) or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            names.append(requirement.name)
    return [f"{name}=={found}" for name in names if (found := _version(name))]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
