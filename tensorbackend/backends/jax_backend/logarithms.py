"""Logarithms of float64 numbers near 1, where XLA's polynomial is not accurate to all digits."""

from __future__ import annotations

from typing import Any

from ..array_module.complex_functions import Array


def log1p(xp: Any, x: Array) -> Array:
    """log(1 + x), computed as written from -1/2 to -1/4: there XLA's log1p is up to 128 ulps off, 1 + x at most 1."""
    within = (x > -0.5) & (x < -0.25)
    return xp.where(within, xp.log(1 + xp.where(within, x, 0)), xp.log1p(x))


def atanh(xp: Any, x: Array) -> Array:
    """Half the logarithm of (1 + x) / (1 - x); XLA's own takes it from XLA's log1p."""
    size = xp.abs(x)
    return xp.copysign(0.5 * (log1p(xp, size) - log1p(xp, -size)), x)
