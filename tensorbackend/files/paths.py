"""The paths of files, as users give them."""

from __future__ import annotations

import os

from ..errors import OperandError, expected
from ..tensor import Tensor


def as_path(path: str | os.PathLike[str]) -> str:
    """The path of a file as text; `OperandError` for what names no file.

    >>> from pathlib import Path
    >>> as_path(Path("models") / "x.npy")
    'models/x.npy'
    """
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else path
    try:
        if isinstance(text, str) and b"\0" not in os.fsencode(text):
            return text
    except UnicodeEncodeError:  # a lone surrogate
        pass
    remedy = "the path comes first, as in tb.save(path, x)" if isinstance(path, Tensor) else ""
    raise OperandError(expected("the path of a file as str or os.PathLike", remedy, path=path))
