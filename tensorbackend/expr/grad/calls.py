"""A function traced for a gradient: its differentiated arguments, and checks of tangents and cotangents."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from operator import index
from typing import Any, NamedTuple, Protocol, overload

from ...errors import ArgumentError, DTypeError, ShapeError, expected
from ...ops.creation.filled import asarray, zeros_like
from ...protocol import Backend
from ...select import home_of
from ...template import Template
from ...tensor import Tensor
from ..aliases import call_watched
from ..graph import Graph
from ..trace import argument_names, trace_leaves
from ..tree_containers import LEAF, Tree
from ..tree_containers import registered as registered_classes
from ..trees import Nested, are_in_registered, flatten, is_inexact, is_static, paths, unflatten
from .engine import rename_to_template

Argnums = int | Sequence[int]


class Gradient(Protocol):
    """A function that returns the gradient with respect to its first argument, nested like that."""

    @overload
    def __call__(self, argument: Nested, /, *others: Any, **keywords: Any) -> Nested: ...
    @overload
    def __call__(self, argument: complex, /, *others: Any, **keywords: Any) -> Tensor: ...
    @overload
    def __call__(self, argument: Any, /, *others: Any, **keywords: Any) -> Any: ...
    @overload
    def __call__(self, **keywords: Any) -> Any: ...


class ValueAndGradient(Protocol):
    """A function that returns a result and its gradient with respect to the first argument."""

    @overload
    def __call__(self, argument: Nested, /, *others: Any, **keywords: Any) -> tuple[Tensor, Nested]: ...
    @overload
    def __call__(self, argument: complex, /, *others: Any, **keywords: Any) -> tuple[Tensor, Tensor]: ...
    @overload
    def __call__(self, argument: Any, /, *others: Any, **keywords: Any) -> tuple[Tensor, Any]: ...
    @overload
    def __call__(self, **keywords: Any) -> tuple[Tensor, Any]: ...


class Held(NamedTuple):
    """A leaf without a gradient, which is part of an argument."""

    leaf: Any
    gradient: Any
    """What a gradient has in its place: zero for an integer, else the leaf itself."""


class Call(NamedTuple):
    """A function traced for a gradient with respect to some of its arguments."""

    graph: Graph
    leaves: list[Tensor]
    """The tensors of those arguments that have a gradient; they are the parameters of the graph."""
    tree: Tree
    """How the tensors of `leaves` and `held` are nested."""
    out_tree: Tree
    held: Mapping[int, Held]
    """The leaves without a gradient, by position: integers and anything that is not a number, in a container."""

    def nested(self, gradients: Sequence[Tensor]) -> Any:
        """Cotangents of the parameters in the arguments' tree and under their names."""
        return self.filled(list(map(rename_to_template, gradients, (x.template for x in self.leaves))))

    def filled(self, values: Sequence[Any]) -> Any:
        """A value for each parameter in the arguments' tree, and in place of `held` what a gradient has there."""
        return self._fill(values, lambda held: held.gradient)

    def arguments(self, values: Sequence[Any]) -> Any:
        """A value for each parameter in the arguments' tree, and the leaves in `held`."""
        return self._fill(values, lambda held: held.leaf)

    def _fill(self, values: Sequence[Any], choose: Callable[[Held], Any]) -> Any:
        rest = iter(values)
        count = len(values) + len(self.held)
        return unflatten(self.tree, [choose(self.held[i]) if i in self.held else next(rest) for i in range(count)])


def trace_call(
    function: Callable[..., Any], argnums: Argnums, arguments: Sequence[Any], keywords: dict[str, Any]
) -> Call:
    """Trace a function: tensors of the arguments at `argnums` become parameters of the graph, all others constants.

    Integers, texts and functions that a container holds next to floating or complex numbers are constants too, such as
    the indices of a sparse matrix. Raises `ArgumentError` for wrong `argnums`, and `DTypeError` for any other argument
    at `argnums` that is neither floating nor complex.
    """
    positions = _positions(argnums, len(arguments))
    chosen = arguments[positions] if isinstance(positions, int) else tuple(arguments[place] for place in positions)
    leaves, tree = flatten(chosen)
    every = argument_names(function, arguments)
    chosen_positions = [positions] if isinstance(positions, int) else list(positions)
    names = places_of(every, arguments, chosen_positions)
    home = home_of(flatten((arguments, keywords))[0])
    held = _hold(leaves, tree, isinstance(positions, int))
    pairs = [pair for position, pair in enumerate(zip(leaves, names, strict=True)) if position not in held]
    tensors = [_tensor(leaf, name, home) for leaf, name in pairs]

    def run(parameters: list[Any]) -> Any:
        nested = call.arguments(parameters)
        filled = list(arguments)
        for position, argument in zip(
            chosen_positions, [nested] if isinstance(positions, int) else nested, strict=True
        ):
            filled[position] = argument
        return call_watched(function, (filled, keywords), (arguments, keywords))

    call = Call(Graph([], []), tensors, tree, LEAF, held)
    graph = trace_leaves(run, tensors, [name for _, name in pairs])
    return call._replace(graph=graph, out_tree=graph.out_tree)


