"""Arrays of the NumPy namespace: views that are written through, on each backend and in each transformation."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.errors import ArgumentError, ShapeError, TensorBackendError

BACKENDS = ["binary", "numpy", "jax"]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Any:
    with tb.default_backend(request.param):
        yield request.param


def changed(x: Any) -> Any:
    """A program of writes through views, as NumPy and the namespace run it."""
    x = x.copy()
    row = x[1]
    row[:] = 5
    x[0] += row
    x.T[2] *= 2
    flat = x.reshape(-1)
    flat[1::4] = -1
    part = x[1:, 1:]
    part[...] = part + x[0, 0]
    part[0, 0] += 100
    x[x > 90] = 7
    x[[0, -1], 0] = 9
    x[::-1][0] -= 1
    return x


def test_writes_through_views_are_seen_by_the_base_and_by_other_views(backend: str) -> None:
    start = numpy.arange(12.0).reshape(3, 4)
    assert numpy.asarray(changed(np.array(start))).tolist() == changed(start).tolist()


def test_a_view_follows_its_base() -> None:
    x = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    row, column, flat = x[1], x[:, 0], x.ravel()
    x[1] = 7
    x += 1
    assert (row.tolist(), column.tolist(), flat.tolist()) == ([8, 8, 8], [1, 8], [1, 2, 3, 8, 8, 8])
    assert row.base is x
    assert x.base is None
    assert np.shares_memory(row, column)
    assert not np.shares_memory(x, x.copy())


def test_assigning_to_a_shape_leaves_earlier_views_as_they_are() -> None:
    x = np.arange(6)
    part = x[2:4]
    x.shape = (2, 3)
    part[0] = 50
    view = x[0]
    view.shape = (3, 1)
    view[0, 0] = -1
    assert x.tolist() == [[-1, 1, 50], [3, 4, 5]]
    assert view.shape == (3, 1)


def test_a_tensor_is_a_value_whatever_becomes_of_the_array() -> None:
    t = tb.asarray([1.0, 2.0], names=("n",))
    x = np.asarray(t)
    taken = x.tensor
    x[0] = 9
    x += 1
    assert t.tolist() == taken.tolist() == [1.0, 2.0]
    assert x.tolist() == [10.0, 3.0]
    assert x.names == x.tensor.names == ("n",)
    assert np.asarray(x) is x


def test_elements_are_numbers_on_numpy_and_arrays_elsewhere() -> None:
    x = np.array([1.5, 2.5])
    numbers: list[Any] = [x[0], np.sum(x)]
    assert [type(each) for each in numbers] == [numpy.float64, numpy.float64]
    with tb.default_backend("jax"):
        total = np.sum(np.array([1.5, 2.5]))
        before = total
        total += 1
        assert isinstance(total, np.ndarray)
        assert (float(before), float(total)) == (4.0, 5.0)
        assert hash(total) == hash(5.0)


def test_a_view_of_what_no_variable_holds_is_written_to_as_any_other() -> None:
    x = np.arange(6).reshape(2, 3).T
    x[0, 1] = 9
    x += 1
    x[1:] = x[:2]
    assert x.tolist() == [[1, 10], [1, 10], [2, 5]]
    kept = np.arange(6)
    y = kept.reshape(2, 3)
    y[0, 0] = 7
    assert y.base is kept
    assert kept[0] == 7


def test_an_array_without_axes_is_changed_in_place() -> None:
    x = np.array(3.0)
    same = x
    x += 1
    assert float(same) == 4.0


def energy(x: Any) -> Any:
    """A scalar whose gradient goes through writes and views."""
    y = np.zeros_like(x)
    y[1:] = x[1:] * x[:-1]
    y[0] += 2 * x[0]
    part = y[1:]
    part *= 3
    y.reshape(-1)[0] *= x[-1]
    return np.sum(y**2)


def test_gradients_go_through_writes(backend: str) -> None:
    at = numpy.array([1.0, 2.0, 3.0])
    step = 1e-6
    slopes = [(energy_of_numpy(at + step * e) - energy_of_numpy(at - step * e)) / (2 * step) for e in numpy.eye(3)]
    both: Any = tb.value_and_grad(energy)(np.array(at))  # arrays where the arguments are
    value, gradient = both
    assert isinstance(gradient, np.ndarray)
    assert isinstance(value, np.ndarray)
    numpy.testing.assert_allclose(numpy.asarray(gradient), slopes, rtol=1e-6)
    assert float(value) == pytest.approx(energy_of_numpy(at))


def energy_of_numpy(x: Any) -> Any:
    """The same by NumPy."""
    y = numpy.zeros_like(x)
    y[1:] = 3 * x[1:] * x[:-1]
    y[0] = 2 * x[0] * x[-1]
    return numpy.sum(y**2)


def test_a_program_is_compiled_and_batched(backend: str) -> None:
    at = numpy.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])
    expected = [energy_of_numpy(row) for row in at]
    jitted = tb.jit(energy)
    numpy.testing.assert_allclose([float(jitted(np.array(row))) for row in at], expected)
    batched = tb.vmap(energy)(np.array(at))
    assert isinstance(batched, np.ndarray)
    numpy.testing.assert_allclose(numpy.asarray(batched), expected)
    jacobian = tb.jacobian(lambda x: x[1:] * x[:-1])(np.array(at[0]))
    assert numpy.asarray(jacobian).tolist() == [[2.0, 1.0, 0.0], [0.0, 3.0, 2.0]]


def test_a_dry_run_needs_no_data() -> None:
    report = tb.dry_run(energy, np.asarray(tb.template((1000,), "f64")))
    assert report.flops > 0


def test_constants_are_written_to_in_a_trace() -> None:
    constant = np.array([1.0, 2.0, 3.0])

    def function(x: Any) -> Any:
        y, z = constant.copy(), np.exp(constant)
        y[0] = x[0]
        z[1:] *= x[1:]
        y += x
        return np.sum(y * z)

    gradient = tb.grad(function)(np.ones(3))
    e = numpy.exp([1.0, 2.0, 3.0])
    numpy.testing.assert_allclose(numpy.asarray(gradient), [2 * e[0], e[1] * 4, e[2] * 5])
    assert constant.tolist() == [1.0, 2.0, 3.0]


def test_an_array_outside_that_a_trace_wrote_to_cannot_be_used_unnoticed() -> None:
    outside = np.zeros(3)

    def leaks(x: Any) -> Any:
        outside[0] = x[0]
        return np.sum(x)

    with pytest.raises(TensorBackendError, match="assignment of traced values to an array from outside"):
        tb.grad(leaks)(np.ones(3))
    assert (outside + 1).tolist() == [1.0, 1.0, 1.0]


def test_loops_carry_arrays() -> None:
    result = tb.fori_loop(0, 5, lambda n, x: x + 1, np.zeros(2))
    assert isinstance(result, np.ndarray)
    assert result.tolist() == [5.0, 5.0]
    mapped = tb.tree_map(lambda t: t * 2, {"a": np.ones(2)})
    assert mapped["a"].tolist() == [2.0, 2.0]


def test_dtypes_and_texts_are_numpys() -> None:
    x = np.array([[1, 2], [3, 4]], dtype="i4")
    assert x.dtype == np.int32
    assert x.dtype == numpy.dtype("int32")
    assert repr(x) == "array([[1, 2],\n       [3, 4]], dtype=int32)"
    assert str(np.array([1.5, 2.0])) == "[1.5 2. ]"
    assert f"{np.array(2.5):.2f}" == "2.50"
    assert (x.strides, x.itemsize, x.nbytes, len(x), x.flags.c_contiguous) == ((8, 4), 4, 16, 2, True)
    assert repr(np.asarray(tb.template((2,), "f64"))) == "array(<f64[2]>)"


def test_arrays_are_pickled_and_copied() -> None:
    x = np.arange(4)
    for twin in (pickle.loads(pickle.dumps(x[1:])), copy.copy(x[1:]), copy.deepcopy(x[1:])):
        twin[0] = 9
        assert twin.tolist() == [9, 2, 3]
    assert x.tolist() == [0, 1, 2, 3]


def test_numbers_of_numpy_next_to_arrays_give_arrays() -> None:
    x = np.array([1.0, 2.0])
    assert isinstance(numpy.float64(3) * x, np.ndarray)
    assert isinstance(numpy.exp(x), np.ndarray)
    assert isinstance(numpy.concatenate([x, x]), np.ndarray)
    assert (numpy.float64(3) * x).tolist() == [3.0, 6.0]
    assert (tb.asarray([1.0, 1.0], dtype="f64") + x).tolist() == [2.0, 3.0]


def test_mixed_dtypes_follow_numpy_2() -> None:
    ints, floats = np.array([1, 2], dtype="i4"), np.array([1, 2], dtype="f4")
    assert (ints * floats).dtype == np.float64
    assert (floats * 2.5).dtype == np.float32
    assert (floats * np.float64(2.5)).dtype == np.float64
    assert (np.arange(3) / 2).dtype == np.exp(np.arange(3)).dtype == np.mean(np.arange(3)).dtype == np.float64
    assert (np.array([True]) + np.array([True])).dtype == np.bool_


OF_MEMORY: dict[str, Any] = {"strides": (8,)}
"""An argument that the stub leaves out."""

REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: np.diagonal(np.zeros((2, 2))).fill(1), ValueError, "may be written to"),
    (lambda: np.copyto(np.zeros(2), np.array(["a", "b"])), TypeError, "use a list of texts"),
    (lambda: np.array(n for n in range(3)), TypeError, "np.fromiter"),
    (lambda: np.ndarray((2,), **OF_MEMORY), ValueError, "index or reshape"),
    (lambda: bool(np.zeros(2)), ValueError, "ambiguous"),
]


@pytest.mark.parametrize(("call", "kind", "text"), REFUSED)
def test_what_cannot_be_had_is_refused_with_a_way_out(
    call: Callable[[], Any], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text):
        call()


def test_errors_are_those_that_numpy_programs_expect() -> None:
    x = np.zeros((2, 3))
    with pytest.raises(IndexError):
        x[2]
    with pytest.raises(IndexError):
        x[0, 5]
    with pytest.raises(IndexError, match="no fields"):
        x["name"]
    y, z = np.arange(3), np.zeros(3)
    with pytest.raises(ShapeError):
        x + np.zeros(4)
    with pytest.raises(ShapeError):
        x[0] = np.zeros(4)
    with pytest.raises(TypeError, match="same_kind"):
        y += 0.5
    with pytest.raises(ShapeError):
        z += np.zeros((2, 3))
    with pytest.raises(ArgumentError):
        np.linspace(0, 1, -1)


def test_a_long_chain_of_views_is_read_and_written_through() -> None:
    x = rest = np.arange(20_000)
    while rest.size > 5:
        rest[0] += 1
        rest = rest[2::1] if rest.size % 3 else rest[:0:-1]
    rest[:] = -1
    wanted = rest_wanted = numpy.arange(20_000)
    while rest_wanted.size > 5:
        rest_wanted[0] += 1
        rest_wanted = rest_wanted[2::1] if rest_wanted.size % 3 else rest_wanted[:0:-1]
    rest_wanted[:] = -1
    numpy.testing.assert_array_equal(numpy.asarray(x), wanted)


def test_an_array_is_pickled_to_a_file(tmp_path: Path) -> None:
    x = np.arange(6.0).reshape(2, 3)
    x.dump(tmp_path / "x.pickle")
    with open(tmp_path / "x.pickle", "rb") as file:
        assert pickle.load(file).tolist() == x.tolist()
    assert pickle.loads(x.T.dumps()).tolist() == x.T.tolist()


@pytest.mark.parametrize("dtype", ["f8", "u1", "?", "c8"])
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_libraries_that_read_memory_get_a_copy(dtype: str, backend: str) -> None:
    with tb.default_backend(backend):
        x = np.array(numpy.eye(2, 3).astype(dtype)).T[1:]

    class Memory:
        __array_interface__ = x.__array_interface__

    made = numpy.asarray(Memory())
    assert made.dtype == x.dtype
    assert made.tolist() == x.tolist()
    made[...] = 0
    assert x.tolist() == numpy.eye(3, 2).astype(dtype)[1:].tolist()


def test_a_dtype_that_its_name_does_not_tell_has_no_interface() -> None:
    assert not hasattr(np.asarray(tb.ones(2, dtype="bf16")), "__array_interface__")


@pytest.mark.parametrize("made", [lambda: np.arange(3), lambda: tb.asarray([0, 1, 2]), lambda: numpy.arange(3)])
def test_an_object_that_converts_itself_is_asked_once(made: Callable[[], Any]) -> None:
    class Measured:
        asked = 0

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            self.asked += 1
            return made()

    measured = Measured()
    assert np.asarray(measured).tolist() == [0, 1, 2]
    assert measured.asked == 1


@pytest.mark.parametrize("make", [lambda x: x.copy(), copy.copy, copy.deepcopy, np.copy, np.array, np.zeros_like])
def test_a_copy_without_axes_is_changed_in_place(make: Callable[[Any], Any]) -> None:
    x = make(np.zeros(()))
    same = x
    x += 1
    x[...] += 1
    assert float(same) == 2.0


@pytest.mark.parametrize("key", [(None, [0, 2]), (slice(None), [0, 1]), ([0, 1],), ([0, 1], slice(1)), (..., [1, 0])])
@pytest.mark.parametrize("first", [0, (0,), (-1,)])
def test_indices_behind_the_ints_of_a_view(key: Any, first: Any) -> None:
    results = []
    for namespace in (np, numpy):
        x = namespace.zeros((2, 3, 4))
        part = x[first]
        part[key] = namespace.arange(float(part[key].size)).reshape(part[key].shape)
        results.append(x.tolist())
    assert results[0] == results[1]


@pytest.mark.parametrize("statement", ["x.sort(None)", "x.sort(axis=None)", "x.partition(1, None)"])
def test_no_axis_is_an_error_of_what_sorts_in_place(statement: str) -> None:
    x = np.array([[2.0, 1.0], [4.0, 3.0]])
    with pytest.raises(TypeError):
        exec(statement, {"x": x})
    assert x.tolist() == [[2.0, 1.0], [4.0, 3.0]]


@pytest.mark.parametrize("axis", [0, -1, numpy.int64(0)])
def test_an_array_without_axes_takes_the_axis_0(axis: Any) -> None:
    x, theirs = np.array(2.0), numpy.array(2.0)
    for name in ("sum", "cumsum", "nanmax", "ptp", "squeeze", "argsort"):
        found = numpy.asarray(getattr(np, name)(x, axis))
        assert (found.shape, found.tolist()) == (
            numpy.shape(getattr(numpy, name)(theirs, axis)), getattr(numpy, name)(theirs, axis).tolist()
        )  # fmt: skip
