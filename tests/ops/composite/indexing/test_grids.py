"""Interpolation on a grid: against SciPy, against a padded grid, and gradients against differences."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from scipy.ndimage import map_coordinates

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, AxisError, DTypeError, NamesError, ShapeError, TensorBackendError

from ....mistakes import error_text, every_mistake

BACKENDS = ["binary", "numpy", "jax"]
SCIPY = {
    "constant": "grid-constant",
    "edge": "nearest",
    "periodic": "grid-wrap",
    "wrap": "grid-wrap",
    "reflect": "mirror",
    "symmetric": "reflect",
}
"""SciPy's names of our boundary modes."""

MIXTURES: list[Any] = [
    ("edge", "periodic"),
    ("constant", "symmetric"),
    (1.5, "edge"),
    {"y": ("reflect", -2), "x": (0.5, "wrap")},
    {"x": "symmetric"},
]


def drawn(*shape: int, seed: int = 0) -> Any:
    return numpy.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("boundary", SCIPY)
def test_values_are_scipys(boundary: str, order: int, backend: str, whole: Callable[..., Any]) -> None:
    rng = numpy.random.default_rng(1)
    pairs = [
        (rng.standard_normal(shape), rng.uniform(-12, 12, (40, len(shape)))) for shape in ((5,), (4, 3), (3, 2, 4))
    ]

    @whole
    def sample(pairs: Any) -> Any:
        return [tb.grid_sample(grid, points, boundary=boundary, order=order) for grid, points in pairs]

    of_pairs = sample([[tb.asarray(array, backend=backend) for array in pair] for pair in pairs])
    for (grid, points), samples in zip(pairs, of_pairs, strict=True):
        reference = map_coordinates(grid, points.T, order=order, mode=SCIPY[boundary])
        numpy.testing.assert_allclose(numpy.asarray(samples), reference, rtol=0, atol=1e-14)


def padded(grid: tb.Tensor, point: list[float], boundary: Any) -> float:
    """Return the value at a point by the definition: a weighted mean of entries of the grid, padded at its boundary."""
    wide = tb.pad(grid, [(8, 8)] * 2, mode=boundary)
    shifted, total = [coordinate + 8 for coordinate in point], 0.0
    for corner in itertools.product((0, 1), repeat=2):
        at = [math.floor(coordinate) + side for coordinate, side in zip(shifted, corner, strict=True)]
        weights = [1 - abs(coordinate - place) for coordinate, place in zip(shifted, at, strict=True)]
        total += math.prod(weights) * float(wide[*at])
    return total


@pytest.mark.parametrize("backend", ["binary", "numpy"])
@pytest.mark.parametrize("boundary", [*SCIPY, 2.5, *MIXTURES], ids=str)
def test_a_sample_is_that_of_the_padded_grid(boundary: Any, backend: str) -> None:
    grid = tb.asarray(drawn(3, 4), names=("y", "x"), backend=backend)
    points = numpy.random.default_rng(2).uniform(-7, 9, (60, 2))
    samples = tb.grid_sample(grid, tb.asarray(points, backend=backend), boundary=boundary)
    reference = [padded(grid, point, boundary) for point in points.tolist()]
    numpy.testing.assert_allclose(numpy.asarray(samples), reference, rtol=0, atol=1e-13)


def test_examples_points_and_channels_keep_their_names() -> None:
    grid = tb.asarray(drawn(2, 4, 3, 5), names=("batch", "y", "colour", "x"))
    points = tb.asarray(numpy.random.default_rng(3).uniform(-1, 5, (2, 6, 2)), names=("batch", "point", None))
    samples = tb.grid_sample(grid, points, axes=("x", "y"), boundary={"x": "edge", "y": "periodic"})
    assert samples.template == tb.Template((2, 6, 3), "f64", ("batch", "point", "colour"))
    assert tb.template(grid.shape, "f64", grid.names).ndim == 4
    for batch, point, colour in itertools.product(range(2), range(6), range(3)):
        plane = tb.permute_dims(grid[batch, :, colour], ("x", "y"))
        one = tb.grid_sample(plane, points[batch, point], boundary=("edge", "edge"))
        alike = tb.grid_sample(plane, points[batch, point], boundary={"x": "edge", "y": "periodic"})
        assert samples[batch, point, colour].item() == alike.item()
        assert one.shape == ()


