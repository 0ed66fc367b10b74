"""Locks of modules and classes that are free again in a forked child process."""

from __future__ import annotations

import os
import threading


def free_in_child(owner: object, name: str) -> None:
    """Exchanges a re-entrant lock, an attribute of a module or a class, in every child that is forked.

    Of a parent's threads a child has one alone, so that a lock of another would never be released. The attribute is
    exchanged rather than the lock reset: the thread that forks may be inside its block, whose end releases the lock
    that the block began with. The guarded state must be consistent between any two steps of the block.
    """

    def renew() -> None:
        setattr(owner, name, threading.RLock())

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=renew)
