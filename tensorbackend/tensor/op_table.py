"""The public functions by name, which the methods and operators of a tensor look up, and the modules that declare ops.

`import tensorbackend` does not import modules that many programs never need. A table of ops calls `load_ops` before it
reports a missing name or lists all names. So its readers always see every op.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..registration import SuppliedFunction

load_ops: SuppliedFunction[Callable[[], None]] = SuppliedFunction(lambda: None)
"""Imports the modules that declare ops, once."""


class _PublicFunctions(dict[str, Callable[..., Any]]):
    """Public functions by name, which cannot be typed more closely; `tensor.bind` adds them."""

    def __missing__(self, name: str) -> Callable[..., Any]:
        load_ops.call()
        if name in self:
            return self[name]
        raise KeyError(name)


ops: dict[str, Callable[..., Any]] = _PublicFunctions()
