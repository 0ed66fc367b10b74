"""Products that are rounded before they are added: XLA fuses both into one step, which is rounded once."""

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


def unfused(product: Any) -> Any:
    """The product itself, as a number that no sum takes over unrounded."""
    return _identity()(product)
