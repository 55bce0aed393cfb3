"""GitLab: the code-quality report that merge requests show."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from ...core.run import Run
from ...errors import Problem
from ...regression.verdict import Verdict
from ..findings import Finding, findings
from ..text import printable

_SEVERITY = {
    "mistake": "blocker",
    "errored": "blocker",
    "newly failing": "critical",
    "baseline": "critical",
    "still failing": "minor",
}


def code_quality(
    runs: Sequence[Run], verdicts: Sequence[Verdict], *, prefix: str = "", mistakes: Sequence[Problem] = ()
) -> str:
    """Return the findings as GitLab's code-quality JSON.

    The fingerprint of a finding does not depend on its line or its numbers, so GitLab knows it again in the next
    run.  *prefix* leads from the root of the repository to the directory that paths are relative to.
    """
    issues = [_issue(f, prefix) for f in findings(runs, verdicts, mistakes)]
    return json.dumps(issues, indent=1, ensure_ascii=False) + "\n"


def _issue(finding: Finding, prefix: str) -> dict[str, object]:
    severity = "info" if finding.severity == "warning" else _SEVERITY.get(finding.kind, "major")
    return {
        "description": printable(finding.told),
        "check_name": f"auepora/{finding.kind.replace(' ', '-')}",
        "fingerprint": hashlib.sha256(finding.key.encode("utf-8", "surrogatepass")).hexdigest(),
        "severity": severity,
        "location": {"path": finding.path_from(prefix), "lines": {"begin": max(finding.line, 1)}},
    }
