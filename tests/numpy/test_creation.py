"""Arrays that functions of the NumPy namespace make."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.testing import profile

from .beside import assert_as_numpy

CALLS = """
np.vander(k.astype("i2"))
np.vander(k.astype("u1"), 5)
np.vander(k > 2, 2, increasing=True)
np.vander(k.astype("f2"), 3)
np.vander(c.astype("c8"))
np.vander(k.astype("u8"), 0)
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_vander_counts_in_numpys_dtype(call: str) -> None:
    assert_as_numpy(call)


CREATED = """
np.full((), [1.0])
np.full((2,), [[[3.0]]])
np.full((1, 2), [[[1, 2]]])
np.full((2,), [[1.0], [2.0]])
np.full_like(np.zeros(2), [[1.0, 2.0]])
[np.zeros(s, d) for s in (0, 3, (2, 3), (), [2, 1]) for d in (float, int, bool, complex, None, np.float32, np.uint8)]
[np.empty(s, d).dtype == np.dtype(d) for s in (3, ()) for d in (float, int, np.float16, "i2")]
np.zeros(2, object).tolist() == [0, 0], np.zeros(2, str).tolist() == ["", ""]
np.zeros((2, -1))
np.zeros(2.5, int)
[n(s, "i2", o).dtype == "i2" for n in (np.zeros, np.empty, np.ones) for s in (3, (2, 3)) for o in "CF"]
[n((2, 3), order="F").flags.f_contiguous for n in (np.zeros, np.empty, np.ones)]
[n((2, 3), float, "F").flags.c_contiguous for n in (np.zeros, np.empty, np.ones)]
[n(shape=2, dtype="f4", like=x) for n in (np.zeros, np.ones)] + [np.zeros(3, like=None)]
np.empty(2, dtype=object).tolist() == [None, None], np.empty(2, dtype="U3").tolist() == ["", ""]
np.zeros(True)
np.zeros((2, 3.0))
np.zeros(2, order="X")
np.zeros(2, device="gpu9")
np.zeros(2, "nothing")
np.zeros(np.array(3)), np.zeros(np.array([2, 1])), np.zeros(k.shape), np.zeros(np.int8(2)), np.zeros((np.int64(2), 1))
[np.arange(*a) for a in ((3,), (1, 4), (1, 4, 2), (4, 0, -1), (0,), (1.5, 3), (True,), (2, 5, 0.5))]
[np.arange(3, dtype=d) for d in (float, "f4", np.int8, np.uint64, complex, np.dtype("i2"))]
[np.arange(2, dtype=bool), np.arange(stop=3, start=1), np.arange(3, step=2), np.arange(3, like=x)]
[np.arange(k[2]), np.arange(np.array(3)), np.arange(np.float32(2.5)), np.arange(x[0, 0], x[0, 3], np.array(2))]
np.arange(3, dtype=object).tolist() == [0, 1, 2], np.arange(2**64, 2**64 + 2).tolist() == [2**64, 2**64 + 1]
np.arange("2026-01", "2026-03", dtype="M8[M]").astype(int)
np.arange(1, 3, "a")
np.arange()
np.arange(3, dtype=bool)
[np.full((2, 2), v) for v in (1, 1.5, True, 2j, np.float32(3), np.int8(4), 2**63, -1)]
np.full(2, 2**70).tolist() == [2**70, 2**70]
np.full((2, -1), 1)
[np.zeros_like(v) for v in (x, x.T, x[:, 1:], x[0, 0], x.astype("f4"), np.zeros((2, 3), order="F"), k > 2, c)]
np.zeros_like(np.asfortranarray(x)).flags.f_contiguous, np.zeros_like(x.T).flags.c_contiguous
"""


LISTS = """
[np.array(v) for v in ([[1, 2], [3, 4]], [[1, 2.5]], [[True]], [[1j], [2]], [[], []], [[1], [True]])]
[np.array(v) for v in ([[2**63]], [[-1, 2**63]], [[-1]], [[1e300, 1]])]
[np.array(v) for v in ([(1, 2), [3, 4]], ([1, 2],), [[[1, 2]], [[3, 4]]], [range(2), [3, 4]])]
[np.array(v) for v in ([np.float32(1), 2], [[np.int8(1)]])]
[np.array(v) for v in ([x[0], [1, 2, 3, 4]], [[x[0, 0], 1]], [[np.float32(1)], [np.float16(2)]])]
[np.array([v, v]) for v in (x, x.T, x[::2], x[0], m, c, k.astype("i1"), np.array(2))]
[np.array([v, v]) for v in (np.zeros((0, 2)), np.zeros((2, 3), order="F"))]
[np.array([x[0], x[0]], "f4"), np.array([[1, 2]], "i1"), np.array([x, x], order="F"), np.array([k, k], ndmin=4)]
[np.array([[1.0, 2.0], [3.0, 4.0]], order=o).flags.f_contiguous for o in "CFAK"]
[np.array([x[0], x[1]], order=o).flags.f_contiguous for o in "CFAK"]
[np.array([1, 2], ndmin=2), np.array([[1]], ndmin=3), np.array([x], ndmin=1), np.array([[1]], like=x)]
np.array([[1, 2], [3]])
np.array([[1, 2], 3])
np.array([[1, 2], [3, [4]]])
np.array([x[0], x[0, :2]])
np.array([[1, "a"], [2, "b"]]).tolist()[0][1] == "a", np.array([[None, 1]]).tolist() == [[None, 1]]
np.array([[2**70]]).tolist() == [[2**70]], np.array([["1", "2"]], float)
[np.array([1, 2], copy=c) for c in (True, None)] + [np.asarray([[1, 2]]), np.asarray([x[0], x[1]])]
np.array([1, 2], copy=False)
np.asarray([x, x], copy=False)
np.asarray((1, 2), copy=False)
np.array(2.0, copy=False)
np.asarray(x, "f4", copy=False)
np.asarray(x, copy=False) is x, np.array(x, float, copy=False)
np.zeros((2, 2), order="f").flags.fnc, np.array(x, order="f").flags.fnc, np.zeros(2, order=None)
np.ones(2, order="K")
np.eye(2, order="A")
np.zeros_like(x, order="X")
np.array([[1.0]], order="X")
np.asarray(x, order="X")
x.copy("X")
"""


