"""The import of the modules that declare ops, of which `import tensorbackend` leaves out what many programs never need.

A table of ops that is asked for more than it holds calls `load_ops`, so that it is complete to everyone who reads it.
"""

from __future__ import annotations

from collections.abc import Callable

_loaders: list[Callable[[], None]] = []


def ops_loaded_by(load: Callable[[], None]) -> None:
    """Enters what imports the modules that declare ops."""
    _loaders.append(load)


def load_ops() -> None:
    """Imports the modules that declare ops, once; while the package itself is being imported there is nothing to do."""
    for load in tuple(_loaders):
        load()
    _loaders.clear()
