"""How far results may move if each op on the way is as inaccurate as it may be.

A compiled program rounds in other places than the eager one, and errors of early ops grow in later ones. How far is not
declared but measured: the program runs a few times on the first engine, and each result is moved at random, by up to
what its op allows. So whatever depends on a comparison of nearly equal numbers moves as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy

from ...dtypes import DType, finfo
from ...protocol import Backend
from ...tensor import Tensor
from ..graph import Graph
from ..node import Node, flat
from .allowances import allowances, bound_of
from .values import Array, array_from, array_of, flushed, other_zeros, parts_of, tensor_of, units
from .walk import Finish, Tensors, Walk, computed

SAMPLES: Final = 6
_LEAST: Final = 5e-324
"""How far a zero moves to become that of the other sign."""
MARGIN: Final = 8.0
"""The multiple of the largest movement that is allowed, as few samples may all lie near the middle."""


class Spread:
    """The largest movements of values over the samples."""

    def __init__(self) -> None:
        self.moved: dict[Any, Array] = {}

    def note(self, key: Any, wanted: Array, got: Array, dtype: DType) -> None:
        """Enters what one sample has in place of a value."""
        with numpy.errstate(all="ignore"):
            error = abs(got - wanted) if dtype.is_inexact else numpy.where(got == wanted, 0.0, numpy.inf)
        same = (got == wanted) | ((got != got) & (wanted != wanted))
        error = numpy.where(same, 0.0, numpy.nan_to_num(error, nan=numpy.inf, posinf=numpy.inf))
        error = numpy.where(same & other_zeros(got, wanted), _LEAST, error)
        known = self.moved.get(key)
        self.moved[key] = error if known is None else numpy.maximum(known, error)

    def allowed(self, key: Any) -> Array:
        """The absolute error that is allowed for each element of a value."""
        error = self.moved[key]
        finite = error[numpy.isfinite(error)]
        usual = float(numpy.median(finite)) if finite.size else 0.0
        return numpy.asarray(MARGIN * numpy.maximum(error, usual))


def spread_of(graph: Graph, tensors: Sequence[Tensor], home: Backend, wanted: Sequence[Tensor]) -> Spread:
    """The movements of a graph's results, by their positions, around those that are wanted."""
    spread = Spread()
    known = [array_of(x) for x in wanted]
    for sample in range(SAMPLES):
        for place, x in enumerate(Mover(home, sample).walk.run(graph, tensors)):
            spread.note(place, known[place], array_of(x), x.dtype)
    return spread


class Mover:
    """A run in which each result is moved. The first sample also reads subnormals as zeros, as some backends do."""

    def __init__(self, home: Backend, sample: int, keep: Finish | None = None) -> None:
        self.chance = numpy.random.default_rng(sample)
        self.flushes = sample == 0
        self.keep = keep
        self.walk = Walk(home, self, keep)

    def __call__(self, node: Node, inputs: tuple[Any, ...]) -> Tensors:
        results = computed(self.walk.backend, node, inputs)
        moved = tuple(map(self._moved, self._amplitudes(node, inputs, results), results))
        if bound_of(node).ulps:
            moved = tuple(map(self._signed, moved))
        if self.keep is not None:
            self.keep(node, inputs, moved)
        return moved

    def _moved(self, amplitude: Array | None, x: Tensor) -> Tensor:
        if amplitude is None or not numpy.any(amplitude):
            return flushed(x) if self.flushes else x
        array = array_of(x)
        shifts = self.chance.uniform(-1.0, 1.0, array.shape) * numpy.where(numpy.isfinite(amplitude), amplitude, 0.0)
        moved = tensor_of(numpy.where(numpy.isfinite(array), array + shifts, array), x)
        return flushed(moved) if self.flushes else moved

    def _signed(self, x: Tensor) -> Tensor:
        """Signs at random for zeros, which an op that is not exact may leave open."""
        array = array_of(x)
        if not x.dtype.is_inexact or x.dtype.is_narrow or numpy.all(array):
            return x
        signs = self.chance.choice([-0.0, 0.0], array.shape)
        parts = [numpy.where(part == 0, signs, part) for part in parts_of(array)]
        return tensor_of(array_from(parts), x)

    def _amplitudes(self, node: Node, inputs: tuple[Any, ...], results: Tensors) -> list[Array | None]:
        bound = bound_of(node)
        floating = [x.dtype.is_inexact and not x.dtype.is_narrow for x in results]
        if not any(floating):
            return [None] * len(results)
        if not bound.ulps:
            return [_rounding(x, inputs) if moves else None for moves, x in zip(floating, results, strict=True)]
        errors = allowances(node, bound, inputs, results)
        return [
            numpy.maximum(bound.ulps * units(numpy.nan_to_num(abs(array_of(x))), x.dtype) * (array_of(x) != 0), error)
            if moves
            else None
            for moves, error, x in zip(floating, errors, results, strict=True)
        ]


def _rounding(x: Tensor, inputs: tuple[Any, ...]) -> Array | None:
    """One unit of each element that an exact op has rounded.

    Elements that an operand has too were moved or chosen, and small whole numbers come without rounding, so they stay:
    comparisons with them decide as before.
    """
    array = array_of(x)
    operands = [array_of(operand).ravel() for operand in flat(inputs, Tensor) if operand.dtype.is_inexact]
    with numpy.errstate(all="ignore"):
        kept = [(part == numpy.rint(part)) & (abs(part) < 1 / finfo(x.dtype).eps) for part in (array.real, array.imag)]
    whole = numpy.logical_and(*kept)
    if whole.all() or not operands or numpy.isin(array, numpy.concatenate(operands)).all():
        return None
    return numpy.asarray(units(numpy.nan_to_num(abs(array)), x.dtype) * ~whole)
