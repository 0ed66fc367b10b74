"""What makes a callback of a method on PyTorch's tensors, and what the callbacks share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ClassVar, TypeAlias

from tensorbackend import Template, Tensor, get_backend
from tensorbackend.dtypes import ALL_DTYPES, float64
from tensorbackend.protocol import Backend, Payload

from .casting import cast
from .library import torch
from .ways import NARROW, UNSIGNED, Array, Narrow, Unsigned, bits_of, dtype_of, torch_dtype, turned_over

Kernel: TypeAlias = Callable[..., Any]


class TorchBase(Backend):
    """State and helpers of the families of callbacks."""

    name: ClassVar[str] = "torch"

    place: torch.device
    """PyTorch's own name of the device."""

    def cast(self, values: Array, out: Template) -> Array:
        """A composite's operand, which arrives as it was given, in the dtype of the result."""
        return cast(values, dtype_of(values.dtype), out.dtype)

    def gathered(self, out: Template, elements: Sequence[Array]) -> Array:
        """Tensors without axes, one for each element of a result."""
        if not elements:
            return torch.empty(out.shape, dtype=torch_dtype(out.dtype), device=self.place)
        return settled(out, torch.stack([bits_of(each) for each in elements]).reshape(out.shape))


def settled(out: Template, values: Array) -> Array:
    """What was computed in another dtype in that of the result: bits as they are, floats rounded."""
    wanted = torch_dtype(out.dtype)
    if values.dtype is wanted:
        return values.resolve_conj() if out.dtype.is_complex else values
    if out.dtype in UNSIGNED:
        return values.view(wanted)
    return cast(values, float64, out.dtype) if values.dtype is torch.float64 else values.to(wanted)


def _as_it_is(x: Tensor) -> Array:
    data: Array = x.data
    return data


def _by_bits(x: Tensor) -> Array:
    data: Array = x.data
    return bits_of(data) if x.dtype in UNSIGNED else data


def _by_order(x: Tensor) -> Array:
    data: Array = x.data
    return turned_over(bits_of(data)) if x.dtype in UNSIGNED else data


_ENTER: dict[Unsigned, Callable[[Tensor], Array]] = {
    "none": _as_it_is,
    "own": _as_it_is,
    "bits": _by_bits,
    "order": _by_order,
}


def kernel(*, unsigned: Unsigned = "none", narrow: Narrow = "own") -> Callable[[Kernel], Callable[..., Payload]]:
    """Makes a callback of a method that takes and returns PyTorch's tensors.

    Its operands come the ways that are named, and its results go back: to unsigned dtypes by their bits, to narrow
    floats by rounding to nearest even. A way of "own" leaves them as they are.
    """
    by = _ENTER[unsigned]
    wider = None if narrow == "own" else narrow
    turned = UNSIGNED.keys() if unsigned in ("bits", "order") else ()
    widened = {None: (), "float32": NARROW, "float64": [each for each in ALL_DTYPES if each.is_floating]}[wider]
    special = frozenset((*turned, *widened))

    def operand(x: Tensor | Sequence[Tensor]) -> Any:
        if not isinstance(x, Tensor):
            return [operand(each) for each in x]
        return x.data.to(getattr(torch, wider)) if wider is not None and x.dtype in widened else by(x)

    def ordered(out: Template, values: Array) -> Array:
        if out.dtype in UNSIGNED and values.dtype is not torch_dtype(out.dtype):
            values = turned_over(values)
        return settled(out, values)

    result = ordered if unsigned == "order" else settled

    def mark(method: Kernel) -> Callable[..., Payload]:
        @wraps(method)
        def callback(
            self: TorchBase, out: Template | tuple[Template, ...], /, *inputs: Tensor, **options: Any
        ) -> Payload:
            operands = [x.data if isinstance(x, Tensor) and x.dtype not in special else operand(x) for x in inputs]
            values = method(self, out, *operands, **options)
            if isinstance(out, Template):
                return result(out, values)
            return tuple(result(each, part) for each, part in zip(out, values, strict=True))

        callback.__unsigned__ = unsigned  # type: ignore[attr-defined]
        callback.__narrow__ = narrow  # type: ignore[attr-defined]
        return callback

    return mark


def through_numpy(name: str) -> Callable[..., Payload]:
    """A callback that NumPy's backend has, called on the CPU, its result brought back."""

    def callback(self: TorchBase, out: Template, /, *inputs: Tensor, **options: Any) -> Payload:
        numpy = get_backend("numpy")
        moved = [Tensor(x.template, numpy, numpy.from_backend(x, copy=False)) for x in inputs]
        data = getattr(numpy, name)(out, *moved, **options)
        return self.from_backend(Tensor(out, numpy, data), copy=False)

    callback.__numpy__ = "of every dtype"  # type: ignore[attr-defined]
    return callback
