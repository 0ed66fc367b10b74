"""`solve`: a linear system by one of several methods, with a gradient that is another solve."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isnan, prod
from operator import index
from typing import Any, Final, Literal, NamedTuple

from ..declarations.argument_errors import check_arguments
from ..dispatch.operands import nameless
from ..dtypes import as_dtype
from ..errors import ArgumentError, DTypeError, NamesError, ShapeError, TensorBackendError, expected
from ..expr.trees import flatten
from ..ops.composite.linalg.systems import wide_dtype
from ..ops.creation.filled import full, zeros
from ..ops.creation.values import beside
from ..ops.elementwise.basic import astype
from ..ops.inspection import result_type
from ..ops.linalg import qr
from ..ops.shape import broadcast_to, matrix_transpose, reshape
from ..protocol import Backend
from ..rules.broadcasting import broadcast, to_real
from ..select import get_backend, home_of
from ..sparse import SparseMatrix, from_scipy
from ..tensor import Tensor, TensorLike
from ..tensor.missing_names import explain_missing
from .core import Inputs, Outcome, Plan, refuse_failure
from .implicit import DEFAULT_RTOL, solve_with_gradient
from .linear import TracedForm, cast_linear, linear, shape_of
from .linear import preconditioner as preconditioner_of
from .padded import quickest_form

METHODS: Final = ("auto", "cg", "cg-adaptive", "bicgstab", "bicgstab(l)", "gmres", "lsqr", "direct")


@explain_missing
class Solution(NamedTuple):
    """Result of `solve`. With a trajectory each part has one more axis, in front."""

    x: Tensor
    """The solution, with the batch axes in front."""
    residual: Tensor
    """b - A x, computed from the final x; without its part in the null space."""
    iterations: Tensor
    """The number of iterations, int32, for each example."""
    converged: Tensor
    """Whether the norm of b - A x is small enough, for each example."""
    diverged: Tensor
    """Whether the method broke down or came no nearer, x is out of range, or there is a NaN or an infinity."""


@check_arguments
def solve(
    A: Any,
    b: TensorLike,
    /,
    method: str = "auto",
    *,
    x0: TensorLike | None = None,
    rtol: TensorLike = DEFAULT_RTOL,
    atol: TensorLike = 0.0,
    max_iterations: TensorLike | None = None,
    preconditioner: Any = None,
    null_space: Literal["constant"] | Tensor | None = None,
    vector_axes: int | None = None,
    restart: int = 20,
    trajectory: Sequence[int] | None = None,
    raise_on_failure: bool = False,
) -> Solution:
    """Solve A x = b on any backend, with gradients with respect to b and the values of A.

    With a matrix, a vector is along the last axis of b. All axes before it are batch axes, and each example stops
    separately. With a function all axes of b are one vector, unless `vector_axes` says otherwise.

    Parameters
    ----------
    A : SparseMatrix, Tensor or function
        A matrix of shape (..., n, m), whose leading axes are batch axes: a sparse matrix of `tb.sparse`, a dense
        tensor, or another library's matrix. Or a linear function that takes tensors like b, a whole batch at once, and
        returns such tensors. It is traced, and the tensors that it closes over have gradients.
    b : Tensor
        Shape (..., n), floating or complex; for a function any shape.
    method : str
        For Hermitian definite matrices: `"cg"`, conjugate gradients, and `"cg-adaptive"`, which tolerates a matrix that
        is not quite symmetric. For any square matrix: `"bicgstab"`, also `"bicgstab(2)"` and so on for polynomials of
        another degree, and `"gmres"`. For any matrix: `"lsqr"`, which finds the x of minimum norm with the minimum
        residual. `"direct"` solves by factors. Those of a sparse matrix come from SciPy's SuperLU on the host, and are
        cached for the next solve. `"auto"` is `"direct"` for a dense matrix and `"bicgstab(2)"` otherwise.
    x0 : Tensor, optional
        The initial guess; zeros by default. Gradients treat it as a constant.
    rtol, atol : float or Tensor
        An example has converged if the norm of b - A x is at most `max(rtol * norm(b), atol)`, or the rounding
        error: `10 * eps * norm(x)` times the root of the mean squared norm of the rows of A, but no more than
        `sqrt(eps) * norm(b)`. Tensors hold a number for each example.
    max_iterations : int or Tensor, optional
        The maximum number of iterations, for each example if it is a tensor; by default 10 m. An iteration needs 2 l
        products for `"bicgstab(l)"`, one with A and one with its transpose for `"lsqr"`, and one for the other methods.
    preconditioner : {"jacobi", "ilu"}, function or matrix, optional
        An approximation of the inverse of A. For a matrix A, `"jacobi"` uses the inverse of its diagonal and `"ilu"`
        its incomplete factors; for any A, pass a linear function of residuals or a matrix. Gradients treat it as a
        constant. Not for `"lsqr"` and `"direct"`.
    null_space : "constant" or Tensor, optional
        Vectors that A and its transpose map to zero: `"constant"` for the constant vectors, as in a problem with
        Neumann's boundary conditions, or vectors that span the null space, of shape (n,) or (k, n). The solution then
        has no part in the null space, and the part of b in it is ignored. Not for `"lsqr"`, which does not need it,
        and `"direct"`.
    vector_axes : int, optional
        The number of last axes of b that form one vector: 1 for a matrix. For a function the default is all of them;
        a smaller number makes the axes before them batch axes, which the function must not mix.
    restart : int
        The number of iterations of `"gmres"` before it restarts; it keeps as many vectors.
    trajectory : sequence of ints, optional
        Ascending numbers of iterations (of restarts for `"gmres"`) after which x and all other parts of the result are
        recorded; each part is stacked along a new first axis. The solve stops after the last of these.
    raise_on_failure : bool
        Whether to raise an error if an example has not converged; in a compiled function and for the solve of a
        gradient too, once data are available.

    Returns
    -------
    Solution
        `x` and `residual`, and `iterations`, `converged` and `diverged` of each example. Without convergence x is the
        last or the best iterate: check the flags. An example with neither flag has used all its iterations.

    Raises
    ------
    ShapeError, NamesError, DTypeError
        For A and b that do not match.
    ArgumentError
        For an unknown method, a tolerance below 0, and an argument that the method does not support.
    ConvergenceError
        With `raise_on_failure`, for an example that has not converged.

    Notes
    -----
    The gradient with respect to b is a solve with the transpose by the same method, to the same tolerances. It is NaN
    if that solve does not converge. The gradient with respect to A is the product of that solution with x. Both can
    be differentiated again. For `"lsqr"`, the gradient with respect to a matrix needs three solves.

    Examples
    --------
    >>> a = tb.sparse.from_dense([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]])
    >>> solution = tb.solvers.solve(a, tb.asarray([0.0, 0.0, 4.0]), "cg")
    >>> tb.round(solution.x).tolist(), solution.converged.item(), solution.iterations.item()
    ([1.0, 2.0, 3.0], True, 3)
    >>> slope = tb.grad(lambda b: tb.solvers.solve(a, b, "cg").x[0])(tb.asarray([0.0, 0.0, 4.0]))
    >>> tb.round(slope * 100).tolist()
    [75.0, 50.0, 25.0]
    """
    name, number = _method(method, A, index(restart))
    system = _System(
        A, beside(b, home_of(flatten((A, b, x0))[0]), next_to=getattr(A, "dtype", None)), x0, null_space, vector_axes
    )
    approximate_inverse = preconditioner_of(preconditioner, system.function, system.residuals, system.count)
    system.check(name, approximate_inverse is not None)
    steps = None if trajectory is None else tuple(map(index, trajectory))
    function = system.function if name == "direct" else quickest_form(system.function)
    approximate_inverse = None if approximate_inverse is None else quickest_form(approximate_inverse)
    approximation = None if approximate_inverse is None else approximate_inverse.form
    plan = Plan(name, number, function.form, approximation, steps, x0 is None, raise_on_failure)
    tensors = Inputs(
        function.parts,
        () if approximate_inverse is None else approximate_inverse.parts,
        system.basis,
        system.b,
        system.x0,
        system.number_per_example(rtol, "rtol"),
        system.number_per_example(atol, "atol"),
        system.limit(max_iterations),
    )
    _check_tolerances(name, rtol, atol)
    outcome = solve_with_gradient(plan, tensors)
    solution = system.solution(outcome, steps)
    if raise_on_failure:
        refuse_failure(outcome)
    return solution


_MOST_ITERATIONS: Final = 2**31 - 1

_DEGREE = re.compile(r"bicgstab\((\d{1,2})\)")


def _method(method: str, A: Any, restart: int) -> tuple[str, int]:
    """The method's name, and its degree or the length of its cycles."""
    if restart < 1:
        raise ArgumentError(expected("a restart after at least 1 iteration", restart=restart))
    degree = _DEGREE.fullmatch(method)
    if degree is not None and int(degree[1]) > 0:
        return "bicgstab", int(degree[1])
    if method not in METHODS or method == "bicgstab(l)":
        raise ArgumentError(expected(f"one of the methods {', '.join(map(repr, METHODS))}", method=method))
    if method == "auto":
        dense = not isinstance(A, SparseMatrix) and not callable(A) and not hasattr(A, "tocsr")
        return ("direct", 1) if dense else ("bicgstab", 2)
    return method, restart if method == "gmres" else 1


