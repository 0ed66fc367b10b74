"""Loops over axes with lengths, loops that stack the results of their iterations until each example ends, and arrays
that loops fill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments, check_arguments_early, check_construction
from ..dtypes import bool_, int64
from ..errors import ArgumentError, AxisError, DataError, DTypeError, NamesError, OperandError, expected
from ..expr.control import name_errors
from ..expr.control import scan as _scan
from ..expr.loop_state import home_of
from ..expr.trace import trace
from ..expr.tree_containers import Tree
from ..expr.trees import flatten, tree_map, unflatten
from ..expr.while_loops import fill_from_active, while_loop
from ..ops.composite.elementwise.functions import logical_not, stop_gradient
from ..ops.composite.shape.arranging import moveaxis
from ..ops.creation.filled import asarray, zeros
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.binary import add, logical_or, maximum, minimum
from ..ops.indexing.slices import put_slice
from ..ops.indexing.taking import take, take_along_axis
from ..ops.shape import broadcast_to, expand_dims
from ..rules.plan import integer
from ..template import Template
from ..tensor import Tensor, TensorLike
from ..tensor.missing_names import explain_missing
from .lengths import as_tensor, laid_out, length_mask, read
from .value import Ragged, as_ragged, common_lengths, neutral, ragged_axis, ragged_or_tensor


def chosen(mask: Tensor, new: Any, old: Any) -> Any:
    """Take the new tensors for the examples where a mask is true, and the old ones for the others.

    Of a tensor without the mask's axes, take the new one.
    """

    def choose(after: Any, before: Any) -> Any:
        after = as_tensor(after, mask)
        if not set(mask.names) <= set(after.names):
            return after
        return where(laid_out(mask, after.template), after, before)

    return tree_map(choose, new, old)


def _select_carry(mask: Tensor, carry: Any, start: Any) -> Any:
    """The carried values for an iteration: the initial ones for examples for which a mask is false.

    Such an example has ended, and the function may be undefined for its carried values.
    """

    def select(x: Tensor, first: Any) -> Tensor:
        if not set(mask.names) <= set(x.names):
            return x
        return where(laid_out(mask, x.template), x, stop_gradient(astype(asarray(first, like=x), x.dtype)))

    return tree_map(select, carry, start)


def _fill_from_active(mask: Tensor, x: Any) -> Any:
    """A tensor whose entries for examples for which a mask is false are those of one for which it is true."""
    if not isinstance(x, Tensor) or not set(mask.names) <= set(x.names):
        return x
    return fill_from_active(mask, x, [x.names.index(name) for name in mask.names])


@check_arguments_early
def scan(
    function: Callable[[Any, Any], tuple[Any, Any]],
    initial: Any,
    xs: Ragged | Sequence[Ragged],
    *,
    axis: Axis,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """Scan a function along an axis with lengths, each example to its own end: `carry, y = function(carry, x)`.

    Parameters
    ----------
    function : function of the carried values and an entry
        Returns the carried values, with the same templates, and y: tensors in tuples, lists and dictionaries.
    initial : nested tensors
        The carried values before the first step. A tensor without the axes of the examples is shared by all and changes
        at each step.
    xs : Ragged or list of Ragged
        Tensors whose axes have the same lengths. The function gets an entry of a single `Ragged`, or for a list a tuple
        with an entry of each.
    axis : int or str
        An axis with lengths.
    reverse : bool, default False
        Whether to scan each example from its end to its beginning.

    Returns
    -------
    tuple
        The carried values of each example at its end, and the ys of all steps along a first axis with lengths.

    Raises
    ------
    ShapeError, DTypeError, NamesError
        For a carried value whose template changes, and for different lengths.
    AxisError
        For an axis without lengths, or a y without the axes of the examples.

    Examples
    --------
    >>> x = tb.ragged.from_list([[1.0, 2.0, 3.0], [4.0]])
    >>> step = lambda total, entry: (total + entry, total)
    >>> last, before = tb.ragged.scan(step, tb.zeros(2, names=("batch",)), x, axis="time")
    >>> last.tolist(), [example.tolist() for example in tb.ragged.to_list(before)]
    ([6.0, 4.0], [[0.0, 1.0, 3.0], [0.0]])
    """
    several = [xs] if isinstance(xs, Ragged) else list(xs)
    if not several:
        raise ArgumentError(expected("at least one ragged tensor", "write tb.fori_loop()", xs=xs))
    name = ragged_axis(several[0], axis, "tb.scan()")
    lengths, sizes = common_lengths(several)
    if any(name not in sequence.lengths for sequence in several):
        raise AxisError(
            expected(f"lengths of the axis {name!r} in each of xs", xs=[sequence.template for sequence in several])
        )
    axis_lengths = lengths[name]
    within = length_mask(axis_lengths, name, sizes[name])
    some = axis_lengths > 0
    place = maximum(axis_lengths - 1, 0) if reverse else axis_lengths * 0

    def fill_with_start(x: Tensor) -> Tensor:
        """x, (axis, ...), with the first entry of each example beyond the lengths."""
        if not sizes[name] or not set(axis_lengths.names) <= set(x.names):
            return _move_to_front(x, name)
        shape = tuple(1 if other == name else size for other, size in zip(x.names, x.shape, strict=True))
        begun = take_along_axis(x, broadcast_to(laid_out(place, x.template), shape, names=x.names), axis=name)
        return _move_to_front(
            where(laid_out(within, x.template), x, stop_gradient(_fill_from_active(some, begun))), name
        )

    entries = [fill_with_start(sequence.filled(neutral(sequence.dtype))) for sequence in several]
    here = _move_to_front(within, name)
    inner = {
        other: other_lengths
        for other, other_lengths in lengths.items()
        if other != name and name in other_lengths.names
    }
    scanned = (entries, here, {other: fill_with_start(inner_lengths) for other, inner_lengths in inner.items()})
    start = tree_map(lambda leaf: _fill_from_active(some, leaf), initial)
    constant = {
        other: other_lengths
        for other, other_lengths in lengths.items()
        if other != name and name not in other_lengths.names
    }

    def step(carry: Any, entry: Any) -> tuple[Any, Any]:
        values, present, varying = entry
        rest = {**constant, **varying}
        parts = tuple(
            ragged_or_tensor(
                value, {other: other_lengths for other, other_lengths in rest.items() if other in whole.lengths}
            )
            for value, whole in zip(values, several, strict=True)
        )
        selected = _select_carry(present, carry, start)
        result = function(selected, parts[0] if isinstance(xs, Ragged) else parts)
        if not isinstance(result, tuple) or len(result) != 2:
            raise OperandError(expected("a function that returns a pair (carry, y)", returned=type(result)))
        return chosen(present, result[0], carry), result[1]

    last, ys = _scan(step, initial, scanned, reverse=reverse)
    return last, _add_lengths(ys, name, axis_lengths)


def _move_to_front(x: Tensor, axis: str) -> Tensor:
    return moveaxis(x, x.names.index(axis), 0)


def _add_lengths(value: Any, axis: str, lengths: Tensor) -> Any:
    """Nested stacked results as `Ragged` tensors, with the lengths of their first axis."""
    if isinstance(value, list | tuple):
        parts = [_add_lengths(part, axis, lengths) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {key: _add_lengths(part, axis, lengths) for key, part in value.items()}
    if value is None:
        return None
    x = as_ragged(value)
    missing = set(lengths.names) - set(x.names)
    if missing:
        remedy = "broadcast it to the examples"
        raise AxisError(expected(f"results with the axes {sorted(map(str, missing))}", remedy, y=x.template))
    return Ragged(x.values, {**x.lengths, axis: lengths})


@explain_missing
class Unrolled(NamedTuple):
    """Result of `unroll`."""

    carry: Any
    """The values that each example carried at its end."""
    outputs: Any
    """The results of all iterations, stacked and with lengths, nested as the function nests them."""


@check_arguments_early
def unroll(function: Callable[[Any], Any], initial: Any, *, limit: int, axis: str = "time") -> Unrolled:
    """Call a function until each example ends, at most `limit` times, and stack its results.

    Parameters
    ----------
    function : function of the carried values
        Returns `(carry, y, ends)`: the carried values for the next iteration, the result of this iteration (nested
        tensors), and a bool for each example, or one without axes, that is true for its last iteration. Results for an
        example that has ended are not kept.
    initial : nested tensors
        The carried values before the first step. A tensor without the axes of the examples is shared by all and changes
        in each iteration.
    limit : int
        The maximum number of iterations, and the size of the new axis.
    axis : str, default "time"
        The name of the new axis.

    Returns
    -------
    Unrolled
        `carry` and `outputs`: the ys of all iterations along a first axis. Its lengths are the numbers of iterations
        of the examples.

    Raises
    ------
    DTypeError, NamesError
        For `ends` that are not bool, or that are over axes without names.
    AxisError
        For a y without the axes of the examples.

    Notes
    -----
    The loop ends with the last example. It has a gradient, for which carried and stacked values are kept for each of
    the `limit` iterations. For a gradient through many iterations, `tb.scan` keeps less.

    Examples
    --------
    >>> halve = lambda n: (n // 2, n, n <= 1)
    >>> _, iterations = tb.ragged.unroll(halve, tb.asarray([6, 1, 9], names=("batch",)), limit=8)
    >>> iterations.lengths["time"].tolist(), tb.ragged.to_list(iterations)[2].tolist()
    ([3, 1, 4], [9, 4, 2, 1])
    """
    size = integer(0, limit=limit)
    home = home_of(initial)
    start = tree_map(lambda leaf: leaf if isinstance(leaf, Tensor) else asarray(leaf, backend=home), initial)
    seen = _trace_templates(function, start)
    end = seen.ends
    for y in seen.ys:
        missing = set(end.names) - set(y.names)
        if missing:
            remedy = "broadcast it to the examples"
            raise AxisError(expected(f"a y with the axes {sorted(map(str, missing))}", remedy, y=y))
    buffers = [zeros((size, *y.shape), dtype=y.dtype, names=(axis, *y.names), backend=home) for y in seen.ys]
    state = {
        "carry": start,
        "iteration": zeros((), dtype=int64, backend=home),
        "ended": zeros(end.shape, dtype=bool_, names=end.names, backend=home),
        "lengths": zeros(end.shape, dtype=int64, names=end.names, backend=home),
        "stacked": buffers,
    }

    def iteration(before: dict[str, Any]) -> dict[str, Any]:
        going = logical_not(before["ended"])
        carry, y, ends = function(_select_carry(going, before["carry"], start))
        leaves = _tensors(y)
        return {
            "carry": chosen(going, carry, before["carry"]),
            "iteration": add(before["iteration"], 1),
            "ended": logical_or(before["ended"], ends),
            "lengths": add(before["lengths"], astype(going, int64)),
            "stacked": [
                put_slice(buffer, expand_dims(leaf, 0), starts=(before["iteration"], *(0,) * leaf.ndim))
                if size
                else buffer
                for buffer, leaf in zip(before["stacked"], leaves, strict=True)
            ],
        }

    with name_errors("unroll"):
        final_state = while_loop(lambda before: logical_not(before["ended"]).any(), iteration, state, limit=size)
    outputs = [Ragged(buffer, {axis: final_state["lengths"]}) for buffer in final_state["stacked"]]
    return Unrolled(final_state["carry"], unflatten(seen.tree, outputs))


def _tensors(value: Any) -> list[Tensor]:
    return [leaf if isinstance(leaf, Tensor) else asarray(leaf) for leaf in flatten(value)[0]]


class _StepTemplates(NamedTuple):
    """The templates of the results of an iteration."""

    ys: list[Template]
    tree: Tree
    """How the ys are nested."""
    ends: Template


def _trace_templates(function: Callable[[Any], Any], start: Any) -> _StepTemplates:
    """Traces a function of carried values to find the templates of its results."""
    graph = trace(function)(start)
    parts, results = graph.out_tree.children, graph.results
    if graph.out_tree.kind is not tuple or len(parts) != 3 or parts[2].kind is not None:
        raise OperandError(expected("a function that returns (carry, y, ends)", returned=results))
    ends = results[-1]
    if ends.dtype is not bool_:
        raise DTypeError(expected("ends of dtype bool", "compare them, such as token == 0", ends=ends))
    if None in ends.names:
        raise NamesError(expected("ends over axes with names", "rename() them", ends=ends))
    return _StepTemplates(list(results[parts[0].size : -1]), parts[1], ends)


@explain_missing
@check_construction
@dataclass(frozen=True, eq=False)
class TensorArray:
    """Entries in a buffer, and their count: a tree of two tensors, which loops can carry.

    `tensor_array` makes one. No method changes an array: `push` and `put` return a new one.

    Parameters
    ----------
    buffer : Tensor
        The buffer for entries along the first axis, which has a name.
    count : Tensor
        The number of entries: int64 without axes.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> array = tb.ragged.tensor_array(tb.Template((2,), "f32"), 4)
    >>> array = array.push(tb.ones(2)).push(tb.zeros(2))
    >>> array.stack(), array[0].tolist()
    (ragged f32[time: 4][2] numpy, time=2, [1.0, 1.0])
    """

    buffer: Tensor
    count: Tensor

    def push(self, value: TensorLike) -> TensorArray:
        """Append an entry. If the array is full, raise `DataError`, or return it unchanged within a trace."""
        size, count = self.buffer.shape[0], read(self.count)
        if count is not None and count >= size:
            raise DataError(expected(f"room for {size + 1} entries", "make the array larger", count=count))
        there = minimum(self.count, max(size - 1, 0))
        written = self.put(there, value).buffer if size else self.buffer
        room = self.count < size
        return TensorArray(where(room, written, self.buffer), where(room, self.count + 1, self.count))

    def put(self, index: TensorLike, value: TensorLike) -> TensorArray:
        """Replace the entry at an index below the count."""
        row = expand_dims(as_tensor(value, self.buffer), 0)
        place = as_tensor(index, self.count)
        return TensorArray(put_slice(self.buffer, row, starts=(place, *(0,) * (row.ndim - 1))), self.count)

    def __getitem__(self, index: TensorLike) -> Tensor:
        """Return the entry at an index; a negative index counts from the last entry."""
        place = as_tensor(index, self.count)
        return take(self.buffer, where(place < 0, place + self.count, place), axis=0)

    def stack(self) -> Ragged:
        """Return all entries along the first axis, with the count as its length."""
        axis = self.buffer.names[0]
        assert axis is not None  # by tensor_array
        return Ragged(self.buffer, {axis: self.count})


@check_arguments
def tensor_array(like: Tensor | Template, size: int, /, *, axis: str = "time") -> TensorArray:
    """Make an empty array for tensors that are written in order, as in a loop.

    Parameters
    ----------
    like : Tensor or Template
        The template of an entry; the array is on the backend of a tensor.
    size : int
        The maximum number of entries.
    axis : str, default "time"
        The name of the axis of the entries.

    Returns
    -------
    TensorArray
        An array without entries. `tb.while_loop` and `tb.scan` carry it, `push` adds an entry, `stack` returns all.

    Examples
    --------
    >>> squares = lambda i, array: array.push(i * i)
    >>> array = tb.fori_loop(0, 3, squares, tb.ragged.tensor_array(tb.Template((), "int64"), 5))
    >>> tb.ragged.to_list(array.stack()).tolist()
    [0, 1, 4]
    """
    template = like if isinstance(like, Template) else like.template
    home = like if isinstance(like, Tensor) else None
    names = (axis, *template.names)
    buffer = zeros((integer(0, size=size), *template.shape), dtype=template.dtype, names=names, like=home)
    return TensorArray(buffer, zeros((), dtype=int64, like=home))
