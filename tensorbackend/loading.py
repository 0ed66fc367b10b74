"""Imports the modules that declare ops. `import tensorbackend` leaves out those that many programs never need.

A table of ops that lacks a name, or lists all names, calls `load_ops` first. So its readers always see every op.
"""

from __future__ import annotations

from collections.abc import Callable

_loaders: list[Callable[[], None]] = []


def ops_loaded_by(load: Callable[[], None]) -> None:
    """Registers a function that imports the modules that declare ops."""
    _loaders.append(load)


def load_ops() -> None:
    """Imports the modules that declare ops, once."""
    for load in tuple(_loaders):
        load()
    _loaders.clear()
