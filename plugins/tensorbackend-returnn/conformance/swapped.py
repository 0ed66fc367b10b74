"""Replaces `torch` in RETURNN's tests that make its tensors: the same numbers, in tensors of tensorbackend."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import returnn.tensor
import tensorbackend as tb
import torch

import tensorbackend_returnn

Tensor = tb.Tensor


def ours(x: Any) -> Any:
    """Convert PyTorch's tensors, nested in lists and tuples, to ours."""
    if isinstance(x, torch.Tensor):
        return tb.asarray(x.detach().numpy(), backend=os.environ["OURS"], copy=True)
    return type(x)(map(ours, x)) if type(x) in (list, tuple) else x


def theirs(x: Any) -> Any:
    """Convert our tensors, nested in lists, tuples and dictionaries, to PyTorch's."""
    if isinstance(x, tb.Tensor):
        return torch.from_numpy(np.array(x.detach()))
    if type(x) is dict:
        return {name: theirs(part) for name, part in x.items()}
    return type(x)(map(theirs, x)) if type(x) in (list, tuple) else x


def crossing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of PyTorch accept and return our tensors."""

    @wraps(function)
    def crossed(*arguments: Any, **options: Any) -> Any:
        return ours(function(*theirs(arguments), **theirs(options)))

    return crossed


class _Testing:
    """The functions of `torch.testing` for our tensors."""

    assert_close = staticmethod(crossing(torch.testing.assert_close))

    @staticmethod
    def assert_allclose(actual: Any, expected: Any, **options: Any) -> None:
        found, wanted = (x.detach() if isinstance(x, tb.Tensor) else x for x in (actual, expected))
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), **({"rtol": 1e-4, "atol": 1e-5} | options))


testing = _Testing()


def __getattr__(name: str) -> Any:
    attribute = getattr(torch, name)
    return crossing(attribute) if callable(attribute) and not isinstance(attribute, type) else attribute


def requires_grad_(x: tb.Tensor, flag: bool = True) -> tb.Tensor:
    """Make the adapter's tape follow a tensor; with `flag=False`, detach it."""
    if not flag:
        return x.detach()
    held = returnn.tensor.Tensor("leaf", [returnn.tensor.Dim(size) for size in x.shape], x.dtype.name, raw_tensor=x)
    tensorbackend_returnn.TensorBackend.set_requires_gradient(held)
    _leaves.append(held.raw_tensor)
    leaf: tb.Tensor = held.raw_tensor
    return leaf


def backward(y: tb.Tensor) -> None:
    """Add the gradients of a scalar with respect to all leaves to those stored for the leaves."""
    for leaf, slope in zip(_leaves, tb.gradient(y, _leaves), strict=True):
        _slopes[id(leaf)] = slope + _slopes[id(leaf)] if id(leaf) in _slopes else slope


def _dtype(*places: Any, dtype: Any = None, **options: Any) -> str | None:
    """The name of the dtype among the arguments of `to`, if there is one."""
    dtypes = [argument for argument in (*places, dtype) if isinstance(argument, torch.dtype)]
    return str(dtypes[0]).removeprefix("torch.") if dtypes else None


_leaves: list[tb.Tensor] = []
_slopes: dict[int, tb.Tensor] = {}

METHODS: dict[str, Any] = {
    "cpu": lambda x: x,
    "clone": lambda x: x.__copy__(),
    "contiguous": lambda x: x,
    "numpy": lambda x: np.array(x),
    "numel": lambda x: x.size,
    "long": lambda x: tb.astype(x, "int64"),
    "int": lambda x: tb.astype(x, "int32"),
    "float": lambda x: tb.astype(x, "float32"),
    "isfinite": tb.isfinite,
    "pow": tb.pow,
    "abs": tb.abs,
    "to": lambda x, *places, **options: tb.astype(x, name) if (name := _dtype(*places, **options)) else x,
    "is_nested": False,
    "requires_grad_": requires_grad_,
    "backward": backward,
    "grad": property(lambda x: _slopes.get(id(x))),
    "requires_grad": property(lambda x: x.backend.name == "tape"),
}
"""The attributes of PyTorch's tensors that RETURNN's tests use."""


class Size(int):
    """The number of elements, which like PyTorch's `size` can be called for the size of an axis."""

    shape: tuple[int, ...]

    def __call__(self, axis: int) -> int:
        return self.shape[axis]


def size(x: tb.Tensor) -> Size:
    count = Size(_size(x))
    count.shape = x.shape
    return count


def by_dim(method: Callable[..., Any]) -> Callable[..., Any]:
    """Make a reduction accept the axis as `dim`, as PyTorch's do."""

    @wraps(method)
    def reduction(x: tb.Tensor, dim: Any = None, **options: Any) -> Any:
        return method(x, **(options if dim is None else options | {"axis": dim}))

    return reduction


_size = tb.Tensor.size.fget  # type: ignore[attr-defined] # a property
tb.Tensor.size = property(size)  # type: ignore[method-assign, assignment]
for _name in ("sum", "mean", "all", "any"):
    setattr(tb.Tensor, _name, by_dim(getattr(tb.Tensor, _name)))

for _name, _method in METHODS.items():
    if not hasattr(tb.Tensor, _name):
        setattr(tb.Tensor, _name, _method)


def forget() -> None:
    """Forget the leaves and their gradients."""
    _leaves.clear()
    _slopes.clear()
