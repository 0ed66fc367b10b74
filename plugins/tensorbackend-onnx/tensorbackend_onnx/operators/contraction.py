"""Products of matrices and tensors."""

from __future__ import annotations

import tensorbackend as tb
from tensorbackend import Tensor

from .activations import fused
from .registry import MICROSOFT, operator


@operator("MatMul")
def matmul(x: Tensor, y: Tensor) -> Tensor:
    """Products of matrices, as NumPy has them."""
    return tb.matmul(x, y)


@operator("Gemm")
def gemm_by_axis(
    x: Tensor,
    y: Tensor,
    z: Tensor,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    broadcast: int = 0,
) -> Tensor:
    """`gemm` before opset 7, where the sum broadcasts only if the node says so."""
    return gemm(x, y, z, alpha=alpha, beta=beta, transA=transA, transB=transB)


@operator("Gemm", since=7)
def gemm(
    x: Tensor,
    y: Tensor,
    z: Tensor | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Tensor:
    """alpha x y + beta z, of matrices that may be transposed."""
    product = tb.matmul(x.T if transA else x, y.T if transB else y)
    product = product if alpha == 1 else scaled(product, alpha)
    if z is None:
        return product
    return product + (z if beta == 1 else scaled(z, beta))


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
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Tensor:
    """alpha x y + beta z and an activation, which onnxruntime has joined."""
    numbers = [number for number in (activation_alpha, activation_beta, activation_gamma) if number is not None]
    return fused(gemm(x, y, z, alpha=alpha, beta=beta, transA=transA, transB=transB), activation, numbers)


def scaled(x: Tensor, factor: float) -> Tensor:
    """The tensor times a number, in its own dtype."""
    return x * factor if tb.isdtype(x.dtype, "real floating") else (x.astype(tb.float64) * factor).astype(x.dtype)


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
    product = tb.matmul(x.mT if transA else x, y.mT if transB else y)
    return product if alpha == 1 else product * alpha


@operator("Einsum")
def einsum(*xs: Tensor, equation: str) -> Tensor:
    """Sums of products by Einstein's notation."""
    return tb.einsum(equation.replace(" ", ""), *xs)


@operator("Det")
def det(x: Tensor) -> Tensor:
    """Determinants of matrices."""
    return tb.linalg.det(x)
