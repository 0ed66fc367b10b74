"""Maxima and minima along axes and of windows. NaN wins, and 0.0 is above -0.0."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from ...protocol import Kernel
from ...template import Template
from ..array_module.base import Array
from .base import EagerKernels, JaxBase

Extreme: TypeAlias = Callable[..., Array]

_LEAST_ELEMENTS_THAT_LOSE_NAN = 1 << 10
"""The number of elements from which XLA's maximum may ignore NaN: seen with 4,096 elements, not with 2,048."""


def extreme(backend: JaxBase, signed: Extreme, x: Template, reduce: Callable[[Array], Array]) -> Kernel:
    """A kernel of the maximum or minimum: `signed` computes it as the protocol says, `reduce` is JAX's own reduction.

    On a CPU XLA's maximum of many elements ignores NaN (JAX 0.10 and 0.11). There the kernel reduces integers that have
    the order of the numbers, which takes four times as long. For arrays with values it does so only if their sum is NaN
    or a result is zero.
    """
    lax, native = backend.lax, partial(signed, backend.xp, reduce=reduce)
    if backend.platform != "cpu" or not x.dtype.is_floating or x.size < _LEAST_ELEMENTS_THAT_LOSE_NAN:
        return native

    def exact(values: Array) -> Array:
        ranks = reduce(_rank(backend.xp, lax, values, signed))
        return _number(backend.xp, lax, ranks, values.dtype, signed)

    def quick(values: Array) -> Array:
        extremes = reduce(values)
        doubtful = backend.xp.isnan(values.sum()) | (extremes == 0).any()
        return lax.cond(doubtful, lambda: exact(values), lambda: extremes)

    derived = backend.derived(exact, native)
    return derived if backend.lays_by_name else EagerKernels(derived, backend.derived(quick, native))


# 0.0 is above -0.0. To correct its sign, 0.0 is added to a zero; -0.0, which changes nothing, is added to all other
# numbers. So the gradient flows as before, while abs() or copysign() would stop it at a zero.


def signed_maximum(xp: Any, values: Array, reduce: Callable[[Array], Array]) -> Array:
    """The maximum along axes, a zero with the sign of the largest zero."""
    maxima = reduce(values)
    if not xp.issubdtype(values.dtype, xp.floating):
        return maxima
    plus = reduce(((values == 0) & ~xp.signbit(values)).astype("int8")) > 0
    return maxima + xp.where((maxima == 0) & plus, 0.0, -0.0).astype(maxima.dtype)


def signed_minimum(xp: Any, values: Array, reduce: Callable[[Array], Array]) -> Array:
    """The minimum along axes, a zero with the sign of the smallest zero."""
    minima = reduce(values)
    if not xp.issubdtype(values.dtype, xp.floating):
        return minima
    minus = reduce(1 - ((values == 0) & xp.signbit(values)).astype("int8")) < 1
    return -(-minima + xp.where((minima == 0) & minus, 0.0, -0.0).astype(minima.dtype))


# Floating-point numbers as integers in their order: -0.0 is -1 and 0.0 is 0; NaN comes last, or first for a minimum


def _rank(xp: Any, lax: Any, values: Array, signed: Extreme) -> Array:
    """The integers that have the order of the numbers."""
    limits = xp.iinfo(f"int{8 * values.dtype.itemsize}")
    bits = lax.bitcast_convert_type(values, limits.dtype)
    last = limits.max if signed is signed_maximum else limits.min
    return xp.where(xp.isnan(values), bits.dtype.type(last), _reverse_negative(xp, bits))


def _number(xp: Any, lax: Any, ranks: Array, dtype: Any, signed: Extreme) -> Array:
    """The numbers for such integers."""
    ends = lax.bitcast_convert_type(xp.asarray([-xp.inf, xp.inf], dtype), ranks.dtype)
    low, high = _reverse_negative(xp, ends)
    # The result for a window of padding alone is the identity of the integers, which is beyond the infinities.
    ranks = xp.maximum(ranks, low) if signed is signed_maximum else xp.minimum(ranks, high)
    return lax.bitcast_convert_type(_reverse_negative(xp, ranks), dtype)


def _reverse_negative(xp: Any, bits: Array) -> Array:
    """Reverses the order of negative integers, as the bits of a float are its sign and its size; its own inverse."""
    return xp.where(bits < 0, bits ^ xp.iinfo(bits.dtype).max, bits)
