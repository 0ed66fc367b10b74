"""The adapter: RETURNN's `Backend`, implemented by the functions of tensorbackend."""

from __future__ import annotations

from .loops import Loops


class TensorBackend(Loops):
    """RETURNN's `Backend` with tensors of tensorbackend as raw tensors.

    `select_backend("jax")` makes RETURNN compute with it, over JAX.
    """


ABSENT = {
    "get_tensor_dependencies": "an eager tensor does not know what it was computed from; tb.trace gives a graph",
    "get_tensor_consumers": "a tensor does not know what is computed from it; tb.trace gives a graph",
    "cond": "RETURNN's own runs in Python wherever tensors are eager, as ours are",
    "while_loop": "RETURNN's own runs in Python wherever tensors are eager, as ours are",
    "create_placeholder_raw": "of TensorFlow's graphs alone",
    "reduce_distributed": "there are no other processes",
    "sequence_mask_raw": "RETURNN makes masks by comparisons where `have_sequence_mask_raw` is false",
    "sdpa_varlen_raw": "a kernel that no backend of ours has: RETURNN takes its other way where it gives None",
}
"""Functions of RETURNN's protocol that the adapter does not implement, with the reasons."""
