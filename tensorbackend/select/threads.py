"""The threads that share work on large arrays."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..declarations.argument_errors import check_arguments
from ..errors import ArgumentError, expected

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_chosen: int | None = None
_pool: tuple[int, ThreadPoolExecutor] | None = None


@check_arguments
def threads() -> int:
    """Return the number of threads that share this library's own work on large arrays.

    Returns
    -------
    int
        The number that `set_threads` has set, else that of the environment variable `TENSORBACKEND_THREADS`, else the
        number of processors that this process may use.

    Examples
    --------
    >>> tb.threads() >= 1
    True
    """
    if _chosen is not None:
        return _chosen
    said = os.environ.get("TENSORBACKEND_THREADS", "")
    if said.isdecimal() and int(said):
        return int(said)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@check_arguments
def set_threads(count: int | None) -> None:
    """Set the number of threads that share this library's own work on large arrays, for the process.

    That work is the blocks of `tb.jit` on NumPy. The underlying libraries have their own settings, such as
    `OMP_NUM_THREADS` of NumPy's BLAS. Results do not depend on the number.

    Parameters
    ----------
    count : int or None
        At least 1; `None` for the default.

    Raises
    ------
    ArgumentError
        For a count that is not an integer of at least 1.

    Examples
    --------
    >>> tb.set_threads(1)
    >>> tb.threads()
    1
    >>> tb.set_threads(None)
    """
    global _chosen
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        raise ArgumentError(expected("at least 1 thread, or None", count=count))
    _chosen = count


def parallel_for(length: int, height: int, work: Callable[[int, int], Any]) -> None:
    """Processes the rows [0, length) in parts, one for each thread, which begin at multiples of `height`.

    Where the system starts no more threads, those that there are process all parts, this one alone if need be.

    Parameters
    ----------
    length : int
        The number of rows.
    height : int
        The rows of a block, which one thread processes as a whole.
    work : callable
        Processes the rows from a start up to, but excluding, an end. Its errors are raised here.
    """
    blocks = -(-length // height)
    parts = min(threads(), blocks)
    if parts == 1:
        work(0, length)
        return
    ends = [min(length, number * blocks // parts * height) for number in range(parts + 1)]
    left = [*pairwise(ends)]

    def work_off() -> None:
        while True:
            try:
                start, end = left.pop(0)
            except IndexError:  # another thread has taken the last part
                return
            work(start, end)

    waiting = []
    try:
        with suppress(RuntimeError):  # no thread can be started
            for _ in range(parts - 1):
                waiting.append(_executor().submit(work_off))
        work_off()
    except BaseException:
        left.clear()
        raise
    finally:
        errors = [future.exception() for future in waiting if not future.cancel()]
    for error in errors:
        if error is not None:
            raise error


def _executor() -> ThreadPoolExecutor:
    """The threads besides the calling one; a new pool if their number has changed."""
    from concurrent.futures import ThreadPoolExecutor  # slow to import, and few programs need it

    global _pool
    worker_count = max(threads() - 1, 1)
    pool = _pool
    if pool is None or pool[0] != worker_count:
        pool = _pool = worker_count, ThreadPoolExecutor(worker_count, thread_name_prefix="tensorbackend")
    return pool[1]


def _forget_threads() -> None:
    """Drops the pool in a forked process, which has none of the threads of its parent."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
