"""What the families share: the array module, its dtypes, and how a callback calls its functions.

Floating-point reports (NumPy's `RuntimeWarning`, or `FloatingPointError` under a user's `numpy.seterr`)
must never escape, and an 8-element `add` cannot pay for `numpy.errstate`, which takes twice as long as
`numpy.add` itself. NumPy keeps that setting in a context variable, so functions run in a `Context` of
ours, in which reports are switched off for good: entering it costs some 50 ns, and the setting of the
caller is never touched.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import Context
from functools import partial, wraps
from typing import Any, Self, TypeAlias, TypeVar, cast, overload

from ...dtypes import DType, bfloat16, float16, float32
from ...interchange import numpy_dtype
from ...protocol import Backend, Payload
from ...template import Template
from ...tensor import Tensor
from .casting import cast_values

Array: TypeAlias = Any
"""An array of the array module; its exact type is the backend's affair."""

NARROW = frozenset({float16, bfloat16})
"""The dtypes that are computed in float32."""

Method = TypeVar("Method", bound=Callable[..., Payload])


class Quiet(threading.local):
    """Runs functions without floating-point reports, in one context a thread.

    A thread of its own each, because a context can be entered only once at a time.
    """

    run: Callable[..., Any]
    """Calls a function with arguments: `quiet.run(numpy.add, x, y)`."""

    shared: Callable[..., Any]
    """The same in one context for all threads, which raises `RuntimeError` while another thread is in it;
    a closure that holds it saves the look-up by thread."""

    def __init__(self, silence: Callable[[], object]) -> None:
        contexts = Context(), Context()
        for context in contexts:
            context.run(silence)
        self.run, self.shared = (context.run for context in contexts)


