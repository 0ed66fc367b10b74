"""How tensors are made: by `Tensor(template, backend, data)`, or in warm calls as blank tensors in half the time.

A class without an `__init__` makes an object in 70 ns. `object.__new__(Tensor)` takes 120 ns, as it builds a tuple of
its arguments, and a class with an `__init__` takes 210 ns, as it needs a frame for that. So the metaclass of `Tensor`
takes the arguments. `bytes_of` reads a payload back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Never

from ..errors import ContractError, SignatureError, expected
from .missing_names import existing

if TYPE_CHECKING:
    from ..protocol.core import Core
    from . import Tensor


class TensorType(type):
    """The metaclass of `Tensor`: a call fills the attributes of a new object, and no `__init__` runs."""

    def __call__(cls, template: Any = None, backend: Any = None, data: Any = None, *surplus: Never) -> Any:
        if backend is None or surplus:
            words = "a template, a backend and data, as a backend gives them"
            raise SignatureError(f"Tensor: expected {words}; tb.asarray(values) makes a tensor")
        tensor: Any = object.__new__(cls)  # type: ignore[arg-type] # `cls` is a class
        tensor.template = template
        tensor.backend = backend
        tensor.data = data
        return tensor

    def __dir__(cls) -> list[str]:
        return existing(cls, super().__dir__())


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
