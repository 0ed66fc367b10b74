"""Oracles of minima and roots: NumPy's systems, SciPy's roots, and the conditions that minima and roots fulfil."""

from __future__ import annotations

import math
from typing import Any

import numpy
import scipy.optimize
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.protocol import Backend
from tensorbackend.testing.strategies import Draw

from .table import Recorder, law

METHODS = ["l-bfgs", "L-BFGS", "L-BFGS-B", "BFGS", "SLSQP", "Newton-CG", "TNC", "trust-constr", "Nelder-Mead", "Powell"]
UNBOUNDED = ["BFGS", "Newton-CG"]
BOWLS = st.integers(0, 2**32 - 1)


def bowl(seed: int, size: int, examples: int | None) -> tuple[Any, Any]:
    """The matrix A and the vectors b of x A x / 2 - b x, whose curvatures are between 1 and 5."""
    random = numpy.random.default_rng(seed)
    vectors = numpy.linalg.qr(random.normal(size=(size, size)))[0]
    a = (vectors * random.uniform(1, 5, size)) @ vectors.T
    return (a + a.T) / 2, random.uniform(-3, 3, (size,) if examples is None else (examples, size))


@law("optimize.minimize", by="SciPy")
def minimize(draw: Draw, run: Recorder, backend: Backend) -> None:
    size, examples = draw(st.integers(1, 4)), draw(st.sampled_from([None, 1, 3]))
    a, b = bowl(draw(BOWLS), size, examples)
    method = draw(st.sampled_from(["l-bfgs"] * 6 + METHODS))
    quick = method.lower() == "l-bfgs"
    options: dict[str, Any] = {}
    least, greatest = -math.inf, math.inf
    if method not in UNBOUNDED and draw(st.booleans()):
        least, greatest = draw(st.sampled_from([(-0.5, 0.5), (-math.inf, 0.25), (-0.25, math.inf)]))
        options["bounds"] = tuple(draw(st.just(None)) if math.isinf(end) else end for end in (least, greatest))
    tolerance = draw(st.sampled_from([1e-5, 1e-8]))
    if draw(st.booleans()):
        options["tolerance"] = tolerance
    elif examples is not None and draw(st.booleans()):
        options["tolerance"] = tb.full((examples,), tolerance, dtype="float64", backend=backend)
    else:
        tolerance = 1e-5
    if draw(st.booleans()):
        options["history"] = draw(st.integers(1, 5))
    most = draw(st.sampled_from([None, 500, 0])) if quick else draw(st.sampled_from([None, 500]))
    if most is not None:
        options["max_iterations"] = most
    start = numpy.zeros_like(b)
    matrix, target = tb.asarray(a, backend=backend), tb.asarray(b, backend=backend)

    def value(x: Any) -> Any:
        return tb.sum(tb.sum(matrix * x[..., None], axis=-2) * x, axis=-1) / 2 - tb.sum(target * x, axis=-1)

    nested = quick and draw(st.booleans())
    if nested:
        minimum = run(lambda tree: value(tree["x"]), {"x": tb.asarray(start, backend=backend)}, method, **options)
        minimum = minimum._replace(x=minimum.x["x"])
    else:
        minimum = run(value, tb.asarray(start, backend=backend), method, **options)
    x = numpy.asarray(minimum.x)
    assert minimum.value.shape == minimum.converged.shape == minimum.iterations.shape == b.shape[:-1]
    numpy.testing.assert_allclose(
        minimum.value, numpy.sum(x @ a * x, -1) / 2 - numpy.sum(b * x, -1), rtol=1e-9, atol=1e-9
    )
    assert not numpy.asarray(minimum.diverged).any()
    if most == 0:
        numpy.testing.assert_array_equal(x, numpy.clip(start, least, greatest))
        assert not numpy.asarray(minimum.iterations).any()
        return
    assert numpy.asarray(minimum.converged).all()
    root = numpy.linalg.cholesky(a)
    rows = [
        scipy.optimize.lsq_linear(root.T, numpy.linalg.solve(root, row), (least, greatest), tol=1e-14).x
        for row in b.reshape(-1, size)
    ]
    # SciPy's methods stop where values or steps become small.
    near = 1e-4 if quick else 3e-2  # the barrier of "trust-constr" keeps away from bounds
    if method == "Nelder-Mead" and "bounds" in options:
        return  # which SciPy's simplex may get stuck at
    numpy.testing.assert_allclose(x, numpy.reshape(rows, b.shape), rtol=0, atol=near)
    if quick and examples is None:
        check_trajectory(draw, run, value, tb.asarray(start, backend=backend), options, minimum)


