"""Functions that reshape, reorder, combine, pad and split tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorbackend as tb
from tensorbackend.dtypes import bool_

from .base import Base, Operand
from .creation import plain, sizes

MODES = {"boundary": "edge", "periodic": "wrap", "symmetric": "symmetric", "reflect": "reflect"}
"""The `mode` of `tb.pad` for each of PhiML's."""


class Shaping(Base):
    """Functions that change the shapes of tensors."""

    def reshape(self, value: Operand, shape: Sequence[int]) -> Any:
        """Change the shape; the elements keep their row-major order."""
        return tb.reshape(self._tensor(value), sizes(shape))

    def flatten(self, x: Operand) -> Any:
        """Reshape to one axis."""
        return tb.reshape(self._tensor(x), (-1,))

    def transpose(self, tensor: Operand, axes: Sequence[int] | None) -> Any:
        """Permute the axes; without `axes`, reverse them."""
        x = tensor if type(tensor) is tb.Tensor else self._tensor(tensor)
        return tb.permute_dims(x, None if axes is None else tuple(axes))

    def expand_dims(self, a: Operand, axis: int = 0, number: int = 1) -> Any:
        """Insert `number` axes of size 1 at position `axis`."""
        x = self._tensor(a)
        shape = x.shape
        place = axis if axis >= 0 else len(shape) + 1 + axis
        return tb.reshape(x, (*shape[:place], *[1] * number, *shape[place:]))

    def tile(self, value: Operand, multiples: Sequence[int]) -> Any:
        """Repeat a tensor along each axis as often as `multiples` says."""
        return tb.tile(self._tensor(value), sizes(multiples))

    def tile_to(self, x: Operand, axis: int, size: int) -> Any:
        """Repeat a tensor along an axis up to `size`, which must be a multiple of its size along the axis."""
        current = self.shape(x)[axis]
        if current == size:
            return x
        assert size % current == 0, f"expected a multiple of {current} as size, got {size}"
        return self.tile(x, [size // current if place == axis else 1 for place in range(self.ndims(x))])

    def determine_size(self, tensors: Sequence[Operand], axis: int) -> int:
        """The common size of tensors along an axis; a size of 1 broadcasts."""
        lengths = {self.shape(x)[axis] for x in tensors} - {1}
        assert len(lengths) <= 1, f"expected one size along axis {axis}, got {sorted(lengths)}"
        return lengths.pop() if lengths else 1

    def repeat(self, x: Operand, repeats: Operand, axis: int, new_length: int | None = None) -> Any:
        """Repeat each entry along an axis; the result has `new_length` entries, if it is given."""
        return tb.repeat(self._tensor(x), self._tensor(repeats), axis=axis, size=new_length)

    def flip(self, value: Operand, axes: Sequence[int]) -> Any:
        """Reverse the entries along axes."""
        return tb.flip(self._tensor(value), axis=tuple(axes) if isinstance(axes, tuple | list) else axes)

    def stack(self, values: Sequence[Operand], axis: int = 0) -> Any:
        """Join tensors along a new axis."""
        return tb.stack(self._together(values), axis=axis)

    def concat(self, values: Sequence[Operand], axis: int) -> Any:
        """Join tensors along an existing axis."""
        return tb.concat(self._together(values), axis=axis)

    def _together(self, values: Sequence[Operand]) -> list[Any]:
        tensors = [x if type(x) is tb.Tensor else self._tensor(x) for x in values]
        if len({x.template.dtype for x in tensors}) > 1:
            return self.auto_cast(*tensors)
        return tensors

    def stack_leaves(self, trees: Sequence[Any], axis: int = 0) -> Any:
        """Stack the corresponding leaves of nested tensors."""
        return self._each_leaf(lambda *leaves: self.stack(leaves, axis), *trees)

    def copy_leaves(self, tree: Any, only_mutable: bool = False) -> Any:
        """Copy each leaf of nested tensors."""
        return self._each_leaf(lambda leaf: self.copy(leaf, only_mutable), tree)

    def stop_gradient_tree(self, tree: Any) -> Any:
        """Apply `stop_gradient` to each leaf of nested tensors."""
        return self._each_leaf(self.stop_gradient, tree)

    def _each_leaf(self, function: Any, *trees: Any) -> Any:
        first = trees[0]
        if isinstance(first, dict):
            return {key: self._each_leaf(function, *(tree[key] for tree in trees)) for key in first}
        if isinstance(first, tuple | list):
            mapped = [self._each_leaf(function, *subtrees) for subtrees in zip(*trees, strict=True)]
            return tuple(mapped) if isinstance(first, tuple) else mapped
        return function(*trees)

    def pad(
        self, value: Operand, pad_width: Sequence[Any], mode: str = "constant", constant_values: Operand = 0
    ) -> Any:
        """Pad each axis before and after; return `NotImplemented` for an unknown mode, as PhiML expects."""
        widths = [(int(low), int(high)) for low, high in pad_width]
        x = self._tensor(value)
        if mode == "constant":
            if isinstance(constant_values, tb.Tensor) or x.dtype is bool_ or not x.dtype.is_inexact:
                x, filled = self.auto_cast(x, constant_values)
                return tb.pad(x, widths, value=filled)
            return tb.pad(x, widths, value=plain(constant_values))
        return tb.pad(x, widths, mode=MODES[mode]) if mode in MODES else NotImplemented

    def pad_to(self, x: Operand, axis: int, new_size: int, fill_value: Operand) -> Any:
        """Cut or pad the end of an axis to a size."""
        missing = int(new_size) - self.shape(x)[axis]
        if not missing:
            return x
        widths = [(0, missing if place == axis else 0) for place in range(self.ndims(x))]
        return self.pad(x, widths, constant_values=fill_value)

    def pad_stack(self, tensors: Sequence[Operand], shape: Sequence[int], pad_value: Operand = 0) -> Any:
        """Pad tensors at the ends to one shape and stack them."""
        return self.stack(
            [
                self.pad(x, [(0, size - length) for length, size in zip(self.shape(x), shape, strict=True)],
                         constant_values=pad_value)
                for x in tensors
            ]
        )  # fmt: skip

    def unstack(self, tensor: Operand, axis: int = 0, keepdims: bool = False) -> tuple[Any, ...]:
        """Split a tensor into its entries along an axis."""
        x = self._tensor(tensor)
        if not -x.ndim <= axis < x.ndim:
            raise ValueError(f"expected an axis of a tensor of {x.ndim} axes, got axis={axis}")
        if keepdims:
            return tuple(tb.split(x, x.shape[axis], axis=axis))
        return tuple(tb.unstack(x, axis=axis))
