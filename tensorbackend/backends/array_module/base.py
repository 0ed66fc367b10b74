"""The base that the op families share: the array module, its dtypes, and how a callback calls its functions.

Floating-point reports (NumPy's `RuntimeWarning`, or `FloatingPointError` under a user's `numpy.seterr`)
must never escape, and `numpy.errstate` is too slow: it takes twice as long as an 8-element `numpy.add`. NumPy keeps
that setting in a context variable, so functions run in a `Context` of ours, in which reports are switched off for good.
Entering it costs some 50 ns, and the caller's setting is never touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import Context
from functools import partial, wraps
from inspect import CO_VARARGS
from math import isfinite
from operator import call, methodcaller
from types import MethodType
from typing import Any, Literal, TypeAlias

from ...dtypes import DType, float32
from ...interchange import numpy_dtype, payload_dtype
from ...protocol import Backend, Kernel, Payload, planned
from ...protocol.owners import is_spare_base
from ...protocol.planned import QuickKernel
from ...protocol.workspace import takes
from ...template import Shape, Template
from ...tensor import Tensor
from .casting import NARROW as NARROW
from .casting import caster
from .casting import itself as itself

Array: TypeAlias = Any
"""An array of the array module; its exact type depends on the backend."""

Function: TypeAlias = Callable[..., Array]
"""A function of arrays; a function for complex arrays, or computed in float64, takes the array module first."""

Trust: TypeAlias = Literal["of finite numbers", "unless flagged"]
"""Where a module's function of complex numbers is right: for finite numbers, or unless one of its steps is invalid,
divides by zero or overflows. Each backend decides whether it checks for these cases (`ArrayBase.attempt_kernel`)."""

BLOCK = 1 << 12
"""The number of elements of a block: a few blocks of this size fit into the cache together."""


class KernelContext:
    """A context in which kernels run, such as the one without floating-point reports."""

    def __init__(self, prepare: Callable[[], object]) -> None:
        self._context = Context()
        self._context.run(prepare)

    def kernel(self, function: Kernel) -> Kernel:
        """A kernel that runs in the context, or in a copy while another thread or a caller is in it.

        A copy at each call would take twice as long as entering the context itself.
        """
        context = self._context
        return QuickKernel(partial(context.run, function), lambda *payloads: context.copy().run(function, *payloads))


def arity(kernel: Any) -> int | None:
    """The number of parameters of a function or ufunc, `None` where calls may differ."""
    if isinstance(kernel, methodcaller):
        return 1
    code = getattr(kernel, "__code__", None)
    if code is None:
        return getattr(kernel, "nin", None)
    if code.co_flags & CO_VARARGS or kernel.__defaults__:
        return None
    return int(code.co_argcount) - isinstance(kernel, MethodType)


def flagless_kernel(kernel: Kernel) -> Kernel:
    """Marks a kernel that raises no floating-point flag, such as one that moves elements: it enters no context."""
    kernel.__flagless__ = True  # type: ignore[attr-defined] # read by `ArrayBase.enter`
    return kernel


class ArrayBase(Backend):
    """State and helpers of a backend on an array module; `setup` sets `xp`, and `silent` where it is needed."""

    xp: Any
    """The array module: `numpy`, or one with NumPy's functions."""

    silent: KernelContext | None = None
    """The context without floating-point reports; `None` for a module that makes none."""

    fuse: Callable[[Callable[..., Array]], Callable[..., Array]] | None = None
    """Compiles a function that calls the module's elementwise functions into one kernel; `None` where kernels cannot be
    fused."""

    def violation(self, out: Template, data: Payload, /) -> str | None:
        """A text that says what is wrong with a payload's type, shape or dtype; `None` if nothing is."""
        if not isinstance(data, self.xp.ndarray):
            return f"a {type(data).__name__} instead of a {self.xp.__name__}.ndarray"
        if data.shape != out.shape or data.dtype != payload_dtype(out.dtype):
            return f"an array of shape {data.shape} and dtype {data.dtype}"
        return None

    def add_at(self, target: Array, positions: Array, values: Array) -> None:
        """Adds values to elements of an array of one axis; all values for a repeated position are added."""
        self.xp.add.at(target, positions, values)

    def put_at(self, target: Array, positions: Array, rows: Array) -> None:
        """Writes rows at positions along the first axis; the last of several rows for one position wins."""
        target[positions] = rows

    def settled(self, kernel: Kernel, out: Any, /) -> Kernel:
        """A kernel that returns an array for a result without axes, where the module's functions return a number."""
        if not isinstance(out, Template) or out.shape:
            return kernel
        asarray = self.xp.asarray

        def one(x: Payload) -> Payload:
            return asarray(kernel(x))

        def two(x1: Payload, x2: Payload) -> Payload:
            return asarray(kernel(x1, x2))

        def any_number(*payloads: Payload) -> Payload:
            return asarray(kernel(*payloads))

        count = arity(kernel)
        settled = one if count == 1 else two if count == 2 else any_number
        return flagless_kernel(settled) if hasattr(kernel, "__flagless__") else settled

    def enter(self, kernel: Kernel, /) -> Kernel:
        """The kernel without floating-point reports."""
        return kernel if self.silent is None or hasattr(kernel, "__flagless__") else self.silent.kernel(kernel)

    def attempt_kernel(
        self, quick: Kernel, careful: Kernel, /, *, holds: Callable[..., bool] | None = None, underflow: bool = False
    ) -> Kernel:
        """A kernel that runs `quick` on data for which that kernel is right, and `careful` on all other data.

        `holds` says whether the quick kernel is right for the data. Without `holds` it is right unless one of its steps
        is invalid, divides by zero or overflows, or, with `underflow`, underflows. This default returns the careful
        kernel: most modules keep no floating-point flags, and reading their data waits for the computation.
        """
        return careful

    def block_kernel(self, kernel: Kernel, /, most: int = BLOCK) -> Kernel:
        """Makes an elementwise kernel run on blocks of at most `most` elements, so that its intermediate arrays stay in
        a cache. By default the kernel runs on whole arrays.
        """
        return kernel

    def parts(self, shape: Shape, weight: int, /) -> Iterable[tuple[slice, ...]]:
        """Returns the indices of the parts of an array that are computed one after another, where each element takes
        the memory of `weight` elements. By default the whole array is one part.
        """
        return [()]

    def caster(self, source: DType, target: DType) -> Kernel:
        """A kernel that casts arrays from one dtype to another, by the rules of `as_type`."""
        return caster(self.xp, source, target, self.attempt_kernel)

    def cast(self, values: Array, source: DType, target: DType) -> Array:
        """Values of a dtype in another, by the rules of `as_type`."""
        return self.caster(source, target)(values)

    def promoting_kernel(self, kernel: Kernel, out: Template, /, *inputs: Template) -> Kernel:
        """A kernel of a composite, from one for operands in the result's dtype: it casts the operands first."""
        if all(x.dtype is out.dtype for x in inputs):
            return kernel
        casts = [self.caster(x.dtype, out.dtype) for x in inputs]
        return self.block_kernel(lambda *arrays: kernel(*map(call, casts, arrays)))

    def widened(self, x: Tensor) -> Array:
        """The payload in the dtype to compute in: float16 and bfloat16 as float32, others unchanged."""
        return x.data.astype(numpy_dtype(float32)) if x.dtype in NARROW else x.data

    def narrow_payload(self, values: Array, out: Template) -> Array:
        """Rounds values that were computed on widened payloads to the dtype of the result, to nearest even."""
        return values.astype(numpy_dtype(out.dtype)) if out.dtype in NARROW else values


