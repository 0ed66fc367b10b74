"""Products of matrices and tensors."""

from __future__ import annotations

from dataclasses import dataclass

import tensorbackend as tb
from tensorbackend import Tensor

from .activations import fused
from .registry import MICROSOFT, Attributes, operator, rows

rows(
    {
        "Det": tb.linalg.det,
        "Einsum": lambda *xs, equation: tb.einsum(equation.replace(" ", ""), *xs),
        "MatMul": tb.matmul,
    }
)


@dataclass(frozen=True, kw_only=True)
class GemmAttributes(Attributes):
    """The attributes of products of matrices."""

    alpha: float = 1.0
    beta: float = 1.0
    broadcast: int = 0
    transA: int = 0
    transB: int = 0


@operator("Gemm")
def gemm(x: Tensor, y: Tensor, z: Tensor | None = None, *, attributes: GemmAttributes) -> Tensor:
    """alpha x y + beta z, of matrices that may be transposed; before opset 7 with a word that z broadcasts."""
    product = tb.matmul(x.T if attributes.transA else x, y.T if attributes.transB else y)
    product = scaled(product, attributes.alpha)
    return product if z is None else product + scaled(z, attributes.beta)


def scaled(x: Tensor, factor: float) -> Tensor:
    """The tensor times a number, in its own dtype."""
    if factor == 1:
        return x
    return x * factor if tb.isdtype(x.dtype, "real floating") else (x.astype(tb.float64) * factor).astype(x.dtype)


@operator("FusedGemm", domain=MICROSOFT)
def fused_gemm(
    x: Tensor,
    y: Tensor,
    z: Tensor | None = None,
    *,
    activation: str = "",
    activation_alpha: float | None = None,
    activation_beta: float | None = None,
    activation_gamma: float | None = None,
    attributes: GemmAttributes,
) -> Tensor:
    """alpha x y + beta z and an activation, which onnxruntime has joined."""
    numbers = [number for number in (activation_alpha, activation_beta, activation_gamma) if number is not None]
    return fused(gemm(x, y, z, attributes=attributes), activation, numbers)


@operator("FusedMatMul", domain=MICROSOFT)
def fused_matmul(
    x: Tensor,
    y: Tensor,
    *,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    transBatchA: int = 0,
    transBatchB: int = 0,
) -> Tensor:
    """Products of matrices that may be transposed, times a number."""
    x, y = (tb.moveaxis(z, 0, -2) if flag else z for z, flag in ((x, transBatchA), (y, transBatchB)))
    return scaled(tb.matmul(x.mT if transA else x, y.mT if transB else y), alpha)
