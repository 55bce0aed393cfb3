"""A failed case as one file of Python that fails by itself."""

from __future__ import annotations

import json
import keyword
import re
import sys
from pprint import pformat

from ...cause.repro import Repro
from ..text import printable
from ..wording.checks import finding_line

_TEMPLATE = '''\
# /// script
# requires-python = ">={python}"
# dependencies = [
{pins}
# ]
# ///
"""{title}

{why}

Recorded in run {run}. Run it with `python {file}`, with pytest, or with `uv run {file}`,
which installs the versions above. To ask your own system, give it to `evaluate` in the place of `answer`.
"""

import json
import sys
import tempfile
from itertools import cycle
from pathlib import Path

from pytest_auepora import evaluate

GOLDEN = {golden}

BASELINE = {baseline}

ANSWERS = {answers}

PROVENANCE = {provenance}


def {function}():
    answers = cycle(ANSWERS)

    def answer(query, sample):
        return next(answers)

    with tempfile.TemporaryDirectory() as folder:
        golden, baseline = Path(folder, "one.golden.yaml"), Path(folder, "baseline.json")
        golden.write_text(json.dumps(GOLDEN), encoding="utf-8")
        if BASELINE:
            baseline.write_text(json.dumps(BASELINE), encoding="utf-8")
        evaluate(golden, answer, baseline=baseline, provenance=PROVENANCE).assert_thresholds()


if __name__ == "__main__":
    try:
        {function}()
    except AssertionError as failed:
        sys.exit(str(failed))
'''


def repro_text(repro: Repro, file: str) -> str:
    """Return the file, which is to be called *file*."""
    why = "\n".join(finding_line(repro.case_id, finding) for finding in repro.findings)
    title = f"{repro.case_id} of {repro.suite} fails."
    return _TEMPLATE.format(
        python=f"{sys.version_info.major}.{sys.version_info.minor}",
        pins="\n".join(f"#   {json.dumps(pin)}," for pin in repro.pins),
        title=_in_docstring(title), why=_in_docstring(why), run=repro.run_id, file=file,
        golden=_literal(repro.golden), baseline=_literal(json.loads(repro.baseline or "null")),
        answers=_literal(list(repro.answers)), provenance=_literal(dict(repro.provenance)),
        function=f"test_{_identifier(repro.case_id)}",
    )  # fmt: skip


def file_name(case_id: str) -> str:
    """Return what to call the file: what pytest collects only where it is named."""
    return f"repro_{_identifier(case_id)}.py"


def _identifier(case_id: str) -> str:
    name = re.sub(r"\W+", "_", case_id).strip("_") or "case"
    return f"{name}_" if keyword.iskeyword(name) else name


def _in_docstring(text: str) -> str:
    return "\n".join(printable(line) for line in text.splitlines()).replace("\\", "\\\\").replace('"', '\\"')


def _literal(value: object) -> str:
    return pformat(value, width=110, sort_dicts=False)
