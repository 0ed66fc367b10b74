"""How far apart two engines' results of one op may be: the bound that the op declares, for these operands.

The meaning of a bound is in `rules/accuracy.py`. It is a distance from the reference, so two engines may be twice
as far from one another, unless one of them is the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy

from ...dtypes import finfo, float64
from ...errors import TensorBackendError
from ...rules.accuracy import EXACT, Bound, Scale
from ...select import get_backend
from ...tensor import Tensor
from ..node import Node
from ..subgraphs import subgraphs
from .values import Array, array_of, tensor_of
from .walk import computed, spec_of

Inputs = tuple[Any, ...]
Sizes = Callable[[Node, Inputs, Sequence[Tensor]], "list[Array | float]"]


def bound_of(node: Node) -> Bound:
    """The declared bound of a node's op; of a function that is called for each element, that of all its ops."""
    spec = spec_of(node)
    bounds = [] if spec is None else [spec.bounds]
    dtypes = [value.template.dtype for value in (*node.operands, *node.values)]
    has_complex = any(dtype.is_complex for dtype in dtypes)
    found = EXACT
    for each in bounds:
        found = each.complex if each.complex is not None and has_complex else each.bound
    inner = [bound_of(part) for graph in subgraphs(node) for part in graph.nodes if part.operands]
    if inner:  # each element goes through these ops, in a fold as often as there are elements
        steps = max([1, *(value.template.size for value in node.operands)]) if node.op != "map" else 1
        return Bound(steps * sum(max(1.0, each.ulps) for each in inner), "the ops of its function", "operand")
    return found


def allowances(node: Node, bound: Bound, inputs: Inputs, results: Sequence[Tensor]) -> list[Array | float]:
    """The absolute error that a bound allows for each result, besides its ulps of each element."""
    sizes = _SIZES[bound.scale](node, inputs, results)
    rounded: list[Array | float] = []
    for size, x in zip(sizes, results, strict=True):
        if not x.dtype.is_inexact:
            rounded.append(0.0)
            continue
        eps = finfo(float64).eps if bound.scale == "exponent" else finfo(x.dtype).eps
        with numpy.errstate(all="ignore"):
            rounded.append(bound.ulps * eps * size)
    return rounded


def tensors_of(inputs: Inputs) -> list[Tensor]:
    """The tensors among inputs, with sequences flattened."""
    flat: list[Tensor] = []
    for x in inputs:
        if isinstance(x, Tensor):
            flat.append(x)
        elif x is not None:
            flat.extend(x)
    return flat


def mapped(inputs: Inputs, function: Callable[[Tensor], Tensor]) -> Inputs:
    """Inputs with a function applied to each tensor."""
    return tuple(x if x is None else function(x) if isinstance(x, Tensor) else tuple(map(function, x)) for x in inputs)


def _constant(size: float) -> Sizes:
    return lambda node, inputs, results: [size] * len(results)


def _largest(array: Array) -> float:
    sizes = abs(array)
    return float(numpy.max(sizes[numpy.isfinite(sizes)], initial=0.0))


def _operand(node: Node, inputs: Inputs, results: Sequence[Tensor]) -> list[Array | float]:
    """The largest magnitude of a finite element of the operands, at least 1."""
    sizes = [_largest(array_of(x)) for x in tensors_of(inputs) if x.dtype.is_numeric]
    return [max([1.0, *sizes])] * len(results)


def _square(node: Node, inputs: Inputs, results: Sequence[Tensor]) -> list[Array | float]:
    return [size * size for size in _operand(node, inputs, results)]


def _result(node: Node, inputs: Inputs, results: Sequence[Tensor]) -> list[Array | float]:
    return [_largest(array_of(x)) for x in results]


def _magnitudes(node: Node, inputs: Inputs, results: Sequence[Tensor]) -> list[Array | float]:
    """The op's results for the absolute values of its operands, by NumPy's backend, else by the reference."""
    absolute = mapped(inputs, _absolute)
    for name in ("numpy", "binary"):
        try:
            found = computed(node, get_backend(name), absolute)
        except TensorBackendError:
            continue
        return [numpy.nan_to_num(abs(array_of(x)), nan=numpy.inf, posinf=numpy.inf) for x in found]
    return [0.0] * len(results)


def _absolute(x: Tensor) -> Tensor:
    """Absolute values, 0 for those that are not finite; whole numbers next to floats are indices and stay."""
    if not x.dtype.is_inexact or x.dtype.is_narrow:
        return x
    sizes = abs(array_of(x))
    return tensor_of(numpy.where(numpy.isfinite(sizes), sizes, 0.0), x)


def _norm(node: Node, inputs: Inputs, results: Sequence[Tensor]) -> list[Array | float]:
    return [float(numpy.max(size, initial=0.0)) for size in _magnitudes(node, inputs, results)]


def _exponent(node: Node, inputs: Inputs, results: Sequence[Tensor]) -> list[Array | float]:
    """abs(y * log(x)) times the power's magnitude; infinite where few of the power's digits are certain."""
    base, power = (array_of(x).astype(numpy.complex128) for x in tensors_of(inputs))
    (result,) = results
    size = abs(array_of(result))
    with numpy.errstate(all="ignore"):
        exponent = abs(power * numpy.log(base))
        near = (abs(abs(base) - 1) < 2.0**-40) | numpy.isfinite(power)
        lost = numpy.where(exponent < numpy.inf, bound_of(node).ulps * finfo(float64).eps * exponent > 2**-10, near)
        kept = numpy.where(numpy.isfinite(exponent) & ~numpy.isnan(size), size, 0.0)
        known = numpy.where(kept > 0, exponent * numpy.minimum(kept, finfo(result.dtype).max), 0.0)
    return [numpy.where(lost, numpy.inf, numpy.nan_to_num(known, nan=0.0))]


_SIZES: Final[Mapping[Scale, Sizes]] = {
    "element": _constant(0.0),
    "one": _constant(1.0),
    "operand": _operand,
    "square": _square,
    "magnitudes": _magnitudes,
    "norm": _norm,
    "result": _result,
    "exponent": _exponent,
}
