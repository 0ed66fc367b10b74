"""The base class of the callback families."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, ClassVar, TypeVar

from tensorbackend import Template, Tensor
from tensorbackend.dtypes import DType, bfloat16, complex64, complex128, float16, float32, float64
from tensorbackend.protocol import Backend, Payload

from . import running
from .blocks import Array, Labels
from .chunks import Chunks, chunks_of, cut, positive_or_none
from .graphs import IMMEDIATE_BYTES, Lazy, by_labels, few, known
from .library import numpy_backend

Method = TypeVar("Method", bound=Callable[..., Payload])

NARROW = (float16, bfloat16)
"""The dtypes whose sums are computed in float32."""


class DaskBase(Backend):
    """Holds the state and the helpers that the callback families share."""

    name: ClassVar[str] = "dask"

    rules: Mapping[str, int | None]
    """Maps axis names to block sizes; `None` keeps an axis whole."""

    names_inside: Any
    """A context variable with the template of the composite that runs. Its names apply to unnamed tensors of its
    shape.
    """

    def chunks_for(
        self, out: Template, like: Lazy | None = None, sizes_by_name: Mapping[str, int | None] | None = None
    ) -> Chunks:
        """Returns the chunks of a new tensor, by the rules and `block_bytes`.

        With `sizes_by_name`, returns the chunks of `like`, with blocks of these sizes along the named axes.
        """
        if sizes_by_name:
            assert like is not None
            chunks = list(like.chunks)
            for name, size in sizes_by_name.items():
                positive_or_none(name, size)
                axis = _axis(out, name)
                chunks[axis] = cut(out.shape[axis], out.shape[axis] if size is None else size)
            return tuple(chunks)
        inside = self.names_inside.get()
        if inside is not None and inside.shape == out.shape and not any(out.names):
            out = out.replace(names=inside.names)
        return chunks_of(out, self.rules, int(self.options["block_bytes"]))  # type: ignore[call-overload] # an int

    def values(self, *payloads: Lazy) -> list[Array]:
        """Computes payloads now, and returns them as NumPy arrays."""
        return running.values(payloads, int(self.options["keep_bytes"]))  # type: ignore[call-overload] # an int

    def now(self, pending: Any) -> Any:
        """Computes one or more payloads now, because the computation may raise."""
        payloads = pending if isinstance(pending, tuple) else (pending,)
        computed = tuple(known(array, x.chunks) for array, x in zip(self.values(*payloads), payloads, strict=True))
        return computed if isinstance(pending, tuple) else computed[0]

    def cast(self, x: Lazy, source: DType, target: DType) -> Lazy:
        """Casts a payload to another dtype, by the rules of `as_type`."""
        if source is target:
            return x
        labels = tuple(range(x.ndim))
        return by_labels("as_type", Template(x.shape, target), [(x, source, labels)], [labels])


def _axis(out: Template, name: str) -> int:
    from tensorbackend.errors import ArgumentError, expected

    if name not in out.names:
        raise ArgumentError(expected(f"the name of an axis of {out!r}", name=name))
    return out.names.index(name)


def wider(dtype: DType) -> DType:
    """Returns the dtype in which the sums of blocks are added."""
    return float64 if dtype is float32 else complex128 if dtype is complex64 else dtype


def right_aligned(x: Tensor, ndim: int) -> Labels:
    """Returns the labels of an operand that is broadcast to `ndim` axes."""
    return tuple(range(ndim - x.ndim, ndim))


def lazily(method: Method) -> Method:
    """Decorates a callback on Dask arrays. If all inputs are small and known, NumpyBackend computes the result now."""
    name = method.__name__

    @wraps(method)
    def callback(self: DaskBase, out: Any, /, *inputs: Any, **options: object) -> Payload:
        result = at_once(self, name, out, inputs, options)
        return method(self, out, *inputs, **options) if result is None else result

    return callback  # type: ignore[return-value] # the same signature


def at_once(backend: DaskBase, name: str, out: Any, inputs: Sequence[Any], options: Mapping[str, object]) -> Any:
    """Returns the result of NumpyBackend's callback, or `None` if Dask must compute it.

    Dask computes the result if it is large, if an input is large, unknown or in several blocks, or if a callback
    without inputs makes a tensor of several blocks.
    """
    outs = (out,) if isinstance(out, Template) else out
    if any(template.nbytes > IMMEDIATE_BYTES for template in outs):
        return None
    tensors = _on_numpy(inputs)
    if tensors is None:
        return None
    if not tensors and any(len(sizes) > 1 for sizes in backend.chunks_for(outs[0])):
        return None
    result = getattr(numpy_backend(), name)(out, *tensors, **options)
    return known(result) if isinstance(out, Template) else tuple(map(known, result))


def _on_numpy(inputs: Sequence[Any]) -> tuple[Any, ...] | None:
    operands: list[Any] = []
    for x in inputs:
        if isinstance(x, Tensor):
            values = few(x.data)
            if values is None:
                return None
            operands.append(Tensor(x.template, numpy_backend(), values))
        elif x is None:
            operands.append(None)
        else:
            inner_operands = _on_numpy(x)
            if inner_operands is None:
                return None
            operands.append(inner_operands)
    return tuple(operands)