def places_of(paths: Sequence[str], arguments: Sequence[Any], positions: Sequence[int]) -> list[str]:
    """The paths of the leaves of the arguments at some positions, from those of all leaves."""
    starts = [len(flatten(arguments[:position])[0]) for position in range(len(arguments) + 1)]
    return [path for position in positions for path in paths[starts[position] : starts[position + 1]]]


def _positions(argnums: Argnums, count: int) -> int | tuple[int, ...]:
    several = tuple(argnums) if isinstance(argnums, Sequence) else (argnums,)
    for position in several:
        if not -count <= index(position) < count:
            raise ArgumentError(expected(f"argnums from 0 to {count - 1}", argnums=argnums))
    positions = tuple(index(position) % count for position in several)
    if len(set(positions)) != len(positions):
        raise ArgumentError(expected("each of argnums once", argnums=argnums))
    return positions if isinstance(argnums, Sequence) else positions[0]


def _hold(leaves: Sequence[Any], tree: Tree, single: bool) -> dict[int, Held]:
    """The leaves without a gradient, by position: parts of an argument that also has numbers with a gradient."""
    parts = [tree] if single else tree.children
    held, position = {}, 0
    for part in parts:
        found = {}
        for offset, registered in enumerate(are_in_registered(part)):
            leaf = leaves[position + offset]
            if is_static(leaf):
                found[position + offset] = Held(leaf, leaf)
            elif not is_inexact(leaf):
                found[position + offset] = Held(leaf, leaf if registered else _zero_like(leaf))
        if part.kind in registered_classes or len(found) < part.size:
            held.update(found)
        position += part.size
    return held


def _zero_like(leaf: Any) -> Any:
    """A zero of the kind of an integer or bool: the gradient in its place."""
    if isinstance(leaf, bool | int):
        return type(leaf)(0)
    return zeros_like(leaf if isinstance(leaf, Tensor) else asarray(leaf))


def _tensor(leaf: Any, name: str, home: Backend) -> Tensor:
    """An argument's leaf as a tensor with a gradient."""
    x = leaf if isinstance(leaf, Tensor) else asarray(leaf, backend=home)
    if not x.dtype.is_inexact:
        remedy = "cast it with astype(), or leave it out of argnums"
        raise DTypeError(expected(f"{name} to be floating or complex for a gradient", remedy, given=x.template))
    return x


def fit_nested(
    value: Any, what: str, like: tuple[Tree, str, Sequence[Template]], home: Backend, held: Container[int] = ()
) -> list[Tensor]:
    """Tangents or cotangents in a flat list, without those at the positions in `held`.

    They must be nested like a tree with a name, and have the templates of its leaves. Raises `ArgumentError` or
    `ShapeError` if they do not match.
    """
    (leaves, given), (tree, root, templates) = flatten(value), like
    names = paths(given, what.rpartition(" ")[2])
    if given != tree:
        expectation = f"{what} nested like the {root}: {', '.join(paths(tree, root))}"
        raise ArgumentError(expected(expectation, given=", ".join(names) or value))
    kept = [place for place in range(len(leaves)) if place not in held]
    return [fit_to_template(leaves[place], x, names[place], home) for place, x in zip(kept, templates, strict=True)]


def fit_to_template(leaf: Any, template: Template, name: str, home: Backend) -> Tensor:
    """A tangent or cotangent as a tensor of the shape and dtype of a template; `ShapeError` if it does not match.

    An array or a Python number is converted, a tensor is not cast. The dtype is free for an integer or bool template.
    """
    x = leaf if isinstance(leaf, Tensor) else asarray(leaf, dtype=template.dtype, backend=home)
    if x.shape != template.shape or (x.dtype is not template.dtype and template.dtype.is_inexact):
        raise ShapeError(expected(f"{name} like {template!r}", "cast it with astype()", given=x.template))
    return x
