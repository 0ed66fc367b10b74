"""Lazy imports: after `from .library import da`, the first attribute that is read imports `dask.array`.

So importing the package is quick; `DaskBackend.setup` imports Dask.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import tensorbackend as tb
from tensorbackend.protocol import Backend


class _Library:
    """Stands for a module: imports it on first use, and caches each attribute that is read."""

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
