"""A mesh of 4 x 2 devices, and how its tensors are divided."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

import tensorbackend as tb

RULES = {"batch": "data", "hidden": "model"}
PartitionSpec: Any = jax.sharding.PartitionSpec
ON_MESH: Any = tb.JaxBackend(mesh=tb.Mesh({"data": 4, "model": 2}), layout=RULES)
NUMBERS = np.arange(96, dtype=np.float32).reshape(16, 6)
BOTH = (("data",), ("model",))


def divided(x: tb.Tensor) -> tuple[tuple[str, ...], ...]:
    """Return the mesh axes of each axis, and check the shape of the parts against JAX's shards."""
    assert x.sharding is not None
    shapes = {shard.data.shape for shard in x.data.addressable_shards}
    assert shapes == {x.sharding.shard_shape}  # the tensor states the shape that its shards have
    return x.sharding.axes
