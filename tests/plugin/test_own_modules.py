"""What the plugin imports of its own package is found by Python itself; what else is rewritten stays so."""

from __future__ import annotations

import sys

import pytest

PROGRAM = """
import sys
import pytest

class Seen:
    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config):
        # as where the plugin is installed as other plugins are, and not from a checkout
        config.pluginmanager.rewrite_hook.mark_rewrite("pytest_auepora", "helper")

before = list(sys.meta_path)
code = pytest.main(["-q", "-W", "ignore::pytest.PytestAssertRewriteWarning", *sys.argv[1:]], plugins=[Seen()])
for name, module in sorted(sys.modules.items()):
    if name == "helper" or name.startswith("pytest_auepora.") and not name.endswith((".entry", ".hooks", "plugin")):
        print("\\nLOADER", name, type(module.__loader__).__name__)
print("FINDERS", sys.meta_path == before)
raise SystemExit(code)
"""
CONFTEST = """
import pytest

@pytest.fixture
def rag():
    import helper
    with pytest.raises(AssertionError, match="assert 1 == 2"):
        helper.check(1, 2)
    return lambda query: ("a", ["c"])
"""
TEST = """
def test_x(rag, auepora):
    assert auepora.evaluate("a.golden.yaml", rag)["recall@5"] == 1
"""


@pytest.mark.parametrize("args", [("--auepora", "-o", "auepora_history=off", "a.golden.yaml"), ("test_x.py",)])
def test_modules_of_the_package_alone_pass_the_hook_that_rewrites_assertions(
    pytester: pytest.Pytester, args: tuple[str, ...]
) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(program=PROGRAM, helper="def check(a, b):\n    assert a == b\n", test_x=TEST)
    (pytester.path / "a.golden.yaml").write_text(
        "metrics: [recall@5]\ncases:\n  - {id: a, query: b, relevant_docs: [c]}\n"
    )
    result = pytester.run(sys.executable, "program.py", *args)
    assert result.ret == 0, str(result.stdout) + str(result.stderr)
    loaders = dict(line.split()[1:] for line in result.outlines if line.startswith("LOADER"))
    assert loaders.pop("helper") == "AssertionRewritingHook"
    assert loaders.pop("pytest_auepora.pytest_plugin.own_modules") == "AssertionRewritingHook"
    assert "pytest_auepora.metrics.retrieval_basic" in loaders
    assert set(loaders.values()) == {"SourceFileLoader"}
    assert "FINDERS True" in result.outlines
