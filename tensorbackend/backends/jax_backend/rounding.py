"""Arithmetic in which each result is rounded once and immediately, where in XLA's it is not.

XLA fuses a product and a sum into one step. On a GPU its quotients and square roots of float32 are up to 2 ulps off
(https://github.com/openxla/xla/issues/37181), so that `x / x` is not always 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any


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
