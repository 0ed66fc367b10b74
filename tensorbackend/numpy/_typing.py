"""`numpy._typing`, which programs import although it is private: the annotations of `typing`, and NumPy's own."""

from __future__ import annotations

from typing import Any

import numpy._typing

from . import typing as _public
from .host_modules import missing_name_error


def __getattr__(name: str) -> Any:
    for module in (_public, numpy._typing):
        if hasattr(module, name):
            return getattr(module, name)
    raise missing_name_error(name, __name__)
