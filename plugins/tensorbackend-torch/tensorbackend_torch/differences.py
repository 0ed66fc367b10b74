"""The differences of PyTorch that stay. Only tests import this module, which needs hypothesis."""

from __future__ import annotations

import tensorbackend as tb
from tensorbackend.dtypes import complex64
from tensorbackend.testing import FLUSHED, Divergence, Invocation, about_subnormals


def rows() -> list[Divergence]:
    """Which calls differ, why, and how they are judged."""
    reference = tb.get_backend("binary")

    def tensor(numbers: object, dtype: str) -> tb.Tensor:
        return tb.tensor(numbers, dtype=dtype, backend=reference)

    product = Invocation(
        "sparse_matmul",
        (tensor([1.2e-38j], "c64"), tensor([0, 1], "i64"), tensor([0], "i64"), tensor([[0.5 + 0j]], "c64")),
        {"format": "csr", "rows": 1},
    )
    return [
        Divergence(
            "a GPU that adds to float32 in memory returns zeros for subnormal numbers",
            product,
            FLUSHED,
            device="cuda",
            ops=("sparse_matmul", "sparse_matvec", "indexed_add", "segment_sum"),
            dtypes=(complex64,),
            when=about_subnormals,
        )
    ]
