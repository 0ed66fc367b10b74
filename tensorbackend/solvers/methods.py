"""Iterative methods: conjugate gradients, least squares, minimal residuals and stabilised biconjugate gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dtypes import finfo
from ..expr.while_loops import while_loop
from ..ops.composite.contraction import matmul
from ..ops.composite.elementwise.functions import isfinite, logical_not
from ..ops.creation.filled import eye, iota, zeros, zeros_like
from ..ops.elementwise.basic import astype, conj, where
from ..ops.elementwise.binary import equal, less, logical_and, logical_or, maximum, minimum
from ..ops.elementwise.transcendental import sqrt
from ..ops.linalg import triangular_solve
from ..ops.shape import broadcast_to, matrix_transpose
from ..tensor import Tensor
from .iteration import GROWTH, Method, Problem, Progress, Watch, dot, ratio, square, step_of, zero_if_done


def cg(problem: Problem) -> Method:
    """Conjugate gradients.

    References
    ----------
    Saad, Iterative Methods for Sparse Linear Systems, second edition, algorithms 6.18 and 9.1.
    """
    precondition = problem.precondition
    r = problem.b
    z = r if precondition is None else precondition(r)
    first = square(r)
    tell = Watch(problem, first)

    def preconditioned(z: Tensor, r: Tensor) -> tuple[Tensor, Tensor]:
        return z, dot(r, z)

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        progress, x, r, p, rz, _ = state
        before = x
        q = problem.apply(p)
        pq = dot(p, q)
        alpha = step_of(progress.going, rz, pq)
        x, r = x + alpha * p, r - alpha * q
        residual = square(r)
        z, after = (r, residual) if precondition is None else preconditioned(precondition(r), r)
        p = z + step_of(progress.going, after, rz) * p
        return tell(progress, residual, _broke(pq)), x, r, p, after, before

    rz = first if precondition is None else dot(r, z)
    return Method((tell.first, problem.x0, r, z, rz, problem.x0), step, tell.bound, _last)


def cg_adaptive(problem: Problem) -> Method:
    """Conjugate gradients that explicitly make each direction conjugate to the one before, by the product A p.

    They tolerate a matrix that is not quite symmetric, and a preconditioner that changes.

    References
    ----------
    Hestenes and Stiefel, "Methods of Conjugate Gradients for Solving Linear Systems", Journal of Research of the
    National Bureau of Standards 49 (1952), section 5.
    """
    r = problem.b
    p = problem.preconditioned(r)
    first = square(r)
    tell = Watch(problem, first)

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        progress, x, r, p, q, _ = state
        before = x
        pq = dot(p, q)
        alpha = step_of(progress.going, dot(p, r), pq)
        x, r = x + alpha * p, r - alpha * q
        z = problem.preconditioned(r)
        p = z - step_of(progress.going, dot(q, z), pq) * p
        return tell(progress, square(r), _broke(pq)), x, r, p, problem.apply(p), before

    return Method((tell.first, problem.x0, r, p, problem.apply(p), problem.x0), step, tell.bound, _last)


def _broke(product: Tensor) -> Tensor | None:
    """Whether the product of p and A p is 0; `None` for a single example, whose next residual is then not finite."""
    return None if product.ndim == 1 else product == 0


def _last(state: tuple[Any, ...]) -> Tensor:
    """The last x, or the one before if the last step divided by 0."""
    return where(isfinite(state[0].residual), state[1], state[-1])


def lsqr(problem: Problem, normal: Tensor) -> Method:
    """The x of minimum norm among those of minimum residual, by LSQR.

    An example has also converged if its residual is orthogonal to all columns within the tolerance `normal`,
    relative to the norms of the residual and of the matrix.

    References
    ----------
    Paige and Saunders, "LSQR: An Algorithm for Sparse Linear Equations and Sparse Least Squares", ACM Transactions on
    Mathematical Software 8 (1982), pages 43 to 71.
    """

    def normalise(x: Tensor) -> tuple[Tensor, Tensor]:
        """The vector scaled to length 1, and its length in the vector's dtype."""
        length = astype(sqrt(square(x)), x.dtype)
        return ratio(x, length), length

    r = problem.b
    u, beta = normalise(r)
    v, alpha = normalise(problem.adjoint(u))
    first = square(r)
    tell = Watch(problem, first)

    def mark_converged(told: Progress, least: Tensor) -> Progress:
        """Marks examples as converged whose residual cannot decrease."""
        residual = where(least, minimum(told.residual, problem.goal), told.residual)
        return told._replace(going=logical_and(told.going, logical_not(least)), residual=residual)

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        progress, x, u, v, w, alpha, left, diagonal, total = state
        going = progress.going
        u, beta = normalise(problem.apply(v) - alpha * u)
        total = total + square(alpha) + square(beta)
        v, alpha = normalise(problem.adjoint(u) - beta * v)
        length = astype(sqrt(square(diagonal) + square(beta)), diagonal.dtype)
        c, s = ratio(diagonal, length), ratio(beta, length)
        theta, diagonal = s * alpha, -c * alpha
        part, left = c * left, s * left
        x = x + where(going, ratio(part, length), 0) * w
        w = v - ratio(theta, length) * w
        residual, gradient = square(left), square(left * alpha * c)
        told = tell(progress, residual)
        least = logical_and(going, gradient <= normal * normal * total * residual)
        told = mark_converged(told, least)
        return told, x, u, v, w, alpha, left, diagonal, total

    begun = mark_converged(tell.first, logical_and(tell.first.going, square(alpha) == 0))
    return Method((begun, problem.x0, u, v, v, alpha, beta, alpha, first * 0), step, tell.bound)


