"""``auepora calibrate LABELS``: a judge held against people; may its scores fail a run?"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from ..calibration.asking import ask, read_run
from ..calibration.labels import read_label_file
from ..calibration.study import study
from ..core.metrics_base import Metric
from ..core.run import MetricInfo
from ..errors import did_you_mean, names_words
from ..metrics.judge.usage import metered
from ..regression.guards.calibration import (
    FOLDER,
    Calibration,
    CalibrationError,
    calibration_path,
    load_calibration,
    save_calibration,
)
from ..reporting.notes import usage_text
from ..reporting.numbers import plural
from ..reporting.terminal.calibration import study_text
from .common import (
    FAILED,
    PASSED,
    Sources,
    UsageError,
    add_calibrations,
    add_history,
    add_metrics,
    load_suite,
    registry_of,
    to_read,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add("labels", type=to_read, metavar="LABELS", help="people's labels: JSON Lines or CSV, one judged answer a row")
    add("--metric", metavar="NAME", help="the judged metric (default: the one of the golden file)")
    add("--golden", type=to_read, metavar="FILE", help="the golden file; the calibration goes beside it")
    add(
        "--run", dest="kept", default="", metavar="RUN",
        help="take answers and scores of the labelled cases from a run that was kept",
    )  # fmt: skip
    add("--positive", default="", metavar="WORDS", help="labels that mean yes, by comma; of grades the least (4)")
    add(
        "--threshold", default="0.5", metavar="T", help="score from which the judge says yes: a number (0.5), cv, split"
    )
    add("--ask", action="store_true", help="ask the judge also where a score is given")
    add("--repeat", type=int, default=1, metavar="N", help="ask N times, to see whether the judge agrees with itself")
    add("--swap", action="store_true", help="ask once more with the evidence in the opposite order")
    add("--dry-run", action="store_true", help="write nothing")
    add("--json", action="store_true", help="print the calibration instead of text")
    add_calibrations(parser)
    add_metrics(parser)
    add_history(parser)


def run(given: argparse.Namespace) -> int:
    """Read, ask, measure, print, write; the exit code says whether the judge may gate."""
    if given.repeat < 1:
        raise UsageError(f"--repeat {given.repeat}: expected 1 or more")
    labels = read_label_file(given.labels, [w.strip() for w in given.positive.split(",") if w.strip()])
    name, metric = _metric(given)
    judge = MetricInfo.of(metric).judge
    if given.kept:
        _, run_of_then = Sources(given.history).find(given.kept)
        read_run(labels.items, run_of_then, name)
        judge = run_of_then.metrics[name].judge or judge
    _check_models([i.model for i in labels.items if i.model and not given.ask], judge)
    if given.ask or not given.kept:
        with metered() as spent:
            try:
                left = ask(metric, labels.items, repeats=given.repeat, swap=given.swap, again=given.ask, progress=None)
            finally:  # what stops it was paid for as well
                if spent.to_dict():
                    print("\n".join([f"judge: {usage_text(spent)}", *spent.notes]), file=sys.stderr)
        if left:
            print(f"{plural(len(left), 'label')} left out: {names_words(left, 3)}", file=sys.stderr)
    beside = given.golden.parent / FOLDER if given.golden else Path(FOLDER)
    path = calibration_path(given.calibrations or beside, name)
    former = _former(path)
    changed = former is not None and bool(former.mismatch(judge))
    found = study(
        name, labels, threshold=given.threshold, former=former.labels if former is not None and changed else None
    )
    made = found.calibration(judge)
    _tell(given, found, made)
    if not given.dry_run:
        save_calibration(path, made)
        print(f"written to {path}", file=sys.stderr)
    return PASSED if made.gate else FAILED


def _former(path: Path) -> Calibration | None:
    """Return the calibration that is about to be replaced; one that cannot be read is replaced all the same."""
    try:
        return load_calibration(path)
    except CalibrationError as exc:
        print(f"auepora: not compared with the calibration before: {exc}", file=sys.stderr)
        return None


def _metric(given: argparse.Namespace) -> tuple[str, Metric]:
    registry = registry_of(given.metrics)
    if given.metric:
        metric = registry.get(given.metric)
        if not metric.judged:
            raise UsageError(f"{given.metric} is no judge's: it can be trusted as it is")
        return given.metric, metric
    if given.golden is None:
        raise UsageError("which judge? name its metric with --metric, or a golden file that has one with --golden")
    judged = [n for n in load_suite(given.golden, registry).metrics if registry.get(n).judged]
    if len(judged) != 1:
        raise UsageError(f"{given.golden} has {', '.join(judged) or 'no judged metric'}; name one with --metric")
    return judged[0], registry.get(judged[0])


def _check_models(models: list[str], judge: dict[str, Any]) -> None:
    """Refuse scores of another model than the one whose calibration this is to be."""
    said = judge.get("params", {}).get("judge", {})
    now = str(said.get("model", "")) if isinstance(said, dict) else ""
    for model in models:
        if model != now:
            near = did_you_mean(model, [now])
            raise UsageError(
                f"the labels hold scores of {model}, the judge is {now or 'not named'}{near}: ask it anew with --ask"
            )


def _tell(given: argparse.Namespace, found: Any, made: Calibration) -> None:
    if given.json:
        print(made.dumps(), end="")
        return
    ascii_only = "utf" not in (sys.stdout.encoding or "").lower()
    print(study_text(found, ascii_only=ascii_only), end="")
    if not made.judge.get("params", {}).get("judge"):
        print("note: no model is named, so a change of it will go unseen", file=sys.stderr)
