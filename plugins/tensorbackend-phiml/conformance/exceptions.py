"""Tests of PhiML's that fail with ours and not without, with the reason; a row that no longer fails is an error."""

from __future__ import annotations

EXCEPTIONS: dict[tuple[str, str], str] = {}
"""By run and test: none is known."""
