"""Imports of array libraries when a backend is first used, with errors that say how to install what is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import BackendError, expected


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
        If the module cannot be imported.

    Examples
    --------
    >>> from tensorbackend.extending import import_library
    >>> import_library("math", "mine").sqrt(4)
    2.0
    """
    try:
        return import_module(module)
    except Exception as error:  # a library whose own dependencies do not fit may raise anything
        commands = command or " or ".join(f"pip install 'tensorbackend[{extra}]'" for extra in extras)
        came = f"{type(error).__name__}: {error}"
        raise BackendError(
            expected(f"an importable {module} for the backend {backend!r}", commands, error=came)
        ) from error
