"""``auepora view``: the stored runs as a page on this machine."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from pathlib import Path

from ...errors import MissingExtraError
from ...history.settings import project_root
from ..arguments import add_shared, whole_number
from ..common import PASSED, open_history

PORT = 8642
"""Taken where it is free; then the address is the same every day."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add, labels = parser.add_argument, "folder of the labels that are given there (default: labels)"
    add("--port", type=whole_number(0, 65535), default=0, metavar="N", help=f"port (default: {PORT}, or a free one)")
    add("--open", action="store_true", help="open the page in the browser")
    add("--labels", type=Path, metavar="DIR", help=labels)
    add_shared(parser, "--history")


def run(args: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    try:
        from .app import app_of, open_socket, serve
    except ImportError:
        raise MissingExtraError("auepora view", "ui") from None
    from .library import Library

    root = project_root(Path.cwd())
    library = Library(open_history(args.history), root, args.labels or root / "labels")
    library.store.exists()  # raises for a history that cannot be read, before the page opens
    listening = open_socket(args.port, PORT)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}/"
    print(f"{address} shows the runs of {library.store.name}; Ctrl-C ends it", file=sys.stderr)
    if args.open:
        webbrowser.open(address)
    serve(app_of(library), listening)
    return PASSED
