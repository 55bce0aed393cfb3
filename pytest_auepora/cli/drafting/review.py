"""``auepora review GOLDEN``: accept, edit or reject the drafts of a golden file, one after the other."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from ...drafting.files import DraftJournal, accept, drafts_of, journal_path, reject
from ...io.importers.model import documents_of
from ...metrics.registry import Registry
from ...reporting.text import harmless
from ..arguments import add_shared, existing_path
from ..common import PASSED, load_suite, registry_of

_PROMPT = "[a]ccept  [e]dit  [r]eject  [s]kip  [q]uit? "


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("golden", type=existing_path, metavar="GOLDEN", help="the golden file with drafts")
    add_shared(parser, "--metrics")


def run(args: argparse.Namespace) -> int:
    """Show each draft and carry out the decision; decisions and reasons go to the journal of the file."""
    registry = registry_of(args.metrics)
    load_suite(args.golden, registry)  # raises what is wrong with the file
    drafts, journal, counts = drafts_of(args.golden), DraftJournal(journal_path(args.golden)), Counter[str]()
    for number, case in enumerate(drafts, 1):
        _print_draft(case, f"{number} of {len(drafts)}")
        decision = _review_draft(args.golden, case, journal, registry)
        if decision == "quit":
            break
        counts[decision] += 1
    summary = ", ".join(f"{n} {decision}" for decision, n in counts.items())
    left = len(drafts_of(args.golden)) if args.golden.exists() else 0
    print(f"{summary or ('nothing decided' if drafts else 'no drafts')}; {left} left in {args.golden}")
    return PASSED


def _print_draft(case: Mapping[str, Any], place: str) -> None:
    lines = [
        f"{case['id']}  ({place})",
        f"  question  {case['query']}",
        f"  answer    {case.get('reference_answer', '(should be refused: no document answers it)')}",
    ]
    for label in documents_of(case):
        name = label.get("doc", label.get("id", ""))
        lines.append(f"  {name}: “{label['quote']}”" if "quote" in label else f"  {name}")
    print("\n" + "\n".join(map(harmless, lines)))


def _review_draft(path: Path, case: Mapping[str, Any], journal: DraftJournal, registry: Registry) -> str:
    while True:
        word = _read_line(_PROMPT).lower()[:1]
        if word in ("q", ""):
            return "quit"
        if word == "s":
            return "skipped"
        if word in ("a", "e"):
            changed = _ask_changes(case) if word == "e" else {}
            decision: Literal["edited", "accepted"] = "edited" if changed else "accepted"
            accept(path, case, changed, registry)
            journal.decide(case["id"], decision, **changed)
            return decision
        if word == "r":
            reason = _read_line("why? ")
            reject(path, case["id"], registry)
            journal.decide(case["id"], "rejected", reason=reason, query=case["query"])
            return "rejected"


def _ask_changes(case: Mapping[str, Any]) -> dict[str, str]:
    """Ask for another question and answer; an empty line changes nothing."""
    prompts = {"query": "question", **({"reference_answer": "answer"} if "reference_answer" in case else {})}
    replies = {key: _read_line(f"{word} (empty: as it is): ") for key, word in prompts.items()}
    return {key: text for key, text in replies.items() if text}


def _read_line(prompt: str) -> str:
    try:
        return input(prompt).strip()
    except EOFError:
        return ""
