"""Tensors as pytrees: `jax.jit`, `jax.grad`, `jax.vmap` and `jax.lax.scan` take functions of tensors, names and all.

A tensor is a node with one leaf, its payload; template and backend are static data. Of these only the names tell two
trees apart, as an optimiser pairs a parameter with what it keeps of it in another dtype or shape. A transformation
gives leaves of other shapes back: `vmap` and `scan` take an axis away from arguments and put one before results. Then
the axis goes with its name, and one that comes has none.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ...dtypes import as_dtype
from ...errors import DTypeError
from ...expr.trees import each_registered
from ...template import Template
from ...tensor import Deallocated, Tensor

if TYPE_CHECKING:
    from .backend import JaxBackend


class Static:
    """The static data of a tensor in a tree: all but its payload.

    Two are equal but for names of as many axes, or other JAX devices. JAX never takes one tree for another by that
    alone: what it has compiled is found by the shapes and dtypes of the leaves too.
    """

    __slots__ = ("backend", "template")

    def __init__(self, x: Tensor) -> None:
        self.template, self.backend = x.template, x.backend

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Static):
            return NotImplemented
        names, others = self.template.names, other.template.names
        if len(names) == len(others) and names != others:
            return False
        return type(self.backend) is not type(other.backend) or self.backend is other.backend

    def __hash__(self) -> int:
        return hash(Static)


def register(jax: Any, kind: type[JaxBackend]) -> None:
    """Makes tensors pytrees, of whichever backend; one of `kind` holds what a transformation makes of another's."""

    def flatten(x: Tensor) -> tuple[tuple[Any], Static]:
        return (leaf(x),), Static(x)

    def flatten_with_keys(x: Tensor) -> tuple[tuple[tuple[Any, Any]], Static]:
        return ((jax.tree_util.GetAttrKey("data"), leaf(x)),), Static(x)

    def unflatten(static: Static, leaves: Iterable[Any]) -> Tensor:
        (data,) = leaves
        template, holder = static.template, static.backend
        if isinstance(data, jax.Array):
            holder = holder if isinstance(holder, kind) else kind()
            template = transformed(template, data)
        elif hasattr(data, "shape") and hasattr(data, "dtype"):
            template = transformed(template, data)
        return Tensor(template, holder, data)

    for tensor_class in (Tensor, Deallocated):  # flattening the latter raises DeallocatedError
        jax.tree_util.register_pytree_with_keys(tensor_class, flatten_with_keys, unflatten, flatten)

    def take_over(sort: type, node: Any) -> None:
        """Makes a class that our trees know one that JAX's know, unless its author has told JAX already."""
        with suppress(ValueError):
            jax.tree_util.register_pytree_node(sort, node.flatten, node.unflatten)

    each_registered(take_over)


def leaf(x: Tensor) -> Any:
    """The payload, where it is one that JAX takes, else the same numbers as a NumPy array."""
    if x.backend.name in ("jax", "numpy", "template"):
        return x.data
    # A tensor within a tensor, or a placeholder that JAX puts into a tree, is a leaf as it is.
    return x.data if not isinstance(x.data, bytes) else x.backend.to_numpy(x, None, None)


def transformed(template: Template, data: Any) -> Template:
    """The template of an array that a transformation made of one with a template."""
    shape = tuple(data.shape)
    try:
        dtype = as_dtype(data.dtype.name)
    except DTypeError:  # float0, the gradient with respect to an integer
        dtype = template.dtype
    if shape == template.shape:
        return template if dtype is template.dtype else template.replace(dtype=dtype)
    names: tuple[str | None, ...] = (None,) * len(shape)
    if len(shape) == len(template.shape) - 1:
        taken = mapped_axis(data, template.shape)
        names = template.names[:taken] + template.names[taken + 1 :]
    elif len(shape) == len(template.shape) + 1:
        places = [axis for axis in range(len(shape)) if shape[:axis] + shape[axis + 1 :] == template.shape]
        if places:
            names = (*template.names[: places[0]], None, *template.names[places[0] :])
    elif len(shape) == len(template.shape):
        names = template.names
    return Template(shape, dtype, names)


def mapped_axis(data: Any, before: tuple[int, ...]) -> int:
    """The axis that is gone: for a mapped array the one that JAX names, else the first."""
    axis = getattr(data, "batch_dim", None)
    return axis if isinstance(axis, int) and 0 <= axis < len(before) else 0
