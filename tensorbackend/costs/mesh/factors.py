"""Which axes of a call's operands and results correspond, by the op's declaration.

Axes that correspond share one *factor*, a number. The product of f32[m][k] with f32[k][n] has three factors: the
operands have (0, 1) and (1, 2), the result has (0, 2), and factor 1 is summed. Devices may divide all axes of a factor,
so that each works on its part. If the factor is summed, the partial results of the devices must be combined. An axis
without a factor is needed as a whole.

An op declares its *reach*, one word, with its callback in the protocol. This module defines the factors for each word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple, TypeAlias

from ...declarations.op_specs import REACHES
from ...errors import UnsupportedOp, expected
from ...expr.node import RENAMED, Node
from ...protocol.callbacks import Reach
from ...template import Shape, Template

Places: TypeAlias = "tuple[int | None, ...]"
"""The factor of each axis of a tensor."""


class Factors(NamedTuple):
    """The factors of the axes of a call."""

    inputs: tuple[Places, ...]
    outputs: tuple[Places, ...]
    summed: frozenset[int] = frozenset()
    """Factors that no result has. Partial results over parts of them are combined: by sums, or as the op says."""


Templates: TypeAlias = Sequence[Template]
Options: TypeAlias = Mapping[str, Any]


def factors_of(node: Node) -> Factors:
    """The factors of a node other than control flow, from what its op declares."""
    outs, inputs = node.outs, [value.template for value in node.operands]
    reach = "each" if node.op == RENAMED else REACHES.get(node.op)
    if not inputs:
        return Factors((), tuple([tuple(range(out.ndim)) for out in outs[:1]]) + tuple(map(_whole, outs[1:])))
    if reach is None:
        raise UnsupportedOp(expected("an op whose reach is known", "declare it with its callback", op=node.op))
    return _KINDS[reach](outs, inputs, node.options)


def _whole(x: Template) -> Places:
    return (None,) * x.ndim


def _each(outs: Templates, inputs: Templates, options: Options) -> Factors:
    """Broadcasting: an axis of one element has no factor if the result's axis is longer."""
    (out,) = outs
    return Factors(tuple([_align_right(x.shape, out.shape) for x in inputs]), (tuple(range(out.ndim)),))


def _align_right(shape: Shape, out: Shape) -> Places:
    first = len(out) - len(shape)
    return tuple([first + place if size == out[first + place] else None for place, size in enumerate(shape)])


def _reduction(outs: Templates, inputs: Templates, options: Options) -> Factors:
    """Reductions: the axes that are reduced are summed; the axes of an initial value have no factors."""
    x, *others = inputs
    axes = options["axes"]
    left = [None if place in axes else place for place in range(x.ndim)]
    if not options["keepdims"]:
        left = [place for place in left if place is not None]
    return Factors((tuple(range(x.ndim)), *map(_whole, others)), (tuple(left),), frozenset(axes))


def _whole_axis(outs: Templates, inputs: Templates, options: Options) -> Factors:
    """One axis is needed as a whole, and may be missing in the result."""
    (x,), (out,), axis = inputs, outs, options["axis"]
    if axis is None:
        return Factors((_whole(x),), (_whole(out),))
    input_places = tuple([None if place == axis else place for place in range(x.ndim)])
    return Factors(
        (input_places,), (input_places if out.ndim == x.ndim else input_places[:axis] + input_places[axis + 1 :],)
    )


def _placement(outs: Templates, inputs: Templates, options: Options) -> Factors:
    """Axes that are placed among new ones, or made longer, in which case they have no factor."""
    (x,), (out,) = inputs, outs
    input_places = [axis if x.shape[place] == out.shape[axis] else None for place, axis in enumerate(options["axes"])]
    return Factors((tuple(input_places),), (tuple(range(out.ndim)),))


def _transposition(outs: Templates, inputs: Templates, options: Options) -> Factors:
    """A transposition."""
    return Factors((tuple(range(inputs[0].ndim)),), (tuple(options["axes"]),))


def _reshape(outs: Templates, inputs: Templates, options: Options) -> Factors:
    """Reshapes, in row-major order: if a group of adjacent axes becomes another group, the first axis longer than
    one of each group has the same factor."""
    (x,), (out,) = inputs, outs
    input_places: list[int | None] = [None] * x.ndim
    output_places: list[int | None] = [None] * out.ndim
    numbers, i, j = count(), 0, 0
    while x.size and i < x.ndim and j < out.ndim:
        start, other, left, right = i, j, x.shape[i], out.shape[j]
        while left != right:
            if left < right:
                i += 1
                left *= x.shape[i]
            else:
                j += 1
                right *= out.shape[j]
        start = next((place for place in range(start, i) if x.shape[place] > 1), i)
        other = next((place for place in range(other, j) if out.shape[place] > 1), j)
        input_places[start] = output_places[other] = next(numbers)
        i, j = i + 1, j + 1
        while i < x.ndim and x.shape[i] == 1 and (j == out.ndim or out.shape[j] != 1):
            i += 1
        while j < out.ndim and out.shape[j] == 1 and (i == x.ndim or x.shape[i] != 1):
            j += 1
    return Factors((tuple(input_places),), (tuple(output_places),))


def _equal_axes(outs: Templates, inputs: Templates, options: Options) -> Factors:
    """Axes that have the same size in all operands and results, and that the op does not change."""
    (out,) = outs
    apart = {*options.get("axes", ()), options.get("axis", -1)}

    def stays(place: int) -> bool:
        return place not in apart and all(x.shape[place] == out.shape[place] for x in inputs if x.ndim == out.ndim)

    kept = tuple([place if stays(place) else None for place in range(out.ndim)])
    return Factors(tuple([kept if x.ndim == out.ndim else _whole(x) for x in inputs]), (kept,))


