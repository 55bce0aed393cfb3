"""``auepora review GOLDEN``: accept, edit or reject the drafts of a golden file, one after the other."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from ...base.text import shorten
from ...drafting.files import DraftJournal, accept, drafts_of, journal_path, reject, trace_of
from ...drafting.from_traces import DOCUMENTS, SAID
from ...io.importers.imported import documents_of
from ...metrics.registry import Registry
from ...reporting.text import harmless
from ..arguments import add_shared, existing_path
from ..common import PASSED, load_suite, registry_of

_MOST_TEXT = 200
_PROMPT = "[a]ccept  [e]dit  [r]eject  [s]kip  [q]uit? "


def add_arguments(parser: argparse.ArgumentParser) -> None:
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
    lines = [f"{case['id']}  ({place})"]
    lines += [f"  {who:<9} {said}" for turn in case.get("chat_history") or () for who, said in turn.items()]
    lines.append(f"  question  {case['query']}")
    if trace := trace_of(case):
        _print_lines([*lines, *_trace_lines(trace)])
        return
    lines.append(f"  answer    {case.get('reference_answer', '(should be refused: no document answers it)')}")
    for label in documents_of(case):
        name = label.get("doc", label.get("id", ""))
        lines.append(f"  {name}: “{label['quote']}”" if "quote" in label else f"  {name}")
    _print_lines(lines)


def _trace_lines(trace: Mapping[str, Any]) -> list[str]:
    """Return what the system said and found, the documents with numbers to tick."""
    lines = [f"  it said   {trace.get(SAID, '(nothing)')}"]
    lines += [f"  feedback  {name}: {value}" for name, value in (trace.get("feedback") or {}).items()]
    for number, document in enumerate(trace.get(DOCUMENTS) or (), 1):
        name = " ".join(dict.fromkeys(document[key] for key in ("doc", "id") if key in document))
        lines.append(f"  [{number}] {name}: “{shorten(document.get('text', ''), _MOST_TEXT)}”")
    return lines


def _print_lines(lines: Sequence[str]) -> None:
    print("\n" + "\n".join(map(harmless, lines)))


def _review_draft(path: Path, case: Mapping[str, Any], journal: DraftJournal, registry: Registry) -> str:
    while True:
        word = _read_line(_PROMPT).lower()[:1]
        if word in ("q", ""):
            return "quit"
        if word == "s":
            return "skipped"
        if word in ("a", "e"):
            edited = _ask_changes(case) if word == "e" else {}
            changed = {**edited, **_ask_labels(trace)} if (trace := trace_of(case)) else edited
            decision: Literal["edited", "accepted"] = "edited" if edited else "accepted"
            accept(path, case, changed, registry)
            journal.decide(case["id"], decision, **edited)
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


def _ask_labels(trace: Mapping[str, Any]) -> dict[str, Any]:
    """Ask which of the documents found are relevant, and whether what the system said is right."""
    documents = trace.get(DOCUMENTS) or ()
    changed: dict[str, Any] = {}
    while documents and "relevant_docs" not in changed:
        words = _read_line("relevant documents (numbers; 0: none, it should refuse; empty: not said): ").split()
        if not words:
            break
        numbers = [int(word) for word in words if word.isdecimal()]
        if len(numbers) == len(words) and all(0 <= n <= len(documents) for n in numbers):
            labels = [_label_of(documents[n - 1]) for n in numbers if n]
            changed["relevant_docs"] = [label for i, label in enumerate(labels) if label not in labels[:i]]
    if changed.get("relevant_docs") != []:
        said = trace.get(SAID, "")
        reply = _read_line("right answer ([y]: what it said; [n], empty: not said; or the text): ")
        if reply.lower() in ("y", "yes") and said:
            changed["reference_answer"] = said
        elif reply.lower() not in ("y", "yes", "n", "no", ""):
            changed["reference_answer"] = reply
    return changed


def _label_of(document: Mapping[str, str]) -> dict[str, str] | str:
    """Return the label of a document: its file, which outlives a new chunking, else its id, else its first words."""
    if "doc" in document:
        return {"doc": document["doc"]}
    return document["id"] if "id" in document else {"quote": document["text"][:_MOST_TEXT].strip()}


def _read_line(prompt: str) -> str:
    try:
        return input(prompt).strip()
    except EOFError:
        return ""
