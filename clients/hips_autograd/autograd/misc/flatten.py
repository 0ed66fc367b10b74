"""Trees of arrays as one vector."""

from __future__ import annotations

from typing import Any

from ..differential_operators import Function
from ..numpy import namespace as np
from ..values import mapped


def flatten(value: Any) -> tuple[Any, Function]:
    """Return a vector of all leaves, and the function that restores the tree from such a vector."""
    leaves: list[Any] = []
    mapped(leaves.append, value)
    shapes = [(np.ndim(leaf) and leaf.shape) or () for leaf in leaves]

    def unflatten(vector: Any) -> Any:
        parts, start = [], 0
        for shape in shapes:
            size = int(np.prod(shape))
            parts.append(np.reshape(vector[start : start + size], shape))
            start += size
        rest = iter(parts)
        return mapped(lambda _: next(rest), value)

    return np.concatenate([np.reshape(leaf, (-1,)) for leaf in leaves]) if leaves else np.zeros(0), unflatten


def const_graph(function: Function, *options: Any, **keywords: Any) -> Function:
    return lambda *arguments: function(*arguments, *options, **keywords)
