"""The list of pages for language models, as https://llmstxt.org describes it: title, link, first sentence."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

__all__ = ["llms_page"]

DOCS = Path(__file__).resolve().parents[1]


def llms_page() -> str:
    """Return the text of ``llms.txt``."""
    site = yaml.safe_load((DOCS / "mkdocs.yml").read_text(encoding="utf-8"))
    lines = [f"# {site['site_name']}", "", f"> {first_sentence(DOCS / 'pages' / 'index.md')}", ""]
    lines += ["Each page is also printed by `auepora help TOPIC`, where TOPIC is the name of its file.", ""]
    for entry in [{"Start": [one for one in site["nav"] if isinstance(one, str)]}, *site["nav"]]:
        if isinstance(entry, dict):
            ((title, paths),) = entry.items()
            lines += [f"## {title}", "", *map(_link, paths), ""]
    return "\n".join(lines)


def _link(path: Any) -> str:
    file = DOCS / "pages" / str(path)
    title = file.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
    sentence = first_sentence(file)
    return f"- [{title}]({path})" + (f": {sentence}" if sentence else "")


def first_sentence(page: Path) -> str:
    """Return the first sentence of the text of a page; nothing where the page was generated."""
    text = re.sub(r"<!--.*?-->|^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    paragraphs = [" ".join(block.split()) for block in text.split("\n\n") if block.strip()]
    paragraph = next(block for block in paragraphs if not block.startswith(("#", "|")))
    plain = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", paragraph).replace("**", "")
    found = re.match(r".*?[.?!](?= |$)", plain)
    sentence = found[0] if found else plain
    return "" if sentence.startswith("Generated") else sentence
