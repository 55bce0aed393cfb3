"""``auepora calibrate LABELS``: compares a judge with human labels; may its scores fail a run?"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ..base.files import write_atomically
from ..base.records import record_text
from ..base.text import did_you_mean, names_words
from ..calibration.asking import ask, fill_from_run
from ..calibration.labels import read_label_file
from ..calibration.study import Study, study
from ..core.metrics_base import Metric
from ..core.run import MetricInfo
from ..metrics.judge.usage import metered
from ..regression.guards.calibration import CalibrationError, Estimate, calibration_path, load_calibration
from ..reporting.numbers import plural
from ..reporting.terminal.layout import Cell, Page, render
from ..reporting.wording.spending import usage_text
from .arguments import add_shared, existing_path
from .common import FAILED, PASSED, Sources, UsageError, calibrations_folder, load_suite, registry_of, write_output

_WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    answers = "take answers and scores of the labelled cases from a stored run"
    yes = "labels that mean yes, comma-separated; for grades, the lowest (4)"
    add("labels", type=existing_path, metavar="LABELS", help="human labels: JSON Lines or CSV, one judged answer a row")
    add("--metric", metavar="NAME", help="the judged metric (default: the one of the golden file)")
    add("--golden", type=existing_path, metavar="FILE", help="the golden file; the calibration goes beside it")
    add("--run", dest="kept", default="", metavar="RUN", help=answers)
    add("--positive", default="", metavar="WORDS", help=yes)
    add("--threshold", type=float, default=0.5, metavar="T", help="lowest score that counts as yes (0.5)")
    add("--ask", action="store_true", help="ask the judge also where a score is given")
    add("--dry-run", action="store_true", help="write nothing")
    add("--json", action="store_true", help="print the calibration instead of text")
    add_shared(parser, "--calibrations", "--metrics", "--history")


def run(args: argparse.Namespace) -> int:
    """Calibrate the judge and store the result; the exit code says whether the judge may gate."""
    labels = read_label_file(args.labels, [w.strip() for w in args.positive.split(",") if w.strip()])
    name, metric = _find_metric(args)
    judge_info = MetricInfo.of(metric).judge
    if args.kept:
        _, stored_run = Sources(args.history).find(args.kept)
        fill_from_run(labels.items, stored_run, name)
        judge_info = stored_run.metrics[name].judge or judge_info
    _check_models([i.model for i in labels.items if i.model and not args.ask], judge_info)
    if args.ask or not args.kept:
        with metered() as usage:
            try:
                left_out = ask(metric, labels.items, again=args.ask)
            finally:  # calls before an error cost money as well
                if usage.to_dict():
                    print("\n".join([f"judge: {usage_text(usage)}", *usage.notes]), file=sys.stderr)
        if left_out:
            print(f"{plural(len(left_out), 'label')} left out: {names_words(left_out, 3)}", file=sys.stderr)
    path = calibration_path(calibrations_folder(args.golden, args.calibrations), name)
    try:
        previous = load_calibration(path)
    except CalibrationError as exc:
        print(f"auepora: not compared with the calibration before: {exc}", file=sys.stderr)
        previous = None
    labels_before = previous.pairs if previous is not None and previous.mismatch(judge_info) else None
    result = study(name, labels, threshold=args.threshold, previous=labels_before)
    calibration = result.calibration(judge_info)
    if args.json:
        write_output(record_text(calibration), None)
    else:
        print(study_text(result), end="")
        if not calibration.judge.get("params", {}).get("judge"):
            print("note: no model is named, so a change of it will go unseen", file=sys.stderr)
    if not args.dry_run:
        write_atomically(path, record_text(calibration))
        print(f"written to {path}", file=sys.stderr)
    return PASSED if calibration.gate else FAILED


def _find_metric(args: argparse.Namespace) -> tuple[str, Metric]:
    registry = registry_of(args.metrics)
    if args.metric:
        metric = registry.get(args.metric)
        if not metric.judged:
            raise UsageError(f"{args.metric} is not scored by an LLM judge, so it needs no calibration")
        return args.metric, metric
    if args.golden is None:
        raise UsageError("which judge? name its metric with --metric, or a golden file that has one with --golden")
    judged = [n for n in load_suite(args.golden, registry).metrics if registry.get(n).judged]
    if len(judged) != 1:
        raise UsageError(f"{args.golden} has {', '.join(judged) or 'no judged metric'}; name one with --metric")
    return judged[0], registry.get(judged[0])


def _check_models(models: list[str], judge: dict[str, Any]) -> None:
    judge_params = judge.get("params", {}).get("judge", {})
    current = str(judge_params.get("model", "")) if isinstance(judge_params, dict) else ""
    for model in models:
        if model != current:
            judge_name = f"{current or 'not named'}{did_you_mean(model, [current])}"
            raise UsageError(f"the labels hold scores of {model}, the judge is {judge_name}: ask it anew with --ask")


def study_text(result: Study) -> str:
    """Return the decision, the figures with their intervals, and further remarks."""
    page = Page(_WIDTH)
    n_yes, n = sum(answer for answer, _ in result.labels.values()), len(result.labels)
    page.paragraph(f"{result.metric}: {'may gate' if result.gate else 'stays advisory'}: {result.reason}")
    page.paragraph(f"{n} labels, {n_yes} yes and {n - n_yes} no; the judge says yes from {result.threshold:g}")
    page.lines.append([])
    room = max(map(len, result.figures))
    page.lines += [[Cell(f"  {name:<{room}}  {_figure_text(figure)}")] for name, figure in result.figures.items()]
    if (change := result.change) is not None:
        page.paragraph(
            f"against the judge calibrated before, on {change.n} items: {change.fixed} now right, "
            f"{change.broken} now wrong, {change.outcome} (mid-p McNemar {change.p:.4f})"
        )
    for remark in result.remarks:
        page.paragraph(f"note: {remark}")
    return render(page.lines) + "\n"


def _figure_text(figure: Estimate) -> str:
    if figure.value is None:
        return "n/a"
    value = f"{figure.value:.3f}"
    if figure.interval == "none":
        return value
    ends = ["?" if end is None else f"{end:.3f}" for end in (figure.low, figure.high)]
    return f"{value}  95 % {ends[0]} to {ends[1]} ({figure.interval})"
