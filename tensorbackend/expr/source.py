"""Functions written as source, which is made of numbered names alone: those of one structure share their code."""

from __future__ import annotations

from functools import lru_cache
from types import CodeType


@lru_cache(maxsize=512)
def code_of(source: str, file: str) -> CodeType:
    """The code of the one function that a source defines; tracebacks call its file by the given name."""
    (code,) = (each for each in compile(source, file, "exec").co_consts if isinstance(each, CodeType))
    return code
