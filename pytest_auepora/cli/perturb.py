"""``auepora perturb GOLDEN``: variants of cases: typos, casing, punctuation, paraphrases, noise in the context."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from ..core.files import write_atomically
from ..core.types import EvaluationSample
from ..drafting.documents import passages_of, read_documents
from ..drafting.variants import OPERATIONS, Operation, ask_paraphrases, load_paraphrases, noise_variants, reworded
from ..drafting.variants import variants as disturbed
from ..errors import AueporaError, did_you_mean
from ..io.edit import perturbed
from ..io.golden.model import GoldenSuite
from ..labels.corpus import Chunk, Corpus, load_corpus
from ..metrics.judge.settings import critic_from_environment
from ..reporting.numbers import plural
from .common import PASSED, add_metrics, load_suite, put, registry_of, to_read


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("golden", type=to_read, metavar="GOLDEN", help="the golden file")
    parser.add_argument(
        "--operation", action="append", choices=(*OPERATIONS, "paraphrase"),
        help="what is done to the queries (repeatable; typo); paraphrase asks the judge's model",
    )  # fmt: skip
    parser.add_argument(
        "--paraphrases", type=to_read, metavar="FILE",
        help="other wordings of the queries: JSON Lines with id and query, or a mapping of ids to texts",
    )  # fmt: skip
    parser.add_argument(
        "--noise", type=to_read, metavar="CORPUS",
        help="put irrelevant documents of this corpus (JSON Lines of id and text, or a folder) among a generator's",
    )  # fmt: skip
    parser.add_argument(
        "--noise-docs", type=_positive, default=3, metavar="N", help="how many documents a variant gets (3)"
    )
    parser.add_argument(
        "--count", type=_positive, default=3, metavar="N", help="variants of each case and operation (3)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="another number, other variants (0)")
    parser.add_argument("--write", action="store_true", help="append them to the file; else they are only printed")
    add_metrics(parser)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, got {text!r}")
    return int(text)


def _variants(given: argparse.Namespace, suite: GoldenSuite) -> Callable[[EvaluationSample], list[EvaluationSample]]:
    """Return what makes the variants of a case that were asked for; without a word, typos."""
    operations = given.operation or ([] if given.paraphrases or given.noise else ["typo"])
    mechanical: list[Operation] = [name for name in operations if name != "paraphrase"]
    paraphrases = _paraphrases(given.paraphrases, suite) if given.paraphrases else {}
    if "paraphrase" in operations:
        paraphrases |= _asked(suite, given.count)
    corpus = _corpus(given.noise) if given.noise else None

    def variants(sample: EvaluationSample) -> list[EvaluationSample]:
        made = disturbed(sample, mechanical, count=given.count, seed=given.seed)
        made += reworded(sample, paraphrases.get(sample.sample_id, ()), "paraphrase", count=given.count)
        if corpus is not None:
            made += noise_variants(sample, corpus, count=given.count, each=given.noise_docs, seed=given.seed)
        return made

    return variants


def _corpus(path: Path) -> Corpus:
    """Read a corpus: JSON Lines, or a folder of documents, whose passages are its chunks."""
    if not path.is_dir():
        return load_corpus(path)
    passages = passages_of(read_documents(path))
    chunks = [Chunk(f"{p.doc}#{n}", p.text, p.doc) for n, p in enumerate(passages, 1)]
    return Corpus({chunk.id: chunk for chunk in chunks})


def _paraphrases(path: Path, suite: GoldenSuite) -> dict[str, list[str]]:
    """Read other wordings.

    Raises:
        AueporaError: the file cannot be read, or names a case that is not there.
    """
    found = load_paraphrases(path)
    known = [case.id for case in suite.cases]
    for case_id in found:
        if case_id not in known:
            raise AueporaError(f"{path}: {suite.path} has no case {case_id!r}{did_you_mean(case_id, known)}")
    return found


def _asked(suite: GoldenSuite, count: int) -> dict[str, list[str]]:
    cases = [c for c in suite.cases if c.skip is None and "variant_of" not in c.sample.labels]
    found, refused = ask_paraphrases({c.id: c.sample.query for c in cases}, critic_from_environment(), count)
    if refused:
        print(f"{refused} wordings left out: the same as the query, or without one of its numbers", file=sys.stderr)
    return found


def run(given: argparse.Namespace) -> int:
    """Print the new cases, or append them to the file for review."""
    registry = registry_of(given.metrics)
    made = perturbed(given.golden, _variants(given, load_suite(given.golden, registry)), registry)
    told = plural(len(made.ids), "variant")
    if not given.write:
        put(made.block, None)
    elif made.ids:
        write_atomically(given.golden, made.text)
        told += " appended; review them"
    print(told, file=sys.stderr)
    return PASSED
