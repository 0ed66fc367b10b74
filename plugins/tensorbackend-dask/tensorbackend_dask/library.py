"""Dask as the modules of this package name it: `from .library import da` imports it with the first attribute.

So importing the package is quick, and `DaskBackend.setup` is what imports Dask.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import tensorbackend as tb
from tensorbackend.protocol import Backend


class _Library:
    """A module, its attributes kept once they were asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(import_module(self._name), name)
        setattr(self, name, attribute)
        return attribute


dask: Any = _Library("dask")
da: Any = _Library("dask.array")
np: Any = _Library("numpy")


@cache
def numpy_backend() -> Backend:
    """The backend whose kernels compute each block."""
    return tb.get_backend("numpy")