@pytest.mark.parametrize("call", LISTS.strip().splitlines())
def test_arrays_of_lists(call: str) -> None:
    assert_as_numpy(call)


def test_numpys_arrays_in_and_out_of_lists() -> None:
    x = numpy.arange(3)
    assert np.array([[numpy.float32(1)], [numpy.float16(2)]]).dtype == numpy.float32
    assert np.array([x, [1, 2, 3]]).tolist() == [[0, 1, 2], [1, 2, 3]]
    assert np.array([x[1], x[2]]).tolist() == [1, 2]
    assert np.array(x, copy=False).tolist() == np.asarray(x, int, copy=False).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="avoid creating a copy"):
        np.asarray(x, "f4", copy=False)


def test_a_list_that_holds_itself_is_refused() -> None:
    itself: list[Any] = [1.0]
    itself.append(itself)
    with pytest.raises(ValueError, match="inhomogeneous"):
        np.array([itself, [1.0, 2.0]])


@pytest.mark.parametrize("backend", ["binary", "jax", "template"])
def test_new_arrays_are_on_the_default_backend(backend: str) -> None:
    on_numpy = np.array([1.0, 2.0])
    with tb.default_backend(backend):
        for make in (np.zeros, np.empty, np.ones, np.arange):
            made = make(3)
            assert (made.tensor.backend.name, made.shape) == (backend, (3,))
        for rows in ([1.0, 2.0], [[1.0], [2.0]], [np.zeros(2), np.zeros(2)]):
            assert np.array(rows).tensor.backend.name == backend
        assert np.array([on_numpy, on_numpy]).tensor.backend.name == "numpy"


def test_arrays_with_names_keep_them_in_a_list() -> None:
    named = np.asarray(tb.asarray([1.0, 2.0], names=("time",)))
    assert np.array([named, named]).names == (None, "time")


def test_a_list_of_arrays_has_gradients_by_tapes_and_traces() -> None:
    x = np.array([1.0, 2.0])

    def cubes(x: Any) -> Any:
        rows = [x, 2 * x, x[::-1]]
        return np.sum(np.array(rows) ** 3) + np.sum(np.array([[x[0], 1.0], [2.0, x[1]]])) + np.sum(np.zeros(2) * x)

    assert tb.grad(cubes)(x).tolist() == [31.0, 121.0]
    assert float(tb.jit(cubes)(x)) == float(cubes(x))
    with tb.tape() as tape:
        watched = tape.watch(x.tensor)
        value = cubes(np.asarray(watched))
    assert tb.gradient(value.tensor, watched).tolist() == [31.0, 121.0]


@pytest.mark.parametrize("call", CREATED.strip().splitlines())
def test_new_arrays(call: str) -> None:
    assert_as_numpy(call)


@pytest.mark.parametrize(
    "rows",
    [
        "[x, x]", "[x[0], x[1]]", "[x.T, x.T]", "[x[0], i]", "[i > 1, i]", "[x[0].astype('f4'), x[0]]", "[z, z]",
        "[x[0, 0], 1]", "[x[0], [1, 2]]", "[[x[0], x[1]], [x[1], x[0]]]", "[x[0], x[0]]", "[]", "[x, x[:1]]",
    ],
)  # fmt: skip
@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
def test_an_array_of_arrays_is_new_and_as_in_numpy(rows: str, backend: str) -> None:
    def made(np: Any) -> Any:
        x = np.array([[1.0, 2.0], [3.0, 4.0]])
        try:
            stacked = np.array(eval(rows, {"x": x, "i": np.array([1, 2]), "z": np.array(2.5)}))
        except ValueError:
            return "refused"
        found = str(stacked.dtype), stacked.shape, numpy.asarray(stacked).tolist(), np.shares_memory(stacked, x)
        stacked[...] = 7
        return *found, numpy.asarray(x).tolist()

    with tb.default_backend(backend):
        assert made(np) == made(numpy)


