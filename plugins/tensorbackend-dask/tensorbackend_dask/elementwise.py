"""Elementwise functions: NumpyBackend's callback of the same name computes each block."""

from __future__ import annotations

from typing import Any

from tensorbackend import Template, Tensor
from tensorbackend.protocol import Payload
from tensorbackend.protocol.elementwise import Elementwise
from tensorbackend.protocol.special import Special

from .base import DaskBase, lazily, right_aligned
from .graphs import by_labels

COMPOSITES = (
    "is_finite", "square", "reciprocal", "trunc", "signbit", "copysign", "hypot", "log2", "log10", "logaddexp",
    "nextafter", "logical_not",
)  # fmt: skip
"""The elementwise composites that NumpyBackend overrides."""


class DaskElementwise(DaskBase):
    """Every elementwise callback of the protocol."""


def _callback(name: str) -> Any:
    def callback(self: DaskBase, out: Template, /, *inputs: Tensor) -> Payload:
        operands = [(x.data, x.dtype, right_aligned(x, out.ndim)) for x in inputs]
        return by_labels(name, out, operands, [tuple(range(out.ndim))])

    callback.__name__ = name
    callback.__doc__ = f"`{name}` of each block."
    return lazily(callback)


for _family in (Elementwise, Special):
    for _name, _method in vars(_family).items():
        if getattr(_method, "__declared__", None) == "callback":
            setattr(DaskElementwise, _name, _callback(_name))
for _name in COMPOSITES:
    setattr(DaskElementwise, _name, _callback(_name))
