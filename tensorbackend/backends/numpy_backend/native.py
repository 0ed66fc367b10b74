"""The distribution tensorbackend-native, which computes some things in C where it is installed."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any


def find_native() -> Any | None:
    """The package `tensorbackend_native`; `None` without it, and where `TENSORBACKEND_NATIVE` is 0."""
    if os.environ.get("TENSORBACKEND_NATIVE") == "0":
        return None
    try:
        return import_module("tensorbackend_native")
    except ImportError:
        return None
