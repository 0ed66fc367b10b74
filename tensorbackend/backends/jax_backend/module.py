"""`jax.numpy` as the array module that the shared body is written for, and the versions that compute wrong results.

Each result of its arithmetic is rounded once and immediately, where in XLA's it is not. XLA fuses a product and a sum
into one step. On a GPU its quotients and square roots of float32 are up to 2 ulps off
(https://github.com/openxla/xla/issues/37181), so that `x / x` is not always 1.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from ...errors import FaultyVersionWarning
from ...expr.node import frames_to_user
from ..array_module.module import Array, ArrayModule


@cache
def _identity() -> Callable[[Any], Any]:
    import jax

    def same_bits(product: Any) -> Any:
        # Neither a barrier nor reduce_precision() keeps the compiler from fusing, nor does splitting off a sign that it
        # knows, such as that of unsigned integers. It does not know that n * (n + 1) is even.
        bits = jax.lax.bitcast_convert_type(product, f"int{product.dtype.itemsize * 8}")
        return jax.lax.bitcast_convert_type(bits + (bits * (bits + 1) & 1), product.dtype)

    unfused = jax.custom_jvp(same_bits)
    unfused.defjvp(lambda primals, tangents: (unfused(*primals), *tangents))
    return unfused


@cache
def _exactly(name: str) -> Callable[..., Any]:
    import jax

    function = getattr(jax.lax, name)

    def round_once(*operands: Any) -> Any:
        # A quotient or root in float64, rounded to float32, is the same as if rounded once (S. A. Figueroa, 1995).
        # Compilers know this, and would compute in float32 after all if they saw that the operands are float32.
        wide = (jax.lax.convert_element_type(operand, "float64") for operand in operands)
        return jax.lax.convert_element_type(
            function(*(jax.lax.reduce_precision(operand, 11, 23) for operand in wide)), "float32"
        )

    exact = jax.custom_jvp(round_once)
    exact.defjvp(lambda primals, tangents: (exact(*primals), jax.jvp(function, primals, tangents)[1]))
    return exact


def quotient(left: Any, right: Any) -> Any:
    """The quotient of two arrays of float32, float16 or bfloat16 of one shape, rounded once on every device."""
    return _exactly("div")(left.astype("float32"), right.astype("float32")).astype(left.dtype)


def root(values: Any) -> Any:
    """The square root of an array of float32, float16 or bfloat16, rounded once on every device."""
    return _exactly("sqrt")(values.astype("float32")).astype(values.dtype)


def unfused_product(product: Any) -> Any:
    """The product, in a form that XLA cannot fuse with a sum, so that it is rounded first."""
    return _identity()(product)


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


FLAG: Final = "--xla_cpu_experimental_ynn_fusion_type"

# Compiled sums of products may be wrong, for example of `x @ full((512, 1000), 0.02)` over its first axis, and those of
# arrays of seven axes may end the process: https://github.com/jax-ml/jax/issues/39103 and /39257.
FIRST: Final = (0, 10, 2)
"""The first version that has these faults."""
LAST: Final = (0, 12, 0, 1)
"""The newest version that was seen to have them."""


def is_faulty(version: str) -> bool:
    """Whether a version of jaxlib is one of those that compute wrong sums, such as "0.11.0"."""
    parts = tuple(int(part) for part in version.split(".") if part.isdecimal())
    return FIRST <= parts <= LAST


def warn_of_faulty_version(version: str, platform: str) -> None:
    """Warn where this version of jaxlib computes wrong sums, unless XLA was told to leave out what is wrong there."""
    if is_faulty(version) and platform == "cpu" and FLAG not in os.environ.get("XLA_FLAGS", ""):
        text = (
            f"jaxlib {version} computes wrong sums of products in compiled functions on a CPU; install an older one "
            f"with pip install 'jax<0.10.2', or set XLA_FLAGS={FLAG}=-reduce before JAX is imported"
        )
        warnings.warn(text, FaultyVersionWarning, stacklevel=frames_to_user())
