"""Whatever stands in a file, an import gives cases or says what is wrong: nothing else escapes."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.errors import AueporaError
from pytest_auepora.io.importers import FORMATS, export_cases, import_cases
from pytest_auepora.io.importers.golden import golden_text

_KEYS = st.sampled_from([
    "user_input", "reference", "reference_contexts", "reference_context_ids", "input", "expected_output", "context",
    "name", "source_file", "additional_metadata", "vars", "assert", "type", "value", "threshold", "metadata", "tests",
    "description", "cases", "inputs", "evaluators", "query", "question", "id", "relevant_docs", "labels", "turns",
    "defaultTest", "report_evaluators", "expectedOutput",
])  # fmt: skip
_LEAF = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["", " ", "a", "why?", "[", "{", "contains", "a|b"])
)
_DATA = st.recursive(_LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4))
_ROWS = st.lists(st.dictionaries(_KEYS, _DATA, max_size=5), max_size=3)


@pytest.mark.parametrize("fmt", [f for f in FORMATS if f not in ("trec", "beir", "parquet")])
@given(st.one_of(_DATA, _ROWS, _ROWS.map(lambda r: {"tests": r}), _ROWS.map(lambda r: {"cases": r})))
def test_nothing_but_our_own_errors(fmt: str, data: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.json"
        path.write_text(json.dumps(data), encoding="utf-8")
        try:
            suite = import_cases(path, fmt)
            if suite.cases:
                golden_text(suite)
        except AueporaError:
            return
        assert all(c["query"].strip() and c["id"] for c in suite.cases)
        suffix = FORMATS[fmt].written[0]
        assert fmt == "csv" or export_cases(suite, Path(folder) / f"b{suffix}", fmt) is not None
