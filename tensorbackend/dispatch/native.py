"""The distribution tensorbackend-native, which does some things in C where it is installed."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from typing import Any, Final

from ..errors import expected

INTERFACE: Final = 1
"""What this library knows of the package. A change of `Call`, `configure` or `encrypt` raises it, there too."""


def _find() -> Any | None:
    if os.environ.get("TENSORBACKEND_NATIVE") == "0":
        return None
    try:
        package = import_module("tensorbackend_native")
    except ImportError:
        return None
    found = getattr(package, "INTERFACE", None)
    if found == INTERFACE:
        return package
    remedy = "install both from one release or checkout; until then nothing runs in C"
    warnings.warn(expected(f"tensorbackend-native of interface {INTERFACE}", remedy, interface=found), stacklevel=2)
    return None


NATIVE: Final = _find()
"""The package `tensorbackend_native`; `None` without it, and where `TENSORBACKEND_NATIVE` is 0."""
