"""`vmap`: vectorises a function of one example over a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from ..declarations.argument_errors import check_arguments_early
from ..errors import ArgumentError, AxisError, NamesError, OperandError, ShapeError, expected
from ..errors.tracebacks import name_in_errors
from ..ops.composite.shape.arranging import moveaxis
from ..ops.creation.filled import rename
from ..ops.shape import broadcast_to
from ..rules.axes import normalize_axis
from ..template import Template, as_int, intern_template
from ..tensor import Tensor
from .aliases import call_watched
from .arguments import as_tensors
from .batching import rules as rules
from .batching.engine import evaluate_batch
from .batching.registry import Operand
from .evaluate import evaluate
from .expr_backend import expect_repeats
from .graph import Graph
from .mesh_variation import varies_of
from .trace import argument_names, trace_leaves
from .tree_containers import Tree
from .trees import flatten, parts_by_key, unflatten

P = ParamSpec("P")
R = TypeVar("R")


@check_arguments_early
def vmap(function: Callable[P, R], in_axes: Any = 0, out_axes: Any = 0, axis_name: str | None = None) -> Callable[P, R]:
    """Vectorise a function of one example over a batch.

    `in_axes` says which axis of the tensors holds the examples, by position or name; `None` is for an argument that
    is not batched. A tuple has an entry for each argument. For an argument that nests tensors, the entry may be nested
    in the same way, with a dict for a dict or a dataclass. Keyword arguments are not batched. `out_axes` is the
    position of that axis in the results, and may be nested like the results; `None` is for results that are the same
    for all examples. In the results, the axis has the name `axis_name`, or else its name in the arguments.

    The function gets tensors without the axis, and may be any function that `trace` takes. Raises `ShapeError` for
    different numbers of examples, `AxisError` for an axis that does not exist, `NamesError` for different names of the
    axis, and `ArgumentError` for `in_axes` or `out_axes` that are not nested like the arguments or results.

    Parameters
    ----------
    function
        A function of the tensors of one example.
    in_axes : int, str, None or nested containers of them, default 0
        For each argument, the axis of the examples, by position or by name; `None` for one that all examples share.
    out_axes : int, str, None or nested containers of them, default 0
        The axis of the examples in the results; `None` for results that all examples share.
    axis_name : str, optional
        The name of that axis in the results; by default its name in the arguments.

    Returns
    -------
    Callable
        The function of a batch, whose arguments have that axis.

    Examples
    --------
    >>> x = tb.asarray([[1.0, 2.0], [3.0, 4.0]], names=("batch", "feature"))
    >>> tb.vmap(lambda v, w: tb.dot(v, w, contract=(["feature"], [0])), in_axes=("batch", None))(x, tb.ones(2))
    f32[batch: 2] numpy [3.0, 7.0]
    """

    @wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        axes = in_axes if isinstance(in_axes, (list, tuple)) else (in_axes,) * len(arguments)
        names = argument_names(function, arguments)
        leaves, tree = flatten(arguments)
        leaves = as_tensors(leaves)
        chosen = _spread(axes, arguments, "in_axes")
        examples = [
            None if axis is None else _Example(leaf, axis, name)
            for leaf, axis, name in zip(leaves, chosen, names, strict=True)
        ]
        size, name = _common(examples)
        tensors, flags = [], []
        for leaf, example in zip(leaves, examples, strict=True):
            if example is not None:
                tensors.append(example.in_front())
            elif isinstance(leaf, Tensor):
                tensors.append(leaf)
            else:
                continue
            flags.append(example is not None)
        with expect_repeats():  # for each example
            graph = trace_leaves(
                lambda traced: call_watched(function, (unflatten(tree, traced), keywords), (arguments, keywords)),
                [leaf if example is None else example.template for leaf, example in zip(leaves, examples, strict=True)],
                names,
                varying=[varies_of(leaf) for leaf in leaves],
            )
        whole = batch_graph(graph, tensors, flags, size, out_axes, axis_name or name)
        return unflatten(whole.out_tree, evaluate(whole, tensors))

    return name_in_errors(call, "vmap")


class _Example:
    """An argument's tensor and the axis of the examples."""

    def __init__(self, leaf: Any, axis: Any, name: str) -> None:
        if not isinstance(leaf, Tensor):
            raise OperandError(expected(f"a tensor as {name}", "pass None for it in in_axes", axis=axis, given=leaf))
        self.x = leaf
        self.argument, template = name, self.x.template
        try:
            self.position = normalize_axis(template, axis)
        except AxisError:
            remedy = "give in_axes an axis that it has, or None"
            raise AxisError(expected(f"an axis of {name}, {template!r}", remedy, axis=axis)) from None
        self.size, self.name = template.shape[self.position], template.names[self.position]

    @property
    def template(self) -> Template:
        """The template of one example."""
        template, at = self.x.template, self.position
        shape, names = template.shape, template.names
        return intern_template((*shape[:at], *shape[at + 1 :]), template.dtype, (*names[:at], *names[at + 1 :]))

    def in_front(self) -> Tensor:
        """The tensor with the axis of the examples in front, and without that axis's name."""
        x = moveaxis(self.x, self.position, 0) if self.position else self.x
        return x if x.names[0] is None else rename(x, None, *x.names[1:])


