"""Data sets of other tools to golden files, and back where the format can hold it: every format by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ...errors import UnknownNameError
from ..golden.model import GoldenSuite
from .golden import as_imported
from .model import Dropped, ImportedSuite, ImportProblem


@dataclass(frozen=True)
class Format:
    """A format: its title, the module that reads and writes it, its options, and the suffixes it writes."""

    title: str
    module: str
    options: tuple[str, ...] = ()
    suffix: str = ""
    written: tuple[str, ...] = ()

    def function(self, name: str) -> Callable[..., Any]:
        """Return the function that reads a path (``load``) or writes a suite to it (``save``)."""
        function: Callable[..., Any] = getattr(import_module(f"{__package__}.{self.module}"), f"{name}{self.suffix}")
        return function


FORMATS = {
    "trec": Format("TREC qrels and topics", "trec", ("topics",)),
    "beir": Format("a BEIR directory", "beir", ("split", "texts")),
    "ragas": Format("ragas: JSON, JSON Lines, CSV", "ragas", written=(".jsonl", ".json", ".csv")),
    "deepeval": Format("deepeval goldens: JSON, JSON Lines, CSV", "deepeval", written=(".json", ".jsonl", ".csv")),
    "promptfoo": Format(
        "promptfoo tests: YAML, JSON, JSON Lines, CSV", "promptfoo", written=(".yaml", ".yml", ".json")
    ),
    "pydantic-evals": Format("pydantic-evals: YAML, JSON", "pydantic_evals", written=(".yaml", ".yml", ".json")),
    "csv": Format("one case a row: CSV, TSV", "table", written=(".csv", ".tsv")),
    "parquet": Format("one case a row: Parquet", "table", suffix="_parquet"),
}
"""Name → format."""


def import_cases(path: str | Path, fmt: str, **options: Any) -> ImportedSuite:
    """Read a file or directory of another tool.

    Args:
        path: what is read.
        fmt: a key of `FORMATS`.
        options: those of the format: ``topics`` (trec), ``split`` and ``texts`` (beir).

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
    dropped = Dropped()
    imported = as_imported(suite) if isinstance(suite, GoldenSuite) else suite
    export_format.function("save")(imported, Path(path), dropped, **options)
    if imported is suite:
        return dropped.sentences()
    return ["the metrics, thresholds, policy and other keys of the file itself", *dropped.sentences()]


def _find_format(fmt: str, options: dict[str, Any]) -> Format:
    if fmt not in FORMATS:
        raise UnknownNameError("format", fmt, FORMATS)
    for name in options:
        if name not in FORMATS[fmt].options:
            supported = ", ".join(FORMATS[fmt].options) or "none"
            raise ImportProblem(f"{fmt} has no option {name!r}; it takes {supported}")
    return FORMATS[fmt]