def _check_tolerances(name: str, rtol: Any, atol: Any) -> None:
    for word, value in (("rtol", rtol), ("atol", atol)):
        if not isinstance(value, Tensor) and isinstance(value, int | float) and (value < 0 or isnan(value)):
            raise ArgumentError(expected(f"{word} of at least 0", **{word: value}))
    if name != "direct" and not isinstance(rtol, Tensor) and not isinstance(atol, Tensor) and rtol == atol == 0:
        raise ArgumentError(expected("a tolerance above 0", "pass rtol= or atol=", rtol=rtol, atol=atol))


class _System:
    """A linear system in the form in which methods take it: nameless vectors along the last axis, of one dtype."""

    def __init__(self, A: Any, b: Tensor, x0: Any, null_space: Any, count: int | None) -> None:
        if hasattr(A, "tocsr") and not isinstance(A, SparseMatrix):
            A = from_scipy(A)
        elif not isinstance(A, Tensor | SparseMatrix | str) and not callable(A):
            A = beside(A, b.backend, next_to=b.dtype)
        guess = None if x0 is None else beside(x0, b.backend, next_to=b.dtype)
        self.matrix = A.template if isinstance(A, Tensor | SparseMatrix) else None
        count = (max(b.ndim, 1) if self.matrix is None else 1) if count is None else index(count)
        self.operator, self.guess, self.count = A, guess, count
        if self.matrix is not None and self.matrix.ndim < 2:
            raise ShapeError(expected("A as a matrix", "give it at least two axes", A=self.matrix))
        self._check_axes(b)
        of = [x.dtype for x in (self.matrix, b, guess) if x is not None]
        dtype = result_type(*of)
        if not dtype.is_inexact:
            raise DTypeError(expected("a floating or complex b", "cast it with astype()", b=b.template))
        self.given = as_dtype(dtype)
        self.dtype = dtype = wide_dtype(self.given)
        self.real = to_real(dtype)
        self.named = b = b if b.dtype is dtype else astype(b, dtype)
        function = linear(A, b.template, count, "A")
        self.function = cast_linear(function, dtype)
        batch, rows, columns = shape_of(function)
        self.columns, self.rows = columns, rows
        size = prod(b.shape[b.ndim - count :])
        if size != rows:
            grid = self.matrix is not None and rows == prod(b.shape[-2:])
            remedy = "flatten() the grid, or give a function" if grid else ""
            raise ShapeError(
                expected(f"b with {rows} elements in a vector, the number of rows of A", remedy, b=b.template)
            )
        self._broadcast(batch, b, guess)
        self.residuals = b.template
        self.basis = self._basis(null_space)

    def _check_axes(self, b: Tensor) -> None:
        if self.count < 1 or b.ndim < self.count:
            raise ShapeError(expected("a b with the axes of a vector", vector_axes=self.count, b=b.template))
        if self.matrix is None:
            return
        if self.count != 1:
            raise ArgumentError(
                expected("vector_axes=1 for a matrix", "flatten() the grid, or give a function", vector_axes=self.count)
            )
        one, other = self.matrix.names[-2], b.names[-1]
        if one is not None and other is not None and one != other:
            remedy = "rename() one of them"
            raise NamesError(
                expected("one name for the rows of A and the vectors of b", remedy, A=self.matrix, b=b.template)
            )

    def _broadcast(self, batch: tuple[int, ...], b: Tensor, guess: Tensor | None) -> None:
        """Broadcasts b and x0 to all batch axes, and merges the names of these axes."""
        parts = [b.template.replace(shape=b.shape[: b.ndim - self.count], names=b.names[: b.ndim - self.count])]
        if self.matrix is not None:
            parts.append(self.matrix.replace(shape=batch, names=self.matrix.names[:-2]))
        if guess is not None:
            batch_ndim = guess.ndim - self.count
            if batch_ndim < 0 or prod(guess.shape[batch_ndim:]) != self.columns:
                expectation = f"x0 with {self.columns} elements in a vector, the number of columns of A"
                raise ShapeError(expected(expectation, x0=guess.template))
            parts.append(guess.template.replace(shape=guess.shape[:batch_ndim], names=guess.names[:batch_ndim]))
        self.batch, self.batch_names = broadcast(parts)
        if isinstance(self.function.form, TracedForm) and self.batch != parts[0].shape:
            remedy = "broadcast b first"
            raise ShapeError(expected("no more examples in x0 than in b for a function", remedy, b=b.template))
        flat = nameless(b) if self.count == 1 else reshape(nameless(b), (*parts[0].shape, self.rows))
        self.b = flat if parts[0].shape == self.batch else broadcast_to(flat, (*self.batch, self.rows))
        shape = (*self.batch, self.columns)
        if guess is None:
            self.x0 = zeros(shape, dtype=self.dtype, like=self.b)
        else:
            start = reshape(nameless(guess), (*parts[-1].shape, self.columns))
            self.x0 = broadcast_to(astype(start.detach(), self.dtype), shape)

    def _basis(self, null_space: Any) -> Tensor | None:
        """Orthonormal rows that span the null space."""
        if null_space is None:
            return None
        if isinstance(null_space, str):
            if null_space != "constant":
                raise ArgumentError(expected("null_space as 'constant' or a tensor", null_space=null_space))
            return full((1, self.columns), self.columns**-0.5, dtype=self.dtype, backend=self._plain)
        rows = nameless(beside(null_space, self.b.backend, next_to=self.dtype)).detach()
        if (rows.ndim > 2 and self.matrix is None) or rows.ndim == self.count:
            rows = reshape(rows, (-1, prod(rows.shape[-self.count :])))
        if rows.ndim != 2 or rows.shape[-1] != self.columns:
            expectation = f"vectors of the null space of {self.columns} elements"
            raise ShapeError(expected(expectation, null_space=rows.template))
        return matrix_transpose(qr(matrix_transpose(astype(rows, self.dtype))).Q)

    def check(self, name: str, preconditioned: bool) -> None:
        """Raises an error for arguments that a method does not support."""
        shown = self.matrix or self.named.template
        if name != "lsqr" and self.rows != self.columns:
            remedy = "use the method 'lsqr' for least squares"
            raise ShapeError(expected("a square A", remedy, A=shown, rows=self.rows, columns=self.columns))
        if preconditioned and name in ("lsqr", "direct"):
            raise ArgumentError(expected(f"no preconditioner for the method {name!r}", "leave it out"))
        if name == "direct" and self.matrix is None:
            remedy = "find its matrix with tb.sparse.from_function(), or choose another method"
            raise ArgumentError(expected("a matrix for the method 'direct'", remedy, A=self.operator))
        if self.basis is not None and name in ("lsqr", "direct"):
            remedy = "leave it out: 'lsqr' finds the solution of minimum norm" if name == "lsqr" else "use 'lsqr'"
            raise ArgumentError(expected(f"no null_space for the method {name!r}", remedy))

    def number_per_example(self, value: Any, word: str) -> Tensor:
        """A number for each example, of shape (..., 1)."""
        if isinstance(value, int | float):
            return full((*self.batch, 1), float(value), dtype=self.real, backend=self._plain)
        return self._spread(astype(nameless(beside(value, self._plain, next_to=self.real)).detach(), self.real), word)

    def limit(self, value: Any) -> Tensor:
        """The maximum number of iterations for each example, of shape (..., 1)."""
        if value is None or isinstance(value, int):
            most = min(10 * self.columns if value is None else value, _MOST_ITERATIONS)
            return full((*self.batch, 1), most, dtype="int32", backend=self._plain)
        x = nameless(beside(value, self._plain)).detach()
        if not x.dtype.is_integer:
            raise DTypeError(expected("max_iterations as an int for each example", max_iterations=x.template))
        return self._spread(astype(x, "int32"), "max_iterations")

    @property
    def _plain(self) -> Backend:
        return get_backend(self.b.backend.beneath)  # type: ignore[arg-type] # every Core is a Backend

    def _spread(self, x: Tensor, word: str) -> Tensor:
        try:
            return broadcast_to(x, self.batch)[..., None]
        except TensorBackendError:
            remedy = "give one number, or one for each example"
            raise ShapeError(expected(f"{word} of shape {self.batch}", remedy, **{word: x.template})) from None

    def solution(self, outcome: Outcome, steps: tuple[int, ...] | None) -> Solution:
        """The solution, with the shapes and names of the arguments."""
        front: tuple[int, ...] = () if steps is None else (len(steps),)
        names = (None,) * len(front) + self.batch_names
        b, guess = self.named.template, self.guess
        last, last_names = b.shape[b.ndim - self.count :], b.names[b.ndim - self.count :]
        x_shape, x_names = (last, last_names) if self.rows == self.columns else ((self.columns,), (None,))
        if guess is not None:
            x_shape, guess_names = guess.shape[guess.ndim - self.count :], guess.names[guess.ndim - self.count :]
            x_names = guess_names if any(guess_names) or len(guess_names) != len(x_names) else x_names
        if self.matrix is not None and any(self.matrix.names[-2:]):
            x_names = self.matrix.names[-1:]
        if self.given is not self.dtype:
            outcome = outcome._replace(x=astype(outcome.x, self.given), residual=astype(outcome.residual, self.given))
        return Solution(
            _reshape_and_name(outcome.x, (*front, *self.batch, *x_shape), (*names, *x_names)),
            _reshape_and_name(outcome.residual, (*front, *self.batch, *last), (*names, *last_names)),
            *(_reshape_and_name(part, part.shape, names) for part in outcome[2:]),
        )


def _reshape_and_name(x: Tensor, shape: tuple[int, ...], names: tuple[str | None, ...]) -> Tensor:
    """A tensor in a shape, under names."""
    if x.shape != shape:
        return reshape(x, shape, names=names)
    return x.rename(*names) if any(names) else x
