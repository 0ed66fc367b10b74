"""Arithmetic that is rounded once and at once, where XLA's is not.

XLA fuses a product and a sum into one step. On a GPU its quotient of float32 is up to 2 ulps off (PTX's `div.full`),
so that `x / x` is not always 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def _identity() -> Callable[[Any], Any]:
    import jax
    import jax.numpy as jnp

    # Neither a barrier nor reduce_precision() keeps the compiler from fusing; taking the sign apart does.
    unfused = jax.custom_jvp(lambda product: jnp.copysign(jnp.abs(product), product))
    unfused.defjvp(lambda primals, tangents: (unfused(*primals), *tangents))
    return unfused


@cache
def _quotient() -> Callable[[Any, Any], Any]:
    import jax

    lax = jax.lax

    def rounded(left: Any, right: Any) -> Any:
        # A quotient of float32 that is rounded to float64 and then to float32 is as if rounded once (S. A. Figueroa,
        # 1995). Compilers know, and divide in float32 after all, unless there is a product in between.
        wide = lax.div(2.0 * lax.convert_element_type(left, "float64"), lax.convert_element_type(right, "float64"))
        return lax.convert_element_type(0.5 * wide, "float32")

    divide = jax.custom_jvp(rounded)
    divide.defjvp(lambda primals, tangents: (divide(*primals), jax.jvp(lax.div, primals, tangents)[1]))
    return divide


def quotient(left: Any, right: Any) -> Any:
    """The quotient of two arrays of float32, float16 or bfloat16 of one shape, rounded once on every device."""
    return _quotient()(left.astype("float32"), right.astype("float32")).astype(left.dtype)


def unfused(product: Any) -> Any:
    """The product itself, as a number that no sum takes over unrounded."""
    return _identity()(product)
