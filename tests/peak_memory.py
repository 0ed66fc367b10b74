"""The most memory that Python allocates during a call."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any


def peak_memory(function: Callable[..., object], arguments: Callable[[], tuple[Any, ...]] = tuple) -> int:
    """Return the most bytes allocated during a call, with its arguments, which `arguments` creates."""
    tracemalloc.start()
    try:
        values = arguments()
        tracemalloc.reset_peak()
        function(*values)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
