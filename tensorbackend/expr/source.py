"""Functions written as source, which is made of numbered names alone: those of one structure share their code."""

from __future__ import annotations

import builtins
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any


def function_of(source: str, file: str, name: str, namespace: dict[str, Any]) -> FunctionType:
    """The function that a source defines; `namespace` becomes its globals.

    A function in C that imports a module asks the globals of its caller for the built-in names.
    """
    namespace["__builtins__"] = builtins
    return FunctionType(code_of(source, file), namespace, name)


@lru_cache(maxsize=512)
def code_of(source: str, file: str) -> CodeType:
    """The code of the one function that a source defines; tracebacks call its file by the given name."""
    (code,) = (constant for constant in compile(source, file, "exec").co_consts if isinstance(constant, CodeType))
    return code
