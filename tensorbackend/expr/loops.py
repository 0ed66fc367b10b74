"""Control flow in Python, for backends without callbacks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import EllipsisType
from typing import Any, Final

from ..dispatch import implementation
from ..ops.composite.shape.arranging import stack
from ..ops.creation.filled import zeros
from ..protocol import Backend, Payload
from ..protocol.callbacks import Default
from ..select import move
from ..template import Template
from ..tensor import Tensor
from .effects import backend_of
from .evaluate import program

Tensors = Sequence[Tensor]


def run_checkpoint(out: Any, inputs: tuple[Tensors], options: Mapping[str, Any]) -> tuple[Tensor, ...]:
    """Runs the graph; returns its results."""
    return tuple(program(options["body"], backend_of(inputs))(inputs[0]))


def run_cond(out: Any, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> tuple[Tensor, ...]:
    """Runs one branch, chosen by the predicate's value."""
    predicate, operands = inputs
    branch = options["true_branch" if bool(predicate) else "false_branch"]
    return tuple(program(branch, predicate.backend)(operands))


def run_while_loop(
    out: tuple[Template, ...], inputs: tuple[Tensors, Tensors], options: Mapping[str, Any]
) -> tuple[Tensor, ...]:
    """Runs iterations while the condition is true, at most the limit."""
    constants, carried = inputs
    backend, left = backend_of(inputs), options["limit"]
    holds = program(options["condition"], backend, entered_once=True)
    first = len(constants)
    iteration = program(options["body"], backend, entered_once=True, carried=range(first, first + len(carried)))
    held, data = ([move(x, backend).data for x in tensors] for tensors in (constants, carried))
    predicate = holds.results[0]
    while left != 0 and bool(Tensor(predicate, backend, holds.on_payloads([*held, *data])[0])):
        data = [*iteration.on_payloads([*held, data])]
        left = None if left is None else left - 1
    return tuple(Tensor(template, backend, payload) for template, payload in zip(out, data, strict=True))


def run_scan(
    out: tuple[Template, ...], inputs: tuple[Tensors, Tensors, Tensors], options: Mapping[str, Any]
) -> tuple[Tensor, ...]:
    """Runs the steps in order, and stacks their results at the end."""
    constants, carried, xs = inputs
    length, count, backend = options["length"], len(carried), backend_of(inputs)
    first = len(constants)
    step = program(options["body"], backend, entered_once=True, carried=range(first, first + count))
    held, data = ([move(x, backend).data for x in tensors] for tensors in (constants, carried))
    readers = [_reader(move(x, backend)) for x in xs]
    rows: list[Sequence[Payload]] = []
    for position in reversed(range(length)) if options["reverse"] else range(length):
        # The list alone holds what is carried, and the step empties it, so that its kernels may write there.
        data = [*step.on_payloads([*held, data, *[read(position) for read in readers]])]
        rows.append(data[count:])
        del data[count:]
    if options["reverse"]:
        rows.reverse()
    columns = zip(*rows, strict=True) if rows else [()] * len(out[count:])
    last = (Tensor(template, backend, payload) for template, payload in zip(out, data, strict=False))
    return *last, *[_stack(template, column, backend) for template, column in zip(out[count:], columns, strict=True)]


CONTROL: Final[Mapping[str, Default]] = {
    "checkpoint": run_checkpoint,
    "cond": run_cond,
    "scan": run_scan,
    "while_loop": run_while_loop,
}
"""How the nodes that run graphs do so on any backend that computes."""


def _reader(x: Tensor) -> Callable[[int], Payload]:
    """A function that returns the payload of `x[position]`.

    If the backend has no kernel for indexing, the function calls the callbacks `slice` and `squeeze` itself: a plan for
    each position would be made once and never used again.
    """
    backend, lengths = x.backend, (1, *x.shape[1:])
    entry = backend.indexing(x.template, (int, EllipsisType))
    if entry is not None:
        data = x.data
        return lambda position: entry(data, (position, ...))
    row, out = x.template.replace(shape=lengths), x.template.replace(shape=x.shape[1:], names=x.names[1:])
    cut = implementation(backend, "slice", row, (x.template,))
    squeeze = implementation(backend, "squeeze", out, (row,))
    rest, strides = (0,) * (x.ndim - 1), (1,) * x.ndim

    def read(position: int) -> Payload:
        data = cut(row, x, starts=(position, *rest), lengths=lengths, strides=strides)
        return squeeze(out, Tensor(row, backend, data), axes=(0,))

    return read


def _stack(out: Template, rows: Sequence[Payload], backend: Backend) -> Tensor:
    if not rows:
        return zeros(out.shape, dtype=out.dtype, names=out.names)
    row = out.replace(shape=out.shape[1:], names=out.names[1:])
    return stack([Tensor(row, backend, payload) for payload in rows], name=out.names[0])
