"""Rewrites golden files: labels that provably moved get their new ids, also in baselines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..base.complaints import Problem
from ..base.files import locked, write_atomically
from ..errors import BaselineError, GoldenFileError, NotWrittenError
from ..io.edit import LabelFile, Slot
from ..io.golden.load import load_golden
from ..io.golden.model import GoldenSuite
from ..metrics.registry import Registry
from ..regression.baseline import baseline_path
from ..regression.baseline_file import anchor_path, lock_baseline, read_baseline
from .check import CheckedLabel, provable_new_ids


@dataclass(slots=True)
class Repaired:
    """The result of a rewrite.

    ``new_ids`` are the labels that were exchanged; ``carried`` how many cases of each baseline go on under the
    new ids; ``problem`` what could not be written, and why.
    """

    new_ids: dict[Slot, str] = field(default_factory=dict)
    carried: dict[Path, int] = field(default_factory=dict)
    problem: str = ""


def baselines_of(suite: GoldenSuite, override: Path | None = None) -> list[Path]:
    """Return the baselines that belong to *suite*: of every configuration, and their anchors."""
    first = baseline_path(suite.path, suite.name, "", override)
    others = [] if first == override else sorted(first.parent.glob(f"{suite.name}@*.json"))
    return [first, anchor_path(first), *others]


def plan_new_ids(checked: Sequence[Sequence[CheckedLabel]]) -> dict[Slot, str]:
    """Return the new ids of one golden file, by the labels of each case in every configuration that was checked.

    What is valid in one configuration, or is another chunk there, is not rewritten for the sake of the other.
    """
    new_names: dict[Slot, set[str]] = {}
    for labels in checked:
        new_ids = provable_new_ids(labels)
        for label in labels:
            if label.by_id:
                new_names.setdefault((label.case_id, label.index), set()).add(new_ids.get(label.index, label.name))
    old_names = {(label.case_id, label.index): label.name for labels in checked for label in labels}
    return {slot: new for slot, (new, *rest) in new_names.items() if not rest and new != old_names[slot]}


def repair(
    path: Path,
    checked: Sequence[Sequence[CheckedLabel]],
    baselines: Iterable[Path] = (),
    registry: Registry | None = None,
) -> Repaired:
    """Rewrite the golden file at *path*, and carry over cases of its *baselines* whose question is the same.

    It is if every new id stands for the same text: the case then keeps its scores, with a new content hash and new
    names of its ranks.  If a passage now lies in a larger chunk, the question changed, and the case counts as edited.
    """
    repaired = Repaired(plan_new_ids(checked))
    if not repaired.new_ids:
        return repaired
    labels = {(label.case_id, label.index): label for of_case in checked for label in of_case}
    try:
        with locked(path):
            before, after = _rewrite(path, labels, repaired.new_ids, registry)
    except (NotWrittenError, GoldenFileError, OSError) as exc:
        repaired.problem, repaired.new_ids = f"nothing was rewritten: {exc}", {}
        return repaired
    changed = {slot[0] for slot in repaired.new_ids if labels[slot].finding.kind != "re-anchorable"}
    renames: dict[str, dict[str, str]] = {}  # by case, where only names changed
    for slot, new in repaired.new_ids.items():
        if slot[0] not in changed:
            renames.setdefault(slot[0], {})[labels[slot].name] = new
    for baseline in baselines:
        try:
            if count := _rename_in_baseline(baseline, before, after, renames):
                repaired.carried[baseline] = count
        except BaselineError as exc:
            repaired.problem = f"not carried over: {exc}"
    return repaired


def _rewrite(
    path: Path, labels: Mapping[Slot, CheckedLabel], new_ids: Mapping[Slot, str], registry: Registry | None
) -> tuple[GoldenSuite, GoldenSuite]:
    """Write the file, and return the suite before and after."""
    file = LabelFile(path)
    for slot in new_ids:
        if file.name(slot) != labels[slot].name:
            message = f"was changed meanwhile: {slot[0]} no longer has the label {labels[slot].name}"
            raise GoldenFileError([Problem(str(path), 0, 0, message)])
    before = load_golden(path, registry)
    write_atomically(path.resolve(), file.with_new_ids(new_ids).decode())
    return before, load_golden(path, registry)


def _rename_in_baseline(
    path: Path, before: GoldenSuite, after: GoldenSuite, renames: Mapping[str, Mapping[str, str]]
) -> int:
    """Rename the labels of cases in a baseline; return how many cases were renamed."""
    with lock_baseline(path):
        try:
            baseline = read_baseline(path)
        except BaselineError:  # the next run reports a broken baseline
            return 0
        if baseline is None or baseline.suite != before.name:
            return 0
        carried = 0
        for case_id, names in renames.items():
            stored = baseline.cases.get(case_id)
            if stored is None or stored.hash != before.case(case_id).content_hash or stored.match != "exact":
                continue
            ranks = {names.get(name, name): rank for name, rank in stored.ranks.items()}
            baseline.cases[case_id] = replace(stored, hash=after.case(case_id).content_hash, ranks=ranks)
            carried += 1
        if carried:
            write_atomically(path.resolve(), baseline.dumps())
        return carried
