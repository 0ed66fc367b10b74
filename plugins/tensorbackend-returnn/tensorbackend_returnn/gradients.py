"""Gradients: a tape that opens with the first tensor that requires a gradient, and functions that change gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, wraps
from typing import Any

import tensorbackend as tb
from returnn.frontend import _backend
from returnn.tensor import Dim, Tensor

from .base import arranged
from .losses import Losses


class Gradients(Losses):
    """Functions that compute, stop or change gradients."""

    _tape: Any = None

    @classmethod
    def set_requires_gradient(cls, tensor: Tensor) -> None:
        """Make the tape follow a tensor by replacing its raw tensor with one on the tape, unless it follows it already.

        Outside the block of a tape, this opens a tape, which `close_tape` or the next `select_backend` closes. In a
        traced function it does nothing, as `tb.grad` names the arguments to differentiate by.
        """
        if isinstance(tensor.raw_tensor.backend, tb.ExprBackend):
            return
        tape = tb.current_tape()
        if tape is None:
            tape = Gradients._tape = tb.tape()
            tape.__enter__()
        if not tape.follows(tensor.raw_tensor):
            tensor.raw_tensor = tape.watch(tensor.raw_tensor)

    @classmethod
    def close_tape(cls) -> None:
        """Close the tape that `set_requires_gradient` opened, if there is one."""
        held, Gradients._tape = Gradients._tape, None
        if held is not None:
            held.__exit__(None, None, None)

    @classmethod
    def gradient(cls, y: Tensor, x: Tensor) -> Tensor:
        """The gradient of a scalar with respect to a tensor that the tape follows."""
        out = x.copy_template(name="gradient")
        out.raw_tensor = tb.gradient(y.raw_tensor, x.raw_tensor)
        return out

    @classmethod
    def stop_gradient(cls, tensor: Tensor) -> Tensor:
        """Return a tensor with the same data, through which no gradient flows."""
        out = tensor.copy()
        out.raw_tensor = tensor.raw_tensor.detach()
        return out

    @classmethod
    def stop_gradient_scope(cls) -> AbstractContextManager[None]:
        """A context in which results are constants: no gradient flows through them."""
        if isinstance(tb.get_backend(), tb.ExprBackend):
            return _stopped(cls)
        tape = tb.current_tape()
        return nullcontext() if tape is None else tape.paused()

    @classmethod
    def scaled_gradient(cls, tensor: Tensor, scale: Any) -> Tensor:
        """Return the tensor unchanged, but multiply its gradient by `scale`."""
        out = tensor.copy()
        factor = arranged(scale, tensor.dims) if isinstance(scale, Tensor) and scale.dims else scale
        factor = factor.raw_tensor if isinstance(factor, Tensor) else factor
        out.raw_tensor = tb.scaled_gradient(tensor.raw_tensor, factor)
        return out

    @classmethod
    def scaled_gradient_ext(
        cls,
        x: Tensor,
        *,
        scale: Any = 1.0,
        shift: Any = None,
        scale_shift_by_sum_over_axis: Dim | None = None,
    ) -> Tensor:
        """Return the tensor unchanged, but turn its gradient g into `g * scale + shift`.

        With `scale_shift_by_sum_over_axis`, the shift is multiplied by the sum of |g| over that dim.
        """
        factor, offset = (
            arranged(operand, x.dims) if isinstance(operand, Tensor) else operand for operand in (scale, shift)
        )
        axis = None
        if scale_shift_by_sum_over_axis is not None:
            axis = x.get_axis_from_description(scale_shift_by_sum_over_axis, allow_int=False)

        @tb.custom_gradient
        def changed(value: tb.Tensor) -> tuple[tb.Tensor, Callable[[tb.Tensor], tb.Tensor]]:
            def pull(cotangent: tb.Tensor) -> tb.Tensor:
                scaled = cotangent * factor
                if offset is None:
                    return scaled
                amount = 1 if axis is None else tb.sum(tb.abs(cotangent), axis=axis, keepdims=True)
                return scaled + offset * amount

            return value, pull

        out = x.copy()
        out.raw_tensor = changed(x.raw_tensor)
        return out

    @classmethod
    @contextmanager
    def gradient_checkpoint_scope(cls) -> Iterator[None]:
        """A context without effect, because a block cannot be computed again. Use `tb.checkpoint` of a function."""
        yield


@contextmanager
def _stopped(adapter: Any) -> Iterator[None]:
    """A context for traced functions in which the functions of the adapter return constants."""
    table = _backend._backend_tensor_type_dispatch_table
    before = table.get(tb.Tensor)
    try:
        table[tb.Tensor] = _constant_adapter(adapter)
        yield
    finally:
        table[tb.Tensor] = before


@cache
def _constant_adapter(adapter: Any) -> type[Gradients]:
    """A subclass of the adapter whose functions return tensors through which no gradient flows."""

    def constant(x: Any, arguments: tuple[Any, ...]) -> Any:
        if any(x is argument for argument in arguments):
            return x
        if isinstance(x, Tensor):
            out = x.copy()
            out.raw_tensor = x.raw_tensor.detach()
            return out
        if isinstance(x, tb.Tensor):
            return x.detach()
        return type(x)(constant(part, arguments) for part in x) if type(x) in (tuple, list) else x

    def of(name: str) -> Callable[..., Any]:
        function = getattr(adapter, name)

        @wraps(function)
        def stopped(*arguments: Any, **options: Any) -> Any:
            return constant(function(*arguments, **options), (*arguments, *options.values()))

        return stopped

    names = [
        name for name in dir(adapter) if not name.startswith("_") and isinstance(_unbound(adapter, name), classmethod)
    ]
    return type(f"Constant{adapter.__name__}", (adapter,), {name: staticmethod(of(name)) for name in names})


def _unbound(kind: type, name: str) -> Any:
    """The attribute of a class as its class body defines it, without binding."""
    return next(vars(ancestor)[name] for ancestor in kind.__mro__ if name in vars(ancestor))
