"""Other wordings of queries: read from a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import AueporaError

__all__ = ["load_paraphrases"]

_WANTED = "JSON Lines with id and query, or a .json or .yaml file that maps ids to texts or lists of texts"


def load_paraphrases(path: Path) -> dict[str, list[str]]:
    """Read wordings by the id of their case: JSON Lines of ``id`` and ``query``, or a mapping in JSON or YAML.

    Raises:
        AueporaError: the file cannot be read; the message names the line where there is one.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as exc:
        raise AueporaError(f"{path}: cannot be read: {getattr(exc, 'strerror', None) or exc}") from None
    found: dict[str, list[str]] = {}
    for where, case_id, query in _rows(path, text) if path.suffix.lower() == ".jsonl" else _entries(path, text):
        if not isinstance(query, str) or not query.strip():
            raise AueporaError(f"{where}: expected a text, got {query!r:.80}")
        found.setdefault(str(case_id), []).append(query)
    return found


def _rows(path: Path, text: str) -> Iterator[tuple[str, Any, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as exc:
            raise AueporaError(f"{path}:{number}: not JSON: {exc}") from None
        if not isinstance(row, Mapping) or not {"id", "query"} <= row.keys():
            raise AueporaError(f"{path}:{number}: expected a row with id and query, got {line.strip():.80}")
        yield f"{path}:{number}", row["id"], row["query"]


def _entries(path: Path, text: str) -> Iterator[tuple[str, Any, Any]]:
    import yaml

    try:
        said = json.loads(text) if path.suffix.lower() == ".json" else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError) as exc:
        raise AueporaError(f"{path}: cannot be read: {exc}") from None
    if not isinstance(said, Mapping):
        raise AueporaError(f"{path}: expected {_WANTED}")
    for case_id, queries in said.items():
        for query in queries if isinstance(queries, list) else [queries]:
            yield f"{path}: {case_id}", case_id, query
