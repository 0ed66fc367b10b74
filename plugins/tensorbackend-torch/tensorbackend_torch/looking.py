"""Whether kernels may look at the elements that they get: not while PyTorch traces them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Trace(threading.local):
    """Whether a thread traces."""

    runs = False


_trace = _Trace()


def may_look() -> bool:
    """Whether payloads have elements. In a trace kernels take the way that serves all elements."""
    return not _trace.runs


@contextmanager
def tracing() -> Iterator[None]:
    """A block in which payloads have no elements. One is never inside another."""
    _trace.runs = True
    try:
        yield
    finally:
        _trace.runs = False
