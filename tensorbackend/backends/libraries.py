"""Array libraries that a backend imports when it is first used, or says how to get."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import BackendError, expected


def import_library(module: str, backend: str, *extras: str) -> Any:
    """A module of an array library; `BackendError` with the command that installs it where it cannot be imported.

    `extras` are those of tensorbackend that bring it, one or several to choose from.

    Parameters
    ----------
    module : str
        Its name.
    backend : str
        The name of the backend that needs it.
    *extras : str
        Extras of tensorbackend that bring it.

    Returns
    -------
    module
        The module.

    Raises
    ------
    BackendError
        Where it cannot be imported.

    Examples
    --------
    >>> from tensorbackend.extending import import_library
    >>> import_library("math", "mine").sqrt(4)
    2.0
    """
    try:
        return import_module(module)
    except Exception as error:  # a library whose own libraries do not fit raises what it likes
        commands = " or ".join(f"pip install 'tensorbackend[{extra}]'" for extra in extras)
        came = f"{type(error).__name__}: {error}"
        raise BackendError(expected(f"{module} to import for the backend {backend!r}", commands, error=came)) from error
