"""A compressed block of a history, made by hand."""

from __future__ import annotations

from pytest_auepora.history.codec import BlockWriter


def block_of(*lines: bytes) -> bytes:
    """Return the block that has *lines*, which need be no JSON."""
    blocks = BlockWriter()
    for line in lines:
        blocks.add(line)
    (made,) = blocks.finish()
    return made
