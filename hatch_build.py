"""Metadata that waits for an address: ``AUEPORA_REPOSITORY=https://…/pytest-auepora python -m build``.

With it, the links of the README hold on PyPI, and messages name pages by URL; without it, links are plain text there
and messages name ``auepora help``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE = "AUEPORA_REPOSITORY"


class AddressHook(MetadataHookInterface):
    """Fills in the fields that pyproject.toml calls dynamic: the README, and the project's URLs."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Change *metadata* in place."""
        address = os.environ.get(VARIABLE, "").rstrip("/")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        files = f"{address}/blob/v{metadata['version']}" if address else ""
        metadata["readme"] = {"content-type": "text/markdown", "text": readme(text, files)}
        if address:
            metadata["urls"] = {
                "Repository": address,
                "Documentation": f"{files}/docs/pages",
                "Changelog": f"{files}/CHANGELOG.md",
                "Issues": f"{address}/issues",
            }


def readme(text: str, files: str) -> str:
    """Return *text* with links into the repository led to *files*, its address; without one, as their words alone.

    Directives of the tests, which PyPI would leave out as well, are removed.
    """
    text = re.sub(r"<!-- run:.*?-->\n+", "", text)
    target = r"\[([^\]]+)\]\((?!https?:|#)([^)]+)\)"
    return re.sub(target, rf"[\1]({files}/\2)" if files else r"\1", text)
