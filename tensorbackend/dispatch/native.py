"""The distribution tensorbackend-native, which does some things in C where it is installed."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, Final


def _find() -> Any | None:
    if os.environ.get("TENSORBACKEND_NATIVE") == "0":
        return None
    try:
        return import_module("tensorbackend_native")
    except ImportError:
        return None


NATIVE: Final = _find()
"""The package `tensorbackend_native`; `None` without it, and where `TENSORBACKEND_NATIVE` is 0."""
