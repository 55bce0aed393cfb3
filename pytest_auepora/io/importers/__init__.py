"""Data sets of other tools to golden files, and back where the format can hold it: every format by its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from ...base.plugins import offers_of
from ...base.text import unknown_name
from ..golden.model import GoldenSuite
from .golden import as_imported
from .imported import Dropped, ImportedSuite, Importer, ImportProblem, quote_notes


def _ours(title: str, module: str, suffix: str = "", **more: tuple[str, ...]) -> Importer:
    """Return the format whose ``load`` and ``save`` are those of *module*, which is imported when one is called."""

    def call(name: str, *args: Any, **options: Any) -> Any:
        return getattr(import_module(f"{__package__}.{module}"), name)(*args, **options)

    return Importer(title, partial(call, f"load{suffix}"), partial(call, f"save{suffix}"), **more)


_AS_DATA = (".yaml", ".yml", ".json")

FORMATS = {
    "trec": _ours("TREC qrels and topics", "trec", options=("topics",)),
    "beir": _ours("a BEIR directory", "beir", options=("split", "texts")),
    "ragas": _ours("JSON, JSON Lines, CSV", "ragas", written=(".jsonl", ".json", ".csv")),
    "deepeval": _ours("goldens in JSON, JSON Lines, CSV", "deepeval", written=(".json", ".jsonl", ".csv")),
    "promptfoo": _ours("tests in YAML, JSON, JSON Lines, CSV", "promptfoo", written=_AS_DATA),
    "pydantic-evals": _ours("YAML, JSON", "pydantic_evals", written=_AS_DATA),
    "openai": _ours("lists of messages in JSON, JSON Lines", "openai", written=(".jsonl", ".json")),
    "csv": _ours("one case a row: CSV, TSV", "table", written=(".csv", ".tsv")),
    "parquet": _ours("one case a row: Parquet", "table", "_parquet"),
}
"""Name → format of this package."""


def formats() -> Mapping[str, Importer]:
    """Return all formats by name; none of another package replaces one of this."""
    return {**offers_of("pytest_auepora_importers"), **FORMATS}


def import_cases(path: str | Path, fmt: str, **options: Any) -> ImportedSuite:
    """Read a file or directory of another tool; *options* are those of the format, a key of `formats`.

    Raises:
        UnknownNameError: there is no such format.
        ImportProblem: it cannot be read, or the format has no such option.
        MissingExtraError: Parquet without the extra ``parquet``.
    """
    load = _find_format(fmt, options).function("load")
    if not Path(path).exists():
        raise ImportProblem(f"there is no {path}")
    dropped = Dropped()
    suite: ImportedSuite = load(Path(path), dropped, **options)
    suite.dropped = dropped.sentences()
    suite.notes += quote_notes(suite.cases)
    return suite


def export_cases(suite: GoldenSuite | ImportedSuite, path: str | Path, fmt: str, **options: Any) -> list[str]:
    """Write the cases of *suite* in another tool's format, and return what the format could not hold.

    Raises:
        UnknownNameError: there is no such format.
        ImportProblem: something cannot be written in it at all, or not to a file that ends so.
    """
    export_format = _find_format(fmt, options)
    if export_format.written and Path(path).suffix.lower() not in export_format.written:
        raise ImportProblem(f"{path}: {fmt} is written as {' or '.join(export_format.written)}")
    dropped, not_cases = Dropped(), []
    if isinstance(suite, GoldenSuite):
        suite, not_cases = as_imported(suite), ["the metrics, thresholds, policy and other keys of the file itself"]
    export_format.function("save")(suite, Path(path), dropped, **options)
    return [*not_cases, *dropped.sentences()]


def _find_format(fmt: str, options: Iterable[str]) -> Importer:
    known = formats()
    if fmt not in known:
        raise unknown_name("format", fmt, known)
    supported = known[fmt].options
    if unknown := next((name for name in options if name not in supported), ""):
        raise ImportProblem(f"{fmt} has no option {unknown!r}; it takes {', '.join(supported) or 'none'}")
    return known[fmt]
