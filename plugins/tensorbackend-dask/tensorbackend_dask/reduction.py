"""Tree reductions: NumpyBackend reduces each block, then the results are combined in groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from tensorbackend import Template, Tensor
from tensorbackend.dtypes import DType, as_dtype, float32, int64
from tensorbackend.protocol import Payload

from .base import NARROW, DaskBase, lazily, wider
from .blocks import Array, Folded, cast, restored
from .graphs import Lazy, Place, by_labels, layer, named, tree
from .library import np

COMBINED = {
    "all": "logical_and",
    "any": "logical_or",
    "sum": "add",
    "product": "multiply",
    "reduce_max": "max",
    "reduce_min": "min",
}
"""The callback of two tensors that combines the results of blocks, for each reduction."""


class Extreme:
    """Finds the extreme value of a block and its index in the whole tensor, and combines such pairs."""

    def __init__(self, name: str, axis: int | None, tie: str, whole: tuple[int, ...], dtype: str) -> None:
        self.state = name, axis, tie, whole, dtype

    def of_block(self, values: Array, at: tuple[tuple[int, ...], tuple[int, ...]]) -> tuple[Array, Array]:
        """Returns the extreme values of a block, and their indices in the whole tensor."""
        name, axis, tie, whole, dtype = self.state
        labels = tuple(range(values.ndim))
        kept = () if axis is None else labels[:axis] + labels[axis + 1 :]
        options = (("axis", axis), ("keepdims", False), ("tie_break", tie))
        index = restored(name, ((labels, dtype),), ((kept, "int64"),), (), options)(values)
        if axis is not None:
            extremes = np.take_along_axis(values, np.expand_dims(index, axis), axis)
            return np.moveaxis(extremes, axis, -1), np.expand_dims(index + at[0][axis], -1)
        place = np.unravel_index(int(index), values.shape)
        first = np.ravel_multi_index(tuple(i + start for i, start in zip(place, at[0], strict=True)), whole)
        ones = (1,) * values.ndim
        return values[place].reshape(ones), np.full(ones, first, np.int64)

    def __call__(self, *pairs: tuple[Array, Array]) -> tuple[Array, Array]:
        name, _, tie, _, _ = self.state
        (best, index), *others = pairs
        with np.errstate(all="ignore"):
            for values, places in others:
                beats = values > best if name == "argmax" else values < best
                same = values == best
                if best.dtype.kind not in "biu":
                    absent, before = values != values, best != best
                    beats, same = (beats & ~before) | (absent & ~before), same | (absent & before)
                takes = beats | (same & (places < index if tie == "low" else places > index))
                best, index = np.where(takes, values, best), np.where(takes, places, index)
        return best, index

    def last(self, pair: tuple[Array, Array]) -> Array:
        """Returns the indices."""
        return pair[1]


class Moments:
    """Combines triples of a count, a mean, and a sum of squared differences from the mean (Chan et al., 1983)."""

    def __init__(self, axes: tuple[int, ...], correction: float, source: str, work: str) -> None:
        self.state = axes, correction, source, work

    def of_block(self, values: Array) -> tuple[int, Array, Array]:
        """Returns the triple of a block, by NumpyBackend's mean and variance in at least float32."""
        axes, _, source, work = self.state
        values = cast(values, as_dtype(source), as_dtype(work))
        labels = tuple(range(values.ndim))
        kept = tuple(label for label in labels if label not in axes)
        count = int(np.prod([values.shape[axis] for axis in axes], dtype=np.int64))
        ones = (1,) * len(axes)

        def moment(name: str, **more: float) -> Array:
            options = (("axis", axes), *more.items(), ("keepdims", False))
            result = restored(name, ((labels, work),), ((kept, work),), (), options)(values)
            return result.reshape((*result.shape, *ones)).astype(np.float64)

        with np.errstate(all="ignore"):
            return count, moment("mean"), moment("var", correction=0.0) * count

    def __call__(self, *triples: tuple[int, Array, Array]) -> tuple[int, Array, Array]:
        (count, mean, squares), *others = triples
        with np.errstate(all="ignore"):
            for more, other, added in others:
                if not more:
                    continue
                total = count + more
                apart = other - mean
                mean = mean + apart * (more / total)
                squares = squares + added + apart * apart * (count * more / total)
                count = total
        return count, mean, squares

    def last(self, triple: tuple[int, Array, Array]) -> Array:
        """Returns the variance."""
        count, _, squares = triple
        divisor = count - self.state[1]
        with np.errstate(all="ignore"):
            return squares / (divisor if divisor > 0 else np.nan)


