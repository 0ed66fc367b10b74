"""How far apart two engines' results of one op may be: the bound that the op declares, for these operands.

The meaning of a bound is in `rules/accuracy.py`. It is a distance from the reference, so two engines may be twice
as far from one another, unless one of them is the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy

from ...dtypes import finfo, float64
from ...errors import TensorBackendError
from ...rules.accuracy import EXACT, Bound, Scale
from ...select import get_backend
from ...tensor import Tensor
from ..graph import subgraphs
from ..node import Node, flat, map_each
from .values import Array, array_of, tensor_of
from .walk import computed, spec_of

Inputs = tuple[Any, ...]


class Measured(NamedTuple):
    """The tensors of one call, from which the quantities follow whose roundings a bound counts."""

    bound: Bound
    operands: Sequence[Tensor]
    results: Sequence[Tensor]
    magnitudes: Callable[[], Sequence[Array]]
    """The magnitudes of the op's results for the absolute values of its operands; nothing if it refuses them."""


Sizes = Callable[[Measured], "Sequence[Array | float]"]


def bound_of(node: Node) -> Bound:
    """The declared bound of a node's op; of a function that is called for each element, that of all its ops."""
    inner = [bound_of(part) for graph in subgraphs(node) for part in graph.nodes if part.operands]
    if inner:  # each element goes through these ops, in a fold as often as there are elements
        steps = max([1, *(value.template.size for value in node.operands)]) if node.op != "map" else 1
        return Bound(steps * sum(max(1.0, each.ulps) for each in inner), "the ops of its function", "operand")
    spec = spec_of(node)
    if spec is None:
        return EXACT
    has_complex = any(value.template.dtype.is_complex for value in (*node.operands, *node.values))
    return spec.bounds.complex if spec.bounds.complex is not None and has_complex else spec.bounds.bound


def allowances(node: Node, bound: Bound, inputs: Inputs, results: Sequence[Tensor]) -> list[Array | float]:
    """The absolute error that a bound allows for each result, besides its ulps of each element."""
    return allowed(Measured(bound, flat(inputs, Tensor), results, lambda: _magnitudes(node, inputs)))


def allowed(call: Measured) -> list[Array | float]:
    """The absolute error that the bound of a call allows, for each result."""
    bound = call.bound
    with numpy.errstate(all="ignore"):
        sizes = _SIZES[bound.scale](call)
        return [
            bound.ulps * finfo(float64 if bound.scale == "exponent" else x.dtype).eps * size
            if x.dtype.is_inexact
            else 0.0
            for size, x in zip(sizes, call.results, strict=True)
        ]


def magnitudes_of(x: Tensor) -> Array:
    """The absolute values of the elements, in 64 bits."""
    array = array_of(x)
    with numpy.errstate(all="ignore"):
        return numpy.asarray(abs(array if array.dtype.kind == "c" else array.astype(numpy.float64)))


def absolute(x: Tensor) -> Tensor:
    """The absolute values of a tensor, 0 for those that are not finite."""
    sizes = magnitudes_of(x)
    return tensor_of(numpy.where(numpy.isfinite(sizes), sizes, 0.0), x)


def _constant(size: float) -> Sizes:
    return lambda call: [size] * len(call.results)


def _largest(x: Tensor) -> float:
    sizes = magnitudes_of(x)
    return float(numpy.max(sizes[numpy.isfinite(sizes)], initial=0.0))


def _operand(call: Measured) -> list[float]:
    """The largest magnitude of a finite element of the operands, at least 1."""
    return [max([1.0, *(_largest(x) for x in call.operands if x.dtype.is_numeric)])] * len(call.results)


def _square(call: Measured) -> list[float]:
    return [size * size for size in _operand(call)]


def _each(call: Measured) -> Sequence[Array | float]:
    return call.magnitudes() or [0.0] * len(call.results)


def _norm(call: Measured) -> list[float]:
    return [float(numpy.fmax.reduce(size, axis=None, initial=0.0)) for size in _each(call)]


def _magnitudes(node: Node, inputs: Inputs) -> list[Array]:
    """The op's results for the absolute values of its operands, by NumPy's backend, else by the reference.

    Whole numbers next to floats are indices and stay.
    """

    def size(x: Tensor) -> Tensor:
        return absolute(x) if x.dtype.is_inexact and not x.dtype.is_narrow else x

    sizes = map_each(size, inputs, Tensor)
    for name in ("numpy", "binary"):
        try:
            found = computed(get_backend(name), node, sizes)
        except TensorBackendError:
            continue
        return [numpy.nan_to_num(magnitudes_of(x), nan=numpy.inf, posinf=numpy.inf) for x in found]
    return []


def _exponent(call: Measured) -> list[Array]:
    """abs(y * log(x)) times the power's magnitude; infinite where few of the power's digits are certain.

    If the exponent may be wrong by more than 2**-10, few digits of the power are correct: then it may be anything. For
    an infinite y the power only depends on whether x is inside the unit circle; if x is so near the circle that its
    magnitude rounds to 1, the power may be anything too.
    """
    base, power = (array_of(x).astype(numpy.complex128) for x in call.operands)
    (result,) = call.results
    exponent = abs(power * numpy.log(base))
    near = (abs(abs(base) - 1) < 2.0**-40) | numpy.isfinite(power)
    lost = numpy.where(exponent < numpy.inf, call.bound.ulps * finfo(float64).eps * exponent > 2**-10, near)
    kept = numpy.where(numpy.isfinite(exponent) & ~numpy.isnan(array_of(result)), magnitudes_of(result), 0.0)
    known = numpy.where(kept > 0, exponent * numpy.minimum(kept, finfo(result.dtype).max), 0.0)
    return [numpy.where(lost, numpy.inf, numpy.nan_to_num(known, nan=0.0))]


_SIZES: Final[Mapping[Scale, Sizes]] = {
    "element": _constant(0.0),
    "one": _constant(1.0),
    "operand": _operand,
    "square": _square,
    "magnitudes": _each,
    "norm": _norm,
    "result": lambda call: [_largest(x) for x in call.results],
    "exponent": _exponent,
}
