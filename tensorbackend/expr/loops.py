"""Control flow in Python: what runs on a backend that has no callback of its own for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from ..dispatch import implementation
from ..ops.composite.shape.arranging import stack
from ..ops.creation.filled import zeros
from ..protocol import Backend
from ..select import get_backend, move
from ..template import Template
from ..tensor import Tensor
from .evaluate import program

Tensors = Sequence[Tensor]


def run_checkpoint(out: Any, inputs: tuple[Tensors], options: Mapping[str, Any]) -> tuple[Tensor, ...]:
    """The graph."""
    return tuple(program(options["body"], _backend(inputs))(inputs[0]))


def run_cond(out: Any, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> tuple[Tensor, ...]:
    """One branch, chosen by the predicate's value."""
    predicate, operands = inputs
    branch = options["true_branch" if bool(predicate) else "false_branch"]
    return tuple(program(branch, predicate.backend)(operands))


def run_while_loop(
    out: tuple[Template, ...], inputs: tuple[Tensors, Tensors], options: Mapping[str, Any]
) -> tuple[Tensor, ...]:
    """Turns as long as the condition's value is true, and no more than the limit."""
    constants, carried = inputs
    backend, left = _backend(inputs), options["limit"]
    holds, turn = (program(options[name], backend, entered_once=True) for name in ("condition", "body"))
    held, data = ([move(x, backend).data for x in each] for each in (constants, carried))
    predicate = holds.results[0]
    while left != 0 and bool(Tensor(predicate, backend, holds.on_payloads([*held, *data])[0])):
        data = [*turn.on_payloads([*held, *data])]
        left = None if left is None else left - 1
    return tuple(Tensor(template, backend, each) for template, each in zip(out, data, strict=True))


def run_scan(
    out: tuple[Template, ...], inputs: tuple[Tensors, Tensors, Tensors], options: Mapping[str, Any]
) -> tuple[Tensor, ...]:
    """A step after the other; what each gives is stacked at the end."""
    constants, carried, xs = inputs
    length, count = options["length"], len(carried)
    step = program(options["body"], _backend(inputs))
    readers = [reader(x) for x in xs]
    rows: list[list[Tensor]] = []
    for position in reversed(range(length)) if options["reverse"] else range(length):
        found = step([*constants, *carried, *(read(position) for read in readers)])
        carried = found[:count]
        rows.append(found[count:])
    if options["reverse"]:
        rows.reverse()
    columns = zip(*rows, strict=True) if rows else [()] * len(out[count:])
    return *carried, *map(_stacked, out[count:], columns)


def _backend(inputs: Iterable[Tensors]) -> Backend:
    first = next(chain.from_iterable(inputs), None)
    return get_backend() if first is None else first.backend


def reader(x: Tensor) -> Callable[[int], Tensor]:
    """A function that gives `x[position]`.

    It calls the backend's callbacks itself: a plan for each position would be made once and never used again.
    """
    backend, lengths = x.backend, (1, *x.shape[1:])
    row, out = x.template.replace(shape=lengths), x.template.replace(shape=x.shape[1:], names=x.names[1:])
    cut = implementation(backend, "slice", row, (x.template,))
    squeeze = implementation(backend, "squeeze", out, (row,))
    rest, strides = (0,) * (x.ndim - 1), (1,) * x.ndim

    def read(position: int) -> Tensor:
        data = cut(row, x, starts=(position, *rest), lengths=lengths, strides=strides)
        return Tensor(out, backend, squeeze(out, Tensor(row, backend, data), axes=(0,)))

    return read


def _stacked(out: Template, rows: Tensors) -> Tensor:
    if not rows:
        return zeros(out.shape, dtype=out.dtype, names=out.names)
    return stack(rows, name=out.names[0])
