"""Makes callbacks from methods that take templates and return functions of MLX's arrays, and holds what they share.

MLX is lazy: a function of arrays only notes what is to be computed. So that a long program neither keeps every input
alive nor notes without end, a call on large arrays is started at once, and of the other calls one in `TURNS`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from itertools import cycle
from typing import Any, ClassVar, Final, TypeAlias

from tensorbackend import Template
from tensorbackend.dtypes import DType, bfloat16, float16
from tensorbackend.errors import UnsupportedOp, expected
from tensorbackend.extending import kernel_by_numpy
from tensorbackend.protocol import Backend, Kernel, Payload, planned

from .library import Array, mx

Function: TypeAlias = Callable[..., Any]
"""A function of MLX's arrays."""

NARROW: Final = frozenset({float16, bfloat16})
"""The floating dtypes that are computed in float32."""

STARTED_BYTES: Final = 1 << 20
"""A call that reads or makes as many bytes is started at once."""

TURNS: Final = 61
"""One in so many calls from outside is started. A prime number, so that in a loop each call has its turn."""


class Untraceable(Exception):
    """A kernel reads data, which it cannot while `mx.compile` traces it."""


class _Tracing(threading.local):
    """Whether `mx.compile` traces a graph in this thread: its arrays have no data then."""

    on = False


tracing = _Tracing()


class MlxBase(Backend):
    """State and helpers of the families of callbacks."""

    name: ClassVar[str] = "mlx"

    rematerializes = False

    turns: Iterator[int]
    """Is 0 where it is a call's turn to be started."""

    has_float64: bool
    """Whether the device computes in float64."""

    def by_numpy(self, name: str, out: Any, /, *inputs: Any, **options: Any) -> Function:
        """The kernel of NumpyBackend's callback, on the memory of MLX's arrays."""
        kernel = kernel_by_numpy(self, name, out, *inputs, **options)

        def computed(*payloads: Payload) -> Payload:
            if tracing.on:
                raise Untraceable(name)
            return kernel(*payloads)

        return computed


def started(function: Function) -> Function:
    """A function whose results MLX begins to compute at once."""

    def call(*payloads: Payload) -> Payload:
        results = function(*payloads)
        if not tracing.on:
            mx.async_eval(results)
        return results

    return call


def kernel(*, narrow: bool = False) -> Callable[[Callable[..., Function]], Callable[..., Payload]]:
    """Makes a planned callback of a method that takes templates and returns a function of arrays.

    With `narrow`, operands of float16 and bfloat16 reach the function in float32, and its result is rounded once.
    """

    def mark(method: Callable[..., Function]) -> Callable[..., Payload]:
        @wraps(method)
        def plan(self: MlxBase, out: Any, /, *inputs: Any, **options: Any) -> Kernel:
            refuse_lacking(self, (out,) if isinstance(out, Template) else out)
            function = method(self, out, *inputs, **options)
            if narrow and any(x.dtype in NARROW for x in inputs):
                function = widened(function, [x.dtype in NARROW for x in inputs], out.dtype)
            return started(function) if weight(out, inputs) >= STARTED_BYTES else function

        return planned(plan)

    return mark


def by_numpy(name: str) -> Callable[..., Payload]:
    """A callback that NumPy's backend computes."""

    @kernel()
    def callback(self: MlxBase, out: Any, *inputs: Template, **options: Any) -> Function:
        return self.by_numpy(name, out, *inputs, **options)

    return callback


def refuse_lacking(backend: MlxBase, templates: Sequence[Template]) -> None:
    """Raises `UnsupportedOp` for a result of a dtype that the backend lacks, as a composite's may be."""
    for dtype in (template.dtype for template in templates if template.dtype not in backend.dtypes):
        remedy = "cast with astype(), or move the tensors, such as x.backend_transfer('numpy')"
        raise UnsupportedOp(expected(f"a dtype that the backend {backend.name!r} has", remedy, dtype=dtype), dtype)


def widened(function: Function, narrow: list[bool], target: DType) -> Function:
    """The function with narrow operands in float32, and its result in float32 rounded to a narrow dtype."""
    wide = mx.float32
    rounded = getattr(mx, target.name) if target in NARROW else None

    def call(*arrays: Array) -> Array:
        result: Array = function(*[x.astype(wide) if cast else x for x, cast in zip(arrays, narrow, strict=True)])
        return result if rounded is None else result.astype(rounded)

    return call


def weight(out: Any, inputs: Any) -> int:
    """The number of bytes that a call reads and makes."""
    if isinstance(out, Template):
        return out.nbytes + (weight(inputs, ()) if inputs else 0)
    return sum(weight(part, ()) for part in out if part is not None) + (weight(inputs, ()) if inputs else 0)


def evaluated_now_and_then(turns: Iterator[int], kernel: Kernel) -> Kernel:
    """A kernel of which one call in `TURNS` is started."""

    def call(*payloads: Payload) -> Payload:
        results = kernel(*payloads)
        if not next(turns) and not tracing.on:
            mx.async_eval(results)
        return results

    return call


def new_turns() -> Iterator[int]:
    """Counts the calls of a backend."""
    return cycle(range(TURNS))
