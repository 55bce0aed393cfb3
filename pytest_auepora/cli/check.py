"""``auepora check GOLDEN…``: reads golden files without running anything."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..base.complaints import Problem
from ..base.files import shown_path
from ..errors import CorpusError, GoldenFileError
from ..history.answers import history_recall
from ..io.edit import LabelFile
from ..io.golden.model import DRAFT, GoldenSuite
from ..io.golden.names import disk_name, shared_baseline
from ..labels.check import check_case
from ..labels.corpus import Corpus, Recall, corpus_recall, load_corpus
from ..labels.repair import baselines_of, repair
from ..metrics.registry import Registry
from ..reporting.numbers import plural
from ..reporting.terminal.labels import label_page, remaining_labels, repaired_texts
from ..reporting.terminal.layout import render
from ..reporting.text import harmless
from .arguments import add_shared, existing_path
from .common import FAILED, GOLDEN_ENDINGS, PASSED, UsageError, load_suite, open_history, registry_of, write_output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add, chunks = parser.add_argument, "chunks there are (JSONL: id, text, doc): say which labels moved"
    add("golden", nargs="+", type=existing_path, metavar="GOLDEN", help="golden files, or directories of them")
    add_shared(parser, "--metrics", "--json")
    add("--corpus", type=Path, metavar="FILE", help=chunks)
    add("--reanchor-from", type=Path, metavar="FILE", help="the corpus before: what old chunk ids said")
    add("--reanchor", action="store_true", help="rewrite labels that provably moved")


def run(args: argparse.Namespace) -> int:
    """Print the contents of each file in numbers, or its problems."""
    registry = registry_of(args.metrics)
    corpus, recalls = _read_corpora(args)
    moved = False
    reports: list[dict[str, Any]] = []
    suites: dict[tuple[Path, str], GoldenSuite] = {}
    for path in _golden_files(args.golden):
        try:
            suite = load_suite(path, registry)
        except GoldenFileError as exc:
            report: dict[str, Any] = {"path": str(path), "problems": [p._asdict() for p in exc.problems]}
            lines = [str(p) for p in exc.problems]
        else:
            report, lines = _contents(path, suite, [*suite.warnings, *_shared_baselines(suite, suites)])
            if corpus is not None:
                rewriting = registry if args.reanchor else None
                report["labels"], label_lines, has_moved = _check_labels(suite, corpus, recalls, rewriting)
                lines += label_lines
                moved |= has_moved
        reports.append(report)
        if not args.json:
            print(harmless("\n".join(lines)))
    if args.json:
        write_output(json.dumps(reports, indent=1, ensure_ascii=False) + "\n", None)
    return FAILED if moved or any(report["problems"] for report in reports) else PASSED


def _contents(path: Path, suite: GoldenSuite, problems: Sequence[Problem]) -> tuple[dict[str, Any], list[str]]:
    """Return what is in a golden file, as data and as text."""
    counts = {"cases": len(suite.cases), "metrics": len(suite.metrics), "thresholds": len(suite.gates)}
    report = {"path": str(path), "suite": suite.name, **counts, "problems": [p._asdict() for p in problems]}
    drafts = sum(case.skip == DRAFT for case in suite.cases)
    more = f"; {plural(drafts, 'draft')} to review" if drafts else ""
    lines = [f"{path}: {', '.join(plural(n, what[:-1]) for what, n in counts.items())}{more}", *map(str, problems)]
    if unowned := list(dict.fromkeys(gate.metric for gate in suite.gates if not gate.owner)):
        report["unowned"] = unowned
        lines.append(f"{path}: no owner for {', '.join(unowned)}: name one with owner:, or with owners: by metric")
    return report, lines


def _shared_baselines(suite: GoldenSuite, suites: dict[tuple[Path, str], GoldenSuite]) -> Iterator[Problem]:
    """Yield a problem where *suite* shares its baseline with one of *suites*."""
    first = suites.setdefault((suite.path.resolve().parent, disk_name(suite.name)), suite)
    if first.path.resolve() != suite.path.resolve():
        clash = shared_baseline(suite.name, first.name, first.path)
        yield Problem(str(suite.path), 0, 0, f"{clash}: they would share a baseline; rename one of them with suite:")


def _golden_files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        files = sorted(file for file in path.rglob("*.golden.*") if file.name.endswith(GOLDEN_ENDINGS))
        if not files:
            raise UsageError(f"no file below {path} ends in {', '.join(GOLDEN_ENDINGS)}")
        yield from files


def _read_corpora(args: argparse.Namespace) -> tuple[Corpus | None, list[Recall]]:
    """Return the corpus that labels are checked against, None where none is named, and what is known of old chunks."""
    before = args.reanchor_from
    if args.corpus is None and (args.reanchor or before is not None):
        raise UsageError("--reanchor and --reanchor-from need --corpus FILE: the chunks there are now")
    try:
        recalls = [corpus_recall(load_corpus(before), before)] if before is not None else []
        return (load_corpus(args.corpus) if args.corpus is not None else None), recalls
    except CorpusError as exc:
        raise UsageError(str(exc)) from None


def _check_labels(
    suite: GoldenSuite, corpus: Corpus, recalls: Sequence[Recall], registry: Registry | None
) -> tuple[list[dict[str, Any]], list[str], bool]:
    """Return the labels of *suite* as data and as text, and whether one moved; with a *registry* they are rewritten."""
    recalls = [*recalls]
    with suppress(UsageError):  # history is switched off
        store, hashes = open_history(""), {c.id: c.content_hash for c in suite.cases}
        path = shown_path(suite.path.resolve(), store.root)
        recalls.append(history_recall(store, suite.name, path, hashes))
    checked = [check_case(case, corpus, recalls) for case in suite.cases]
    labels = [label for of_case in checked for label in of_case]
    places = LabelFile(suite.path).places()
    repaired = repair(suite.path, checked, baselines_of(suite), registry) if registry is not None else None
    lines = render(label_page(suite.name, str(suite.path), labels, places, repaired, width=120)).splitlines()
    lines += repaired_texts(repaired, labels) if repaired is not None else []
    new_ids = repaired.new_ids if repaired is not None else {}
    data = []
    for label in labels:
        slot = (label.case_id, label.index)
        line, col = places.get(slot, (0, 0))
        data.append({**asdict(label), "line": line, "col": col, "rewritten_to": new_ids.get(slot)})
    unsolved = repaired is not None and repaired.problem
    return data, lines, bool(unsolved or remaining_labels(repaired, labels))
