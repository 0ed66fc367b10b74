"""The most memory that Python allocates during a call."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import tensorbackend as tb


def peak_memory(
    function: Callable[..., object], arguments: Callable[[], tuple[Any, ...]] = tuple, *, calls_before: int = 0
) -> int:
    """Return the most bytes allocated during a call, with its arguments, which `arguments` creates.

    `calls_before` calls make programs, which do not count. All run in one thread: another one that has run a block may
    hold its arrays for a moment longer.
    """
    tb.set_threads(1)
    try:
        for _ in range(calls_before):
            function(*arguments())
        gc.collect()
        tracemalloc.start()
        values = arguments()
        tracemalloc.reset_peak()
        function(*values)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        tb.set_threads(None)
