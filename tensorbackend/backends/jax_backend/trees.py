"""Tensors as pytrees: `jax.jit`, `jax.grad`, `jax.vmap` and `jax.lax.scan` take functions of tensors, names and all.

A tensor is a node with one leaf, its payload; template and backend are static data. Shapes and dtypes do not make two
trees differ, only names and devices do: an optimiser pairs a parameter with state of another dtype or shape. A
transformation may return leaves of another shape: `vmap` and `scan` remove an axis from arguments and add one in front
of results. A removed axis takes its name with it, and an added axis has no name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ...dtypes import as_dtype, uint8
from ...errors import DTypeError
from ...expr.tree_containers import for_each_registered
from ...select import get_backend
from ...template import Template
from ...tensor import Deallocated, Tensor

if TYPE_CHECKING:
    from .backend import JaxBackend


class StaticData:
    """The static data of a tensor in a tree: all but its payload.

    Two instances are equal unless they have different names for the same number of axes, or backends of one class on
    different devices. Equality alone never makes JAX take one tree for another: it finds compiled functions by the
    shapes and dtypes of the leaves as well.
    """

    __slots__ = ("backend", "template")

    def __init__(self, x: Tensor) -> None:
        self.template, self.backend = x.template, x.backend

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StaticData):
            return NotImplemented
        names, others = self.template.names, other.template.names
        if len(names) == len(others) and names != others:
            return False
        return type(self.backend) is not type(other.backend) or self.backend is other.backend

    def __hash__(self) -> int:
        return hash(StaticData)


def register(jax: Any, kind: type[JaxBackend]) -> None:
    """Registers tensors of every backend as pytrees.

    An instance of `kind` holds the JAX array that a transformation makes from a payload of another backend.
    """

    def flatten(x: Tensor) -> tuple[tuple[Any], StaticData]:
        return (leaf(x),), StaticData(x)

    def flatten_with_keys(x: Tensor) -> tuple[tuple[tuple[Any, Any]], StaticData]:
        return ((jax.tree_util.GetAttrKey("data"), leaf(x)),), StaticData(x)

    def unflatten(static: StaticData, leaves: Iterable[Any]) -> Tensor:
        (data,) = leaves
        template, holder = static.template, static.backend
        if isinstance(data, jax.Array):
            holder = holder if isinstance(holder, kind) else kind()
            template = transformed_template(template, data)
        elif hasattr(data, "shape") and hasattr(data, "dtype"):
            template = transformed_template(template, data)
        return Tensor(template, holder, data)

    for tensor_class in (Tensor, Deallocated):  # flattening the latter raises DeallocatedError
        jax.tree_util.register_pytree_with_keys(tensor_class, flatten_with_keys, unflatten, flatten)

    def take_over(sort: type, node: Any) -> None:
        """Registers a class of our trees with JAX too, unless its author has already done so."""
        with suppress(ValueError):
            jax.tree_util.register_pytree_node(sort, node.flatten, node.unflatten)

    for_each_registered(take_over)
    jax.export.register_pytree_node_serialization(
        Tensor,
        serialized_name="tensorbackend.Tensor",
        serialize_auxdata=_serialize,
        deserialize_auxdata=lambda data: _deserialize(bytes(data), kind),
    )


def _serialize(static: StaticData) -> bytes:
    """The template, and the name of the backend, for `jax.export`; devices are those of the process that loads it."""
    template = static.template
    parts = {"shape": template.shape, "dtype": template.dtype.name, "names": template.names}
    return json.dumps({**parts, "backend": static.backend.name}).encode()


def _deserialize(data: bytes, kind: type[JaxBackend]) -> StaticData:
    """What `_serialize` wrote; tensors of any other backend than NumPy's are on JAX."""
    parts = json.loads(data)
    backend = get_backend("numpy") if parts["backend"] == "numpy" else kind()
    return StaticData(Tensor(Template(parts["shape"], parts["dtype"], parts["names"]), backend, None))


def leaf(x: Tensor) -> Any:
    """The payload, if it is one that JAX takes, else the same numbers as a NumPy array."""
    if x.backend.name in ("jax", "numpy", "template"):
        return x.data
    # The data may also be a tensor, or a placeholder that JAX puts into a tree: these are leaves.
    return x.data if not isinstance(x.data, bytes) else x.backend.to_numpy(x, None, None)


def transformed_template(template: Template, data: Any) -> Template:
    """The template of an array that a transformation made from an array with the given template."""
    shape = tuple(data.shape)
    try:
        dtype = as_dtype(data.dtype.name)
    except DTypeError:  # float0, the gradient with respect to an integer
        dtype = template.dtype
    if template.dtype.is_narrow and dtype is uint8:  # its payload
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
    """The axis that a transformation removed: for a mapped array the one that JAX names, else the first."""
    axis = getattr(data, "batch_dim", None)
    return axis if isinstance(axis, int) and 0 <= axis < len(before) else 0