def gmres(problem: Problem, restart: int) -> Method:
    """Generalised minimal residuals: a step of the loop is a cycle of up to `restart` iterations.

    The preconditioner is applied from the right, so that residuals are those of the system. Each new direction is made
    orthogonal to the others twice.

    References
    ----------
    Saad, Iterative Methods for Sparse Linear Systems, second edition, algorithms 6.9 and 9.5.
    """
    size, like = restart + 1, problem.b
    rows = iota(size, dtype="int32", backend=like.backend)

    def cycle(state: tuple[Any, ...]) -> tuple[Any, ...]:
        """One cycle: keeps directions, the triangle of rotated coefficients, the rotation, and the rotated residual."""
        progress, x, r = state
        batch = r.shape[:-1]
        length = sqrt(square(r))
        basis = where((rows == 0)[:, None], ratio(r, astype(length, r.dtype))[..., None, :], 0)
        triangle = zeros((*batch, restart, size), dtype=r.dtype, like=like)  # transposed: a row for each iteration
        rotation = broadcast_to(eye(size, dtype=r.dtype, backend=like.backend), (*batch, size, size))
        left = where(rows == 0, astype(length, r.dtype), 0)

        def grow(state: tuple[Any, ...]) -> tuple[Any, ...]:
            k, progress, basis, triangle, rotation, left = state
            here, after = equal(rows, k), equal(rows, k + 1)
            direction = apply(where(here[:, None], basis, 0).sum(axis=-2))
            coefficients = zeros((*batch, size), dtype=r.dtype, like=like)
            for _ in range(2):
                shares = _columns(conj(basis), direction)
                direction = direction - _columns(matrix_transpose(basis), shares)
                coefficients = coefficients + shares
            length = astype(sqrt(square(direction)), r.dtype)
            basis = where(after[:, None], ratio(direction, length)[..., None, :], basis)
            column = _columns(rotation, where(after, length, coefficients))
            # A rotation of the last two rows makes the lower element of the column 0.
            one = where(here, column, 0).sum(axis=-1, keepdims=True)
            other = where(after, column, 0).sum(axis=-1, keepdims=True)
            hypotenuse = astype(sqrt(abs(one) ** 2 + abs(other) ** 2), r.dtype)
            c, s = where(hypotenuse == 0, 1, ratio(one, hypotenuse)), ratio(other, hypotenuse)
            column = _rotate_rows(column[..., None], c, s, here, after)[..., 0]
            rotation = _rotate_rows(rotation, c, s, here, after)
            left = _rotate_rows(left[..., None], c, s, here, after)[..., 0]
            going = progress.going
            row = less(rows, k + 1) & going
            place = equal(iota(restart, dtype="int32", backend=like.backend), k)
            triangle = where(place[:, None], where(row, column, 0)[..., None, :], triangle)
            rest = abs(where(after, left, 0).sum(axis=-1, keepdims=True)) ** 2
            return k + 1, tell(progress, rest), basis, triangle, rotation, left

        def goes_on(state: tuple[Any, ...]) -> Tensor:
            return logical_and(state[0] < restart, state[1].going.any())

        start = astype(rows[0], "int32"), progress, basis, triangle, rotation, left
        _, inner, basis, triangle, rotation, left = while_loop(goes_on, grow, start)
        upper = matrix_transpose(triangle[..., :restart])
        empty = _diagonal(upper) == 0
        identity = eye(restart, dtype="bool", backend=like.backend)
        upper = where(logical_and(identity, empty[..., None, :]), 1, upper)
        right_side = where(empty, 0, left[..., :restart])
        factors = triangular_solve(upper, right_side[..., None], lower=False)[..., 0]
        change = _columns(matrix_transpose(basis[..., :restart, :]), factors)
        x = where(progress.going, x + problem.preconditioned(change), x)
        r = problem.b - problem.apply(x)
        return _progress_after_cycle(progress, inner, square(r)), x, r

    def _progress_after_cycle(before: Progress, inner: Progress, residual: Tensor) -> Progress:
        """The progress after a cycle: with its iterations, but judged by the residual itself."""
        told = tell(before, residual)
        more = logical_and(told.going, inner.iterations < problem.most)
        return Progress(more, inner.iterations, told.residual)

    def apply(x: Tensor) -> Tensor:
        return problem.apply(problem.preconditioned(x))

    r = problem.b
    first = square(r)
    tell = Watch(problem, first)
    return Method((tell.first, problem.x0, r), cycle, tell.bound)


