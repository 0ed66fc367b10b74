"""Control flow in Python: what runs on a backend that has no callback of its own for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from ..dispatch import implementation
from ..ops.composite.shaping import stack
from ..ops.creation import zeros
from ..protocol import Backend
from ..select import get_backend
from ..template import Template
from ..tensor import Tensor
from .evaluate import evaluate

Tensors = Sequence[Tensor]


def run_cond(out: Any, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> tuple[Tensor, ...]:
    """One branch, chosen by the predicate's value."""
    predicate, operands = inputs
    branch = options["true_branch" if bool(predicate) else "false_branch"]
    return tuple(evaluate(branch, operands, predicate.backend))


def run_while_loop(out: Any, inputs: tuple[Tensors, Tensors], options: Mapping[str, Any]) -> tuple[Tensor, ...]:
    """Turns as long as the condition's value is true, and no more than the limit."""
    constants, carried = inputs
    backend, left = _backend(inputs), options["limit"]
    while left != 0 and bool(evaluate(options["condition"], [*constants, *carried], backend)[0]):
        carried = evaluate(options["body"], [*constants, *carried], backend)
        left = None if left is None else left - 1
    return tuple(carried)


def run_scan(
    out: tuple[Template, ...], inputs: tuple[Tensors, Tensors, Tensors], options: Mapping[str, Any]
) -> tuple[Tensor, ...]:
    """A step after the other; what each gives is stacked at the end."""
    constants, carried, xs = inputs
    backend, length, count = _backend(inputs), options["length"], len(carried)
    rows: list[list[Tensor]] = []
    for position in reversed(range(length)) if options["reverse"] else range(length):
        entries = [entry(x, position) for x in xs]
        found = evaluate(options["body"], [*constants, *carried, *entries], backend)
        carried = found[:count]
        rows.append(found[count:])
    if options["reverse"]:
        rows.reverse()
    return *carried, *map(_stacked, out[count:], zip(*rows, strict=True) if rows else [()] * len(out[count:]))


def _backend(inputs: Iterable[Tensors]) -> Backend:
    first = next(chain.from_iterable(inputs), None)
    return get_backend() if first is None else first.backend


def entry(x: Tensor, position: int) -> Tensor:
    """`x[position]`, by the callbacks themselves: a plan for each position would be made once and never used again."""
    size = (1, *x.shape[1:])
    row = x.template.replace(shape=size)
    starts, strides = (position,) + (0,) * (x.ndim - 1), (1,) * x.ndim
    cut = implementation(x.backend, "slice", row, (x,))
    data = cut(row, x, starts=starts, lengths=size, strides=strides)
    out = x.template.replace(shape=x.shape[1:], names=x.names[1:])
    sliced = Tensor(row, x.backend, data)
    return Tensor(out, x.backend, implementation(x.backend, "squeeze", out, (sliced,))(out, sliced, axes=(0,)))


def _stacked(out: Template, rows: Tensors) -> Tensor:
    if not rows:
        return zeros(out.shape, dtype=out.dtype, names=out.names)
    return stack(rows, name=out.names[0])
