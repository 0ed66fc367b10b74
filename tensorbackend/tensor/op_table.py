"""The public functions by name, which the methods and operators of a tensor look up, and the modules that declare ops.

`import tensorbackend` leaves out modules that many programs never need. A table of ops that lacks a name, or lists all
names, calls `load_ops` first. So its readers always see every op.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_loaders: list[Callable[[], None]] = []


def ops_loaded_by(load: Callable[[], None]) -> None:
    """Registers a function that imports the modules that declare ops."""
    _loaders.append(load)


def load_ops() -> None:
    """Imports the modules that declare ops, once."""
    for load in tuple(_loaders):
        load()
    _loaders.clear()


class _PublicFunctions(dict[str, Callable[..., Any]]):
    """Public functions by name, which cannot be typed more closely; `tensor.bind` enters them."""

    def __missing__(self, name: str) -> Callable[..., Any]:
        load_ops()
        if name in self:
            return self[name]
        raise KeyError(name)


ops: dict[str, Callable[..., Any]] = _PublicFunctions()
