"""Chooses the backend on which an op runs by its operands, and moves the operands there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..dtypes import DType
from ..errors import BackendError, UnsupportedOp, expected
from ..protocol import Backend
from ..tensor import Tensor
from .default import current


def common_backend(tensors: Iterable[Tensor]) -> Backend:
    """The backend on which an op with these inputs runs, the default one if there are none.

    The highest `dispatch_priority` wins: with a template tensor among the inputs the result is a template tensor too,
    and BinaryBackend yields to any other. Raises `BackendError` for two backends of equal priority.
    """
    chosen: Backend | None = None
    for tensor in tensors:
        backend = tensor.backend
        if backend is chosen:
            continue
        if chosen is None or backend.dispatch_priority > chosen.dispatch_priority:
            chosen = backend
        elif backend.dispatch_priority == chosen.dispatch_priority:
            remedy = f"move one, such as x.backend_transfer({chosen.name!r})"
            raise BackendError(expected("tensors on one backend", remedy, left=chosen, right=backend))
    return current() if chosen is None else chosen


def check_dtype_support(dtype: DType, backend: Backend) -> None:
    """Raises `UnsupportedOp` for a dtype that a backend's payloads cannot hold."""
    if dtype not in backend.dtypes:
        expectation, remedy = (
            f"a dtype that the backend {backend.name!r} holds",
            "cast with astype(), or use another backend",
        )
        raise UnsupportedOp(expected(expectation, remedy, dtype=dtype), dtype)


def move(tensor: Tensor, backend: Backend) -> Tensor:
    """An operand, moved to the backend on which the op runs."""
    if tensor.backend is backend:
        return tensor
    check_dtype_support(tensor.dtype, backend)
    return Tensor(tensor.template, backend, backend.from_backend(tensor, copy=False))


def move_to_recorder(arguments: Sequence[Any]) -> list[Any] | None:
    """The arguments of an op with its tensors on the backend that records some of them; `None` for any other call."""
    first, mixed = None, False
    for x in arguments:
        if x.__class__ is Tensor:
            if first is None:
                first = x.backend
            elif x.backend is not first:
                mixed = True
    if not mixed:
        return None
    backend = common_backend([x for x in arguments if x.__class__ is Tensor])
    if backend.dispatch_priority <= 1 or backend.template_only:
        return None  # where data may move, the rule comes first
    return [x if x.__class__ is not Tensor or x.backend is backend else move(x, backend) for x in arguments]
