"""What the parts of the plugin that are registered with pytest have in common."""

from __future__ import annotations

__all__ = ["OnlyHooks"]


class OnlyHooks:
    """Base of a registered part: ``dir()`` of it shows its hooks and nothing else.

    pluggy looks at every name of a plugin for hooks, and pytest once more for fixtures, which takes longer than all
    else that comes with a registration; the names of a plain object are thirty.
    """

    __slots__ = ()

    def __dir__(self) -> list[str]:
        return list({name for kind in type(self).__mro__ for name in vars(kind) if name.startswith("pytest_")})
