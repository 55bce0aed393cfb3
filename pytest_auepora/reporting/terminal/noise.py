"""What is told about repeats: how often cases were asked, who is flaky, and where the noise comes from."""

from __future__ import annotations

from ...core.run import Run
from ...regression.verdict import Verdict
from ..numbers import plural

__all__ = ["flaky_line", "noise_lines", "repeats_line"]

_MOST_FLAKY = 10
_MOST_METRICS = 4


def repeats_line(run: Run) -> str:
    """Return ``each case asked 5 times, seed 7``; empty where nothing was repeated or seeded."""
    repeated = any(run.having("repeats"))
    times = sorted({c.repeats for c in run.cases.values() if c.state in ("passed", "failed")}) if repeated else []
    said = []
    if times and times[-1] > 1:
        said.append(
            f"each case asked {times[-1]} times" if len(times) == 1 else f"asked {times[0]} to {times[-1]} times"
        )
    if (seed := run.provenance.get("seed")) is not None:
        said.append(f"seed {seed}")
    return ", ".join(said)


def flaky_line(verdict: Verdict, most: int = _MOST_FLAKY) -> str:
    """Return ``2 flaky cases: late-return (passes in 2 of 5 repeats), …``; empty without any."""
    told = [f"{case_id} ({why.split(' and ')[0]})" for case_id, why in verdict.flaky.items()]
    more = [f"and {len(told) - most} more"] if len(told) > most else []
    return f"{plural(len(told), 'flaky case')}: {', '.join([*told[:most], *more])}" if told else ""


def noise_lines(verdict: Verdict, most: int = _MOST_METRICS) -> list[str]:
    """Return one line for each metric that varied between repeats, those with most to gain from more of them first."""
    alike: dict[str, list[str]] = {}
    for name, split in sorted(verdict.noise.items(), key=lambda item: -(item[1].most_shrink or 0.0)):
        alike.setdefault(str(split), []).append(name)
    told = [f"{', '.join(names)}: {split}" for split, names in alike.items()]
    left = sum(len(names) for names in list(alike.values())[most:])
    return told[:most] + ([f"{plural(left, 'other metric')} varied as well"] if left else [])
