"""How tensors are made: by `Tensor(template, backend, data)`, and blank ones, in half the time, by warm calls.

`object.__new__(Tensor)` builds a tuple of its arguments, and an `__init__` takes a frame. A class without an `__init__`
makes an object in 70 ns where these take 120 and 210. So the class of the class `Tensor` takes the arguments.
"""

from __future__ import annotations

from typing import Any


class TensorType(type):
    """The class of `Tensor`: a call fills the attributes of a new object, and no `__init__` runs."""

    def __call__(cls, template: Any, backend: Any, data: Any) -> Any:
        tensor: Any = object.__new__(cls)  # type: ignore[arg-type] # of the class that `cls` is
        tensor.template = template
        tensor.backend = backend
        tensor.data = data
        return tensor
