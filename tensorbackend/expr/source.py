"""Functions from generated source. As all names are numbered, functions of the same structure share their code."""

from __future__ import annotations

import builtins
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from ..caching.memos import remembers_calls


def function_of(source: str, file: str, name: str, namespace: dict[str, Any]) -> FunctionType:
    """The function that a source defines; `namespace` becomes its globals.

    The namespace gets the built-in names: a C function that imports a module looks for them in its caller's globals.
    """
    namespace["__builtins__"] = builtins
    return FunctionType(code_of(source, file), namespace, name)


@lru_cache(maxsize=512)
def code_of(source: str, file: str) -> CodeType:
    """The code of the one function that a source defines; tracebacks call its file by the given name."""
    (code,) = (constant for constant in compile(source, file, "exec").co_consts if isinstance(constant, CodeType))
    return code


remembers_calls("code of programs", code_of)
