"""What other packages may implement: every hook is documented and named alike."""

from __future__ import annotations

import inspect

from pytest_auepora import hookspecs


def test_every_hook_is_documented_and_has_the_prefix() -> None:
    hooks = {
        n: fn for n, fn in inspect.getmembers(hookspecs, inspect.isfunction) if fn.__module__ == hookspecs.__name__
    }
    public = {name: fn for name, fn in hooks.items() if not name.startswith("_")}
    assert public
    assert [name for name in public if not name.startswith("pytest_auepora_")] == []
    assert [name for name, fn in public.items() if not (fn.__doc__ or "").strip()] == []
