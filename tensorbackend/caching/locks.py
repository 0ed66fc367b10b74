"""Locks of modules that are free again in a forked child process."""

from __future__ import annotations

import os
import sys
from threading import RLock


def module_lock(module: str, name: str = "_lock") -> RLock:
    """A re-entrant lock for the attribute `name` of a module, which every forked child replaces by a free one.

    A child has only the thread that forked, so a lock that another thread of the parent held would never be released.
    The attribute is replaced, rather than the lock reset, because the thread that forks may be inside a `with` block of
    the lock, whose end releases the lock that the block began with. The guarded state must be consistent between any
    two steps of such a block.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: setattr(sys.modules[module], name, RLock()))
    return RLock()
