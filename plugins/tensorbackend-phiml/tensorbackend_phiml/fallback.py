"""Functions of `jit_compile` that cannot be compiled run as they are, as PhiML runs all on its own NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

from phiml.math import all_available
from phiml.math._functional import JitFunction, key_from_args
from phiml.math._lin_trace import LinearTraceInProgress
from phiml.math._tree import all_attributes, disassemble_tree
from tensorbackend.errors import TemplateDataError

from .base import Base, tracing

UNCOMPILED: WeakKeyDictionary[JitFunction, set[str]] = WeakKeyDictionary()
"""The functions that run as they are, with the names of the adapters on which they do."""


def compiled_if_possible(compiled: Callable[..., Any], is_ours: Callable[[Any], bool]) -> Callable[..., Any]:
    """A version of `JitFunction.__call__` that runs what an adapter cannot compile as it is, and warns once of each.

    A function cannot be compiled if it reads a value that depends on its arguments, or if it returns an object with
    such values in attributes that PhiML does not return from compiled functions: later calls would fail on them. Then
    it runs again, from its start.
    """

    def adapter_of(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
        """The name of the adapter that compiles a call; None if another backend does, or the call is itself traced."""
        if tracing.get():
            return None
        try:
            key = key_from_args(args, kwargs, function.f_params, cache=True, aux=function.auxiliary_args, use="jit")[0]
        except LinearTraceInProgress:
            return None
        return str(key.backend.name) if is_ours(key.backend) and not key.tracing else None

    @wraps(compiled)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self in UNCOMPILED and adapter_of(self, args, kwargs) in UNCOMPILED[self]:
            return self.f(*args, **kwargs)
        before = Base.traces
        try:
            result = compiled(self, *args, **kwargs)
        except TemplateDataError as error:
            forget_failed(self)
            adapter = adapter_of(self, args, kwargs)
            if adapter is None:
                raise
            reason, remedy = f"it reads data of its arguments: {error}", "compile a part of it that reads none"
        else:
            adapter = None if Base.traces == before or is_complete(result) else adapter_of(self, args, kwargs)
            if adapter is None:
                return result
            reason = "it returns an object with attributes that depend on its arguments but are not `variable_attrs`"
            remedy = "make them so in the object that it returns"
        UNCOMPILED.setdefault(self, set()).add(adapter)
        warnings.warn(
            f"jit_compile: {adapter} runs function '{self.__name__}' again from its start, and always uncompiled, "
            f"as {reason}. To compile, {remedy}.",
            RuntimeWarning,
            stacklevel=2,
        )
        return self.f(*args, **kwargs)

    return call


def forget_failed(function: Any) -> None:
    """Remove the trace that failed: PhiML keeps it, and would look for its results at the next call."""
    for key in [key for key in function.traces if key not in function.recorded_mappings]:
        del function.traces[key]


def is_complete(result: Any) -> bool:
    """Whether all tensors of a result have data, also in attributes that PhiML does not return from a compilation."""
    return bool(all_available(*disassemble_tree(result, cache=False, attr_type=all_attributes)[1]))
