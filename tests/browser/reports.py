"""Reports to look at, and how their tables are read."""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pytest_auepora.core.run import Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.regression.cause import CaseCause, Cause, Effect, LeftOut, MetricCause
from pytest_auepora.regression.statistics.intervals import Difference
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.report import OtherRun, Trend

from ..unit.reporting.builders import Case, baseline_of, run_of, system, verdict_of
from ..unit.reporting.page.pages import BAD_ID, CASES, red

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    Show = Callable[..., Page]
Write = Callable[[str, Callable[[], tuple[Any, ...]]], str]
Made = tuple[list[Run], list[Verdict], dict[tuple[str, str], Trend]]

EVIL = '<img src=x onerror=alert(1)></script><script>alert(2)</script><!-- \u2028 "'


def small() -> Made:
    run, verdict = red()
    run.cases["wrong-answer"].scores["helpful"] = Score(
        "number", 0.2, details={"rationale": {"tone": "Much too vague."}}
    )
    past = Trend((OtherRun("r1", "2026-01-01T00:00:00+00:00", {"mrr@10": 0.25}),), run_of(CASES))
    return [run], [verdict], {(run.path, run.variant): past}


def explained() -> Made:
    """A run that is worse by both parts, most by its generator."""
    run, verdict = red()
    effect = Effect(0.9, 0.47, 0.54)
    found = CaseCause("generator", "token_f1", {"token_f1": effect}, calls=5, answer="Within 30 days of purchase.")
    parts = (Difference(value, value - 0.09, value + 0.09, 12, 12, 12, 0.05) for value in (-0.36, -0.07))
    metric = MetricCause(12, effect, *parts)
    cases = {"wrong-answer": found, BAD_ID: CaseCause("retrieval", fell=("recall@5",))}
    left_out: dict[str, LeftOut] = {"steady": "without texts"}
    verdict.cause = Cause("both", "token_f1", cases, {"token_f1": metric}, {"recall@5": -0.25}, 8, left_out)
    return [run], [verdict], {}


def large() -> Made:
    rng = random.Random(7)
    cases = [
        Case(f"case-{i:04}", tags=[f"tag-{i % 7}"], labels={"scenario": ("typo", "plain")[i % 2]}, line=i + 5,
             got=["refunds.md"] if rng.random() < 0.8 else ["index.md", "refunds.md"])
        for i in range(1000)
    ]  # fmt: skip
    baseline = baseline_of(run_of([case.with_(got=["refunds.md"]) for case in cases]))
    run = run_of(cases, baseline=baseline)
    return [run], [verdict_of(run, baseline=baseline)], {}


def evil() -> Made:
    case = Case("evil", query=EVIL, answer=EVIL, reference=f"other {EVIL}", got=[EVIL], tags=[EVIL],
                labels={"scenario": EVIL}, thresholds={"recall@5": 0.5})  # fmt: skip
    run = run_of([case, case.with_(id=EVIL, error=f"E: {EVIL}")], owner=EVIL)
    return [run], [verdict_of(run)], {}


def several() -> Made:
    runs = [system("bm25", 0.7, 12), system("hybrid", 0.95, 12, seed=2)]
    return runs, [verdict_of(run) for run in runs], {}


def long() -> Made:
    runs, verdicts, past = small()
    (key, one), *_ = past.items()
    many = tuple(OtherRun(f"r{i}", "2026-01-01T00:00:00+00:00", {"mrr@10": 0.25}) for i in range(18))
    return runs, verdicts, {key: Trend(many, one.previous)}


def talk() -> Made:
    """Turns of two conversations, among each other."""
    cases = [
        Case(f"{name}-{turn}", labels={"conversation": name}, line=turn * 10, got=[["x.md"], ["refunds.md"]][turn % 2])
        for turn in (1, 2)
        for name in ("hire", "repair")
    ]
    run = run_of([*cases, Case("alone", line=40)])
    return [run], [verdict_of(run)], {}


READY = "main[aria-busy=false]"


def ids(page: Page) -> list[str]:
    found: list[str] = page.locator("tr.case .opener").all_text_contents()
    return found


def heading(page: Page, name: str) -> Locator:
    return page.locator("table.list thead th", has_text=name)


def opened(page: Page, name: str) -> Page:
    """Open the case called *name*."""
    page.get_by_role("link", name=name, exact=True).last.click()
    page.locator("h1#case-title", has_text=name).wait_for()
    return page


def axe_findings(page: Page) -> list[Any]:
    """What axe-core complains about, with all that is folded opened."""
    for part in page.locator("main details").all():
        part.evaluate("part => { part.open = true; }")
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found: list[Any] = page.evaluate(
        "axe.run().then(seen => seen.violations.map(v => [v.id, v.nodes.map(n => n.html.slice(0, 200))]))"
    )
    return found
