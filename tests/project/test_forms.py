"""Less common uses of ops: parts of complex numbers, complex functions, dynamic blocks, default axes, containers."""

import cmath
import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, AxisError, DeallocatedError, DTypeError, ShapeError

BACKENDS = ["binary", "numpy", "jax"]
PARTS = [0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_complex_keeps_its_parts(backend: str, dtype: str) -> None:
    real = tb.asarray([[part] for part in PARTS], dtype=dtype, names=("real", None), backend=backend)
    imag = tb.asarray(PARTS, dtype=dtype, names=("imag",), backend=backend)
    numbers = tb.complex(real, imag)
    assert numbers.names == ("real", "imag")
    assert numbers.dtype.bits == 2 * real.dtype.bits
    for row, a in zip(numbers.tolist(), PARTS, strict=True):
        for element, b in zip(row, PARTS, strict=True):
            assert repr((element.real, element.imag)) == repr((a, b))


def test_complex_of_integers_and_its_errors() -> None:
    assert tb.complex(1, tb.asarray([2, 3])).tolist() == [1 + 2j, 1 + 3j]
    gradients = tb.grad(lambda x: tb.sum(tb.abs(tb.complex(x, 4.0))))(tb.asarray([3.0]))
    assert gradients.tolist() == pytest.approx([0.6])
    with pytest.raises(DTypeError, match="complex: expected a real dtype"):
        tb.complex(tb.asarray([1j]), 1)


def test_complex_functions(backend: str, whole: Callable[..., Any]) -> None:
    numbers = [1 + 2j, -8 + 0j, -3 - 4j, 0.5j, 90 + 1j, -90 + 1j]
    x = tb.asarray(numbers, dtype="c128", backend=backend)
    assert np.allclose(whole(tb.rsqrt)(x), [1 / cmath.sqrt(number) for number in numbers], rtol=1e-12)
    *roots, root_of_zero = whole(tb.cbrt)(tb.asarray([*numbers, 0j], dtype="c128", backend=backend)).tolist()
    assert np.allclose(roots, [cmath.exp(cmath.log(number) / 3) for number in numbers], rtol=1e-12)
    assert root_of_zero == 0j
    assert np.allclose(whole(tb.sigmoid)(x), [1 / (1 + cmath.exp(-number)) for number in numbers], rtol=1e-12)
    assert tb.rsqrt(4 + 0j).item() == 0.5
    assert tb.rsqrt(np.asarray([4 + 0j])).tolist() == [0.5 + 0j]


put_slice_at = tb.jit(lambda x, update, place: tb.put_slice(x, update, starts=(place,)))


@pytest.mark.parametrize(("start", "expected_elements"), [(1, [0, 7, 8, 0]), (9, [0, 0, 7, 8]), (-3, [7, 8, 0, 0])])
def test_put_slice_at_a_tensor_is_clamped(backend: str, start: int, expected_elements: list[int]) -> None:
    x, update = tb.asarray([0] * 4, backend=backend), tb.asarray([7, 8], backend=backend)
    for dtype in ("s64", "s8", *(("u64",) if start >= 0 else ())):
        place = tb.asarray(start, dtype=dtype, backend=backend)
        assert tb.put_slice(x, update, starts=(place,)).tolist() == expected_elements
    assert put_slice_at(x, update, tb.asarray(start, backend=backend)).tolist() == expected_elements


def test_put_slice_at_several_starts() -> None:
    x = tb.zeros((3, 4), names=("row", None))
    result = tb.put_slice(x, tb.ones((2, 2), names=(None, "column")), starts=(tb.asarray(5), 1))
    assert result.tolist() == [[0.0] * 4, [0.0, 1.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]]
    assert result.names == ("row", "column")
    gradient = tb.grad(lambda u: tb.sum(tb.put_slice(x, u, starts=(tb.asarray(0), 0)) * 3))(tb.ones((1, 2)))
    assert gradient.tolist() == [[3.0, 3.0]]
    with pytest.raises(ShapeError, match="a block within"):
        tb.put_slice(x, tb.ones((2, 5)), starts=(tb.asarray(0), 0))
    with pytest.raises(ShapeError, match="a start without axes"):
        tb.put_slice(x, tb.ones((2, 2)), starts=(tb.asarray([0]), 0))


def test_axes_left_out(backend: str) -> None:
    x = tb.zeros((1, 2, 1, 3), names=("a", "b", "c", "d"), backend=backend)
    assert tb.squeeze(x).names == ("b", "d")
    assert tb.permute_dims(x).names == ("d", "c", "b", "a")


def test_broadcast_to_with_axes(backend: str, whole: Callable[..., Any]) -> None:
    x = tb.asarray([[1, 2, 3]], names=("a", "b"), backend=backend)
    broadcast = tb.broadcast_to(x, (2, 4, 3, 5), axes=(1, 2))
    assert broadcast.names == (None, "a", "b", None)
    assert broadcast.tolist() == np.broadcast_to(np.asarray(x).reshape(1, 1, 3, 1), (2, 4, 3, 5)).tolist()
    ones = tb.asarray([1.0, 1.0], backend=backend)
    gradient = whole(tb.grad(lambda x: tb.sum(tb.broadcast_to(x, (2, 3), axes=(0,)))))(ones)
    assert gradient.tolist() == [3.0, 3.0]
    for wrong in ((2, 1), (0, 0), (0, 4), (0,)):
        with pytest.raises(AxisError, match="broadcast_to: expected an ascending position"):
            tb.broadcast_to(x, (3, 3, 3, 3), axes=wrong)


def test_reduce_in_a_dtype(backend: str) -> None:
    x = tb.asarray([1, 2, 3], dtype="s8", backend=backend)
    result = tb.reduce(x, 0, function=lambda total, element: total + element * 0.5, dtype="f64")
    assert (result.dtype, result.item()) == (tb.float64, 3.0)


def test_logsumexp_with_a_scale(backend: str, whole: Callable[..., Any]) -> None:
    x = tb.asarray([[1000.0, 999.0], [0.0, 1.0]], names=("row", "n"), backend=backend)
    scale = tb.asarray([0.5, 2.0], backend=backend)
    reference = [1000 + math.log(0.5 + 2 * math.exp(-1)), math.log(0.5 + 2 * math.e)]
    scaled = whole(lambda x, scale: tb.logsumexp(x, axis="n", scale=scale))(x, scale)
    assert scaled.tolist() == pytest.approx(reference)
    assert scaled.names == ("row",)
    by_one, plain = whole(lambda x: (tb.logsumexp(x, scale=1), tb.logsumexp(x)))(x)
    assert by_one.item() == pytest.approx(plain.item())
    with pytest.raises(ShapeError, match="a scale that broadcasts to"):
        tb.logsumexp(x[0], scale=tb.ones((3, 2), backend=backend))


def test_lstsq_by_numpys_name_of_its_tolerance() -> None:
    a, b = tb.asarray([[1.0, 0.0], [0.0, 1e-3]]), tb.asarray([1.0, 1.0])
    assert tb.linalg.lstsq(a, b, rcond=0.1).rank.item() == tb.linalg.lstsq(a, b, rtol=0.1).rank.item() == 1
    with pytest.raises(ArgumentError, match="not both"):
        tb.linalg.lstsq(a, b, rtol=0.1, rcond=0.1)


def test_containers_move_between_backends() -> None:
    shared = tb.ones(2)
    tree: Any = {"a": shared, "b": [shared, (tb.zeros(1), None, 3)]}
    copied = tb.backend_copy(tree, "binary")
    assert copied["b"][1][0].backend.name == "binary"
    assert copied["b"][1][2] == 3
    assert shared.tolist() == [1.0, 1.0]
    moved = tb.backend_transfer(tree, tb.BinaryBackend)
    assert moved["a"] is moved["b"][0]
    with pytest.raises(DeallocatedError):
        shared.tolist()
    tb.backend_deallocate(moved)
    assert moved["a"].deallocated


def test_graphs_are_copied_and_not_pickled() -> None:
    graph = tb.trace(tb.softmax)("f32[3]")
    assert copy.copy(graph) is copy.deepcopy([graph])[0] is graph
    with pytest.raises(ArgumentError, match="send the function"):
        pickle.dumps(graph)
