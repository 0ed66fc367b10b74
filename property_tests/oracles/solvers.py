"""Oracle of `tb.solvers`: NumPy's solutions of well-conditioned systems in double precision."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import scipy.integrate
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.errors import ConvergenceError
from tensorbackend.protocol import Backend
from tensorbackend.testing.strategies import Draw

from .table import Recorder, law

HERMITIAN = ["cg", "cg-adaptive"]
METHODS = [*HERMITIAN, "auto", "bicgstab", "bicgstab(2)", "bicgstab(4)", "gmres", "lsqr", "direct"]
DTYPES = ["float32", "float64", "complex64", "complex128"]
FORMS = ["rows", "function", "dense", "sparse"]
"""A matrix, or a function that multiplies by it: of vectors, or of vectors with two axes."""


class System:
    """A matrix near three times the identity, vectors b, and the solution of the least residual and the least norm."""

    def __init__(self, draw: Draw, method: str, *, singular: bool) -> None:
        random = numpy.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        self.dtype = draw(st.sampled_from(DTYPES))
        self.batch: tuple[int, ...] = draw(st.sampled_from([(), (1,), (3,)]))
        size = draw(st.sampled_from([2, 3, 5] if singular else [1, 3, 5]))
        self.rows, self.columns = size, size
        if method == "lsqr":
            self.rows, self.columns = draw(st.sampled_from([(size, size), (size + 2, size), (size, size + 2)]))

        def noise(*shape: int) -> Any:
            real, imag = random.uniform(-1, 1, (2, *shape))
            return real + 1j * imag if self.dtype.startswith("complex") else real

        matrix = 3 * numpy.eye(self.rows, self.columns) + noise(self.rows, self.columns) / size
        if method in HERMITIAN:
            matrix = (matrix + matrix.conj().T) / 2
        if singular:  # A and its transpose take the constant vectors to zero
            projector = numpy.eye(size) - 1 / size
            matrix = projector @ matrix @ projector
        self.matrix, self.b = matrix.astype(self.dtype), noise(*self.batch, self.rows).astype(self.dtype)
        self.inverse = numpy.linalg.pinv(self.wide(self.matrix), rcond=1e-3)
        self.x = self.wide(self.b) @ self.inverse.T

    def wide(self, array: Any) -> Any:
        return numpy.asarray(array).astype("complex128" if self.dtype.startswith("complex") else "float64")

    def on(self, array: Any, backend: Backend) -> tb.Tensor:
        return tb.asarray(array, dtype=self.dtype, backend=backend)

    @property
    def real(self) -> str:
        return "float64" if self.dtype in ("float64", "complex128") else "float32"


def product(matrix: tb.Tensor, x: tb.Tensor) -> tb.Tensor:
    """The product of a matrix and each vector."""
    return tb.sum(matrix * x[..., None, :], axis=-1)


@law("solvers.solve", by="NumPy")
def solve(draw: Draw, run: Recorder, backend: Backend) -> None:
    method = draw(st.sampled_from(METHODS))
    form = draw(st.sampled_from(FORMS[2:] if method in ("direct", "lsqr") else FORMS))
    direct = method == "direct" or (method == "auto" and form == "dense")
    iterative = not direct and method != "lsqr"
    singular = iterative and form != "rows" and draw(st.sampled_from([False, False, False, True]))
    system = System(draw, method, singular=singular)
    b, dense = system.on(system.b, backend), system.on(system.matrix, backend)
    a: Any = tb.sparse.from_dense(dense) if form == "sparse" else dense
    if form == "function":
        a = lambda x: product(dense, x)  # noqa: E731
    rtol, options = drawn_tolerances(draw, backend, system)
    if form == "rows":
        return check(run(*with_two_axes(dense, b), method, vector_axes=2, **options), system, rtol)
    options |= drawn_limits(draw, backend, system)
    if singular:
        ones = tb.ones(system.columns, dtype=system.dtype, backend=backend)
        options["null_space"] = draw(st.sampled_from(["constant", ones, ones[None] * 2]))
    elif iterative:
        options["preconditioner"] = drawn_preconditioner(draw, backend, system, form)
    solution = run(a, b, method, **options)
    check(solution, system, rtol)
    assert solution.x.shape == (*system.batch, system.columns)
    assert solution.residual.shape == b.shape
    more = draw(st.sampled_from(["trajectory", "failure", None, None])) if iterative else None
    if more == "trajectory":
        check_trajectory(draw, run, (a, b, method), options)
    elif more == "failure":
        check_failure(run, (a, b, method), options)
    return None


def drawn_tolerances(draw: Draw, backend: Backend, system: System) -> tuple[float, dict[str, Any]]:
    """The tolerance relative to b, and how it is passed: as a number, for each example, as an absolute one."""
    kind = draw(st.sampled_from(["default", "rtol", "both", "tensor", "atol"]))
    if kind == "default":
        return 1e-5, {}
    rtol = draw(st.sampled_from([1e-4, 1e-10 if system.real == "float64" else 1e-5]))
    if kind == "rtol":
        return rtol, {"rtol": rtol}
    if kind == "tensor":
        return rtol, {"rtol": tb.full(system.batch, rtol, dtype=system.real, backend=backend)}
    atol = rtol * float(numpy.linalg.norm(system.b, axis=-1).min())
    return rtol, {"rtol": rtol if kind == "both" else 0.0, "atol": atol}


def drawn_limits(draw: Draw, backend: Backend, system: System) -> dict[str, Any]:
    """A start, a limit, a number or one for each example, and the other options of a search."""
    options: dict[str, Any] = {}
    if draw(st.booleans()) and system.rows >= system.columns:  # a start would decide which of many solutions is found
        start = draw(st.sampled_from([0.5, -1.0]))
        options["x0"] = tb.full((*system.batch, system.columns), start, dtype=system.dtype, backend=backend)
    if draw(st.booleans()):
        limits = tb.full(system.batch, 400, dtype="int32", backend=backend)
        options["max_iterations"] = draw(st.sampled_from([500, limits]))
    if draw(st.booleans()):
        options["restart"] = draw(st.integers(5, 9))
    return options | {"raise_on_failure": draw(st.booleans())}


def drawn_preconditioner(draw: Draw, backend: Backend, system: System, form: str) -> Any:
    """By name where there is a matrix; the inverse, as a matrix and as a function."""
    inverse = system.on(system.inverse, backend)
    choices = [None, inverse, lambda x: product(inverse, x)]
    return draw(st.sampled_from(choices if form == "function" else [*choices, "jacobi", "ilu"]))


def with_two_axes(matrix: tb.Tensor, b: tb.Tensor) -> tuple[Any, tb.Tensor]:
    """The same system for vectors that have two axes."""
    shape = (*b.shape[:-1], 1, b.shape[-1])
    return lambda x: tb.reshape(product(matrix, tb.reshape(x, b.shape)), shape), tb.reshape(b, shape)


def check(solution: Any, system: System, rtol: float) -> None:
    """The flags, the solution and the residual, to the tolerance and the roundings of a condition number of 4."""
    assert solution.converged.shape == solution.diverged.shape == solution.iterations.shape == system.batch
    assert numpy.asarray(solution.converged).all()
    assert not numpy.asarray(solution.diverged).any()
    rounding = 200 * float(tb.finfo(system.dtype).eps)
    x = system.wide(solution.x).reshape(system.x.shape)
    unit = numpy.linalg.norm(system.b, axis=-1)
    assert (numpy.linalg.norm(x - system.x, axis=-1) <= (4 * rtol + rounding) * unit).all(), (x, system.x)
    if system.rows == system.columns:
        # Without the part of b in the null space, which no x makes smaller.
        matrix = system.wide(system.matrix)
        residual = system.wide(solution.residual).reshape(system.b.shape)
        assert (numpy.linalg.norm(residual - (system.x - x) @ matrix.T, axis=-1) <= rounding * unit).all()


def check_trajectory(draw: Draw, run: Recorder, arguments: Any, options: dict[str, Any]) -> None:
    """The states after some iterations are those of searches that stop there."""
    method, steps = arguments[2], sorted(draw(st.sets(st.integers(0, 3), min_size=1, max_size=2)))
    options = options | {"raise_on_failure": False}
    seen = run(*arguments, **(options | {"trajectory": steps}))
    assert seen.x.shape[0] == seen.converged.shape[0] == len(steps)
    if method in ("cg", "cg-adaptive", "bicgstab"):  # their iterations do not come in cycles
        for place, count in enumerate(steps):
            alone = run(*arguments, **(options | {"max_iterations": count}))
            numpy.testing.assert_allclose(seen.x[place], alone.x, rtol=1e-3, atol=1e-4)


def check_failure(run: Recorder, arguments: Any, options: dict[str, Any]) -> None:
    """Without iterations nothing but a good start converges, and an error says so on request."""
    options = options | {"max_iterations": 0, "raise_on_failure": False}
    failed = run(*arguments, **options)
    assert not numpy.asarray(failed.iterations).any()
    if not numpy.asarray(failed.converged).all():
        with pytest.raises(ConvergenceError):
            run(*arguments, **(options | {"raise_on_failure": True}))


@law("solvers.solve_ivp", by="SciPy")
def solve_ivp(draw: Draw, run: Recorder, backend: Backend) -> None:
    """Systems of two linear equations with a term of the time, forwards and backwards."""
    matrix = numpy.array([[draw(st.integers(-4, 4)) / 4 for _ in range(2)] for _ in range(2)])
    ends = draw(st.sampled_from([(0.0, 2.0), (1.0, -1.0)]))
    tolerances = draw(st.sampled_from([{"rtol": 1e-6, "atol": 1e-8}, {"rtol": 1e-8, "atol": 1e-9}]))
    options: dict[str, Any] = draw(
        st.sampled_from([{}, {}, {}, {"max_steps": 500}, {"gradient": "direct", "max_steps": 99}])
    )
    times = numpy.linspace(*ends, 5) if draw(st.booleans()) else None
    a = tb.asarray(matrix, backend=backend)
    if times is not None:
        options["times"] = tb.asarray(times, backend=backend)
    start = tb.asarray([1.0, -0.5], dtype="f64", backend=backend)
    found = run(lambda t, y: a @ y + tb.sin(t), ends, start, **tolerances, **options)
    wanted = scipy.integrate.solve_ivp(
        lambda t, y: matrix @ y + numpy.sin(t), ends, [1.0, -0.5], t_eval=ends if times is None else times,
        rtol=1e-11, atol=1e-12,
    )  # fmt: skip
    assert found.converged.item()
    numpy.testing.assert_allclose(found.y, wanted.y.T, rtol=1e-4, atol=1e-5)


@law("solvers.eigsh", by="NumPy")
def eigsh(draw: Draw, run: Recorder, backend: Backend) -> None:
    random = numpy.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size, count = draw(st.sampled_from([(1, 1), (5, 2), (24, 3)]))
    which = draw(st.sampled_from(["largest", "smallest", "magnitude"]))
    # Eigenvalues apart from each other, also in magnitude.
    values = random.permutation(numpy.arange(1, size + 1)) * random.choice([-1.0, 1.0], size)
    vectors = numpy.linalg.qr(random.normal(size=(size, size)))[0]
    dense = (vectors * values) @ vectors.T
    options: dict[str, Any] = {"which": which}
    rtol = draw(st.sampled_from([None, 1e-6]))
    if rtol is not None:
        options["rtol"] = rtol
    if draw(st.booleans()):
        options["max_iterations"] = 500
    if draw(st.booleans()):
        options["basis_size"] = count + 4
    matrix = tb.asarray((dense + dense.T) / 2, backend=backend)
    if draw(st.booleans()):
        options["x0"] = tb.asarray(random.normal(size=size), backend=backend)
    operator = matrix if "x0" not in options or draw(st.booleans()) else lambda x: tb.matmul(matrix, x)
    pairs = run(operator, count, **options)
    order = numpy.argsort({"largest": -values, "smallest": values, "magnitude": -abs(values)}[which])
    wanted = numpy.sort(values[order[:count]])
    assert numpy.asarray(pairs.converged).all()
    numpy.testing.assert_allclose(pairs.eigenvalues, wanted, rtol=1e-5)
    found = numpy.asarray(pairs.eigenvectors)
    numpy.testing.assert_allclose(numpy.linalg.norm(found, axis=0), 1, rtol=1e-6)
    left = numpy.linalg.norm(dense @ found - found * numpy.asarray(pairs.eigenvalues), axis=0)
    assert (left <= (rtol or 1e-9) * size).all()
