"""A folder of judge replies, so that the same question to the same model is asked once."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any


class ReplyCache:
    """Replies by server, model, parameters, prompt, schema and repeat.  One small JSON file each; for many writers.

    Files hold the reply and its token counts, nothing of the request: neither prompt nor key.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    @staticmethod
    def key(url: str, body: Mapping[str, Any], repeat: int = 0) -> str:
        """Return the name under which the reply to *body* is kept; *body* has all that is sent, the schema as well."""
        asked = {"url": url, "body": body, "repeat": repeat}
        return sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()

    def get(self, key: str) -> dict[str, Any] | None:
        """Return what was kept; None where there is nothing, or a file that is none of ours."""
        try:
            said = json.loads(self._path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return said if isinstance(said, dict) and isinstance(said.get("reply"), str) else None

    def put(self, key: str, reply: str, usage: Mapping[str, Any]) -> None:
        """Keep a reply; a reader sees the whole file or none."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as stream:
                json.dump({"reply": reply, "usage": dict(usage)}, stream, ensure_ascii=False)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key[2:]}.json"
