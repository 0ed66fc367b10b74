"""Linear algebra by NumPy's backend, on the memory of MLX's arrays.

MLX computes factorisations on the CPU only, by LAPACK as NumPy does, but leaves signs, orders and phases open and
raises no errors for singular matrices.
"""

from __future__ import annotations

from .kernels import MlxBase, by_numpy


class MlxLinalg(MlxBase):
    """Factorisations and solvers."""

    cholesky = by_numpy("cholesky")
    determinant = by_numpy("determinant")
    eig = by_numpy("eig")
    eigh = by_numpy("eigh")
    lu = by_numpy("lu")
    qr = by_numpy("qr")
    solve = by_numpy("solve")
    svd = by_numpy("svd")
    triangular_solve = by_numpy("triangular_solve")
