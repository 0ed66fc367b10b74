"""What special functions share."""

from __future__ import annotations

import tensorbackend as tb
from tensorbackend.ops.composite.special import compute_wide, horner


def test_results_are_rounded_once() -> None:
    seen: list[tb.DType] = []

    def third(x: tb.Tensor) -> tb.Tensor:
        seen.append(x.dtype)
        return x / 3

    out = compute_wide(third, tb.asarray([1.0], dtype="f16"))
    assert (seen, out.dtype) == ([tb.float64], tb.float16)
    assert compute_wide(lambda x: x, tb.asarray([1])).dtype is tb.float32
    assert horner([2.0, 3.0, 4.0], tb.asarray(10.0)).item() == 234.0