def test_examples_broadcast() -> None:
    grid, points = tb.asarray(drawn(2, 1, 5)), tb.asarray(numpy.random.default_rng(4).uniform(0, 4, (1, 3, 7, 1)))
    samples = tb.grid_sample(grid, points, axes=(2,))
    assert samples.shape == (2, 3, 7)
    for first, second in itertools.product(range(2), range(3)):
        assert samples[first, second].tolist() == tb.grid_sample(grid[first, 0], points[0, second]).tolist()


@pytest.mark.parametrize("channels", [(), (3,)])
def test_many_points_are_those_one_block_at_a_time(channels: tuple[int, ...]) -> None:
    grid, points = tb.asarray(drawn(2, 9, 8, *channels)), numpy.random.default_rng(5).uniform(-3, 11, (2, 40_001, 2))
    samples = tb.grid_sample(grid, tb.asarray(points), axes=(1, 2), boundary="reflect")
    for start in range(0, 40_001, 9_000):
        part = tb.grid_sample(grid, tb.asarray(points[:, start : start + 9_000]), axes=(1, 2), boundary="reflect")
        assert numpy.array_equal(samples[:, start : start + 9_000], part)
    few = tb.grid_sample(grid[:1], tb.asarray(points.reshape(-1, 1, 2)), axes=(1, 2), boundary="reflect")
    assert numpy.array_equal(few[:40_001, 0], samples[0])


@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize("boundary", ["edge", "periodic", 0.0, ("reflect", "symmetric")], ids=str)
def test_gradients_are_the_slopes(boundary: Any, order: int) -> None:
    grid, points = tb.asarray(drawn(4, 5)), tb.asarray(numpy.random.default_rng(6).uniform(-4, 8, (9, 2)))
    weights = tb.asarray(drawn(9, seed=7))

    def loss(grid: tb.Tensor, points: tb.Tensor) -> tb.Tensor:
        return tb.sum(weights * tb.grid_sample(grid, points, boundary=boundary, order=order) ** 2)

    by_grid, by_points = tb.grad(loss, argnums=(0, 1))(grid, points)
    step = 1e-6
    for gradient, position, x in ((by_grid, 0, grid), (by_points, 1, points)):
        for place in itertools.product(*map(range, x.shape)):
            sides = []
            for sign in (1, -1):
                arguments = [grid, points]
                arguments[position] = tb.indexed_add(x, tb.asarray([place]), tb.asarray([sign * step], dtype="f64"))
                sides.append(float(loss(*arguments)))
            assert gradient[place].item() == pytest.approx((sides[0] - sides[1]) / (2 * step), abs=1e-6)


@pytest.mark.parametrize("boundary", ["constant", math.nan, "edge"], ids=str)
def test_both_ends_of_an_axis_lie_inside(boundary: Any) -> None:
    grid = tb.asarray([1.0, 2.0, 4.0])
    assert tb.grid_sample(grid, tb.asarray([[0.0], [2.0]]), boundary=boundary).tolist() == [1.0, 4.0]
    slope = tb.grad(lambda x: tb.sum(tb.grid_sample(grid, x, boundary=boundary)))
    assert slope(tb.asarray([[0.0], [1.0], [2.0]])).tolist() == [[1.0], [2.0], [2.0]]


@pytest.mark.parametrize("order", [0, 1, 3])
@pytest.mark.parametrize("boundary", ["constant", "edge", "periodic", "symmetric"])
def test_a_point_that_is_not_finite_gives_nan_and_a_far_one_what_stands_there(boundary: str, order: int) -> None:
    grid = tb.asarray([3.0, 3.0])
    far = tb.grid_sample(grid, tb.asarray([[-1e30], [1e30]]), boundary=boundary, order=order)
    assert far.tolist() == ([0.0, 0.0] if boundary == "constant" else [3.0, 3.0])
    nowhere = tb.grid_sample(grid, tb.asarray([[math.inf], [-math.inf], [math.nan]]), boundary=boundary, order=order)
    assert all(map(math.isnan, nowhere.tolist()))


