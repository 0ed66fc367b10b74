"""`jax.numpy` as the array module that the shared body is written for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..array_module.module import Array, ArrayModule
from .rounding import unfused_product


class JaxModule(ArrayModule):
    """The functions of `jax.numpy`, with replacements where JAX differs from other array modules."""

    def __init__(self, module: Any, lax: Any, wide: str) -> None:
        super().__init__(module)
        self._lax, self.wide = lax, wide

    def join(self, real: Array, imaginary: Array) -> Array:
        """Joins the parts by `jax.lax`, as JAX's arrays cannot be written to."""
        return self._lax.complex(*self.broadcast_arrays(real, imaginary))

    def abs(self, x: Array) -> Array:
        """The absolute value; for a complex number it is infinite if either part is, even next to NaN."""
        magnitude = self._module.abs(x)
        if x.dtype.kind != "c":
            return magnitude
        return self.where(self.isinf(x.real) | self.isinf(x.imag), self.inf, magnitude)

    def of_complex(self, name: str, z: Array, *, odd: bool = False) -> Array:
        """Calls a function of the module in the dtype to compute in, on numbers moved into the upper half plane.

        An odd function is called in the first quadrant. JAX's own functions are less accurate in complex64 than the
        dtype allows, and ignore on which side of a branch cut -0.0 is. The other values follow by the symmetry
        f(conj(z)) = conj(f(z)).
        """
        w = self.widen(z)
        left, below = odd & self.signbit(w.real), self.signbit(w.imag)
        in_quadrant = getattr(self, name)(
            self.join(self._negate_where(left, w.real), self._negate_where(below, w.imag))
        )
        return self.join(
            self._negate_where(left, in_quadrant.real), self._negate_where(below, in_quadrant.imag)
        ).astype(z.dtype)

    def _negate_where(self, signs: Array, part: Array) -> Array:
        return self.where(signs, -part, part)

    def positive_zero(self, x: Array) -> Array:
        """Replaces -0.0 by copying a sign, as JAX's compiler removes an addition of zero."""
        return self.where(x == 0, self.copysign(x, 1.0), x)

    def if_any(self, where: Array, function: Callable[[], Array], otherwise: Array) -> Array:
        """Compiles the function into a condition, which runs it only if a flag is true."""
        return self._lax.cond(where.any(), function, lambda: otherwise)

    def unfused_product(self, product: Array) -> Array:
        """The product, in a form that XLA cannot fuse with a sum."""
        return unfused_product(product)
