"""The adapter: PhiML's `Backend`, every function of it by ours."""

from __future__ import annotations

from .elementwise import Elementwise
from .loops import Loops
from .random import Random
from .reductions import Reductions
from .shape import Shaping
from .solvers import Solvers
from .transforms import Transforms


class TensorBackend(Solvers, Random, Elementwise, Reductions, Shaping, Transforms, Loops):
    """PhiML's `Backend` over one of tensorbackend's; `backend("jax")` gives the one instance over JAX."""