def test_dtypes() -> None:
    points = tb.asarray([[0.25]])
    assert tb.grid_sample(tb.asarray([0, 4]), points).template == tb.Template((1,), "f32")
    assert tb.grid_sample(tb.asarray([0, 4j]), points).tolist() == [1j]
    assert tb.grid_sample(tb.asarray([0.0, 4.0], dtype="bf16"), tb.astype(points, "bf16")).dtype is tb.bfloat16
    assert tb.grid_sample(tb.asarray([0, 4]), tb.asarray([[1]])).tolist() == [4.0]
    assert tb.grid_sample(tb.asarray([0.0, 4.0]), tb.astype(points, "f64")).dtype is tb.float64
    assert tb.grid_sample(tb.asarray([0, 4j]), tb.asarray([[5.0]]), boundary=1 + 2j).tolist() == [1 + 2j]


def test_under_transforms_and_without_data() -> None:
    grid, points = tb.asarray(drawn(3, 4, 5)), tb.asarray(numpy.random.default_rng(8).uniform(-2, 6, (3, 7, 2)))

    def sample(grid: tb.Tensor, points: tb.Tensor) -> tb.Tensor:
        return tb.grid_sample(grid, points, boundary=("edge", 0))

    reference = [sample(grid[example], points[example]).tolist() for example in range(3)]
    assert tb.vmap(sample)(grid, points).tolist() == reference
    assert tb.vmap(sample, in_axes=(None, 0))(grid[0], points)[1].tolist() == sample(grid[0], points[1]).tolist()
    assert tb.vmap(sample, in_axes=(0, None))(grid, points[0])[1].tolist() == sample(grid[1], points[0]).tolist()
    assert tb.jit(tb.vmap(sample))(grid, points).tolist() == reference
    assert sample(tb.template((4, 5), "f64"), tb.template((7, 2), "f64")).template == tb.Template((7,), "f64")
    assert tb.dry_run(sample, "f64[4, 5]", "f64[7, 2]").flops > 0


MISTAKES: list[tuple[Callable[[tb.Tensor], Any], type[TensorBackendError], str]] = [
    (lambda x: tb.grid_sample(x, tb.zeros((4, 3))), AxisError, "each axis|from -2 to 1"),
    (lambda x: tb.grid_sample(x, tb.zeros((4, 1)), axes=(0, 1)), ShapeError, "2 components along the last axis"),
    (lambda x: tb.grid_sample(x, tb.zeros((1,)), axes=(1,)), ShapeError, "1 axes of examples in front"),
    (lambda x: tb.grid_sample(x, tb.zeros((4, 0))), ShapeError, "components along the last axis"),
    (lambda x: tb.grid_sample(x, tb.zeros(())), ShapeError, "components along the last axis"),
    (lambda x: tb.grid_sample(x, tb.zeros((4, 2)), axes=()), AxisError, "at least one spatial axis"),
    (lambda x: tb.grid_sample(x, tb.zeros((4, 2)), axes=("y", "y")), AxisError, "each axis"),
    (lambda x: tb.grid_sample(x[:0], tb.zeros((4, 2))), ShapeError, "spatial axes with at least one entry"),
    (lambda x: tb.grid_sample(x > 0, tb.zeros((4, 2))), DTypeError, "a numeric dtype"),
    (lambda x: tb.grid_sample(x, tb.zeros((4, 2), dtype="c64")), DTypeError, "a real dtype"),
    (lambda x: tb.grid_sample(x, tb.zeros((4, 2)), order=2), ArgumentError, "an order of 0, 1 or 3, got order=2"),
    (lambda x: tb.grid_sample(x, tb.zeros((4, 2)), boundary="mirror"), ArgumentError, "boundary to be 'constant'"),
    (lambda x: tb.grid_sample(x, tb.zeros((4, 2)), boundary=("edge", "up")), ArgumentError, "or a pair of these"),
    (lambda x: tb.grid_sample(x, tb.zeros((4, 1)), boundary={"x": 0}), AxisError, "boundary only for the axes"),
    (lambda x: tb.grid_sample(x, tb.zeros((4, 2)), boundary=1j), DTypeError, "complex"),
    (
        lambda x: tb.grid_sample(
            x[None].rename("a", "y", "x"), tb.zeros((1, 2, 2), names=("b", None, None)), axes=(1, 2)
        ),
        NamesError,
        "name",
    ),
]


@every_mistake(MISTAKES)
def test_mistakes(mistake: Callable[[tb.Tensor], Any], kind: type[TensorBackendError], text: str) -> None:
    tensors = tb.asarray(drawn(3, 4), names=("y", "x")), tb.template((3, 4), "f64", ("y", "x"))
    assert error_text(mistake, kind, text, tensors).startswith("grid_sample: ")
