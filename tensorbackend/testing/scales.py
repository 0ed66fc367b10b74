"""The absolute errors that bounds allow the results of a call: the table of `compare`, with magnitudes in 64 bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy

from ..dtypes import complex128, float64
from ..errors import TensorBackendError
from ..expr.comparing.allowances import Measured, absolute, allowed, magnitudes_of
from ..expr.comparing.values import Array
from ..expr.trees import flatten
from ..ops.creation.values import asarray
from ..ops.elementwise.basic import astype
from ..rules.accuracy import Bound
from ..tensor import Tensor
from .calls import Invocation

Allowance: TypeAlias = float | list[float]
"""An absolute error, one for all elements or one for each."""


def allowances(call: Invocation, bound: Bound, results: Sequence[Tensor]) -> list[Allowance]:
    """The absolute error that a bound allows, for each result."""
    binary = call.on("binary")
    operands = [asarray(x) for x in binary.arguments] if bound.scale == "exponent" else binary.tensors
    errors = allowed(Measured(bound, operands, results, lambda: _magnitudes(binary, results)))
    return [error if isinstance(error, float) else numpy.ravel(error).tolist() for error in errors]


def _magnitudes(call: Invocation, results: Sequence[Tensor]) -> list[Array]:
    """The results of the op for the absolute values of its operands, in 64 bits."""
    if any(result.dtype.is_inexact for result in results):
        for sizes in _magnitude_calls(call):
            try:
                return [magnitudes_of(x) for x in flatten(sizes.run())[0]]
            except TensorBackendError:
                continue
    return []


def _magnitude_calls(call: Invocation) -> Iterator[Invocation]:
    """The call with absolute values in 64 bits for all operands except indices.

    Integers next to floats are indices. If all operands are integers, up to two of them may be indices: all choices
    are yielded, as the op refuses floats in place of indices.
    """
    integers = [number for number, x in enumerate(call.tensors) if x.dtype.is_integer]
    if any(x.dtype.is_inexact for x in call.tensors):
        yield _but(call, integers)
        return
    for count in range(3):
        for indices in combinations(integers, count):
            yield _but(call, indices)


def _but(call: Invocation, kept: Sequence[int]) -> Invocation:
    return call.with_tensors(x if number in kept else _wide(x) for number, x in enumerate(call.tensors))


def _wide(x: Tensor) -> Tensor:
    return absolute(astype(x, complex128 if x.dtype.is_complex else float64))
