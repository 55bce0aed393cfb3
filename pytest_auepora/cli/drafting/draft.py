"""``auepora draft FOLDER -o GOLDEN``: golden cases from documents, proposed by a judge's model, for review."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.progress import Progress
from ...drafting.asking import provenance_of
from ...drafting.documents import SHORTEST, Price, passages_of, read_documents, read_quotas
from ...drafting.draft import Drafting
from ...drafting.files import DraftJournal, add_cases, journal_path
from ...errors import MetricError
from ...metrics.judge.settings import critic_from_environment
from ...metrics.judge.usage import Prices
from ...metrics.registry import Registry
from ...reporting.numbers import plural
from ...reporting.wording.spending import usage_text
from ..arguments import add_shared, existing_path
from ..common import PASSED, UsageError, check_golden_name, known_samples, registry_of

if TYPE_CHECKING:
    from ...metrics.judge.client import OpenAICompatibleCritic

_QUOTAS = "single-hop=2,multi-hop=1,unanswerable=1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add, documents = parser.add_argument, "documents: .md, .rst, .txt, or a corpus in JSON Lines"
    overlap = "words of a question that its quote may have, at most (0.7)"
    add("folder", type=existing_path, metavar="FOLDER", help=documents)
    add("-o", "--output", type=Path, required=True, metavar="GOLDEN", help="where drafts are appended")
    add("--quota", default=_QUOTAS, metavar="KINDS", help=f"cases of each kind for every document ({_QUOTAS})")
    add("--max-overlap", type=float, default=0.7, metavar="SHARE", help=overlap)
    add("--estimate", action="store_true", help="print the estimated cost, and ask nothing; needs no judge")
    add("--yes", action="store_true", help="start without asking for confirmation")
    add_shared(parser, "--known", "--seed", "--metrics")


def run(args: argparse.Namespace) -> int:
    """Draft, and print what was rejected and why."""
    if not 0 < args.max_overlap <= 1:
        raise UsageError(f"--max-overlap is a share above 0 and at most 1, got {args.max_overlap:g}")
    check_golden_name(args.output)
    quotas = read_quotas(args.quota)
    passages = passages_of(read_documents(args.folder))
    journal = DraftJournal(journal_path(args.output))
    registry = registry_of(args.metrics)
    critic = _critic(needed=not args.estimate)
    samples = known_samples(args.output, args.known, registry)
    known = [*(sample.query for sample in samples), *journal.rejected_questions()]
    drafting = Drafting(
        passages, critic, quotas, known=known, seed=args.seed, max_overlap=args.max_overlap,
        finished=journal.finished_jobs(provenance_of(critic)) if critic is not None else {},
    )  # fmt: skip
    n_wanted = sum(max(0, n) for n in drafting.missing.values())
    documents = len({passage.doc for passage in passages})
    found = f"{plural(documents, 'document')}, {plural(len(passages), 'passage')}"
    least, most = drafting.price()
    what = "nothing is wanted" if not n_wanted else f"no passage left is as long as {SHORTEST} characters"
    price = _price_text(least, most, critic.prices if critic is not None else None) if most.calls else what
    print(f"{found}; {plural(n_wanted, 'case')} wanted: {price}")
    if critic is None or args.estimate or not most.calls or not (args.yes or _confirm()):
        return PASSED
    n_drafted = _run_drafting(drafting, args.output, journal, registry)
    print(f"{n_drafted} of {n_wanted} drafted in {args.output}; accept them with: auepora review {args.output}")
    print(f"judge: {usage_text(critic.usage)}")
    if rejections := journal.rejections():
        print(f"{sum(map(len, rejections.values()))} tries were rejected ({journal.path}):")
        for reason, about in sorted(rejections.items(), key=lambda pair: -len(pair[1])):
            print(f"{len(about):>5}  {reason}{f': {about[0]}' if reason == 'unreadable reply' else ''}")
    return PASSED


def _critic(*, needed: bool) -> OpenAICompatibleCritic | None:
    """Return the judge's model of the settings; None where they name none and it is not *needed*."""
    try:
        return critic_from_environment()
    except MetricError:
        if needed:
            raise
        return None


def _price_text(least: Price, most: Price, prices: Prices | None) -> str:
    prompts = f"about {least.prompt_tokens:,} to {most.prompt_tokens:,} tokens of prompts"
    replies = f"{least.reply_tokens:,} to {most.reply_tokens:,} of replies"
    cost = ""
    if prices is not None:
        low, high = (prices.cost(price.prompt_tokens, price.reply_tokens, 0) for price in (least, most))
        cost = f", cost about {low:.2g} to {high:.2g}"
    return f"{least.calls:,} to {most.calls:,} calls, {prompts} and {replies}{cost}"


def _confirm() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("give --yes to start, or --estimate to see the cost alone")
    return input("Begin? [y/N] ").strip().lower() in ("y", "yes")


def _run_drafting(drafting: Drafting, output: Path, journal: DraftJournal, registry: Registry) -> int:
    n_drafted = 0
    with Progress("tries", sum(map(len, drafting.queues.values())), show=None) as bar:
        for draft in drafting.run():
            if draft.case is not None:
                add_cases(output, [draft.case], registry)
                n_drafted += 1
            journal.note(draft, drafting.provenance)
            bar.done()
    return n_drafted
