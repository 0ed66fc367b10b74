"""Imports of array libraries when a backend is first used, with errors that say how to install what is missing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from ..errors import BackendError, expected
from ..errors.remedies import install_remedy

_TOO_NEW: Final = {"jax": (3, 15)}
"""The first Python on which an extra installs nothing, as pyproject.toml says why."""


def import_library(module: str, backend: str, *extras: str, command: str = "") -> Any:
    """Imports a module of an array library, or raises `BackendError` with the command that installs the library.

    `extras` are the extras of tensorbackend that install the library: one, or several to choose from.

    Parameters
    ----------
    module : str
        The name of the module.
    backend : str
        The name of the backend that needs the module.
    *extras : str
        Extras of tensorbackend that install the library.
    command : str
        The command that installs the library, where no extra does.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    BackendError
        If it cannot be imported.

    Examples
    --------
    >>> from tensorbackend.extending import import_library
    >>> import_library("math", "mine").sqrt(4)
    2.0
    """
    try:
        return import_module(module)
    except Exception as error:  # a library whose own dependencies do not fit may raise anything
        commands = command or _remedy(extras)
        came = f"{type(error).__name__}: {error}"
        raise BackendError(
            expected(f"an importable {module} for the backend {backend!r}", commands, error=came)
        ) from error


def _remedy(extras: Sequence[str]) -> str:
    """What brings the library of one of some extras to this Python."""
    for extra in extras:
        if sys.version_info >= _TOO_NEW.get(extra, (sys.maxsize,)):
            first = ".".join(map(str, _TOO_NEW[extra]))
            return f"a Python older than {first}, for which no release of the library computes right sums"
    return install_remedy(*extras)
