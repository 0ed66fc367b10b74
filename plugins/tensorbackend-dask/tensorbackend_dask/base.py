"""The base of the families of callbacks."""

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
from .graphs import FEW, Lazy, by_labels, few, known
from .library import numpy_backend

Method = TypeVar("Method", bound=Callable[..., Payload])

NARROW = (float16, bfloat16)
"""The dtypes whose sums are computed in float32."""


class DaskBase(Backend):
    """State and helpers of the families."""

    name: ClassVar[str] = "dask"

    rules: Mapping[str, int | None]
    """The sizes of blocks by the names of axes."""

    names_inside: Any
    """A context variable: names for a shape, under which a composite's body makes tensors that are named later."""

    def chunks_for(
        self, out: Template, like: Lazy | None = None, given: Mapping[str, int | None] | None = None
    ) -> Chunks:
        """The blocks of a new tensor: by the rules and `block_bytes`."""
        if given:
            assert like is not None
            chunks = list(like.chunks)
            for name, size in given.items():
                positive_or_none(name, size)
                axis = _axis(out, name)
                chunks[axis] = cut(out.shape[axis], out.shape[axis] if size is None else size)
            return tuple(chunks)
        inside = self.names_inside.get()
        if inside is not None and inside.shape == out.shape and not any(out.names):
            out = out.replace(names=inside.names)
        return chunks_of(out, self.rules, int(self.options["block_bytes"]))  # type: ignore[call-overload] # an int

    def values(self, *payloads: Lazy) -> list[Array]:
        """Payloads as NumPy arrays, computed now."""
        return running.values(payloads, int(self.options["keep_bytes"]))  # type: ignore[call-overload] # an int

    def now(self, found: Any) -> Any:
        """A payload, or several, computed at once, since the computation may raise."""
        payloads = found if isinstance(found, tuple) else (found,)
        made = tuple(known(each, x.chunks) for each, x in zip(self.values(*payloads), payloads, strict=True))
        return made if isinstance(found, tuple) else made[0]

    def cast(self, x: Lazy, source: DType, target: DType) -> Lazy:
        """A payload in another dtype, by the rules of `as_type`."""
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
    """The dtype in which blocks' sums are added."""
    return float64 if dtype is float32 else complex128 if dtype is complex64 else dtype


def right_aligned(x: Tensor, ndim: int) -> Labels:
    """The labels of an operand that is broadcast to so many axes."""
    return tuple(range(ndim - x.ndim, ndim))


def lazily(method: Method) -> Method:
    """Marks a callback on Dask arrays: of a few elements that are known the result is computed at once, by NumPy."""
    name = method.__name__

    @wraps(method)
    def callback(self: DaskBase, out: Any, /, *inputs: Any, **options: object) -> Payload:
        found = at_once(self, name, out, inputs, options)
        return method(self, out, *inputs, **options) if found is None else found

    return callback  # type: ignore[return-value] # the same signature


def at_once(backend: DaskBase, name: str, out: Any, inputs: Sequence[Any], options: Mapping[str, object]) -> Any:
    """The result of NumpyBackend's callback for known inputs, `None` where they are too large or one is not known."""
    outs = (out,) if isinstance(out, Template) else out
    if any(each.nbytes > FEW for each in outs):
        return None
    tensors = _on_numpy(inputs)
    if tensors is None:
        return None
    if not tensors and any(len(sizes) > 1 for sizes in backend.chunks_for(outs[0])):
        return None
    found = getattr(numpy_backend(), name)(out, *tensors, **options)
    return known(found) if isinstance(out, Template) else tuple(map(known, found))


def _on_numpy(inputs: Sequence[Any]) -> tuple[Any, ...] | None:
    found: list[Any] = []
    for x in inputs:
        if isinstance(x, Tensor):
            values = few(x.data)
            if values is None:
                return None
            found.append(Tensor(x.template, numpy_backend(), values))
        elif x is None:
            found.append(None)
        else:
            each = _on_numpy(x)
            if each is None:
                return None
            found.append(each)
    return tuple(found)
