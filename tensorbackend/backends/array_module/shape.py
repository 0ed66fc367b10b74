"""Callbacks that move elements: views wherever the array module returns one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from operator import index
from typing import Any

from ...interchange import numpy_dtype
from ...protocol import Kernel, planned
from ...protocol.workspace import takes
from ...template import Shape, Template
from ..positions import align_axes, pad_slices
from .base import Array, ArrayBase, flagless_kernel
from .workspace_bytes import nbytes

_LEAST_ELEMENTS_IN_PARTS = 1 << 12
"""From this number of elements on, only the padding is filled with the pad value: no element is written twice."""


class ArrayShaping(ArrayBase):
    """Changes of shape and order."""

    @planned
    def reshape(self, out: Template, x: Template, /) -> Kernel:
        """The same elements in row-major order under another shape."""
        shape = out.shape
        return flagless_kernel(lambda values: values.reshape(shape))

    @planned
    def squeeze(self, out: Template, x: Template, /, *, axes: tuple[int, ...]) -> Kernel:
        """Removes `axes`."""
        shape = out.shape
        return flagless_kernel(lambda values: values.reshape(shape))

    @planned
    def broadcast(self, out: Template, x: Template, /, *, axes: tuple[int, ...]) -> Kernel:
        """A view in which the repeated axes have stride 0."""
        broadcast_to, shape = self.xp.broadcast_to, out.shape
        order, lined_up = align_axes(x.shape, axes, out.ndim)
        if order != tuple(range(len(axes))):
            return flagless_kernel(lambda values: broadcast_to(values.transpose(order).reshape(lined_up), shape))
        if lined_up == shape:
            return flagless_kernel(lambda values: values.reshape(shape))
        if axes == tuple(range(out.ndim - x.ndim, out.ndim)):
            return flagless_kernel(lambda values: broadcast_to(values, shape))
        return flagless_kernel(lambda values: broadcast_to(values.reshape(lined_up), shape))

    @planned
    def transpose(self, out: Template, x: Template, /, *, axes: tuple[int, ...]) -> Kernel:
        return flagless_kernel(lambda values: values.transpose(axes))

    @planned
    def pad(
        self, out: Template, x: Template, pad_value: Template, /, *, padding: tuple[tuple[int, int, int], ...]
    ) -> Kernel:
        """x written into an array of the pad value, in steps that leave room for the interior padding."""
        return padding_function(self.xp, x.shape, numpy_dtype(out.dtype), padding)

    @planned
    def reverse(self, out: Template, x: Template, /, *, axes: tuple[int, ...]) -> Kernel:
        """A view in which the order along `axes` is reversed."""
        key = (*(slice(None, None, -1 if axis in axes else 1) for axis in range(x.ndim)), ...)
        return flagless_kernel(lambda values: values[key])

    @planned
    def concatenate(self, out: Template, tensors: Sequence[Template], /, *, axis: int) -> Kernel:
        """The tensors one after another along `axis`."""
        concatenate = self.xp.concatenate
        return flagless_kernel(lambda arrays: concatenate(arrays, axis))

    # Overrides of composites

    @takes(
        lambda out, tensors, *, axis, name: sum(nbytes(x.size, out.dtype) for x in tensors if x.dtype is not out.dtype)
    )
    @planned
    def stack(self, out: Template, tensors: Sequence[Template], /, *, axis: int, name: str | None) -> Kernel:
        """The tensors one after another along the axis that follows the new one, which a view then splits in two.

        The module's `stack` takes twice as long. Three tensors of shape (2, 5) along a new axis 1 are concatenated to
        (2, 15), which is (2, 3, 5).
        """
        concatenate, stack = self.xp.concatenate, self.xp.stack
        shape, along = out.shape, axis % out.ndim

        def join(arrays: Sequence[Array]) -> Array:
            return concatenate(arrays, along).reshape(shape)

        if along == out.ndim - 1:  # no axis follows
            join = lambda arrays: stack(arrays, along)  # noqa: E731 # the other form
        if all(x.dtype is out.dtype for x in tensors):
            return flagless_kernel(join)
        casts = [self.caster(x.dtype, out.dtype) for x in tensors]
        return lambda arrays: join([cast(values) for cast, values in zip(casts, arrays, strict=True)])

    @takes(lambda out, x, *, k: prod(x.shape[-2:]))
    @planned
    def tril(self, out: Template, x: Template, /, *, k: int) -> Kernel:
        """The lower triangle, by the module's function."""
        tril, diagonal = self.xp.tril, self._diagonal(x, k)
        return flagless_kernel(lambda values: tril(values, diagonal))

    @takes(lambda out, x, *, k: prod(x.shape[-2:]))
    @planned
    def triu(self, out: Template, x: Template, /, *, k: int) -> Kernel:
        """The upper triangle, by the module's function."""
        triu, diagonal = self.xp.triu, self._diagonal(x, k)
        return flagless_kernel(lambda values: triu(values, diagonal))

    @planned
    def unstack(self, out: tuple[Template, ...], x: Template, /, *, axis: int) -> Kernel:
        """Views, one for each entry along `axis`."""
        whole = (slice(None),) * axis
        keys = [(*whole, entry, ...) for entry in range(x.shape[axis])]
        return flagless_kernel(lambda values: tuple([values[key] for key in keys]))

    def _diagonal(self, x: Template, k: int) -> int:
        """The number of a diagonal, clipped to just outside the matrix: the module's integers may not hold every k."""
        rows, columns = x.shape[-2:]
        return max(-rows - 1, min(index(k), columns + 1))


def padding_function(
    xp: Any, sizes: Shape, dtype: Any, padding: Sequence[tuple[int, int, int]]
) -> Callable[[Array, Any], Array]:
    """A function that pads each axis of an array with a value: `low` elements before, `high` after, and `interior`
    between its elements (`pad_slices`).
    """
    shape, read, written = pad_slices(sizes, padding)
    source, target, empty = (*read, ...), (*written, ...), xp.empty
    about = (
        _surroundings(written, shape)
        if prod(shape) >= _LEAST_ELEMENTS_IN_PARTS and not any(part.step > 1 for part in written)
        else [...]
    )

    def pad(values: Array, pad_value: Any) -> Array:
        result = empty(shape, dtype)
        for block in about:
            result[block] = pad_value
        result[target] = values[source]
        return result

    return pad


def _surroundings(block: Sequence[slice], shape: Shape) -> list[Any]:
    """The parts of an array before and after a block along each axis; together they are all but the block."""
    parts: list[Any] = []
    for axis, (part, length) in enumerate(zip(block, shape, strict=True)):
        inner = tuple(block[:axis])
        parts += [(*inner, slice(*ends), ...) for ends in ((0, part.start), (part.stop, length)) if ends[0] < ends[1]]
    return parts
