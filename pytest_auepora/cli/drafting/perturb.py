"""``auepora perturb GOLDEN``: variants of cases: typos, casing, punctuation, paraphrases, noise or instructions in the
context.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

from ...base.files import write_atomically
from ...base.text import did_you_mean
from ...core.types import EvaluationSample
from ...drafting.documents import passages_of, read_documents
from ...drafting.injection import SCENARIO, injection_variants
from ...drafting.variants import OPERATIONS, Operation, ask_paraphrases, load_paraphrases, noise_variants, reword
from ...drafting.variants import variants as query_variants
from ...errors import AueporaError
from ...io.edit import with_variants
from ...io.golden.model import GoldenSuite
from ...io.importers.golden import cases_in_ascii
from ...io.json_lines import is_jsonl
from ...labels.corpus import Chunk, Corpus, load_corpus
from ...metrics.judge.settings import critic_from_environment
from ...reporting.numbers import plural
from ..arguments import add_shared, existing_path, whole_number
from ..common import PASSED, UsageError, is_ascii_output, load_suite, registry_of, write_output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    kind = "what is done (repeatable; typo); paraphrase asks the judge's model; injection: a document with an "
    kind += "instruction stands among a generator's, and the answer must not obey it"
    index = "injection: write the documents here, for your system to index, instead of giving them to the generator"
    wordings = "other wordings of the queries: JSON Lines with id and query, or a mapping of ids to texts"
    noise = "put irrelevant documents of this corpus (JSON Lines of id and text, or a folder) among a generator's"
    add("golden", type=existing_path, metavar="GOLDEN", help="the golden file")
    add("--kind", action="append", choices=(*OPERATIONS, "paraphrase", SCENARIO), help=kind)
    add("--index", type=Path, metavar="FOLDER", help=index)
    add("--paraphrases", type=existing_path, metavar="FILE", help=wordings)
    add("--noise", type=existing_path, metavar="CORPUS", help=noise)
    add("--noise-docs", type=whole_number(1), default=3, metavar="N", help="how many documents a variant gets (3)")
    add("--count", type=whole_number(1), default=3, metavar="N", help="variants of each case and kind (3)")
    add("--write", action="store_true", help="append them to the file; else they are only printed")
    add_shared(parser, "--seed", "--metrics")


def _variant_maker(
    args: argparse.Namespace, suite: GoldenSuite, documents: dict[str, str]
) -> Callable[[EvaluationSample], list[EvaluationSample]]:
    """Return a function that makes the variants of a case; typos where no kind is named.

    It adds the *documents* to index, by the ids of their variants.
    """
    operations = args.kind or ([] if args.paraphrases or args.noise else ["typo"])
    mechanical: list[Operation] = [name for name in operations if name in OPERATIONS]
    paraphrases = _read_paraphrases(args.paraphrases, suite) if args.paraphrases else {}
    if "paraphrase" in operations:
        cases = [c for c in suite.cases if c.skip is None and "variant_of" not in c.sample.labels]
        queries = {case.id: case.sample.query for case in cases}
        wordings, refused = ask_paraphrases(queries, critic_from_environment(), args.count)
        paraphrases |= wordings
        if refused:
            print(f"{refused} wordings left out: the same as the query, or without one of its numbers", file=sys.stderr)
    corpus = _read_corpus(args.noise) if args.noise else None

    def variants(sample: EvaluationSample) -> list[EvaluationSample]:
        new_samples = query_variants(sample, mechanical, count=args.count, seed=args.seed)
        new_samples += reword(sample, paraphrases.get(sample.sample_id, ()), "paraphrase", count=args.count)
        if corpus is not None:
            new_samples += noise_variants(sample, corpus, count=args.count, each=args.noise_docs, seed=args.seed)
        if SCENARIO in operations:
            indexed = args.index is not None
            injected = injection_variants(sample, count=args.count, seed=args.seed, indexed=indexed)
            new_samples += [variant for variant, _ in injected]
            documents.update((variant.sample_id, text) for variant, text in injected if indexed)
        return new_samples

    return variants


def _read_corpus(path: Path) -> Corpus:
    """Read a corpus: JSON Lines, or a folder of documents, whose passages are its chunks."""
    if not path.is_dir():
        return load_corpus(path)
    passages = passages_of(read_documents(path))
    chunks = [Chunk(f"{p.doc}#{n}", p.text, p.doc) for n, p in enumerate(passages, 1)]
    return Corpus({chunk.id: chunk for chunk in chunks})


def _read_paraphrases(path: Path, suite: GoldenSuite) -> dict[str, list[str]]:
    paraphrases = load_paraphrases(path)
    known = [case.id for case in suite.cases]
    for case_id in paraphrases:
        if case_id not in known:
            raise AueporaError(f"{path}: {suite.path} has no case {case_id!r}{did_you_mean(case_id, known)}")
    return paraphrases


def run(args: argparse.Namespace) -> int:
    """Print the new cases, or append them to the file for review."""
    if args.index is not None and SCENARIO not in (args.kind or ()):
        raise UsageError(f"--index is where the documents of --kind {SCENARIO} are written")
    registry, documents = registry_of(args.metrics), dict[str, str]()
    result = with_variants(args.golden, _variant_maker(args, load_suite(args.golden, registry), documents), registry)
    message = plural(len(result.ids), "variant")
    if not args.write:
        block = result.block
        write_output(cases_in_ascii(block) if is_ascii_output() and not is_jsonl(args.golden) else block, None)
    elif result.ids:
        write_atomically(args.golden, result.text)
        message += " appended; review them"
        for case_id in result.ids:
            if case_id in documents:
                name = re.sub(r"[^\w.-]+", "-", case_id)
                write_atomically(args.index / f"{name}.md", f"{documents[case_id]}\n")
    print(message, file=sys.stderr)
    return PASSED
