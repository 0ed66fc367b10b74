"""Functions along an axis: associative scans, and maps of one entry or one batch at a time."""

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, AxisError, DTypeError, NamesError, OperandError, ShapeError


def then(first: Any, second: Any) -> Any:
    """Combine two steps `y = a * x + b` into one. The order matters."""
    return {"a": second["a"] * first["a"], "b": second["a"] * first["b"] + second["b"]}


def steps(size: int, backend: str = "numpy") -> dict[str, tb.Tensor]:
    a = tb.asarray([1.0 + n % 3 / 2 for n in range(size)], names=("time",), backend=backend)
    b = tb.asarray([float(n % 5 - 2) for n in range(size)], names=("time",), backend=backend)
    return {"a": a, "b": b}


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("size", [*range(10), 16, 33])
def test_an_associative_scan_gives_what_a_loop_does(size: int, reverse: bool) -> None:
    coefficients = steps(size)
    order = list(reversed(range(size))) if reverse else list(range(size))
    expected_steps: dict[int, tuple[float, float]] = {}
    before = None
    for n in order:
        a, b = float(coefficients["a"][n]), float(coefficients["b"][n])
        before = (a, b) if before is None else (a * before[0], a * before[1] + b)
        expected_steps[n] = before
    scanned = tb.associative_scan(then, coefficients, reverse)
    assert scanned["b"].names == ("time",)
    assert scanned["a"].tolist() == [expected_steps[n][0] for n in range(size)]
    assert scanned["b"].tolist() == [expected_steps[n][1] for n in range(size)]


@pytest.mark.parametrize("axis", [0, 1, -1, "time"])
def test_an_associative_scan_along_any_axis(axis: int | str) -> None:
    x = tb.reshape(tb.arange(1.0, 13.0), (3, 4), names=("batch", "time"))
    along = 0 if axis == 0 else 1
    sums = tb.associative_scan(tb.add, x, axis=axis)
    assert sums.names == x.names
    assert sums.tolist() == tb.cumulative_sum(x, axis=along).tolist()


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
def test_an_associative_scan_in_transforms(backend: str, whole: Callable[..., Any]) -> None:
    tb.get_backend(backend)
    coefficients = steps(5, backend)

    def last(xs: dict[str, tb.Tensor]) -> tb.Tensor:
        return tb.sum(tb.associative_scan(then, xs)["b"] ** 2)

    def by_scan(xs: dict[str, tb.Tensor]) -> tb.Tensor:
        def step(carry: tb.Tensor, x: dict[str, tb.Tensor]) -> Any:
            y = x["a"] * carry + x["b"]
            return y, y

        return tb.sum(tb.scan(step, tb.zeros((), backend=backend), xs)[1] ** 2)

    reference = whole(tb.grad(by_scan))(coefficients)
    gradient = tb.grad(last)
    # Without jit, JAX would compile each op of the gradient.
    for function in (tb.jit(gradient),) if backend == "jax" else (gradient, tb.jit(gradient)):
        for name, slope in function(coefficients).items():
            numpy.testing.assert_allclose(numpy.asarray(slope), numpy.asarray(reference[name]), rtol=1e-5, atol=1e-8)

    def scanned(x: dict[str, tb.Tensor]) -> tb.Tensor:
        b: tb.Tensor = tb.associative_scan(then, x)["b"]
        return b

    batch = {
        name: tb.asarray([x.tolist(), [number + 1 for number in x.tolist()]], names=(None, "time"), backend=backend)
        for name, x in coefficients.items()
    }
    mapped, alone = whole(lambda batch, x: (tb.vmap(scanned)(batch), scanned(x)))(batch, coefficients)
    assert mapped.tolist()[0] == alone.tolist()
    assert mapped.shape == (2, 5)
    assert mapped.backend.name == backend


