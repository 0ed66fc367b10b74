"""`x[key] = value` by PyTorch: into the payload where x alone holds it, else into a copy.

A view, a detached tensor, a NumPy array or a DLPack capsule of the payload holds its storage, or the tensor itself in
C++; both are counted. Memory that is not PyTorch's own, as that of a NumPy array, is never written to.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import inf
from sys import getrefcount
from typing import Any, Final, cast

from tensorbackend import Template, Tensor
from tensorbackend.dtypes import DType, bfloat16, bool_, finfo, float16, iinfo
from tensorbackend.extending import held_alone
from tensorbackend.protocol.indexing import Write

from .library import torch
from .ways import UNSIGNED, Array

_EXACT: Final = 1 << 53
_HUGE: Final = 1 << 31
"""PyTorch adds strides times steps without looking for an overflow, and warns of bounds beyond 64 bits."""


def write(x: Template, structure: tuple[Any, ...], value: Template | type) -> Write | None:
    """The assignment at keys of ints and slices, or of a single mask; `None` for others.

    PyTorch writes at index tensors while it checks them, and leaves open which of several values for a place stays.
    """
    tensors = [kind for kind in structure if isinstance(kind, Template)]
    masked = len(structure) == 1 and bool(tensors) and tensors[0].dtype is bool_ and tensors[0].ndim > 0
    if x.dtype in UNSIGNED or (tensors and not masked):
        return None
    if isinstance(value, Template):
        return _at_mask if masked else _put
    limits = _limits(x.dtype, value)
    if limits is None:
        return None
    least, largest = limits
    put = _at_mask if masked else _put

    def put_number(x: Tensor, key: Any, number: float) -> None:
        if not (least <= number <= largest or number != number or number in (inf, -inf)):
            raise OverflowError  # or near the limit, where it depends on rounding
        put(x, key, number)

    return put_number


def viewed(values: Array, key: tuple[Any, ...]) -> Array:
    """Returns a view; raises `IndexError` for a slice of which PyTorch has no view: a negative step, huge numbers."""
    for part in key:
        if part.__class__ is slice:
            start, stop, step = part.start, part.stop, part.step
            if (
                (step is not None and not 0 < step < _HUGE)
                or (start is not None and not -_HUGE < start < _HUGE)
                or (stop is not None and not -_HUGE < stop < _HUGE)
            ):
                raise IndexError("expected bounds and a step that PyTorch takes")
    try:
        return values[key]
    except ValueError as error:
        raise IndexError(str(error)) from None


def _limits(dtype: DType, kind: type) -> tuple[float, float] | None:
    """The smallest and the largest number of a class that is written without conversion; `None` where there is none."""
    if dtype is bool_:
        return (False, True) if kind is bool else None
    if dtype.is_integer:
        limits = iinfo(dtype)
        return (limits.min, limits.max) if kind in (bool, int) else None
    if not dtype.is_floating or dtype in (float16, bfloat16) or kind not in (bool, int, float):
        return None
    limit = min(finfo(dtype).max, _EXACT) if kind is int else finfo(dtype).max
    return -limit, limit


def _put(x: Tensor, key: Any, value: Any) -> None:
    """Assigns a tensor or a number at ints and slices."""
    target = _writable(x)
    view = viewed(target, key if key.__class__ is tuple else (key,))
    if value.__class__ is Tensor:
        view.copy_(value.data)
    else:
        view.fill_(value)
    x.data = target


def _at_mask(x: Tensor, mask: Any, value: Any) -> None:
    """Assigns a tensor or a number where a mask holds."""
    target = _writable(x)
    if mask.shape != target.shape[: mask.ndim]:
        raise IndexError("expected a mask of the shape of the axes that it indexes")
    target[mask] = value.data if value.__class__ is Tensor else value
    x.data = target


def _writable(x: Tensor) -> Array:
    """The payload if x alone holds it, else a copy."""
    if held_alone(x) and _trusted() and _is_owned(x.data):
        owned: Array = x.data
        return owned
    copied: Array = x.data.clone(memory_format=torch.contiguous_format)
    return copied


def _is_owned(data: Array) -> bool:
    """Whether nothing else in C++, and no other process, holds the memory of a tensor, and PyTorch allocated it.

    PyTorch marks memory that NumPy has seen for good, so that it counts as not owned.
    """
    storage, counted = data.untyped_storage(), cast(Any, data)  # whose count of uses PyTorch does not declare
    return bool(
        counted._use_count() == 1
        and torch._C._storage_Use_Count(storage._cdata) == 2  # the tensor's and this one
        and getrefcount(storage) == 3  # this variable, the argument, and PyTorch, which keeps the object
        and storage.resizable()
        and not data.is_shared()
        and data.is_contiguous()
    )


_SHARING: Final[tuple[Callable[[Array], Any], ...]] = (
    lambda x: x[1:],
    lambda x: x.detach(),
    lambda x: x.view(torch.int32),
    lambda x: x.expand(2, 4),
    lambda x: x.untyped_storage(),
    lambda x: x.numpy(),
    lambda x: x.__dlpack__(),
    lambda x: torch.nn.Parameter(x),
    lambda x: (torch.ones(4, requires_grad=True) * x).grad_fn,
)
"""What holds the memory of a tensor next to it."""


@cache
def _trusted() -> bool:
    """Whether `_is_owned` sees all that may hold the memory, in the version of PyTorch that is installed."""
    import numpy

    try:
        for share in _SHARING:
            x = torch.zeros(4)
            if not _is_owned(x):
                return False
            kept = share(x)
            if _is_owned(x):
                return False
            del kept
        return not (_is_owned(torch.from_numpy(numpy.zeros(4))) or _is_owned(torch.zeros(1).expand(4)))
    except (AttributeError, RuntimeError, TypeError):
        return False
