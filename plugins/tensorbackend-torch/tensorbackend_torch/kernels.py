"""Makes callbacks from methods on PyTorch's tensors, and holds the helpers that they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, ClassVar, NamedTuple, TypeAlias

from tensorbackend import Template, get_backend
from tensorbackend.dtypes import bfloat16, float64, product_precision
from tensorbackend.extending import kernel_by_numpy
from tensorbackend.protocol import Backend, Kernel, Payload, kernel_of, planned

from .casting import cast
from .library import torch
from .ways import NARROW, UNSIGNED, Array, Narrow, Unsigned, bits_of, dtype_of, torch_dtype, turned_over

Function: TypeAlias = Callable[..., Any]
"""A function of PyTorch's tensors, each in the dtype in which it is computed with."""


class TorchBase(Backend):
    """State and helpers of the families of callbacks."""

    name: ClassVar[str] = "torch"

    place: torch.device
    """PyTorch's own name of the device."""

    def cast(self, values: Array, out: Template) -> Array:
        """Casts an operand of a composite, which arrives in its own dtype, to the dtype of the result."""
        return cast(values, dtype_of(values.dtype), out.dtype)

    def gathered(self, out: Template, elements: Sequence[Array]) -> Array:
        """Makes a result from tensors without axes, one for each of its elements."""
        if not elements:
            return torch.empty(out.shape, dtype=torch_dtype(out.dtype), device=self.place)
        return settled(out, torch.stack([bits_of(element) for element in elements]).reshape(out.shape))


def settled(out: Template, values: Array) -> Array:
    """Converts a result to the dtype of its template: the bits of unsigned integers unchanged, floats rounded."""
    dtype = torch_dtype(out.dtype)
    if values.dtype is dtype:
        return values.resolve_conj() if out.dtype.is_complex else values
    if out.dtype in UNSIGNED:
        return values.view(dtype)
    return cast(values, float64, out.dtype) if values.dtype is torch.float64 else values.to(dtype)


Convert: TypeAlias = Callable[[Any], Any]
"""Makes the operand with which a method computes from a payload."""


def _turned(values: Array) -> Array:
    return turned_over(bits_of(values))


def _widened(dtype: torch.dtype) -> Convert:
    return lambda values: values.to(dtype)


def _input_conversion(template: Any, unsigned: Unsigned, narrow: Narrow) -> Convert | None:
    """Returns the function that makes an operand from the payload of a template, or operands from those of a sequence
    of templates; `None` where the payload itself is the operand.
    """
    if not isinstance(template, Template):
        conversions = [_input_conversion(member, unsigned, narrow) for member in template]
        if not any(conversions):
            return None
        return lambda payloads: _convert_inputs(conversions, payloads)
    dtype = template.dtype
    if (dtype in NARROW and narrow != "own") or (dtype.is_floating and narrow == "float64"):
        return _widened(getattr(torch, narrow))
    if dtype not in UNSIGNED:
        return None
    return {"none": None, "own": None, "bits": bits_of, "order": _turned}[unsigned]


def _output_conversion(out: Template, unsigned: Unsigned) -> Convert:
    """Returns the function that makes a payload from a method's result."""
    if unsigned != "order" or out.dtype not in UNSIGNED:
        return lambda values: settled(out, values)
    dtype = torch_dtype(out.dtype)
    return lambda values: settled(out, values if values.dtype is dtype else turned_over(values))


class Fitting(NamedTuple):
    """A function whose result is a payload, of the dtype of the template, where no way converts an operand.

    Then nothing looks at the result, and the function is called directly, which may be PyTorch's own.
    """

    function: Function


def function(
    method: Function | Fitting, out: Any, *inputs: Any, unsigned: Unsigned = "none", narrow: Narrow = "own"
) -> Kernel:
    """Returns the kernel that converts payloads to operands as `unsigned` and `narrow` say, calls the method, and
    converts its results to payloads.
    """
    conversions = [_input_conversion(input_template, unsigned, narrow) for input_template in inputs]
    if isinstance(method, Fitting):
        if not any(conversions):
            return method.function
        method = method.function
    if isinstance(out, Template):
        leave = _output_conversion(out, unsigned)
        dtype, complex_ = torch_dtype(out.dtype), out.dtype.is_complex
        if any(conversions) or complex_:
            return lambda *payloads: leave(method(*_convert_inputs(conversions, payloads)))
        if len(inputs) == 1:

            def one(x: Array) -> Array:
                result: Array = method(x)
                return result if result.dtype is dtype else leave(result)

            return one

        def any_number(*payloads: Array) -> Array:
            result: Array = method(*payloads)
            return result if result.dtype is dtype else leave(result)

        return any_number
    leaves = [_output_conversion(template, unsigned) for template in out]
    return lambda *payloads: tuple([
        leave(part) for leave, part in zip(leaves, method(*_convert_inputs(conversions, payloads)), strict=True)
    ])  # fmt: skip


