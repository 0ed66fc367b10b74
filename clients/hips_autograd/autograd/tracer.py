"""Whether a value is traced."""

from typing import Any

import tensorbackend as tb

from .values import has_data


def isbox(value: Any) -> bool:
    return isinstance(value, tb.Tensor) and not has_data(value)


def getval(value: Any) -> Any:
    return value