def check_trajectory(draw: Draw, run: Recorder, value: Any, start: Any, options: dict[str, Any], last: Any) -> None:
    """The states after some iterations are what as many iterations give."""
    steps = sorted(draw(st.sets(st.integers(0, 4), min_size=1, max_size=2)))
    seen = run(value, start, trajectory=steps, **options)
    for place, count in enumerate(steps):
        alone = run(value, start, **(options | {"max_iterations": count}))
        numpy.testing.assert_allclose(seen.x[place], alone.x, rtol=1e-9, atol=1e-12)
        numpy.testing.assert_allclose(seen.value[place], alone.value, rtol=1e-9, atol=1e-12)
        assert seen.iterations[place].item() == alone.iterations.item() <= count
    assert last.iterations.item() >= seen.iterations[-1].item()


@law("optimize.root", by="NumPy")
def root(draw: Draw, run: Recorder, backend: Backend) -> None:
    size, several = draw(st.integers(1, 4)), draw(st.booleans())
    random = numpy.random.default_rng(draw(BOWLS))
    a: Any = numpy.eye(size) * 3 + random.uniform(-1, 1, (size, size)) / size
    b: Any = random.uniform(-3, 3, size)
    bend = draw(st.sampled_from([0.0, 0.25, 1.0]))
    if draw(st.booleans()):
        a, b = a + 0.5j * numpy.eye(size), b + 1j
    shape = (1, size) if several else (size,)
    matrix, target = tb.asarray(a, backend=backend), tb.asarray(b, backend=backend)
    options: dict[str, Any] = {}
    tolerance = draw(st.sampled_from([1e-6, 1e-10]))
    if draw(st.booleans()):
        options["tolerance"] = tolerance
    else:
        tolerance = 1e-6
    most = draw(st.sampled_from([50, 1, 0]))
    if most != 50 or draw(st.booleans()):
        options["max_iterations"] = most

    def function(x: Any) -> Any:
        flat = tb.reshape(x, -1)
        value = tb.sum(matrix * flat, axis=-1) + bend * flat**3 - target
        return tb.reshape(value, shape)

    found = run(function, tb.zeros(shape, dtype=matrix.dtype, backend=backend), **options)
    x = numpy.asarray(found.x).ravel()
    value = a @ x + bend * x**3 - b
    assert found.x.shape == found.value.shape == shape
    numpy.testing.assert_allclose(numpy.ravel(found.value), value, rtol=1e-9, atol=1e-9)
    assert found.converged.item() == (numpy.abs(value).max() <= tolerance)
    assert found.iterations.item() <= most
    assert not found.diverged.item()
    if bend == 0 and most > 0:  # Newton's method solves it in one step
        numpy.testing.assert_allclose(x, numpy.linalg.solve(a, b), rtol=1e-9, atol=1e-9)
    if most == 50:
        assert found.converged.item()
    singular = run(lambda x: x * 0.0 + 1.0, tb.zeros(shape, backend=backend), max_iterations=3)
    assert not singular.converged.item()


@law("optimize.fixed_point", by="NumPy")
def fixed_point(draw: Draw, run: Recorder, backend: Backend) -> None:
    """Of x = A x + b with a contraction A, which is the solution of a linear system."""
    size = draw(st.integers(1, 3))
    random = numpy.random.default_rng(draw(BOWLS))
    a: Any = random.uniform(-1, 1, (size, size)) / (2 * size)
    b: Any = random.uniform(-3, 3, size)
    matrix, shift = tb.asarray(a, backend=backend), tb.asarray(b, backend=backend)
    options: dict[str, Any] = draw(st.sampled_from([{}, {"tolerance": 1e-10}, {"max_iterations": 200}]))
    found = run(lambda x: matrix @ x + shift, tb.zeros(size, dtype="f64", backend=backend), **options)
    assert found.converged.item()
    numpy.testing.assert_allclose(found.x, numpy.linalg.solve(numpy.eye(size) - a, b), rtol=1e-4, atol=1e-4)