def test_an_associative_scan_of_matrices() -> None:
    x = tb.asarray([[[1.0, n], [0.0, 1.0]] for n in range(6)])
    assert tb.associative_scan(tb.matmul, x)[5].tolist() == [[1.0, 15.0], [0.0, 1.0]]


def test_mistakes_in_an_associative_scan() -> None:
    x = tb.ones((4, 3), names=("time", None))
    with pytest.raises(ArgumentError, match=r"^associative_scan: expected at least one tensor as xs, got xs=None"):
        tb.associative_scan(tb.add, None)
    with pytest.raises(AxisError, match=r"^associative_scan: xs: expected an axis"):
        tb.associative_scan(tb.add, x, axis="step")
    with pytest.raises(ShapeError, match=r"^associative_scan: expected xs\[1\] to have 4 entries, as xs\[0\] has"):
        tb.associative_scan(lambda a, b: a, (x, tb.ones(5)))
    with pytest.raises(
        ShapeError, match=r"expected result with the template of the function's argument, f32\[time: 2\]\[3\]"
    ):
        tb.associative_scan(lambda a, b: tb.sum(a, axis=1), x)
    with pytest.raises(DTypeError, match=r"cast it in the function with astype\(..., 'float32'\)"):
        tb.associative_scan(lambda a, b: tb.astype(a, "f64"), x)
    with pytest.raises(NamesError, match="expected result with the template of the function's argument"):
        tb.associative_scan(lambda a, b: a.rename("step", None), x)
    with pytest.raises(ArgumentError, match="expected result to be nested like xs"):
        tb.associative_scan(lambda a, b: (a, b), x)
    with pytest.raises(OperandError, match="expected a function that returns tensors, got returned=<class 'float'>"):
        tb.associative_scan(lambda a, b: 1.0, x)


# Maps


@pytest.mark.parametrize("batch_size", [None, 1, 2, 3, 7, 10])
def test_a_map_along_an_axis_gives_what_vmap_does(batch_size: int | None) -> None:
    x = tb.reshape(tb.arange(21.0), (3, 7), names=("feature", "time"))

    def function(entry: dict[str, tb.Tensor]) -> Any:
        return entry["x"] * 2, {"sum": tb.sum(entry["x"]) + entry["t"]}

    sequences = {"x": x, "t": tb.arange(7.0, name="time")}
    mapped = tb.map_along_axis(function, sequences, axis="time", batch_size=batch_size)
    reference = tb.vmap(function, in_axes=({"x": "time", "t": 0},))(sequences)
    assert mapped[0].template is reference[0].template
    assert mapped[0].tolist() == reference[0].tolist()
    assert mapped[1]["sum"].names == ("time",)
    assert mapped[1]["sum"].tolist() == reference[1]["sum"].tolist()


@pytest.mark.parametrize("batch_size", [None, 2])
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_a_map_along_an_axis_in_transforms(batch_size: int | None, backend: str) -> None:
    x = tb.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], backend=backend)

    def total(x: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.map_along_axis(lambda row: tb.prod(row), x, batch_size=batch_size))

    gradient = tb.grad(total)
    for function in (tb.jit(gradient),) if (batch_size, backend) == (2, "jax") else (gradient, tb.jit(gradient)):
        assert function(x).tolist() == [[2.0, 1.0], [4.0, 3.0], [6.0, 5.0]]


def test_a_map_along_an_axis_of_nothing() -> None:
    for batch_size in (None, 2):
        mapped = tb.map_along_axis(tb.exp, tb.ones((0, 3)), batch_size=batch_size)
        assert mapped.shape == (0, 3)


def test_mistakes_in_a_map_along_an_axis() -> None:
    with pytest.raises(ArgumentError, match=r"^map_along_axis: expected a batch size of at least 1, got batch_size=0"):
        tb.map_along_axis(tb.exp, tb.ones(3), batch_size=0)
    with pytest.raises(AxisError, match=r"^map_along_axis: xs: expected an axis"):
        tb.map_along_axis(tb.exp, tb.ones(3), axis=1)
