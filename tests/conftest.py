"""What all tests share: properties are checked without a clock, as machines are shared and slow ones exist."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("auepora", deadline=None)
settings.load_profile("auepora")
