"""Gradients: a tape that opens when a gradient is first asked for, and functions that change what flows back."""

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
    """Functions that have to do with gradients."""

    _tape: Any = None

    @classmethod
    def set_requires_gradient(cls, tensor: Tensor) -> None:
        """Has the tape follow a tensor, whose data is exchanged for one on the tape, unless it does already.

        Outside the block of a tape one opens now, which `close_tape` or the next `select_backend` closes. In a traced
        function this does nothing: the gradient is asked for by `tb.grad`, of its arguments.
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
        """Ends the recording that `set_requires_gradient` began."""
        held, Gradients._tape = Gradients._tape, None
        if held is not None:
            held.__exit__(None, None, None)

    @classmethod
    def gradient(cls, y: Tensor, x: Tensor) -> Tensor:
        """The gradient of a scalar by a tensor that the tape follows."""
        out = x.copy_template(name="gradient")
        out.raw_tensor = tb.gradient(y.raw_tensor, x.raw_tensor)
        return out

    @classmethod
    def stop_gradient(cls, tensor: Tensor) -> Tensor:
        """A tensor through which no gradient flows."""
        out = tensor.copy()
        out.raw_tensor = tensor.raw_tensor.detach()
        return out

    @classmethod
    def stop_gradient_scope(cls) -> AbstractContextManager[None]:
        """A block through whose results no gradient flows."""
        if isinstance(tb.get_backend(), tb.ExprBackend):
            return _stopped(cls)
        tape = tb.current_tape()
        return nullcontext() if tape is None else tape.paused()

    @classmethod
    def scaled_gradient(cls, tensor: Tensor, scale: Any) -> Tensor:
        """A tensor whose gradient is multiplied."""
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
        """A tensor whose gradient is multiplied and moved, by a share of the sum of its magnitudes along a dim."""
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
        """A block that changes nothing: `tb.checkpoint` of a function forgets what it computes, a block cannot."""
        yield


@contextmanager
def _stopped(adapter: Any) -> Iterator[None]:
    """A block in a traced function, where functions of the adapter give constants."""
    table = _backend._backend_tensor_type_dispatch_table
    before = table.get(tb.Tensor)
    try:
        table[tb.Tensor] = _constant_adapter(adapter)
        yield
    finally:
        table[tb.Tensor] = before


@cache
def _constant_adapter(adapter: Any) -> type[Gradients]:
    """The adapter whose functions give tensors through which no gradient flows."""

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
    """The attribute of a class as the class body defines it."""
    return next(vars(ancestor)[name] for ancestor in kind.__mro__ if name in vars(ancestor))