def backwards(kernel: Kernel, axis: int) -> Kernel:
    """A kernel that reverses an axis, runs a kernel of one array, and reverses the axis of its result.

    It takes views by index: `numpy.flip` takes ten times as long for few elements.
    """
    reverse = (*(slice(None),) * axis, slice(None, None, -1))
    return lambda values: kernel(values[reverse])[reverse]


def block_space(out: Template, /, *inputs: Template) -> int:
    """The bytes that a kernel of several passes takes in blocks: two arrays of 64 bits, six for complex numbers."""
    return (6 if out.dtype.is_complex else 2) * 8 * min(out.size, BLOCK)


def elementwise(method: Callable[..., Kernel], /) -> Callable[..., Payload]:
    """Marks a planned callback as elementwise and made of several functions of the module: a backend may run its
    kernel `block_kernel`."""

    @takes(block_space)
    @planned
    @wraps(method)
    def callback(self: ArrayBase, out: Template, /, *inputs: Template) -> Kernel:
        return self.block_kernel(method(self, out, *inputs))

    return callback


def function(name: str, of_complex: Function | None = None, *, trusted: Trust | None = None) -> Callable[..., Payload]:
    """A callback that is one function of the array module: `sin = function("sin", complex_functions.sin)`.

    `of_complex`, which takes the module first, replaces the function for complex arrays. With `trusted` it replaces the
    function only for the arrays on which the module's function is wrong. A `calm` function makes no floating-point
    reports for real numbers; for integers and bools no function makes any.
    """

    @planned
    def callback(self: ArrayBase, out: Template, /, *inputs: Template) -> Kernel:
        if of_complex is not None and inputs[0].dtype.is_complex:
            return _of_complex(self, name, of_complex, trusted, out)
        kernel: Kernel = getattr(self.xp, name)
        return kernel

    return callback