def _call(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    return function(*arguments, **options)


class Silent:
    """What stands for `Quiet` where a module makes no floating-point reports: functions are just called."""

    run = shared = staticmethod(_call)


class ArrayBase(Backend):
    """State and helpers of a backend on an array module; `setup` sets `xp` and `quiet`."""

    xp: Any
    """The array module: `numpy`, or one with NumPy's functions."""

    quiet: Quiet | Silent
    """Runs the module's functions without floating-point reports."""

    fuse: Callable[[Callable[..., Array]], Callable[..., Array]] | None = None
    """What makes one kernel of a function that calls the module's elementwise functions; `None` where there is none."""

    def add_at(self, target: Array, positions: Array, values: Array) -> None:
        """Adds values to the elements of one axis, repeated positions one by one."""
        self.xp.add.at(target, positions, values)

    def put_at(self, target: Array, positions: Array, rows: Array) -> None:
        """Writes rows along the first axis, in order, so that the last of repeated positions stays."""
        target[positions] = rows

    def run(self, method: Method, out: Any, inputs: tuple[Any, ...], options: dict[str, object]) -> Payload:
        """What a kernel gives, run quietly."""
        quiet = self.quiet
        if isinstance(quiet, Silent):
            data = method(self, out, *inputs, **options)
            return self.xp.asarray(data) if type(out) is Template and not out.shape else data
        run = quiet.run
        quiet.run = _call  # a kernel that this one calls is in the context already
        try:
            data = run(method, self, out, *inputs, **options)
        finally:
            quiet.run = run
        return self.xp.asarray(data) if type(out) is Template and not out.shape else data

    def compiled(self, function: Callable[..., Array]) -> Callable[..., Array]:
        """A function of arrays alone as it is best called: as it is, unless the module compiles."""
        return function

    def cast(self, values: Array, source: DType, target: DType) -> Array:
        """Values of a dtype in another, by the rules of `as_type`."""
        return cast_values(self.xp, values, source, target)

    def widened(self, x: Tensor) -> Array:
        """The payload in a dtype to compute in: float16 and bfloat16 as float32, others as they are."""
        return x.data.astype(numpy_dtype(float32)) if x.dtype in NARROW else x.data

    def promoted(self, x: Tensor, out: Template) -> Array:
        """A composite's operand, which arrives as it was given, in the result's dtype and then widened."""
        if x.dtype is not out.dtype:
            x = Tensor(x.template.replace(dtype=out.dtype), self, self.cast(x.data, x.dtype, out.dtype))
        return self.widened(x)

    def narrowed(self, values: Array, out: Template) -> Array:
        """What was computed on widened payloads in the dtype of the result, rounded to nearest even."""
        return values.astype(numpy_dtype(out.dtype)) if out.dtype in NARROW else values


def kernel(method: Method) -> Method:
    """Marks a callback of several calls of the array module, which `run` of the backend makes."""

    @wraps(method)
    def callback(self: ArrayBase, out: Any, /, *inputs: Tensor, **options: object) -> Payload:
        return self.run(method, out, inputs, options)

    return cast(Method, callback)


def promoting(function: str, of_complex: Callable[..., Array] | None = None) -> Callable[..., Payload]:
    """An override of a composite by one function of the array module, on operands in the result's dtype."""

    @kernel
    def override(self: ArrayBase, out: Template, /, *inputs: Tensor) -> Payload:
        operands = (self.cast(x.data, x.dtype, out.dtype) for x in inputs)
        if of_complex is not None and out.dtype.is_complex:
            return of_complex(self.xp, *operands)
        return getattr(self.xp, function)(*operands)

    return override


class _Function:
    """A callback that is one function of the array module, made when a backend is first asked for it."""

    def __init__(self, function: str, of_complex: Callable[..., Array] | None = None) -> None:
        self.function = function
        self.of_complex = of_complex

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def make(
        self,
        function: Callable[..., Array],
        of_complex: Callable[..., Array] | None,
        quiet: Quiet | Silent,
        asarray: Any,
    ) -> Callable[..., Any]:
        """The callback, with all that it needs in its closure: this is the hot path. `of_complex`, where there is
        one, takes the place of the function for complex arrays."""
        raise NotImplementedError(f"{type(self).__name__} must define make")

    def bind(self, backend: ArrayBase) -> Callable[..., Any]:
        """The backend's callback, kept in the instance unless a subclass calls it through `super()`."""
        function = backend.compiled(getattr(backend.xp, self.function))
        of_complex = None if self.of_complex is None else backend.compiled(partial(self.of_complex, backend.xp))
        made = self.make(function, of_complex, backend.quiet, backend.xp.asarray)
        made.__name__, made.__doc__ = self.name, getattr(getattr(Backend, self.name, None), "__doc__", None)
        if getattr(type(backend), self.name, None) is self:
            vars(backend)[self.name] = made
        return made


class Unary(_Function):
    """A callback of one tensor that is a function of the array module: `sin = Unary("sin", complex_functions.sin)`."""

    @overload
    def __get__(self, backend: None, owner: type) -> Self: ...
    @overload
    def __get__(self, backend: ArrayBase, owner: type) -> Callable[[Template, Tensor], Payload]: ...
    def __get__(self, backend: ArrayBase | None, owner: type) -> Any:
        return self if backend is None else self.bind(backend)

    def make(
        self,
        function: Callable[..., Array],
        of_complex: Callable[..., Array] | None,
        quiet: Quiet | Silent,
        asarray: Any,
    ) -> Callable[..., Any]:
        """The callback of one tensor."""

        def callback(out: Template, x: Tensor, /) -> Payload:
            chosen = function if of_complex is None or not x.template.dtype.is_complex else of_complex
            result = quiet.run(chosen, x.data)
            return result if out.shape else asarray(result)

        return callback


class Rounding(Unary):
    """A `Unary` that leaves integers as they are: `floor = Rounding("floor")`."""

    def make(
        self,
        function: Callable[..., Array],
        of_complex: Callable[..., Array] | None,
        quiet: Quiet | Silent,
        asarray: Any,
    ) -> Callable[..., Any]:
        """The callback of one tensor; integers come back as they are."""

        def callback(out: Template, x: Tensor, /) -> Payload:
            result = quiet.run(function, x.data) if x.dtype.is_inexact else x.data
            return result if out.shape else asarray(result)

        return callback


class Binary(_Function):
    """A callback of two tensors that is a function of the array module: `add = Binary("add")`."""

    @overload
    def __get__(self, backend: None, owner: type) -> Self: ...
    @overload
    def __get__(self, backend: ArrayBase, owner: type) -> Callable[[Template, Tensor, Tensor], Payload]: ...
    def __get__(self, backend: ArrayBase | None, owner: type) -> Any:
        return self if backend is None else self.bind(backend)

    def make(
        self,
        function: Callable[..., Array],
        of_complex: Callable[..., Array] | None,
        quiet: Quiet | Silent,
        asarray: Any,
    ) -> Callable[..., Any]:
        """The callback of two tensors."""

        shared = quiet.shared

        def callback(out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
            chosen = function if of_complex is None or not out.dtype.is_complex else of_complex
            try:
                result = shared(chosen, x1.data, x2.data)
            except RuntimeError:  # another thread is in the context
                result = quiet.run(chosen, x1.data, x2.data)
            return result if out.shape else asarray(result)

        return callback
