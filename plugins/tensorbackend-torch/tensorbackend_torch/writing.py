"""`x[key] = value` by PyTorch: into memory that x owns, else into a copy.

The memory is a tensor that only the payload knows, and the payload a tensor of a DLPack capsule of it. Whatever shares
the memory, such as a view, a detached tensor, a storage, a NumPy array, holds the capsule, and PyTorch counts the
capsules in the uses of the tensor. An assignment gives x another capsule, and writes if that is the only one.
"""

from __future__ import annotations

from functools import cache
from math import inf
from typing import Any, Final, cast

from tensorbackend import Template, Tensor
from tensorbackend.dtypes import DType, bfloat16, bool_, finfo, float16, iinfo
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
    view = viewed(_own(x), key if key.__class__ is tuple else (key,))
    if value.__class__ is Tensor:
        view.copy_(value.data)
    else:
        view.fill_(value)


def _at_mask(x: Tensor, mask: Any, value: Any) -> None:
    """Assigns a tensor or a number where a mask holds."""
    if mask.shape != x.data.shape[: mask.ndim]:
        raise IndexError("expected a mask of the shape of the axes that it indexes")
    _own(x)[mask] = value.data if value.__class__ is Tensor else value


_MEMORY: Final = "_tensorbackend_memory"
"""The attribute of a payload that says whose memory it shows."""


def _own(x: Tensor) -> Array:
    """The payload in memory that nobody else sees, to be written to; x gets it."""
    data: Array = x.data
    array: Array
    memory: Array | None = getattr(data, _MEMORY, None)
    if memory is not None and memory.data_ptr() == data.data_ptr():  # a deep copy has a copy of the attribute
        x.data = array = _lend(memory)
        del data
        if _uses(memory) == _ALONE:
            return array
        data = array
    memory = data.clone(memory_format=torch.contiguous_format)
    if not _counts():
        x.data = memory
        return memory
    try:
        x.data = array = _lend(memory)
    except (BufferError, RuntimeError):  # no DLPack for such a tensor, as one that PyTorch traces
        x.data = array = memory
    return array


def _lend(memory: Array) -> Array:
    """A tensor of the same memory that holds a capsule of it."""
    array: Array = torch.utils.dlpack.from_dlpack(cast(Any, torch.utils.dlpack).to_dlpack(memory))
    setattr(array, _MEMORY, memory)
    return array


def _uses(memory: Array) -> int:
    """PyTorch's count of the uses of a tensor, which it does not declare."""
    count: int = cast(Any, memory)._use_count()
    return count


_ALONE: Final = 2
"""The uses of a tensor of which there is one capsule: its own, and that of the capsule."""


@cache
def _counts() -> bool:
    """Whether the installed version of PyTorch counts capsules in the uses of a tensor."""
    try:
        memory = torch.zeros(4)
        before = _uses(memory)
        array = _lend(memory)
        part = array[1:]
        one = _uses(memory)
        del array
        still = _uses(memory)
        del part
        return (before, one, still, _uses(memory)) == (1, _ALONE, _ALONE, 1)
    except (AttributeError, RuntimeError, TypeError):
        return False