def _of_complex(backend: ArrayBase, name: str, of_complex: Function, trusted: Trust | None, out: Template) -> Kernel:
    xp, careful = backend.xp, backend.block_kernel(partial(of_complex, backend.xp))
    if trusted is None:
        return careful
    if trusted == "unless flagged":
        return backend.attempt_kernel(getattr(xp, name), careful)
    vdot = xp.vdot

    # One pass, and quicker than asking each number. For numbers too large to be squared these say no as well.
    def finite(values: Array) -> bool:
        return isfinite(vdot(values, values).real)

    def finite_row(values: Array) -> bool:
        return isfinite(values.dot(values).real)

    return backend.attempt_kernel(getattr(xp, name), careful, holds=finite_row if len(out.shape) == 1 else finite)


def rounding_callback(name: str) -> Callable[..., Payload]:
    """A callback that calls a function of the array module for floats, and returns integers unchanged."""

    @planned
    def callback(self: ArrayBase, out: Template, x: Template, /) -> Kernel:
        return getattr(self.xp, name) if x.dtype.is_inexact else itself

    return callback


def promoting_override(
    name: str, of_complex: Function | None = None, *, trusted: Trust | None = None
) -> Callable[..., Payload]:
    """An override of a composite by one function of the array module, on operands in the result's dtype."""

    @planned
    def override(self: ArrayBase, out: Template, /, *inputs: Template) -> Kernel:
        chosen: Kernel = getattr(self.xp, name)
        if of_complex is not None and out.dtype.is_complex:
            chosen = _of_complex(self, name, of_complex, trusted, out)
        return self.promoting_kernel(chosen, out, *inputs)

    return override


def owns_memory(values: Array) -> bool:
    """Whether an array has its memory from NumPy, all of it and in row-major order, so that it can be reshaped.

    An array may also be the only view of such memory, as the result of a product is that was reshaped.
    """
    flags, base = values.flags, values.base
    if not (flags.writeable and flags.c_contiguous):
        return False
    if base is None:
        return bool(flags.owndata)
    return type(base) is type(values) and base.flags.owndata and base.nbytes == values.nbytes and is_spare_base(base)