def _contraction(outs: Templates, inputs: Templates, options: Options) -> Factors:
    """Sums of products, of which contracted axes are summed."""
    first, second = inputs
    contract1, batch1 = options["contract1"], options["batch1"]
    pairs = {
        **dict(zip(options["contract2"], contract1, strict=True)),
        **dict(zip(options["batch2"], batch1, strict=True)),
    }
    numbers = count(first.ndim)
    right = tuple([pairs[place] if place in pairs else next(numbers) for place in range(second.ndim)])
    free = [place for place in range(first.ndim) if place not in contract1 and place not in batch1]
    out = (*batch1, *free, *[number for number in right if number >= first.ndim])
    return Factors((tuple(range(first.ndim)), right), (out,), frozenset(contract1))


def _read(outs: Templates, inputs: Templates, options: Options) -> Factors:
    """Entries at indices: a device reads the entries that it holds, and zeros for the others; the sum of the devices'
    results has all entries."""
    x, indices = inputs
    axis, numbers = options.get("axis"), count(x.ndim)
    if axis is None:
        depth = indices.shape[-1]
        places = tuple([next(numbers) for _ in indices.shape[:-1]])
        return Factors(
            (tuple(range(x.ndim)), (*places, None)), ((*places, *range(depth, x.ndim)),), frozenset(range(depth))
        )
    if outs[0].ndim == x.ndim == indices.ndim:  # take_along_axis, and take from a single axis, which is the same
        other = tuple([next(numbers) if place == axis else place for place in range(x.ndim)])
        return Factors((tuple(range(x.ndim)), other), (other,), frozenset({axis}))
    places = tuple([next(numbers) for _ in indices.shape])
    out = (*range(axis), *places, *range(axis + 1, x.ndim))
    return Factors((tuple(range(x.ndim)), places), (out,), frozenset({axis}))


def _update(outs: Templates, inputs: Templates, options: Options) -> Factors:
    """Updates at indices that add up: each device adds the updates that it holds, or those for its part of the result.

    Devices that divide the updates have partial results, which are summed.
    """
    x, indices, _ = inputs
    axis, numbers, whole = options.get("axis"), count(x.ndim), tuple(range(x.ndim))
    if axis is not None:
        other = tuple([next(numbers) if place == axis else place for place in whole])
        return Factors((whole, other, other), (whole,), frozenset({x.ndim}))
    places = tuple([next(numbers) for _ in indices.shape[:-1]])
    updates = (*places, *whole[indices.shape[-1] :])
    return Factors((whole, (*places, None), updates), (whole,), frozenset(places))


def _put(outs: Templates, inputs: Templates, options: Options) -> Factors:
    """Updates at indices, of which the last one for a place is kept: each device needs all indices."""
    x, indices, _ = inputs
    whole, depth = tuple(range(x.ndim)), indices.shape[-1]
    return Factors((whole, _whole(indices), (*_whole(indices)[:-1], *whole[depth:])), (whole,))


def _window(outs: Templates, inputs: Templates, options: Options) -> Factors:
    """Windows: only an axis with windows of one element, stride 1 and no padding has a factor."""
    (out,) = outs
    windows: Any = options["windows"]
    parts = zip(windows.sizes, windows.strides, windows.padding, strict=True)
    kept = tuple([
        place if (size, stride, *padding) == (1, 1, 0, 0) else None
        for place, (size, stride, padding) in enumerate(parts)
    ])  # fmt: skip
    return Factors(tuple([kept if x.ndim == out.ndim else _whole(x) for x in inputs]), (kept,))


def _convolution(outs: Templates, inputs: Templates, options: Options) -> Factors:
    """Convolutions: batch and channels have factors if there is only one group. An axis of space is needed as a whole,
    unless the kernel has one element along it."""
    x, kernel = inputs
    correlation: Any = options["correlation"]
    one = correlation.groups == 1
    (out,) = outs
    space = [
        place if x.shape[place] == out.shape[place] and kernel.shape[place] == 1 else None for place in range(2, x.ndim)
    ]
    batch = 0 if correlation.batch_groups == 1 else None
    input_places = (batch, 1 if one else None, *space)
    return Factors(
        (input_places, (x.ndim if one else None, 1 if one else None, *_whole(kernel)[2:])),
        ((batch, x.ndim if one else None, *space),),
        frozenset({1} if one else ()),
    )


def _matrix(outs: Templates, inputs: Templates, options: Options) -> Factors:
    """Batches of matrices: the axes before the last two, with which the results begin too, have factors."""
    first = max(x.ndim - 2 for x in inputs)
    shape = outs[0].shape[:first]
    input_places = [(*_align_right(x.shape[:-2], shape), None, None) for x in inputs]
    return Factors(tuple(input_places), tuple([(*range(first), *_whole(out)[first:]) for out in outs]))


_KINDS: Mapping[Reach, Callable[[Templates, Templates, Options], Factors]] = {
    "each": _each,
    "reduced": _reduction,
    "along": _whole_axis,
    "placed": _placement,
    "ordered": _transposition,
    "reshaped": _reshape,
    "kept": _equal_axes,
    "paired": _contraction,
    "read": _read,
    "written": _update,
    "put": _put,
    "window": _window,
    "filtered": _convolution,
    "matrix": _matrix,
}