def reduction(name: str, says: str, *, sums: bool = False) -> Callable[..., Payload]:
    """A callback that reduces along axes; `sums` says that the results of blocks are combined in a wider dtype."""

    def callback(self: Any, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        partial = float32 if sums and out.dtype in NARROW else out.dtype
        return self.reduced(name, out, x.data, x.dtype, axes, keepdims, partial, wider(partial) if sums else partial)

    callback.__name__, callback.__doc__ = name, says
    return lazily(callback)


def position(name: str, says: str) -> Callable[..., Payload]:
    """A callback that finds the index of an extreme."""

    def callback(
        self: Any, out: Template, x: Tensor, /, *, axis: int | None, keepdims: bool, tie_break: Literal["low", "high"]
    ) -> Payload:
        return self.extreme(name, out, x, axis, keepdims, tie_break)

    callback.__name__, callback.__doc__ = name, says
    return lazily(callback)


class DaskReduction(DaskBase):
    """Reductions along axes."""

    def reduced(
        self, name: str, out: Template, x: Lazy, source: DType, axes: tuple[int, ...], keepdims: bool,
        partial: DType, work: DType,
    ) -> Lazy:  # fmt: skip
        """Reduces each block to the dtype `partial`, and combines the results in the dtype `work`."""
        labels = tuple(range(x.ndim))
        kept = tuple(label for label in labels if label not in axes)
        shape = tuple(x.shape[axis] for axis in kept)
        options = {"axes": axes, "keepdims": False}
        if all(x.numblocks[axis] == 1 for axis in axes) and partial is out.dtype and not keepdims:
            return by_labels(name, out, [(x, source, labels)], [kept], options=options)
        parts = by_labels(
            name, Template(shape, partial), [(x, source, labels)], [kept], more=axes, options=options
        )  # fmt: skip
        combine = Folded(COMBINED[name], str(work), x.ndim)
        return tree(name, parts, len(kept), combine, out, added=axes if keepdims else (), held=x.nbytes)

    sum = reduction("sum", "Adds the sums of blocks; float32 sums are added in float64.", sums=True)
    product = reduction("product", "Multiplies the products of blocks; those of float32 in float64.", sums=True)
    all = reduction("all", "Whether every element is true.")
    any = reduction("any", "Whether any element is true.")
    reduce_max = reduction("reduce_max", "Largest element, NaN if there is one.")
    reduce_min = reduction("reduce_min", "Least element, NaN if there is one.")

    def extreme(self, name: str, out: Template, x: Tensor, axis: int | None, keepdims: bool, tie: str) -> Lazy:
        """Finds the extremes of blocks, and the first or last of these."""
        labels = tuple(range(x.ndim))
        axes = labels if axis is None else (axis,)
        kept = tuple(label for label in labels if label not in axes)
        combine = Extreme(name, axis, tie, x.shape, str(x.dtype))
        blocks = x.data.chunks
        chunks = (*(blocks[label] for label in kept), *((1,) * len(blocks[label]) for label in axes))
        operands = [(x.data, labels), (Place(blocks), labels)]
        parts = layer(combine.of_block, named(name), (*kept, *axes), chunks, int64, operands)
        return tree(name, parts, len(kept), combine, out, added=axes if keepdims else (), held=x.data.nbytes)

    argmax = position("argmax", "Index of the largest element; the indices in the whole tensor decide ties of blocks.")
    argmin = position("argmin", "Index of the minimum; the indices in the whole tensor decide ties of blocks.")

    @lazily
    def var(self, out: Template, x: Tensor, /, *, axis: tuple[int, ...], correction: float, keepdims: bool) -> Payload:
        """Variance in one pass: merges the counts, means and squared differences of blocks in float64."""
        labels = tuple(range(x.ndim))
        kept = tuple(label for label in labels if label not in axis)
        work = out.dtype if out.dtype not in NARROW else float32
        combine = Moments(axis, float(correction), str(x.dtype), str(work))
        blocks = x.data.chunks
        chunks = (*(blocks[label] for label in kept), *((1,) * len(blocks[label]) for label in axis))
        parts = layer(combine.of_block, named("var"), (*kept, *axis), chunks, out.dtype, [(x.data, labels)])
        return tree("var", parts, len(kept), combine, out, added=axis if keepdims else (), held=x.data.nbytes)
