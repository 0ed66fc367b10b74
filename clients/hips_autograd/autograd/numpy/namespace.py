"""NumPy's functions by name: without tensors among the arguments they are NumPy's own, else tensorbackend's."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy

from ..values import has_tensor
from .translations import TRANSLATIONS


def _dispatched(name: str, own: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls NumPy's function for arrays, and the translation of its name for tensors."""

    def call(*arguments: Any, **options: Any) -> Any:
        if not has_tensor(arguments) and not has_tensor(options):
            return own(*arguments, **options)
        return TRANSLATIONS.get(name, own)(*arguments, **options)

    call.__name__ = name
    return call


def _space(name: str) -> SimpleNamespace:
    """Return the namespace `numpy.linalg` or `numpy.fft`."""
    space = getattr(numpy, name)
    return SimpleNamespace(
        **{
            each: _dispatched(f"{name}.{each}", getattr(space, each))
            for each in space.__all__
            if callable(getattr(space, each))
        }
    )


linalg, fft = _space("linalg"), _space("fft")
make_diagonal = TRANSLATIONS["make_diagonal"]


def __getattr__(name: str) -> Any:
    own = getattr(numpy, name)
    return own if isinstance(own, type) or not callable(own) else _dispatched(name, own)


def __dir__() -> list[str]:
    return dir(numpy)
