"""The reference pages, each made from the code it describes: file name → what makes it."""

from __future__ import annotations

from collections.abc import Callable

from .commands import commands_page
from .golden_file import golden_file_page
from .llms import llms_page
from .metrics import metrics_page
from .options import options_page

__all__ = ["PAGES"]

PAGES: dict[str, Callable[[], str]] = {
    "metrics.md": metrics_page,
    "options.md": options_page,
    "commands.md": commands_page,
    "golden-file.md": golden_file_page,
    "../llms.txt": llms_page,  # last, as it reads the others
}