def _columns(matrix: Tensor, x: Tensor) -> Tensor:
    """Each matrix times its vector."""
    return matmul(matrix, x[..., None])[..., 0]


def _diagonal(matrix: Tensor) -> Tensor:
    size = matrix.shape[-1]
    return where(eye(size, dtype="bool", backend=matrix.backend), matrix, 0).sum(axis=-1)


def _rotate_rows(x: Tensor, c: Tensor, s: Tensor, here: Tensor, after: Tensor) -> Tensor:
    """The matrices with their rows `here` and `after` rotated."""
    one = where(here[:, None], x, 0).sum(axis=-2, keepdims=True)
    other = where(after[:, None], x, 0).sum(axis=-2, keepdims=True)
    c, s = c[..., None], s[..., None]
    first, second = conj(c) * one + conj(s) * other, c * other - s * one
    return where(here[:, None], first, where(after[:, None], second, x))


def bicgstab(problem: Problem, degree: int) -> Method:
    """Biconjugate gradients stabilised by polynomials of `degree`; an iteration needs `2 * degree` products.

    The preconditioner is applied from the right, so that residuals are those of the system; y in the loop is x before
    the preconditioner. The result is the iterate with the smallest residual in the last sweep, or the one before it:
    a sweep continues after a solution, and if the method breaks down, later iterates are useless.

    References
    ----------
    Sleijpen and Fokkema, "BiCGstab(l) for linear equations involving unsymmetric matrices with complex spectrum",
    Electronic Transactions on Numerical Analysis 1 (1993), pages 11 to 32.
    """

    def apply(x: Tensor) -> Tensor:
        return problem.apply(problem.preconditioned(x))

    r = shadow = problem.b
    first = square(r)
    tell = Watch(problem, first)
    one = dot(r, r) * 0 + 1
    noise = finfo(r.dtype).eps ** 2
    alone = first.ndim == 1

    def quotient(numerator: Tensor, denominator: Tensor) -> Tensor:
        """The quotient; a single example may become NaN, which ends the loop."""
        return numerator / denominator if alone else ratio(numerator, denominator)

    def nearest(iterates: Sequence[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
        """The first iterate that is a solution, else the one with the smallest residual, and its squared residual.

        The residuals after a large y are dominated by rounding errors.
        """
        best, least = iterates[0]
        lost = 0 * least
        for y, residual in iterates[1:]:
            lost = maximum(lost, noise * square(y))
            known = maximum(residual, lost)
            replaces = logical_and(known < least, least > problem.goal)
            best, least = where(replaces, y, best), where(replaces, known, least)
        return best, least

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        progress, kept, y, residual, r, u, rho, alpha, omega = state
        going, before = progress.going, residual
        iterates = [(y, residual)]
        rho = -omega * rho
        # Residuals and directions: the i-th is the matrix to the power of i times the first.
        rs, us, broke = [r], [u], None
        for j in range(degree):
            last, rho = rho, dot(shadow, rs[j])
            beta = quotient(alpha * rho, last)
            us = [rs[i] - beta * us[i] for i in range(j + 1)]
            us.append(apply(us[j]))
            alpha = zero_if_done(going, quotient(rho, dot(shadow, us[j + 1])))
            rs = [rs[i] - alpha * us[i + 1] for i in range(j + 1)]
            rs.append(apply(rs[j]))
            y = y + alpha * us[0]
            if not alone:
                broke = alpha == 0 if broke is None else logical_or(broke, alpha == 0)
            if j < degree - 1:
                iterates.append((y, square(rs[0])))
        factors = [zero_if_done(going, factor) for factor in _combination_factors(rs[0], rs[1:])]
        for j, factor in enumerate(factors):
            y = y + factor * rs[j]
        r, u = rs[0], us[0]
        for j, factor in enumerate(factors, 1):
            r, u = r - factor * rs[j], u - factor * us[j]
        residual = square(r)
        iterates.append((y, residual))
        least = iterates[1][1]
        for _, other in iterates[2:]:
            least = where(other < least, other, least)  # not a NaN
        # A residual that jumps is noise divided by noise: the method ends, to begin again with a better iterate.
        lasts = residual <= GROWTH * (before if degree == 1 else minimum(least, before))
        if degree > 2:  # y may be so large that its small residual is rounding
            lasts = logical_and(lasts, residual >= noise * square(y))
        ends = logical_not(lasts)
        told = tell(progress, least, ends if broke is None else logical_or(broke, ends))
        if not alone:  # what has ended keeps its result
            (new_y, new_size), (old_y, old_size) = nearest(iterates), kept[0]
            iterates = [(where(going, new_y, old_y), where(going, new_size, old_size))]
        return told, tuple(iterates), y, residual, r, u, rho, alpha, factors[-1]

    def finish(state: tuple[Any, ...]) -> Tensor:
        return problem.preconditioned(nearest(state[1])[0])

    iterates = ((problem.x0, first),) * (degree + 1 if alone else 1)
    start = tell.first, iterates, problem.x0, first, r, zeros_like(r), one, one * 0, one
    return Method(start, step, tell.bound, finish)


def _combination_factors(r: Tensor, vectors: list[Tensor]) -> list[Tensor]:
    """The factors of the vectors' linear combination nearest to r, by orthogonalising one vector after the other."""
    directions: list[Tensor] = []
    squares: list[Tensor] = []
    shares: list[list[Tensor]] = []
    rests: list[Tensor] = []
    for vector in vectors:
        share, before = [], vector
        for direction, size in zip(directions, squares, strict=True):
            share.append(ratio(dot(direction, vector), size))
            vector = vector - share[-1] * direction
        directions.append(vector)
        shares.append(share)
        squares.append(dot(vector, vector) if not share else _clear(dot(vector, vector), before))
        rests.append(ratio(dot(vector, r), squares[-1]))
    factors: list[Tensor] = [*rests]
    for j in range(len(vectors) - 2, -1, -1):
        for i in range(j + 1, len(vectors)):
            factors[j] = factors[j] - shares[i][j] * factors[i]
    return factors


def _clear(size: Tensor, before: Tensor) -> Tensor:
    """The square of the remainder of a vector, 0 if that is rounding alone: the vector depends on those before."""
    noise = (10 * finfo(before.dtype).eps) ** 2
    return where(abs(size) <= noise * square(before), 0, size)
