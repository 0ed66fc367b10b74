"""Locks of modules and classes that are free again in a forked child process."""

from __future__ import annotations

import os
import threading


def free_in_child(owner: object, name: str) -> None:
    """Replaces a re-entrant lock, an attribute of a module or a class, by a free one in every child that is forked.

    A child has only the thread that forked, so a lock that another thread of the parent held would never be released.
    The attribute is replaced, rather than the lock reset, because the thread that forks may be inside a `with` block of
    the lock, whose end releases the lock that the block began with. The guarded state must be consistent between any
    two steps of such a block.
    """

    def renew() -> None:
        setattr(owner, name, threading.RLock())

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=renew)
