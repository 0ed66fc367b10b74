"""Functions along an axis: `associative_scan`, by halving, and `map_along_axis`, an entry or a batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any, TypeVar, overload

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments_early
from ..errors import ArgumentError, OperandError, expected
from ..ops.composite.shape.arranging import moveaxis, stack
from ..ops.indexing.slices import slice_basic
from ..ops.shape import concatenate, flip, reshape
from ..rules.axes import normalize_axis
from ..select import common_backend
from ..tensor import Tensor
from .aliases import call_watched
from .control import bring_forward, name_errors, scan
from .loop_state import Leaves, check_same, flatten_state, home_of
from .tree_containers import Tree
from .trees import flatten, leaves_like, paths, unflatten
from .vmap import vmap

X = TypeVar("X")
R = TypeVar("R")

Function = Callable[..., Any]


@overload
def associative_scan(function: Callable[[X, X], X], xs: X, reverse: bool = False, *, axis: Axis = 0) -> X: ...
@overload
def associative_scan(function: Function, xs: Any, reverse: bool = False, *, axis: Axis = 0) -> Any: ...
@check_arguments_early
def associative_scan(function: Callable[[Any, Any], Any], xs: Any, reverse: bool = False, *, axis: Axis = 0) -> Any:
    """Combine all entries up to each one along an axis by an associative function.

    Entry n of the result combines the entries 0 to n: entry 2 is `function(function(x0, x1), x2)`. As the function is
    associative, entries are combined in pairs: for n entries there are about 2 log2(n) calls of the function, each with
    many entries at once, where `scan` makes n sequential calls. The function is recorded as its
    ops, so gradients, batches and compilation work as for any other ops.

    Parameters
    ----------
    function
        Takes two values nested like `xs` and returns a third one. Each value holds any number of entries along the
        axis, so the function must combine corresponding entries: by elementwise ops, or by products of the matrices in
        the other axes.
    reverse
        Whether entry n combines the entries from n to the last. The later value is then the function's first argument.

    Returns
    -------
    Any
        Tensors like `xs`, with the same nesting.

    Raises
    ------
    ShapeError
        For axes of different sizes, or if the function changes the shape.
    DTypeError, NamesError
        If the function changes the dtype or the names.
    AxisError
        If a tensor lacks the axis.

    Examples
    --------
    >>> x = tb.asarray([1.0, 2.0, 3.0, 4.0])
    >>> tb.associative_scan(tb.multiply, x).tolist(), tb.associative_scan(tb.add, x, reverse=True).tolist()
    ([1.0, 2.0, 6.0, 24.0], [10.0, 9.0, 7.0, 4.0])
    >>> def then(first, second):  # y = a * x + b, one after the other
    ...     return second[0] * first[0], second[0] * first[1] + second[1]
    >>> a, b = tb.asarray([0.5, 0.5, 2.0]), tb.asarray([1.0, 1.0, 1.0])
    >>> tb.associative_scan(then, (a, b))[1].tolist()
    [1.0, 1.5, 4.0]
    """
    with name_errors("associative_scan"):
        scanned, tree, places = _move_to_front(xs, axis)
        leaves = [flip(x, axis=0) for x in scanned.tensors] if reverse else scanned.tensors

        def combine(before: Sequence[Tensor], after: Sequence[Tensor]) -> list[Tensor]:
            result = function(*(_nest(tree, entries, places) for entries in (before, after)))
            result_leaves = leaves_like(tree, result, "result", "to be nested like xs")
            operand = _nest(tree, after, places)
            for path, x, like in zip(scanned.paths, result_leaves, flatten(operand)[0], strict=True):
                if not isinstance(x, Tensor):
                    raise OperandError(expected("a function that returns tensors", returned=type(x)))
                expectation = (
                    f"{path.replace('xs', 'result', 1)} with the template of the function's argument, {like.template!r}"
                )
                check_same(expectation, like.template, x.template, "returned", "in the function")
            return [moveaxis(x, place, 0) for x, place in zip(result_leaves, places, strict=True)]

        prefixes = _prefixes(leaves, combine)
        prefixes = [flip(x, axis=0) for x in prefixes] if reverse else prefixes
        return _nest(tree, prefixes, places)


def _move_to_front(xs: Any, axis: Axis) -> tuple[Leaves, Tree, list[int]]:
    """The tensors with the axis moved to the front, how they are nested, and the position of the axis in each."""
    leaves, tree = flatten_state(xs, "xs", home_of(xs))
    if not leaves.leaves:
        raise ArgumentError(expected("at least one tensor as xs", xs=xs))
    before = [*leaves.leaves]
    bring_forward(leaves, axis, None)
    places = [normalize_axis(x.template, axis) for x in before]
    backend = common_backend(leaves.tensors)
    leaves.leaves = [*leaves.on(backend)]
    return leaves, tree, places


def _nest(tree: Tree, leaves: Sequence[Tensor], places: Sequence[int]) -> Any:
    """The leaves with the first axis moved back to its place, nested."""
    return unflatten(tree, [moveaxis(x, 0, place) for x, place in zip(leaves, places, strict=True)])


def _prefixes(leaves: list[Tensor], combined: Callable[..., list[Tensor]]) -> list[Tensor]:
    """The prefixes along the first axis: entry n combines the entries 0 to n.

    Adjacent entries are combined in pairs, which leaves half as many. The prefixes of the pairs are the results at odd
    positions. A result at an even position combines the result before it with one more entry.
    """
    size = leaves[0].shape[0]
    if size < 2:
        return leaves
    pairs = combined([_every_other(x, 0, size - 1) for x in leaves], [_every_other(x, 1, size) for x in leaves])
    odd = _prefixes(pairs, combined)
    if size == 2:
        even = [slice_basic(x, slice(1)) for x in leaves]
    else:
        before = [slice_basic(x, slice((size - 1) // 2)) for x in odd]
        later = combined(before, [_every_other(x, 2, size) for x in leaves])
        even = [concatenate([slice_basic(x, slice(1)), y]) for x, y in zip(leaves, later, strict=True)]
    return [_interleave(x, y) for x, y in zip(even, odd, strict=True)]


def _every_other(x: Tensor, start: int, stop: int) -> Tensor:
    """Every other entry along the first axis."""
    return slice_basic(x, slice(start, stop, 2))


def _interleave(even: Tensor, odd: Tensor) -> Tensor:
    """The entries of `even` and `odd` alternately; `even` may have one entry more."""
    count, names = odd.shape[0], even.names
    first = even if even.shape[0] == count else slice_basic(even, slice(count))
    pairs = reshape(stack([first, odd], axis=1), (2 * count, *even.shape[1:]), names=names)
    return pairs if first is even else concatenate([pairs, slice_basic(even, slice(count, None))])


@overload
def map_along_axis(function: Callable[[X], R], xs: X, *, axis: Axis = 0, batch_size: int | None = None) -> R: ...
@overload
def map_along_axis(function: Function, xs: Any, *, axis: Axis = 0, batch_size: int | None = None) -> Any: ...
@check_arguments_early
def map_along_axis(function: Callable[[Any], Any], xs: Any, *, axis: Axis = 0, batch_size: int | None = None) -> Any:
    """Call a function for each entry along an axis sequentially, and stack the results.

    The calls need the memory of one entry, or of `batch_size` entries, where `vmap` needs the memory of all entries at
    once. `tb.map` is another function, named as in Nx: it calls a function for each element.

    Parameters
    ----------
    function
        Takes an entry, nested like `xs`, and returns tensors nested in any way. It is traced.
    batch_size
        The number of entries that are computed at once, as by `vmap`. By default one.

    Returns
    -------
    Any
        The results of the function, stacked along a first axis that has the name of the given axis.

    Raises
    ------
    ShapeError
        For axes of different sizes.
    AxisError
        If a tensor lacks the axis.
    ArgumentError
        For a batch of fewer than one entry.

    Examples
    --------
    >>> x = tb.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], names=("row", None))
    >>> tb.map_along_axis(tb.sum, x)
    f32[row: 3] numpy [3.0, 7.0, 11.0]
    >>> tb.map_along_axis(tb.sum, x, axis=1, batch_size=2).tolist()
    [9.0, 12.0]
    """
    with name_errors("map_along_axis"):
        count = 1 if batch_size is None else index(batch_size)
        if count < 1:
            raise ArgumentError(expected("a batch size of at least 1", batch_size=batch_size))
        leaves, tree, _ = _move_to_front(xs, axis)

        def apply(x: Any) -> Any:
            return call_watched(function, ((x,), {}), ((xs,), {}), lambda: paths(tree, "xs"))

        if batch_size is None:
            return scan(lambda carry, x: (carry, apply(x)), None, unflatten(tree, leaves.tensors))[1]
        size, name = leaves.tensors[0].shape[0], next((x.names[0] for x in leaves.tensors if x.names[0]), None)
        mapped, whole = vmap(apply), size - size % count
        pieces = []
        if whole or not size:
            rows = [_split_batches(slice_basic(x, slice(whole)), count) for x in leaves.tensors]
            ys = scan(lambda carry, x: (carry, mapped(x)), None, unflatten(tree, rows))[1]
            pieces.append([_laid_out(y, name) for y in flatten(ys)[0]])
            out_tree = flatten(ys)[1]
        if whole < size:
            ys = mapped(unflatten(tree, [slice_basic(x, slice(whole, None)) for x in leaves.tensors]))
            pieces.append([y if name is None else y.rename(name, *y.names[1:]) for y in flatten(ys)[0]])
            out_tree = flatten(ys)[1]
        return unflatten(
            out_tree, [concatenate(parts) if len(parts) > 1 else parts[0] for parts in zip(*pieces, strict=True)]
        )


def _split_batches(x: Tensor, count: int) -> Tensor:
    """The entries along the first axis in batches of `count`: for a count of 2, [6][3] -> [3][2][3]."""
    return reshape(x, (x.shape[0] // count, count, *x.shape[1:]), names=(None, *x.names))


def _laid_out(y: Tensor, name: str | None) -> Tensor:
    """Concatenated batches of results, along a first axis called `name`: [3][2][3] -> [6][3]."""
    return reshape(y, (y.shape[0] * y.shape[1], *y.shape[2:]), names=(name, *y.names[2:]))
