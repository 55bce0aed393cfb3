"""``auepora check GOLDEN…``: reads golden files without running anything."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..core.files import shown_path
from ..errors import CorpusError, GoldenFileError, Problem
from ..io.golden.model import DRAFT, GoldenSuite
from ..metrics.registry import Registry
from ..reporting.numbers import plural
from ..reporting.terminal.labels import label_page, remaining_labels, repaired_texts
from ..reporting.terminal.layout import render
from ..reporting.text import harmless
from .arguments import add_metrics, existing_path
from .common import FAILED, GOLDEN_ENDINGS, PASSED, UsageError, load_suite, open_history, registry_of, write_output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "golden", nargs="+", type=existing_path, metavar="GOLDEN", help="golden files, or directories of them"
    )
    add_metrics(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--corpus", type=Path, metavar="FILE", help="chunks there are (JSONL: id, text, doc): say which labels moved"
    )
    parser.add_argument("--reanchor-from", type=Path, metavar="FILE", help="the corpus before: what old chunk ids said")
    parser.add_argument("--reanchor", action="store_true", help="rewrite labels that provably moved")


def run(args: argparse.Namespace) -> int:
    """Print the contents of each file in numbers, or its problems."""
    registry = registry_of(args.metrics)
    check_labels = _label_checker(args, registry)
    reports: list[dict[str, Any]] = []
    moved = False
    suites: dict[tuple[Path, str], Path] = {}
    for path in _golden_files(args.golden):
        try:
            suite = load_suite(path, registry)
        except GoldenFileError as exc:
            reports.append({"path": str(path), "problems": [p._asdict() for p in exc.problems]})
            lines = [str(p) for p in exc.problems]
        else:
            counts = {"cases": len(suite.cases), "metrics": len(suite.metrics), "thresholds": len(suite.gates)}
            problems = [*suite.warnings, *_shared_baselines(suite, suites)]
            rows = [problem._asdict() for problem in problems]
            reports.append({"path": str(path), "suite": suite.name, **counts, "problems": rows})
            drafts = sum(case.skip == DRAFT for case in suite.cases)
            more = f"; {plural(drafts, 'draft')} to review" if drafts else ""
            lines = [f"{path}: {', '.join(plural(n, what[:-1]) for what, n in counts.items())}{more}"]
            lines += map(str, problems)
            if unowned := list(dict.fromkeys(gate.metric for gate in suite.gates if not gate.owner)):
                reports[-1]["unowned"] = unowned
                lines.append(
                    f"{path}: no owner for {', '.join(unowned)}: name one with owner:, or with owners: by metric"
                )
            if check_labels is not None:
                labels = check_labels(suite)
                reports[-1]["labels"] = labels.data
                lines += labels.lines
                moved = moved or labels.moved
        if not args.json:
            print(harmless("\n".join(lines)))
    if args.json:
        write_output(json.dumps(reports, indent=1, ensure_ascii=False) + "\n", None)
    return FAILED if moved or any(report["problems"] for report in reports) else PASSED


def _shared_baselines(suite: GoldenSuite, suites: dict[tuple[Path, str], Path]) -> Iterator[Problem]:
    """Yield a problem where *suite* shares its baseline with one of *suites*."""
    first = suites.setdefault((suite.path.resolve().parent, suite.name), suite.path)
    if first.resolve() != suite.path.resolve():
        clash = f"suite {suite.name!r} is also that of {first}: they would share a baseline; name one anew with suite:"
        yield Problem(str(suite.path), 0, 0, clash)


def _golden_files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        files = sorted(file for file in path.rglob("*.golden.*") if file.name.endswith(GOLDEN_ENDINGS))
        if not files:
            raise UsageError(f"no file below {path} ends in {', '.join(GOLDEN_ENDINGS)}")
        yield from files


class _LabelReport(NamedTuple):
    """The checked labels of one golden file, as data and as text; ``moved``: one moved and was not repaired."""

    data: list[dict[str, Any]]
    lines: list[str]
    moved: bool


def _label_checker(args: argparse.Namespace, registry: Registry) -> Callable[[GoldenSuite], _LabelReport] | None:
    """Return a function that checks labels, and rewrites them if asked; None where no corpus is named.

    Raises:
        UsageError: the corpus cannot be read, or an option needs one.
    """
    before = args.reanchor_from
    if args.corpus is None:
        if args.reanchor or before is not None:
            raise UsageError("--reanchor and --reanchor-from need --corpus FILE: the chunks there are now")
        return None

    from ..history.answers import history_recall
    from ..io.edit import LabelFile
    from ..labels.check import check_case
    from ..labels.corpus import corpus_recall, load_corpus
    from ..labels.repair import baselines_of, repair

    try:
        corpus = load_corpus(args.corpus)
        known_recalls = [corpus_recall(load_corpus(before), before)] if before is not None else []
    except CorpusError as exc:
        raise UsageError(str(exc)) from None

    def check_labels(suite: GoldenSuite) -> _LabelReport:
        recalls = known_recalls.copy()
        with suppress(UsageError):  # history is switched off
            store, hashes = open_history(""), {c.id: c.content_hash for c in suite.cases}
            path = shown_path(suite.path.resolve(), store.root)
            recalls.append(history_recall(store, suite.name, path, hashes))
        checked = [check_case(case, corpus, recalls) for case in suite.cases]
        all_labels = [label for labels in checked for label in labels]
        places = LabelFile(suite.path).places()
        repaired = repair(suite.path, checked, baselines_of(suite), registry) if args.reanchor else None
        lines = render(label_page(suite.name, str(suite.path), all_labels, places, repaired, width=120)).splitlines()
        new_ids = repaired.new_ids if repaired is not None else {}
        data = []
        for label in all_labels:
            slot = (label.case_id, label.index)
            line, col = places.get(slot, (0, 0))
            data.append({**label.to_dict(), "line": line, "col": col, "rewritten_to": new_ids.get(slot)})
        moved = bool(remaining_labels(repaired, all_labels))
        if repaired is not None:
            lines += repaired_texts(repaired, all_labels)
            moved = moved or bool(repaired.problem)
        return _LabelReport(data, lines, moved)

    return check_labels
