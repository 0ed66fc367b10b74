"""The bytes of a payload, of which a backend has to return as many as it was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ContractError, expected

if TYPE_CHECKING:
    from ..protocol.core import Core
    from . import Tensor


def bytes_of(backend: Core, x: Tensor, limit: int) -> bytes:
    """The first `limit` elements of a tensor as bytes; `ContractError` if the backend returns more or fewer bytes."""
    data = backend.to_binary(x, limit)
    dtype = x.template.dtype
    if len(data) != limit * dtype.itemsize:
        expectation = f"{limit * dtype.itemsize} bytes from to_binary of the backend {backend.name!r}"
        remedy = (
            f"its limit counts elements, here {limit} of {dtype}; "
            "TENSORBACKEND_CHECK=1 finds a callback that returns a wrong payload"
        )
        raise ContractError(expected(expectation, remedy, bytes=len(data)))
    return data
