"""The prompts of the judged metrics, one text file each.  Their text is part of the fingerprint.

A file begins with ``version: 1`` and a line ``---``; the rest is the prompt, with ``{{name}}`` where something goes in.
Texts to judge go in between tags of their name.  A file of the same name in the folder ``prompts`` of the judge's
settings takes the place of ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from ...base.files import read_text
from ...base.text import did_you_mean
from ...errors import MetricError
from .critic import UNIT
from .settings import prompts_in_use

_TEMPLATES = Path(__file__).parent / "templates"
_HOLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_HEAD = re.compile(r"version: *(?P<version>\S+) *\n---\n")


@dataclass(frozen=True)
class Prompt:
    """One file: its version, and the text with holes."""

    version: str
    text: str

    @property
    def fingerprint(self) -> str:
        """Version and hash of the text: another prompt measures something else."""
        return f"{self.version}:{fingerprint(self.text)}"

    def fill(self, words: Mapping[str, str], /, **material: str) -> str:
        """Return the prompt with *words* as they are, and each text of *material* between tags of its name.

        What is not given stays a hole.
        """
        tags = "|".join(material)
        blocks = {name: f"<{name}>\n{_escape_tags(text, tags)}\n</{name}>" for name, text in material.items()}
        values = {"material": "\n\n".join(blocks.values()), **blocks, **words}
        return _HOLE.sub(lambda hole: values.get(hole[1], hole[0]), self.text)


def load_prompt(name: str) -> Prompt:
    """Return the prompt called *name*, the project's own or ours; raises `MetricError` with what is wrong and where."""
    ours, folder = _load(_TEMPLATES / f"{name}.txt", 0), prompts_in_use()
    if folder is None or not (file := folder / f"{name}.txt").exists():
        return ours
    prompt = _load(file, file.stat().st_mtime_ns)
    hole_names = set(_HOLE.findall(ours.text))
    for hole in _HOLE.finditer(prompt.text):
        if hole[1] not in hole_names:
            text_before = file.read_text(encoding="utf-8").partition(hole[0])[0]
            at = f"{file}:{text_before.count(chr(10)) + 1}:{len(text_before) - text_before.rfind(chr(10))}"
            raise MetricError(f"{at}: unknown {hole[0]}{did_you_mean(hole[1], sorted(hole_names))}")
    if missing := sorted(hole_names - set(_HOLE.findall(prompt.text))):
        raise MetricError(f"{file}:1:1: the prompt lacks {', '.join(f'{{{{{hole_name}}}}}' for hole_name in missing)}")
    return prompt


def check_prompts() -> None:
    """Read the project's own prompts; raises `MetricError` for one that is wrong, or has the name of none of ours."""
    names = sorted(file.stem for file in _TEMPLATES.glob("*.txt"))
    folder = prompts_in_use()
    if folder is not None and not folder.is_dir():
        raise MetricError(f"{folder}: there is no such folder of prompts")
    for file in sorted(folder.glob("*.txt")) if folder is not None else ():
        if file.stem not in names:
            raise MetricError(f"{file}: unknown prompt{did_you_mean(file.stem, names)}; available: {', '.join(names)}")
        load_prompt(file.stem)


@lru_cache(maxsize=64)
def _load(file: Path, _changed: int) -> Prompt:
    raw = read_text(file, MetricError).replace("\r\n", "\n")
    if (head := _HEAD.match(raw)) is None:
        raise MetricError(f"{file}:1:1: a prompt begins with `version: 1` and a line `---`, found {raw[:40]!r}")
    return Prompt(head["version"], raw[head.end() :].strip())


def label_prompt(task: str, /, **material: str) -> str:
    """Ask a yes-or-no question about named texts."""
    return load_prompt("label").fill({"asked": task, "reply": UNIT.reply}, **material)


def number_texts(texts: Sequence[str]) -> str:
    """Return *texts* with their numbers, from 1."""
    return "\n\n".join(f"[{i}] {text}" for i, text in enumerate(texts, 1)) or "(nothing was retrieved)"


def _escape_tags(text: str, tags: str) -> str:
    """Return *text* with such tags made harmless, as they would end its block early."""
    return re.sub(rf"<(?=\s*/?\s*(?:{tags})\s*>)", "<\u200b", text, flags=re.IGNORECASE)


def fingerprint(*prompts: str) -> str:
    """Return a short hash of prompt texts."""
    return sha256("\0".join(prompts).encode()).hexdigest()[:16]
