"""The eager form of a gradient: a tape records computations on watched tensors, and `gradient` differentiates them.

A tensor on a tape has data, which a function may read: branches and loops of Python work as without a gradient.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Final, TypeVar, cast
from weakref import ReferenceType, ref

from ...declarations.argument_errors import check_arguments
from ...dispatch.watching import is_watching
from ...errors import ArgumentError, BackendError, DTypeError, ShapeError, expected
from ...errors.hints import rows
from ...errors.remedies import of_no_real_number
from ...ops.creation.filled import full
from ...scopes import Block, Ending
from ...tensor import Tensor
from ...tensor.missing_names import explain_missing
from ..evaluate import evaluate
from ..expr_backend import ExprBackend, capture, expr_tensor
from ..graph import Graph
from ..node import PARAMETER, Value, next_serial
from ..trees import flatten, paths, unflatten
from . import rules as rules
from .engine import pull_back
from .gradient_programs import tensor_of
from .tape_backend import TapeBackend, separate, tape_backend_on, underlying_tensor
from .tape_nodes import TapeNode, active_tape, make_node, open_tape, recall_gradient

Nested = TypeVar("Nested")

_paused: Final[ContextVar[ReferenceType[Tape] | None]] = ContextVar("tensorbackend_paused_tape", default=None)
"""The tape that a block pauses."""


@explain_missing
class Tape(Ending[Any]):
    """Records ops on the tensors that it watches, while its block runs.

    The record lives as long as any tensor that was computed in it, so any number of gradients can be computed from it.
    """

    def __init__(self) -> None:
        super().__init__(None, [(open_tape, ref(self))])
        self._began = False
        self.serial = next_serial()
        """A number that is higher than the numbers of earlier tapes."""

    def __enter__(self) -> Tape:
        if active_tape() is not None:
            remedy = "for a second derivative, compute the first gradient() inside the block"
            raise BackendError(expected("no tape inside the block of another tape", remedy))
        if self._began:
            raise BackendError(expected("one block for each tape", "make another with tb.tape()"))
        self._began = True
        super().__enter__()
        return self

    @property
    def is_paused(self) -> bool:
        """Whether a block of `paused` is active, in which the tape records nothing."""
        paused = _paused.get()
        return paused is not None and paused() is self

    def follows(self, x: Any) -> bool:
        """Whether the tape recorded a tensor or an array: it watches it, or computed it from what it watches.

        Parameters
        ----------
        x
            A tensor or an array of `tensorbackend.numpy`; a tape follows nothing else.

        Returns
        -------
        bool
            Whether `gradient` may take x for this tape.

        Examples
        --------
        >>> import tensorbackend as tb
        >>> with tb.tape() as tape:
        ...     x = tape.watch(tb.asarray(3.0))
        ...     [tape.follows(tensor) for tensor in (x, x * x, x.detach(), tb.asarray(1.0))]
        [True, True, False, False]
        """
        held: Any = _held(x)
        followed = isinstance(held, Tensor) and isinstance(held.backend, TapeBackend)
        return followed and cast(TapeNode, held.data.node).tape is self

    def paused(self) -> Block[None]:
        """Pause the tape in a `with` block inside its own: values that are computed there are constants for the tape.

        Raises `BackendError` outside the block of the tape.

        Examples
        --------
        >>> import tensorbackend as tb
        >>> with tb.tape() as tape:
        ...     x = tape.watch(tb.asarray(3.0))
        ...     with tape.paused():
        ...         weight = x * x
        ...     y = weight * x
        >>> tb.gradient(y, x).item()
        9.0
        """
        if active_tape() is not self:
            raise BackendError(expected("a tape to be paused inside its block", "write: with tb.tape() as tape: ..."))
        return Block(None, [(open_tape, None), (_paused, ref(self))])

    def watch(self, x: Nested) -> Nested:
        """Return nested tensors as tensors that the tape follows, for gradients with respect to them.

        Raises `DTypeError` for a tensor that is neither floating nor complex, `BackendError` in a traced function.
        """
        leaves, tree = flatten(x)
        watched: Nested = unflatten(tree, map(self._watch_leaf, leaves, paths(tree, "x")))
        return watched

    def _watch_leaf(self, x: Any, path: str) -> Tensor:
        if not isinstance(x, Tensor) or not x.dtype.is_inexact:
            shown = x.template if isinstance(x, Tensor) else x
            raise DTypeError(expected(f"{path} to be a floating or complex tensor to be watched", given=shown))
        if isinstance(x.backend, ExprBackend):
            raise BackendError(expected(f"{path} to have data to be watched", "use grad() in a traced function"))
        held = separate(underlying_tensor(x))
        node = make_node(self, (held,), PARAMETER, x.template)
        return tensor_of(x.template, tape_backend_on(held.backend), Value(node))


def current_tape() -> Tape | None:
    """The tape whose block runs in this thread, or `None` if there is none or it is paused.

    Returns
    -------
    Tape or None
        The tape, or `None`.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> with tb.tape() as tape:
    ...     tb.current_tape() is tape
    True
    """
    return active_tape()


@check_arguments
def tape() -> Tape:
    """Record a `with` block, so that results can be differentiated with respect to watched tensors.

    A gradient that is computed inside the block is recorded too, so that it can be differentiated. A gradient that is
    computed after the block has the backend of the watched tensors. Values that an earlier tape recorded are constants
    for a later tape.

    Returns
    -------
    Tape
        The tape, for a `with` statement.

    Examples
    --------
    >>> with tb.tape() as tape:
    ...     x = tape.watch(tb.tensor([1.0, -2.0], names=("n",)))
    ...     y = tb.sum(x * x) if x[0] > 0 else tb.sum(x)
    >>> tb.gradient(y, x)
    f32[n: 2] numpy [2.0, -4.0]
    """
    return Tape()


@check_arguments
def gradient(y: Any, x: Nested) -> Nested:
    """Compute the gradient of a scalar on a tape with respect to tensors on the same tape, nested in any way.

    It is zero for tensors that y does not depend on. Raises `ArgumentError` for tensors that no tape recorded, or
    different tapes, and for a y that was computed after the block of the tape; `ShapeError` or `DTypeError` for a y
    that is not a real scalar; and `GradientError` if there is an op without a gradient between x and y.

    Parameters
    ----------
    y : Tensor
        A floating tensor, or an array of `tensorbackend.numpy`, without axes that a tape recorded.
    x
        Tensors that the tape watches or recorded, nested in any way.

    Returns
    -------
    Any
        The gradient with respect to each tensor of x, with its shape, dtype and names, nested like x.

    Examples
    --------
    >>> with tb.tape() as tape:
    ...     x, y = tape.watch((tb.asarray(3.0), tb.asarray(2.0)))
    ...     z = x * x * y
    >>> [gradient.item() for gradient in tb.gradient(z, [x, y])]
    [12.0, 9.0]
    """
    y = _held(y)
    leaves, tree = flatten(x)
    recorded = [isinstance(tensor, Tensor) and isinstance(tensor.backend, TapeBackend) for tensor in (y, *leaves)]
    for place, tensor in enumerate([y, *leaves]):
        if not recorded[place]:
            path = ["y", *paths(tree, "x")][place]
            remedy = "watch the arguments: with tb.tape() as tape: x = tape.watch(x)"
            if not any(recorded):  # as in `numpy.gradient(y, 0.5)`
                remedy = f"{rows('arguments.tensor')['gradient']}; for derivatives {remedy}"
            raise ArgumentError(expected(f"{path} as a tensor that a tape recorded", remedy, given=tensor))
    if y.shape:
        raise ShapeError(expected("a scalar for a gradient", "take its sum()", y=y.template))
    if not y.dtype.is_floating:
        raise DTypeError(expected("a floating y for a gradient", of_no_real_number(y.dtype.is_complex), y=y.template))
    of_y = cast(TapeNode, y.data.node)
    if of_y.tape is None or any(leaf.data.node.tape is not of_y.tape for leaf in leaves):
        for tensor, path in zip(leaves, paths(tree, "x"), strict=True):
            _check_same_tape(y, tensor, path)
    current = active_tape()
    again = None if current is not None or is_watching() else recall_gradient(y.data, leaves)
    if again is not None:
        return unflatten(tree, again)  # type: ignore[no-any-return] # nested as x
    taken: dict[Value, Tensor] = {}

    def lookup(value: Value) -> Tensor:
        """A value as a constant of the graph; on the tape while it records, so that the gradient is recorded too."""
        constant = taken.get(value)
        if constant is None:
            node = cast(TapeNode, value.node)
            held = node.results[value.index]
            if node.tape is not None and node.tape is current:
                held = Tensor(value.template, TapeBackend(on=held.backend), value)
            constant = taken[value] = expr_tensor(capture(held))
        return constant

    seed = full((), 1, dtype=y.dtype, backend=ExprBackend())
    cotangents = pull_back([y.data], [seed], [leaf.data for leaf in leaves], lookup)
    backend = underlying_tensor(y).backend
    graph = Graph((), [cotangent.data for cotangent in cotangents])
    gradients = evaluate(graph, (), backend if current is None else TapeBackend(on=backend))
    nested: Nested = unflatten(
        tree, (x.rename(*like.names) if x.ndim else x for x, like in zip(gradients, leaves, strict=True))
    )
    return nested


def _held(x: Any) -> Tensor:
    """The tensor of an array of `tensorbackend.numpy`, or of another registered class with one; else x itself."""
    if not isinstance(x, Tensor | list | tuple | dict):
        leaves, _ = flatten(x)
        if len(leaves) == 1:
            return leaves[0]  # type: ignore[no-any-return] # the caller looks at what it is
    return x  # type: ignore[no-any-return] # likewise


def _check_same_tape(y: Tensor, x: Tensor, path: str) -> None:
    """Raises `ArgumentError` unless the tape that recorded x also recorded y, or y is a constant for that tape."""
    node, source = cast(TapeNode, y.data.node), cast(TapeNode, x.data.node)
    if source.tape is None:
        remedy = "watch it in the block: x = tape.watch(x)"
        raise ArgumentError(expected(f"{path} as a tensor that a tape recorded", remedy, given=x.template))
    left = node.left
    if left is not None and left.tape.serial >= source.tape.serial:
        place = "" if left.line is None else f", {left.line.file}:{left.line.number}"
        remedy = f"move its computation into the block{place}"
        raise ArgumentError(expected("a y that was computed in the block of the tape", remedy, y=y.template))
    if node.tape not in (None, source.tape):
        remedy = "watch it with the tape that recorded y"
        raise ArgumentError(expected(f"{path} and y recorded by one tape", remedy, given=x.template))
