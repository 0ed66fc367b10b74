"""The mode in which operands are cast: which ops cast, in which threads, and that it leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.dispatch import watching
from tensorbackend.dispatch.path import FullPath
from tensorbackend.dtypes import defaults

from ..threads import call_in_threads

BACKENDS = ["binary", "numpy", "jax"]

COMPUTING: dict[str, Callable[[tb.Tensor], tb.Tensor]] = {
    "x + x": lambda x: x + x,
    "x + 1": lambda x: x + 1,
    "1 - x": lambda x: 1 - x,
    "-x": lambda x: -x,
    "exp": tb.exp,
    "clip": lambda x: tb.clip(x, 0, 1),
    "where": lambda x: tb.where(x > 0, x, 0),
    "sum": lambda x: tb.sum(x, axis=0),
    "mean": tb.mean,
    "softmax": lambda x: tb.softmax(x, axis=0),
    "matmul": lambda x: x @ x,
    "inv": tb.linalg.inv,
    "cumulative_sum": lambda x: tb.cumulative_sum(x, axis=0),
    "segment_sum": lambda x: tb.segment_sum(x, tb.asarray([0, 0], backend=x.backend), size=1),
    "grid_sample": lambda x: tb.grid_sample(x, x),
    "jit": lambda x: tb.jit(lambda x: x * x + 1)(x),
    "vmap": lambda x: tb.vmap(lambda x: x * 2)(x),
}

MOVING: dict[str, Callable[[tb.Tensor], tb.Tensor]] = {
    "reshape": lambda x: tb.reshape(x, -1),
    "x[0]": lambda x: x[0],
    "take": lambda x: tb.take(x, tb.asarray([0], backend=x.backend), axis=0),
    "concatenate": lambda x: tb.concatenate([x, x]),
    "pad": lambda x: tb.pad(x, [(1, 1), (0, 0)], mode="edge"),
    "sort": lambda x: tb.sort(x),
    "astype": lambda x: tb.astype(x, x.dtype),
    "vmap of pad": lambda x: tb.vmap(lambda x: tb.pad(x, [(1, 1)], value=x[0]))(x),
}


def matrix(dtype: str, backend: str) -> tb.Tensor:
    return tb.tensor([[2.0, 0.5], [0.25, 1.0]], dtype=dtype, backend=backend)


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        (name, backend)
        for name in COMPUTING
        for backend in BACKENDS
        if backend != "jax" or name in ("x + 1", "sum", "jit")
    ],
)
def test_ops_that_compute_do_so_in_the_precision(name: str, backend: str) -> None:
    function = COMPUTING[name]
    with tb.precision(64):
        reference = function(matrix("f64", backend))
    for dtype in ("f16", "f32", "f64"):
        x = matrix(dtype, backend)
        before = function(x).dtype
        with tb.precision(64, cast=True):
            for _ in range(3):
                result = function(x)
                assert result.dtype is tb.float64
                assert result.tolist() == reference.tolist()
        assert function(x).dtype is before is x.dtype
    with tb.precision(32, cast=True):
        assert function(matrix("f64", backend)).dtype is tb.float32


@pytest.mark.parametrize("name", MOVING)
def test_ops_that_move_elements_keep_their_dtype(name: str) -> None:
    x = matrix("f32", "numpy")
    with tb.precision(64, cast=True):
        assert MOVING[name](x).dtype is tb.float32


def test_other_operands() -> None:
    x, z = matrix("f32", "numpy"), tb.asarray([1 + 1j, 2])
    array: Any = numpy.ones((2, 2), "float32")
    with tb.precision(64, cast=True):
        assert (z * 2).dtype is tb.complex128
        assert (x * z).dtype is tb.complex128
        assert (x + array).dtype is (array + x).dtype is tb.add(array, 1).dtype is tb.float64
        assert tb.add(tb.ones((2, 2), backend="jax"), array).backend.name == "jax"
        assert (tb.asarray([1]) + 1).dtype is tb.int64
        assert (tb.asarray([1], dtype="u8") * x).dtype is tb.float64
        assert (x > 1).dtype.kind == "bool"
        assert tb.sum(x, dtype="f16").dtype is tb.float16
        assert tb.random.normal(tb.random.key(0), (2,), dtype="f32").dtype is tb.float32
        assert tb.template((2, 2), "f32").__add__(x).dtype is tb.float64
    with tb.precision(16, cast=True):  # sums are still accumulated in float32
        assert tb.mean(tb.full(4096, 16.0)).item() == 16.0
        assert (z * 2).dtype is tb.complex64


def test_gradients_have_the_dtype_of_the_argument() -> None:
    x = matrix("f32", "numpy")
    with tb.precision(64, cast=True):
        value, gradient = tb.value_and_grad(lambda x: tb.sum(tb.exp(x) * x + tb.pad(x, [(0, 0), (0, 0)])))(x)
        assert (value.dtype, gradient.dtype) == (tb.float64, tb.float32)
        with tb.tape() as tape:
            watched = tape.watch(x)
            y = tb.sum(watched * watched)
        assert tb.gradient(y, watched).dtype is tb.float32
    exact = numpy.exp(numpy.asarray(x, "float64")) * (1 + numpy.asarray(x, "float64")) + 1
    numpy.testing.assert_allclose(numpy.asarray(gradient), exact, rtol=1e-7)


def test_blocks_are_nested_and_the_process_comes_last() -> None:
    x = tb.ones(2)
    try:
        tb.set_precision(64, cast=True)
        assert (tb.get_precision(), (x + x).dtype) == (64, tb.float64)
        with tb.precision(32):
            assert (tb.get_precision(), (x + x).dtype) == (32, tb.float32)
            with tb.precision(16, cast=True):
                assert (x + x).dtype is tb.float16
            assert (x + x).dtype is tb.float32
        assert (x + x).dtype is tb.float64
        tb.set_precision(16, cast=True)
        assert (x + x).dtype is tb.float16
        tb.set_precision(64)
        assert (x + x).dtype is tb.float32
        assert tb.default_dtype("float") is tb.float64
    finally:
        tb.set_precision(32)
    assert not defaults.cast_blocks
    assert (x + x).dtype is tb.float32


def test_each_thread_has_its_own_mode() -> None:
    x, y = tb.ones(3), tb.ones((2, 3))

    def work(kind: tuple[int, bool, Any]) -> None:
        bits, cast, expected_dtype = kind
        for _ in range(60):
            with tb.precision(bits, cast=cast):
                dtypes = {(x + x).dtype, tb.exp(y).dtype, (y * 2).dtype, tb.sum(y, axis=0).dtype}
                assert dtypes == {expected_dtype}

    call_in_threads(work, (64, True, tb.float64), (16, True, tb.float16), (64, False, tb.float32))
    assert not defaults.cast_blocks


def test_the_mode_leaves_what_is_ready_as_it_should_be() -> None:
    watching.forget()  # else a plan by kind may serve the call
    x = tb.ones(7)
    x + x
    path = next(place for place in watching._places if isinstance(place, FullPath) and place.spec is OPS["add"])
    key = x.backend, x.template, x.template
    assert path.calls.find(key) is not None
    with tb.precision(64, cast=True), tb.profile():
        assert path.calls.find(key) is None
        wide = tb.astype(x, "f64")
        wide + wide
        wide_key = x.backend, wide.template, wide.template
        assert path.calls.find(wide_key) is not None
    assert (x + x).dtype is tb.float32
    for ready_key in (key, wide_key):
        known = path.calls.find(ready_key)
        assert known is not None
        assert not hasattr(known[-1].kernel, "__unwatched__")


# Autocast

CLASSES: dict[str, tuple[Callable[[tb.Tensor], tb.Tensor], str]] = {
    "matmul": (lambda x: x @ x, "product"),
    "einsum": (lambda x: tb.einsum("ij,jk->ik", x, x), "product"),
    "conv": (lambda x: tb.nn.conv(x[None], tb.ones((1, 2, 1), dtype=x.dtype, backend=x.backend)), "product"),
    "sum": (tb.sum, "sum"),
    "mean": (lambda x: tb.mean(x, axis=0), "sum"),
    "softmax": (lambda x: tb.softmax(x, axis=0), "sum"),
    "cumulative_sum": (lambda x: tb.cumulative_sum(x, axis=0), "sum"),
    "inv": (tb.linalg.inv, "sum"),
    "lgamma": (tb.lgamma, "sum"),
    "exp": (tb.exp, "sum"),
    "x + x": (lambda x: x + x, "other"),
    "x + 1": (lambda x: x + 1, "other"),
    "tanh": (tb.tanh, "other"),
    "max": (lambda x: tb.max(x, axis=0), "other"),
    "x[0]": (lambda x: x[0], "other"),
    "concatenate": (lambda x: tb.concatenate([x, x]), "other"),
}


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize(
    ("backend", "narrow"),
    [("binary", "float16"), ("numpy", "bfloat16"), ("numpy", "float16"), ("jax", "bfloat16")],
)
def test_autocast_by_class(name: str, backend: str, narrow: str) -> None:
    function, cast_class = CLASSES[name]
    for dtype in ("float32", "bfloat16", "float64") if backend == "numpy" else ("float32", "float16"):
        wanted = dtype
        if cast_class == "product" and dtype != "float64":
            wanted = narrow
        elif cast_class == "sum" and dtype in ("bfloat16", "float16"):
            wanted = "float32"
        x = matrix(dtype, backend)
        for called in (function, tb.jit(function)) if backend == "numpy" else (function,):
            with tb.autocast(narrow):
                result = called(x)
            assert result.dtype.name == wanted, (name, dtype)
            by_hand = function(tb.astype(x, wanted))
            # Compiled code may round less often than the narrow dtype does.
            numpy.testing.assert_allclose(
                numpy.asarray(result, "f8"), numpy.asarray(by_hand, "f8"), rtol=2e-2 if called is not function else 0
            )
    if cast_class != "other":
        assert function(matrix("float32", backend)).dtype is tb.float32  # nothing is left behind


def test_autocast_leaves_complex_numbers_and_integers() -> None:
    with tb.autocast():
        for dtype in ("complex64", "int64"):
            x = matrix(dtype, "numpy")
            assert (x @ x).dtype is x.dtype
    assert not defaults.cast_blocks


def test_gradients_under_autocast_have_the_dtypes_of_the_arguments() -> None:
    weights, x = matrix("float32", "numpy"), matrix("float32", "numpy")

    def loss(weights: tb.Tensor) -> tb.Tensor:
        with tb.autocast("bfloat16"):
            return tb.sum(tb.square(x @ weights))

    gradient, exact = tb.grad(loss)(weights), tb.grad(lambda w: tb.sum(tb.square(x @ w)))(weights)
    assert gradient.dtype is tb.float32
    numpy.testing.assert_allclose(gradient, exact, rtol=2e-2)


def test_a_block_of_precision_ends_autocast() -> None:
    x = matrix("float32", "numpy")
    with tb.precision(64), tb.autocast("float16"):
        assert tb.get_precision() == 64
        assert tb.zeros(1).dtype is tb.float64
        assert (x @ x).dtype is tb.float16
        with tb.precision(32):
            assert (x @ x).dtype is tb.float32
        assert (x @ x).dtype is tb.float16


def test_a_dtype_that_autocast_does_not_take() -> None:
    with pytest.raises(tb.errors.ArgumentError, match=r"autocast: expected a dtype of bfloat16 or float16, got dtype="):
        tb.autocast("int32")
