"""What the library remembers: bounded memos, the keys of their entries, and locks that are free in a forked process.

An interrupt does not leave these locks held.
"""

from __future__ import annotations

import os
import sys
from _thread import RLock
from contextlib import suppress


class Lock(RLock):  # type: ignore[misc] # final in the stubs, not in Python
    """A re-entrant lock that is never left held by an interrupt at the beginning of a `with` block.

    Python 3.14 and newer may raise `KeyboardInterrupt` after `__enter__` of a lock has taken it and before the block
    begins, so that nothing releases it and other threads wait for good. In a method written in Python, the interrupt
    comes before the method returns, where the lock can be released; the next instruction is that of the block.
    `__exit__` stays the lock's own, as an interrupt could come before the first statement of a method.

    Examples
    --------
    >>> with Lock() as held:
    ...     held
    True
    """

    def __enter__(self, blocking: bool = True, timeout: float = -1) -> bool:
        try:
            return self.acquire(blocking, timeout)
        except BaseException:
            with suppress(RuntimeError):  # raised where the wait for the lock was interrupted
                self.release()
            raise


def module_lock(module: str, name: str = "_lock") -> Lock:
    """A lock for the attribute `name` of a module, which every forked child replaces by a free one.

    A child has only the thread that forked, so a lock that another thread of the parent held would never be released.
    The attribute is replaced, rather than the lock reset, because the thread that forks may be inside a `with` block of
    the lock, whose end releases the lock that the block began with. The guarded state must be consistent between any
    two steps of such a block.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: setattr(sys.modules[module], name, Lock()))
    return Lock()
