"""Writes the reference pages from the code: ``python docs/generate.py`` (``--check`` only compares)."""

from __future__ import annotations

import argparse
from pathlib import Path

from reference_pages import PAGES

FOLDER = Path(__file__).resolve().parent / "pages" / "reference"


def main() -> int:
    """Write the pages, or say which are stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page is stale")
    check: bool = parser.parse_args().check
    stale = []
    for name, make in PAGES.items():
        path, text = FOLDER / name, make()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    print(f"{'stale' if check else 'written'}: {', '.join(stale) or 'nothing'}")
    return int(bool(stale) and check)


if __name__ == "__main__":
    raise SystemExit(main())
