"""Solvers of linear systems and minimization.

`tb.solvers.solve` solves systems whose matrix is given, sparse or dense. If the system is given by a function, PhiML's
own loops solve it with our functions, because the function may read data. PhiML's methods `scipy-...` run in SciPy on
the host, and so do the methods of `minimize` that have SciPy's names; `tb.optimize` finds minima by `"auto"`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import tensorbackend as tb
from phiml.backend._backend import SolveResult
from tensorbackend.errors import TemplateDataError
from tensorbackend.sparse import COO

from .base import Operand, tracing
from .sparse import Sparse

METHODS = {"direct": "direct", "GMres": "gmres", "CG": "cg", "CG-adaptive": "cg-adaptive", "auto": "cg-adaptive"}
"""The method of `tb.solvers.solve` for each of PhiML's."""


def by_matrix(name: str, method: str) -> Any:
    """One of PhiML's functions by `tb.solvers.solve`, where the system has a matrix, and else as PhiML has it."""

    def solve(
        self: Any, lin: Any, y: Any, x0: Any, rtol: Any, atol: Any, max_iter: Any, pre: Any, matrix_offset: Any
    ) -> Any:
        if is_matrix(lin, matrix_offset):
            return self._solved(method, lin, y, x0, rtol, atol, max_iter, pre)
        return getattr(super(Solvers, self), name)(lin, y, x0, rtol, atol, max_iter, pre, matrix_offset)

    solve.__doc__ = f"Solve a linear system by the method {method!r} of `tb.solvers.solve`."
    return solve


class Solvers(Sparse):
    """Functions that solve linear systems and minimize."""

    def linear_solve(
        self,
        method: str,
        lin: Any,
        y: Operand,
        x0: Operand,
        rtol: Operand,
        atol: Operand,
        max_iter: Any,
        pre: Any,
        matrix_offset: Operand,
    ) -> Any:
        """Solve A x = y for each example; return x, the residual and how the solver ended."""
        arguments = lin, y, x0, rtol, atol, max_iter, pre, matrix_offset
        if method in METHODS and is_matrix(lin, matrix_offset):
            return self._solved(METHODS[method], *arguments[:-1])
        if method in ("biCG-stab", "biCG-stab(1)"):
            return self.bi_conjugate_gradient(*arguments, poly_order=1)
        return super().linear_solve(method, *arguments)

    conjugate_gradient = by_matrix("conjugate_gradient", "cg")
    conjugate_gradient_adaptive = by_matrix("conjugate_gradient_adaptive", "cg-adaptive")

    def bi_conjugate_gradient(
        self,
        lin: Any,
        y: Any,
        x0: Any,
        rtol: Any,
        atol: Any,
        max_iter: Any,
        pre: Any,
        matrix_offset: Any,
        poly_order: int = 2,
    ) -> Any:
        """Solve a linear system by BiCGStab with polynomials of degree `poly_order`."""
        if is_matrix(lin, matrix_offset) and poly_order:
            return self._solved(f"bicgstab({poly_order})", lin, y, x0, rtol, atol, max_iter, pre, 2 * poly_order)
        return super().bi_conjugate_gradient(lin, y, x0, rtol, atol, max_iter, pre, matrix_offset, poly_order)

    def minimize(self, method: str, f: Any, x0: Operand, atol: Operand, max_iter: Any, trj: bool) -> Any:
        """Minimize f for each example, starting at x0. f returns (sum of the losses, (loss of each example,)).

        `tb.optimize` runs the method `"auto"`, and in a compiled function `"L-BFGS-B"`; it is an L-BFGS that traces f.
        PhiML's own function runs all other methods, most in SciPy, and `"auto"` if f reads data or a trajectory is
        requested.
        """
        if (method == "auto" or (method == "L-BFGS-B" and tracing.get())) and not trj:
            start = self.to_float(x0)
            size = start.shape[0]

            def losses(x: tb.Tensor) -> Any:
                with self.traced():
                    return tb.broadcast_to(f(x)[1][0], (size,))

            with suppress(TemplateDataError):
                minimum = tb.optimize.minimize(
                    losses,
                    start,
                    tolerance=self._cast(atol, start.dtype),
                    max_iterations=self._cast(np.broadcast_to(np.asarray(max_iter), (size,)), tb.int32),
                )
                flags = minimum.converged, minimum.diverged
                name = f"tensorbackend L-BFGS ({self.name})"
                counts = minimum.iterations, minimum.iterations + 1
                return SolveResult(name, minimum.x, minimum.value, *counts, *flags, [""] * size)
        return super().minimize(method, f, x0, atol, max_iter, trj)

    def _solved(
        self,
        method: str,
        matrix: Any,
        y: Operand,
        x0: Operand,
        rtol: Operand,
        atol: Operand,
        max_iter: Any,
        pre: Any,
        products: int = 1,
    ) -> Any:
        """Solve by `tb.solvers.solve`, where each iteration counts as `products` products with the matrix."""
        matrix, y, x0 = self.auto_cast(matrix, y, x0, int_to_float=True)
        if isinstance(matrix, COO) and (self.base.name != "jax" or self.is_available(matrix)):
            matrix = matrix.to_csr()  # convert once instead of in each product; XLA multiplies COO directly
        limits = np.asarray(max_iter)
        size = max(y.shape[0], x0.shape[0])
        y, x0 = self.tile_to(y, 0, size), self.tile_to(x0, 0, size)
        solution = tb.solvers.solve(
            matrix,
            y,
            method,
            x0=x0,
            rtol=self._cast(rtol, y.dtype),
            atol=self._cast(atol, y.dtype),
            max_iterations=self._cast(np.broadcast_to(limits[-1], (size,)), tb.int32),
            preconditioner=None if pre is None or method == "direct" else self._preconditioner(pre),
            trajectory=limits[:, 0].tolist() if len(limits) > 1 else None,
        )
        name = f"tensorbackend {method} ({self.name})" + (f" with preconditioner {pre}" if pre else "")
        evaluations = products * solution.iterations + 1
        flags = solution.converged, solution.diverged
        return SolveResult(name, solution.x, solution.residual, solution.iterations, evaluations, *flags, [""] * size)

    def _preconditioner(self, pre: Any) -> Any:
        def apply(residual: tb.Tensor) -> tb.Tensor:
            with self.traced():
                preconditioned: tb.Tensor = pre.apply(residual)
                return preconditioned

        return apply


def is_matrix(lin: Any, offset: Any) -> bool:
    """Whether a linear function is given as one matrix for all examples, without an offset."""
    return offset is None and not callable(lin) and not isinstance(lin, tuple | list)
