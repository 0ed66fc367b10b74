"""The adapter: PhiML's `Backend`, implemented by the functions of tensorbackend."""

from __future__ import annotations

from .elementwise import Elementwise
from .loops import Loops
from .random import Random
from .reductions import Reductions
from .shape import Shaping
from .solvers import Solvers
from .transforms import Transforms


class TensorBackend(Solvers, Random, Elementwise, Reductions, Shaping, Transforms, Loops):
    """PhiML's `Backend` over a backend of tensorbackend; `backend("jax")` returns the only instance over JAX."""