def _common(examples: Sequence[_Example | None]) -> tuple[int, str | None]:
    """The number of examples, and the name of their axis."""
    mapped_examples = [example for example in examples if example is not None]
    if not mapped_examples:
        raise ArgumentError(expected("an argument with an axis of examples", "pass one that is not None in in_axes"))
    sizes = {example.argument: example.size for example in mapped_examples}
    if len(set(sizes.values())) > 1:
        raise ShapeError(expected("the same number of examples in each argument", "choose other in_axes", **sizes))
    names = {example.argument: example.name for example in mapped_examples if example.name is not None}
    if len(set(names.values())) > 1:
        raise NamesError(expected("one name for the axis of examples", "rename() one of them", **names))
    return mapped_examples[0].size, next(iter(names.values()), None)


def batch_graph(
    graph: Graph, tensors: Sequence[Tensor], flags: Sequence[bool], size: int, out_axes: Any, name: str | None
) -> Graph:
    """The graph of a batch. Its parameters are as `tensors`; those with a flag have the axis of examples in front."""

    def function(inputs: list[Tensor]) -> Any:
        operands = [Operand(x, flag) for x, flag in zip(inputs, flags, strict=True)]
        results = evaluate_batch(graph, operands, size)
        places = _spread(out_axes, unflatten(graph.out_tree, range(len(results))), "out_axes")
        placed = [_place_axis(result, place, size, name) for result, place in zip(results, places, strict=True)]
        return unflatten(graph.out_tree, placed)

    return trace_leaves(function, list(tensors), graph.names)


def _place_axis(result: Operand, place: object, size: int, name: str | None) -> Tensor:
    """A result with the axis of the examples at the requested position."""
    x = result.x
    if place is None:
        if result.mapped:
            expectation = "a position in out_axes for a result that depends on the example"
            raise ArgumentError(expected(expectation, "pass one such as 0", result=x.template, out_axes=place))
        return x
    x = x if result.mapped else broadcast_to(x, (size, *x.shape))
    at = as_int(place)
    if at is None or not -x.ndim <= at < x.ndim:
        remedy = "the axis keeps its name at any position" if name is not None and isinstance(place, str) else ""
        if name is None and isinstance(place, str):
            remedy = "give the axis its name in the argument, by rename()"
        positions = f"a position from {-x.ndim} to {x.ndim - 1} in out_axes"
        raise AxisError(expected(positions, remedy, result=x.template, axis=place))
    if name is not None and name in x.names[1:]:
        remedy = "rename() the axis of an argument or of the result"
        raise NamesError(
            expected(f"a result without an axis {name!r}, the name of the batch", remedy, result=x.template)
        )
    x = x if name is None else rename(x, name, *x.names[1:])
    return moveaxis(x, 0, at) if at % x.ndim else x


# Axes nested as the values that they are for


def _spread(axes: Any, value: Any, option: str) -> list[Any]:
    """The entry of `axes` for each leaf of a value. A single axis for a container applies to all leaves in it."""
    entries: list[Any] = []
    _spread_into(entries, axes, flatten(value)[1], option)
    return entries


def _spread_into(entries: list[Any], axes: Any, tree: Tree, option: str) -> None:
    if axes is None or isinstance(axes, (int, str)):
        entries.extend([axes] * tree.size)
        return
    axes_by_key = parts_by_key(axes)
    if axes_by_key is None or tree.kind is None or set(axes_by_key) != set(tree.keys):
        pattern = "the arguments" if option == "in_axes" else "the result"
        expectation = f"{option} nested like {pattern}, whose parts are {list(tree.keys)}"
        raise ArgumentError(expected(expectation, "give one axis for all parts, or one for each", **{option: axes}))
    for key, child in zip(tree.keys, tree.children, strict=True):
        _spread_into(entries, axes_by_key[key], child, option)