@law("optimize.least_squares", by="SciPy")
def least_squares(draw: Draw, run: Recorder, backend: Backend) -> None:
    """Of sums of sines with unknown amplitudes and a bend."""
    random = numpy.random.default_rng(draw(BOWLS))
    rows: Any = random.uniform(-1, 1, (6, 2)) + numpy.eye(6, 2) * 2
    seen: Any = random.uniform(-1, 1, 6)
    bend = draw(st.sampled_from([0.0, 0.25]))
    matrix, target = tb.asarray(rows, backend=backend), tb.asarray(seen, backend=backend)
    options: dict[str, Any] = draw(st.sampled_from([{}, {"tolerance": 1e-6}, {"max_iterations": 60}]))
    start = tb.zeros(2, dtype="f64", backend=backend)
    unit = draw(st.sampled_from([1.0, 1e-200, 1e-9, 1e100]))
    found = run(lambda x: (matrix @ (x + bend * tb.sin(x)) - target) * unit, start, **options)
    wanted = scipy.optimize.least_squares(
        lambda x: rows @ (x + bend * numpy.sin(x)) - seen, numpy.zeros(2), xtol=1e-14, ftol=1e-14, gtol=1e-14
    )
    assert found.converged.item()
    numpy.testing.assert_allclose(found.x, wanted.x, rtol=1e-4, atol=1e-5)
    numpy.testing.assert_allclose(numpy.sum((numpy.asarray(found.residuals) / unit) ** 2) / 2, wanted.cost, rtol=1e-7)
    if 1e-100 < unit < 1e150:
        numpy.testing.assert_allclose(found.cost.item(), wanted.cost * unit**2, rtol=1e-7)


@law("optimize.bisect", by="SciPy")
def bisect(draw: Draw, run: Recorder, backend: Backend) -> None:
    shape = draw(st.sampled_from([(), (3,), (2, 1)]))
    random = numpy.random.default_rng(draw(BOWLS))
    places, slopes = random.uniform(-2, 2, shape), random.uniform(0.5, 2, shape) * draw(st.sampled_from([1, -1]))
    low, high = random.uniform(-4, -2.5, shape), random.uniform(2.5, 4, shape[-1:])
    if draw(st.booleans()) and shape:
        low[0] = 3.0 * numpy.ones(shape[1:])  # both ends on one side of the root
        high = high + 2
    low_arg: Any = low
    options: dict[str, Any] = {}
    tolerance = draw(st.sampled_from([1e-6, 1e-3, 1e-10]))
    if tolerance != 1e-6:
        options["tolerance"] = tolerance
    most = draw(st.sampled_from([100, 4, 0]))
    if most != 100:
        options["max_iterations"] = most
    at, slope = (tb.asarray(x, backend=backend) for x in (places, slopes))
    function = lambda x: slope * ((x - at) + 0.1 * (x - at) ** 3)  # noqa: E731
    found = run(function, tb.asarray(low_arg, backend=backend), tb.asarray(high, backend=backend), **options)
    low, high = numpy.broadcast_arrays(low, high)
    bracketed = (low <= places) & (places <= high)
    x = numpy.asarray(found.x)
    assert found.x.shape == found.converged.shape == low.shape
    offset = x - places
    numpy.testing.assert_allclose(found.value, slopes * (offset + 0.1 * offset**3), rtol=1e-9, atol=1e-9)
    numpy.testing.assert_array_equal(found.diverged, ~bracketed)
    halvings = int(found.iterations.item())
    width = (high - low) / 2.0**halvings
    assert (numpy.abs(x - places)[bracketed] <= width[bracketed] / 2 + 1e-12).all()
    numpy.testing.assert_array_equal(found.converged, bracketed & (width <= tolerance * (1 + 1e-9)))
    assert halvings <= most
    if most == 100:
        for place in numpy.ndindex(low.shape):
            if bracketed[place]:
                known = scipy.optimize.brentq(lambda y, place=place: y - places[place], low[place], high[place])
                assert abs(known - x[place]) <= tolerance
