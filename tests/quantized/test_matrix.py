"""How the elements of a quantised tensor are packed."""

from __future__ import annotations

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.quantized.matrix import numbers, packed


@pytest.mark.parametrize("backend", ["numpy", "binary"])
@pytest.mark.parametrize("dtype", ["int4", "uint4", "int2", "uint2", "float4_e2m1fn"])
def test_the_first_element_is_in_the_low_bits(dtype: str, backend: str) -> None:
    kind = tb.Template((), dtype).dtype
    each, codes = 8 // kind.bits, np.arange(1 << kind.bits, dtype=np.uint8)
    x = tb.asarray(np.stack([codes, codes[::-1]], 1).view(kind.dtype), backend=backend)
    wanted = np.zeros((len(codes) // each, 2), np.uint8)
    for place in range(each):
        wanted |= np.asarray(x).view(np.uint8)[place::each] << (place * kind.bits)
    bytes_of_x = packed(x, kind)
    assert np.array_equal(np.asarray(bytes_of_x), wanted)
    assert numbers(bytes_of_x, kind).tolist() == tb.astype(x, "float32").tolist()