def _convert_inputs(conversions: Sequence[Convert | None], payloads: Sequence[Any]) -> list[Any]:
    return [x if convert is None else convert(x) for convert, x in zip(conversions, payloads, strict=True)]


def kernel(*, unsigned: Unsigned = "none", narrow: Narrow = "own") -> Callable[[Function], Callable[..., Payload]]:
    """Makes a planned callback of a method that takes and returns PyTorch's tensors.

    `unsigned` and `narrow` say how operands are converted; "own" does not convert them. Results are converted
    back: to unsigned dtypes by their bits, to narrow floats by rounding to nearest even. The templates decide once
    which conversions are needed.
    """

    def mark(method: Function) -> Callable[..., Payload]:
        def plan(self: TorchBase, out: Any, /, *inputs: Any, **options: Any) -> Kernel:
            return function(partial(method, self, out, **options), out, *inputs, unsigned=unsigned, narrow=narrow)

        return _marked(wraps(method)(plan), unsigned, narrow)

    return mark


def kernel_planned(
    *, unsigned: Unsigned = "none", narrow: Narrow = "own"
) -> Callable[[Callable[..., Function | Fitting]], Callable[..., Payload]]:
    """Makes a planned callback of a method that takes templates and returns the function of PyTorch's tensors.

    So the method decides once for its templates. Operands and results go the ways of `kernel`.
    """

    def mark(method: Callable[..., Function | Fitting]) -> Callable[..., Payload]:
        def plan(self: TorchBase, out: Any, /, *inputs: Any, **options: Any) -> Kernel:
            chosen = method(self, out, *inputs, **options)
            return function(chosen, out, *inputs, unsigned=unsigned, narrow=narrow)

        return _marked(wraps(method)(plan), unsigned, narrow)

    return mark


def _marked(plan: Callable[..., Kernel], unsigned: Unsigned, narrow: Narrow) -> Callable[..., Payload]:
    callback: Callable[..., Payload] = planned(plan)
    callback.__unsigned__ = unsigned  # type: ignore[attr-defined]
    callback.__narrow__ = narrow  # type: ignore[attr-defined]
    return callback


def multiplying(callback: Callable[..., Payload]) -> Callable[..., Payload]:
    """A planned callback of products whose kernels multiply float32 with the precision in which they were planned.

    PyTorch has one setting for the process, which these kernels change and restore.
    """
    inner: Callable[..., Kernel] = callback.__plan__  # type: ignore[attr-defined]

    @wraps(inner)
    def plan(self: TorchBase, out: Any, /, *inputs: Any, **options: Any) -> Kernel:
        kernel, precision = inner(self, out, *inputs, **options), _PRECISIONS[product_precision()]
        if precision is None:
            return kernel

        def multiply(*payloads: Payload) -> Payload:
            before = torch.get_float32_matmul_precision()
            torch.set_float32_matmul_precision(precision)
            try:
                return kernel(*payloads)
            finally:
                torch.set_float32_matmul_precision(before)

        return multiply

    return _marked(plan, callback.__unsigned__, callback.__narrow__)  # type: ignore[attr-defined]


_PRECISIONS: Mapping[str, str | None] = {"highest": None, "high": "high", "default": "medium"}
"""PyTorch's names of the precisions of products; `None` for its setting as it is."""


def through_numpy(name: str) -> Callable[..., Payload]:
    """Makes a planned callback that calls NumpyBackend's callback on the CPU, and brings the result back."""

    @planned
    def callback(self: TorchBase, out: Template, /, *inputs: Template, **options: Any) -> Kernel:
        if self.place.type != "cpu" or bfloat16 in (out.dtype, *(x.dtype for x in inputs)):
            return kernel_by_numpy(self, name, out, *inputs, **options)
        numpy = get_backend("numpy")
        kernel = numpy.enter(kernel_of(getattr(numpy, name), out, *inputs, **options))
        return lambda *payloads: torch.from_numpy(kernel(*[x.numpy() for x in payloads]))

    callback.__numpy__ = "of every dtype"  # type: ignore[attr-defined]
    return callback
