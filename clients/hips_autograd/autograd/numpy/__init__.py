"""NumPy's namespace, with functions that also take tensors: on tensors they call tensorbackend's functions."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from . import namespace


class _Namespace(ModuleType):
    """A module with all of NumPy's names."""

    def __getattr__(self, name: str) -> Any:
        return getattr(namespace, name)


sys.modules[__name__].__class__ = _Namespace