def test_an_array_of_traced_arrays() -> None:
    x = np.array([1.0, 2.0])
    assert tb.grad(lambda x: np.sum(np.array([x, 2 * x]) * np.array([x, x])))(x).tolist() == [6.0, 12.0]
    assert tb.jit(lambda x: np.array([x[0], x[1]]))(x).tolist() == [1.0, 2.0]


def test_of_one_number_only_the_start_has_a_gradient() -> None:
    x = np.array([2.0, 3.0])
    assert np.geomspace(x, -x, 1).tolist() == np.geomspace(x, 0 * x, 1).tolist() == [[2.0, 3.0]]
    for stop in (lambda x: 8.0, lambda x: -x, lambda x: 0 * x):
        for endpoint in (True, False):
            slope = tb.grad(lambda x, stop=stop, end=endpoint: np.sum(np.geomspace(x, stop(x), 1, endpoint=end)))(x)
            assert slope.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("name", ["zeros", "empty"])
@pytest.mark.parametrize("shape", [3, 0, (), (2, 3), [2, 3], (0, 4), numpy.int64(3), (numpy.int64(2), 3), [], range(2)])
def test_zeros_are_numpys_also_the_third_time(name: str, shape: Any) -> None:
    ours, theirs = getattr(np, name), numpy.zeros(shape)
    for keywords in ({}, {}, {}, {"dtype": int}, {"dtype": numpy.float32}, {"order": "F"}, {}):
        made = ours(shape, **keywords)
        assert (made.shape, made.dtype) == (theirs.shape, numpy.dtype(keywords.get("dtype", float)))
        assert {*map(type, made.shape)} <= {int}
        made += 1
        assert not numpy.any(ours(shape, **keywords))


@pytest.mark.parametrize("shape", [1.0, (1.0,), True, -1, (2, -3), "a"])
def test_zeros_of_no_shape_are_refused_also_after_those_of_one_that_is_equal(shape: Any) -> None:
    for ready in (1, (1,)):
        np.zeros(ready)
        np.zeros(ready)
    with pytest.raises((TypeError, ValueError)):
        np.zeros(shape)


@profile(200)
@given(st.data())
def test_an_array_over_a_buffer_has_the_elements_that_numpy_reads(data: st.DataObject) -> None:
    """In either order of memory and of bytes, at an offset, with steps between elements."""
    shape = tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    dtype = data.draw(st.sampled_from([">i4", "<i4", ">i2", "u1", ">f4", "f8", ">c8", "?"]))
    options: dict[str, Any] = {"offset": data.draw(st.integers(0, 4))}
    if data.draw(st.booleans()):
        options["order"] = data.draw(st.sampled_from(["C", "F"]))
    else:
        options["strides"] = tuple(data.draw(st.integers(1, 8)) for _ in shape)
    buffer = bytearray(numpy.random.default_rng(0).integers(0, 2, 400, dtype=numpy.uint8))
    wanted = numpy.ndarray(shape, dtype, buffer, **options)
    found = np.ndarray(shape, dtype, buffer, **options)
    numpy.testing.assert_array_equal(numpy.asarray(found), wanted)
    assert found.dtype == wanted.dtype.newbyteorder("=")
    if "order" in options:
        assert found.flags.f_contiguous == wanted.flags.f_contiguous


IN_OTHER_ORDER = """
np.array([1, 2], '>i4')
np.asarray(x, '>f4')
np.zeros(3, '>i4')
np.ones(2, dtype='>f8')
np.full(2, 7, '>u2')
np.arange(3, dtype='>i4')
np.linspace(0, 1, 3, dtype='>f4')
np.zeros_like(x, dtype='>f4')
x.astype('>f4')
x.astype(numpy.dtype('>c8'))
x.view('>f8')
np.ascontiguousarray(x, dtype='>i2')
"""


@pytest.mark.parametrize("code", IN_OTHER_ORDER.strip().splitlines())
def test_the_order_of_bytes_that_a_program_asks_for_is_that_of_its_bytes(code: str) -> None:
    found = eval(code, {"np": np, "numpy": numpy, "x": np.arange(3.0)})
    wanted = eval(code, {"np": numpy, "numpy": numpy, "x": numpy.arange(3.0)})
    assert found.dtype == wanted.dtype
    assert found.tobytes() == wanted.tobytes()
    assert float(np.sum(found).real) == float(numpy.sum(wanted).real)


def test_bytes_in_the_other_order_are_read_as_the_numbers_that_they_are(tmp_path: Any) -> None:
    numbers = numpy.arange(3, dtype=">i4")
    numbers.tofile(tmp_path / "numbers")
    for found in (
        np.frombuffer(numbers.tobytes(), ">i4"),
        np.fromfile(tmp_path / "numbers", ">i4"),
        np.asarray(numbers),
        np.array(numbers),
        np.ndarray((3,), ">i4", numbers.tobytes()),
    ):
        assert isinstance(found.tensor, tb.Tensor)
        assert found.tolist() == [0, 1, 2]
