"""PhiML's tests that fail only with our backends, with the reasons. A listed test that no longer fails is an error."""

from __future__ import annotations

EXCEPTIONS: dict[tuple[str, str], str] = {}
"""The reason for each run and test. There are none."""
