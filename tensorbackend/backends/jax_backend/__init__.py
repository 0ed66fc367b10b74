"""JAX: payloads are `jax.Array`s, or the tracers that take their place while JAX transforms a function."""

from . import mesh  # noqa: F401 # sets `JaxBackend.on_mesh`
from .backend import JaxBackend as JaxBackend
