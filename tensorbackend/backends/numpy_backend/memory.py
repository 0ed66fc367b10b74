"""Memory that a tensor owns, so that an assignment to the tensor may write there.

Three sentences say who owns memory:

1. Only an assignment makes memory that may be written to: it copies the payload once into a `Memory`, of which the new
   payload is a view.
2. Whoever reads a payload keeps that view alive: a view of a view, a buffer, a capsule, a tape, a constant of a graph,
   another tensor, a frame that runs or waits.
3. The next assignment gives the tensor another view of the memory, and writes there only if the view before is gone, as
   a weak reference to it tells; otherwise it copies once more.

So nothing marks memory as shared, nothing counts references, and nobody can forget to. If Python frees an object later
than another one would, as builds without the global lock may, the answer is a copy.
"""

from __future__ import annotations

import sys
from typing import Any, Final
from weakref import ReferenceType, ref

import numpy

from ...dispatch import CHECKED
from ...errors import ContractError, expected
from ...tensor import Tensor
from ..array_module.base import Array

_HOST: Final = numpy.ndarray


class Memory(numpy.ndarray[Any, Any]):
    """Memory of a tensor. NumPy makes the base of a view of a view the view, as the two are of different classes."""

    __slots__ = ("lent",)

    lent: ReferenceType[Array] | None
    """The view that is or was the tensor's payload; `None` where more views than one may be known."""


def own(x: Tensor) -> Array:
    """The payload of a tensor in memory that nobody else sees, to be written to; a copy where somebody may.

    It becomes the payload of x. The caller holds the lock of assignments, and no reference to the payload.

    >>> import tensorbackend as tb
    >>> x = tb.zeros(3)
    >>> first = own(x).ctypes.data
    >>> own(x).ctypes.data == first
    True
    >>> y = x[1:]
    >>> own(x).ctypes.data == first
    False
    """
    data = x.data
    memory = data.base
    if memory.__class__ is Memory:
        lent, memory.lent = memory.lent, None  # an interrupt between these lines leads to a copy
        x.data = array = memory.view(_HOST)
        del data
        if lent is not None and lent() is None:
            memory.lent = ref(array)
            return array
        data = array
    memory = Memory(data.shape, data.dtype)
    memory[...] = data
    array = memory.view(_HOST)
    memory.lent = ref(array)
    x.data = array
    return array


_own: Final = own


def own_as_counted(x: Tensor) -> Array:
    """`own`, and `ContractError` where it lets memory be written to that others see by the count of references.

    CPython counts two references to a payload that only a tensor holds: the tensor's and that of the count. The count
    is a witness of checked mode alone; nothing else depends on it.
    """
    count, before = sys.getrefcount(x.data), x.data.__array_interface__["data"]
    array = _own(x)
    if count > 2 and array.size and array.__array_interface__["data"] == before:
        duty = "memory to be written to that nothing else refers to"
        raise ContractError(expected(duty, "report it as a fault of tensorbackend", references=count))
    return array


if CHECKED and sys.implementation.name == "cpython" and "free-threading" not in sys.version:
    own = own_as_counted
