"""NumPy's namespace, whose functions take tensors too: they become calls of tensorbackend's functions."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from . import namespace


class _Namespace(ModuleType):
    """A module that has every name of NumPy's."""

    def __getattr__(self, name: str) -> Any:
        return getattr(namespace, name)


sys.modules[__name__].__class__ = _Namespace
