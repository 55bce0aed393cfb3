"""Popular plugins, and what makes each of them do something."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["PLUGINS", "Plugin"]


class Plugin(NamedTuple):
    """A package and the options that make it work.

    Attributes:
        needs: other packages whose plugins have to be loaded as well.
        report: the file that has to tell of a failed gate; ``stdout`` for what is printed.
        told: what has to be in it.
        cases: how often each golden case is run; 0 where not all of them are.
        ini: a line of the settings.
        known: why it cannot run golden cases, where that is so.
    """

    package: str
    options: str = ""
    report: str = ""
    told: str = "recall@1 0.0000 is not"
    needs: str = ""
    cases: int = 1
    ini: str = ""
    known: str = ""


PLUGINS = (
    Plugin("allure-pytest", "--alluredir=out", "out"),
    Plugin("anyio"),
    Plugin("hypothesis", "--hypothesis-show-statistics"),
    Plugin("nbmake", "--nbmake"),
    Plugin("pytest-aiohttp", needs="pytest-asyncio", ini="asyncio_mode = auto"),
    Plugin("pytest-asyncio", ini="asyncio_mode = auto"),
    Plugin("pytest-azurepipelines", "--no-coverage-upload", "test-output.xml", 'failed="2"', needs="pytest-nunit"),
    Plugin("pytest-bdd", "--cucumber-json=out.json"),
    Plugin("pytest-benchmark", "--benchmark-disable"),
    Plugin("pytest-cases"),
    Plugin("pytest-check"),
    Plugin("pytest-clarity"),
    Plugin("pytest-cov", "--cov=shop"),
    Plugin("pytest-csv", "--csv=out.csv", known="reads node ids of .py files alone"),
    Plugin("pytest-custom-exit-code", "--suppress-no-test-exit-code"),
    Plugin("pytest-datadir"),
    Plugin("pytest-dependency"),
    Plugin("pytest-dotenv"),
    Plugin("pytest-durations", "--pytest-durations=3"),
    Plugin("pytest-env", ini="env = X=1"),
    Plugin("pytest-examples"),
    Plugin("pytest-flakefinder", "--flake-finder --flake-runs=2", cases=2),
    Plugin("pytest-forked", "--forked"),
    Plugin("pytest-freezer"),
    Plugin("pytest-github-actions-annotate-failures"),
    Plugin("pytest-html", "--html=out.html --self-contained-html", "out.html", needs="pytest-metadata"),
    Plugin("pytest-icdiff"),
    Plugin("pytest-instafail", "--instafail"),
    Plugin("pytest-json-report", "--json-report --json-report-file=out.json", "out.json", needs="pytest-metadata"),
    Plugin("pytest-lazy-fixtures"),
    Plugin("pytest-md", "--md=out.md"),
    Plugin("pytest-metadata", "--metadata a b"),
    Plugin("pytest-mock"),
    Plugin("pytest-nunit", "--nunit-xml=out.xml", "out.xml", 'failed="2"'),  # it lists collected tests alone
    Plugin("pytest-order", "--order-scope=module"),
    Plugin("pytest-picked"),
    Plugin("pytest-pretty"),
    Plugin("pytest-profiling", "--profile"),
    Plugin("pytest-progress", "--show-progress"),
    Plugin("pytest-random-order", "--random-order"),
    Plugin("pytest-randomly"),
    Plugin("pytest-recording", "--block-network"),
    Plugin("pytest-regressions", needs="pytest-datadir"),
    Plugin("pytest-repeat", "--count=2", cases=2),
    Plugin("pytest-reportlog", "--report-log=out.json", "out.json"),
    Plugin("pytest-rerunfailures", "--reruns=1"),
    Plugin("pytest-retry", "--retries=1"),
    Plugin("pytest-rich", "--rich"),
    Plugin("pytest-shard", "--num-shards=2 --shard-id=0", cases=0),
    Plugin("pytest-snapshot"),
    Plugin("pytest-socket", "--disable-socket --allow-unix-socket"),
    Plugin("pytest-split", "--splits=2 --group=1", cases=0),
    Plugin("pytest-sugar"),
    Plugin("pytest-tap", "--tap", "stdout"),
    Plugin("pytest-testmon", "--testmon"),
    Plugin("pytest-timeout", "--timeout=60"),
    Plugin("pytest-trio"),
    Plugin("pytest-xdist", "-n 2"),
    Plugin("syrupy"),
    Plugin("teamcity-messages", "--teamcity", "stdout"),
)
