"""The differences of MLX that stay. Only tests import this module, which needs hypothesis."""

from __future__ import annotations

import tensorbackend as tb
from tensorbackend.testing import Divergence, Invocation, Judgement


def rows() -> list[Divergence]:
    """Which calls differ, why, and how they are judged."""
    reference = tb.get_backend("binary")

    def call(op: str, *numbers: float) -> Invocation:
        return Invocation(op, (tb.tensor(numbers, dtype="f32", backend=reference),), {})

    return [
        Divergence(
            "MLX subtracts multiples of pi in float32, and loses digits of angles beyond 10^5",
            call("cos", 2162469.8),
            Judgement(absolute=1e-6),
            device="cpu",
            ops=("sin", "cos"),
        ),
        Divergence(
            "the error of the exp in mx.softmax grows with the distance from the maximum; subnormals are 0",
            call("softmax", 0.0, -83.2065),
            Judgement(ulps=160, flushes=True),
            device="cpu",
            ops=("softmax",),
        ),
    ]
