"""Products of matrices and tensors."""

from __future__ import annotations

from typing import Any

import tensorbackend as tb
from tensorbackend import Tensor

from .activations import fused
from .registry import MICROSOFT, Given, Maybe, operator, rows

rows(
    {
        "Det": tb.linalg.det,
        "Einsum": lambda *xs, equation: tb.einsum(equation.replace(" ", ""), *xs),
        "MatMul": tb.matmul,
    }
)

FUSED_GEMM: dict[str, Any] = {"activation": "", "alpha": 1.0, "beta": 1.0, "transA": 0, "transB": 0}


@operator("Gemm")
def gemm(x: Tensor, y: Tensor, z: Maybe = None, *, given: Given) -> Tensor:
    """alpha x y + beta z, of matrices that may be transposed; before opset 7 with a word that z broadcasts."""
    product = scaled(tb.matmul(x.T if given.transA else x, y.T if given.transB else y), given.alpha)
    return product if z is None else product + scaled(z, given.beta)


def scaled(x: Tensor, factor: float) -> Tensor:
    """The tensor times a number, in its own dtype."""
    if factor == 1:
        return x
    return x * factor if tb.isdtype(x.dtype, "real floating") else (x.astype(tb.float64) * factor).astype(x.dtype)


@operator(
    "FusedGemm", domain=MICROSOFT, activation_alpha=None, activation_beta=None, activation_gamma=None, **FUSED_GEMM
)
def fused_gemm(x: Tensor, y: Tensor, z: Maybe = None, *, given: Given) -> Tensor:
    """alpha x y + beta z and an activation, which onnxruntime has joined."""
    numbers = (given.activation_alpha, given.activation_beta, given.activation_gamma)
    return fused(gemm(x, y, z, given=given), given.activation, [n for n in numbers if n is not None])


@operator("FusedMatMul", domain=MICROSOFT, alpha=1.0, transA=0, transB=0, transBatchA=0, transBatchB=0)
def fused_matmul(x: Tensor, y: Tensor, *, given: Given) -> Tensor:
    """Products of matrices that may be transposed, times a number."""
    x, y = (tb.moveaxis(z, 0, -2) if flag else z for z, flag in ((x, given.transBatchA), (y, given.transBatchB)))
    return scaled(tb.matmul(x.mT if given.transA else x, y.mT if given.transB else y), given.alpha)
