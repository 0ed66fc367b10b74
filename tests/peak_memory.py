"""The most memory that Python allocates during a call."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any


def peak_memory(
    function: Callable[..., object], arguments: Callable[[], tuple[Any, ...]] = tuple, calls: int = 1
) -> int:
    """Return the most bytes allocated during a call, with its arguments, which `arguments` creates.

    Of several calls it is the least: a thread that has run a block may hold its arrays a moment longer, or not.
    """
    return min(_peak_of_one_call(function, arguments) for _ in range(calls))


def _peak_of_one_call(function: Callable[..., object], arguments: Callable[[], tuple[Any, ...]]) -> int:
    tracemalloc.start()
    try:
        values = arguments()
        tracemalloc.reset_peak()
        function(*values)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
