"""JAX: payloads are `jax.Array`s, or the tracers that stand for them while JAX transforms a function."""

from __future__ import annotations

from . import mesh  # noqa: F401 # hands in the backend on a mesh
from .backend import JaxBackend as JaxBackend
