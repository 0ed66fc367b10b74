"""Unusual arrays of other libraries on every backend: the right elements, or an error of the library's own.

Arrays of PyTorch are in the plugin's tests.
"""

from __future__ import annotations

import array
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import (
    ArgumentError,
    DTypeError,
    ExchangeError,
    OperandError,
    TensorBackendError,
)

BACKENDS = ["binary", "numpy", "jax"]

BASE = np.array([[1, 2, 3], [4, 5, 6]], np.float64)


def read_only() -> np.ndarray[Any, Any]:
    values = BASE.copy()
    values.flags.writeable = False
    return values


def unaligned() -> np.ndarray[Any, Any]:
    return np.frombuffer(b"\0" + BASE.tobytes(), np.uint8)[1:].view(np.float64).reshape(2, 3)


def field() -> np.ndarray[Any, Any]:
    """A field of records, whose stride is not a multiple of its size."""
    records = np.zeros((2, 3), [("first", "i1"), ("second", "f8")])
    records["second"] = BASE
    return records["second"]


def on_another_device() -> Any:
    return jax.device_put(jnp.asarray(BASE), jax.devices("cpu")[-1])


SAME: dict[str, Callable[[], Any]] = {
    "reversed": lambda: BASE[::-1, ::-1][::-1, ::-1],
    "rows backwards": lambda: BASE[::-1].copy()[::-1],
    "columns backwards": lambda: BASE[:, ::-1].copy()[:, ::-1],
    "transposed": lambda: np.array(BASE.T, order="C").T,
    "every other": lambda: np.repeat(BASE, 2, axis=1)[:, ::2],
    "read-only": read_only,
    "unaligned": unaligned,
    "field": field,
    "matrix": lambda: BASE.view(np.matrix),
    "a subclass": lambda: BASE.view(type("Mine", (np.ndarray,), {})),
    "jax": lambda: jnp.asarray(BASE),
    "jax, committed": on_another_device,
}
"""Arrays that hold `BASE`."""


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", SAME)
def test_layouts(kind: str, backend: str) -> None:
    value = SAME[kind]()
    ways: list[Any] = [tb.asarray, tb.tensor, tb.from_dlpack]
    if kind == "field":
        ways.pop()
        with pytest.raises(ExchangeError, match=r"from_dlpack: .*; use asarray\(\), which may copy"):
            tb.from_dlpack(value, backend=backend)
    for way in ways:
        x = way(value, backend=backend)
        assert (x.shape, x.dtype, x.tolist()) == ((2, 3), tb.float64, BASE.tolist())
    assert (tb.ones((2, 3), dtype="f64", backend=backend) * value).tolist() == BASE.tolist()
    assert tb.jit(lambda x: tb.sum(x, axis=0))(tb.asarray(value, backend=backend)).tolist() == [5.0, 7.0, 9.0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_zero_strides_and_no_elements(backend: str) -> None:
    nothing = np.zeros((0, 3), "f4")
    numbers = np.array(2, "f4"), np.float32(2), np.array(2, ">f4")[()], jnp.float32(2)
    for value in (*numbers, np.broadcast_to(numbers[0], (2, 3)), nothing, nothing[::-1], jnp.zeros((3, 0))):
        for way in (tb.asarray, tb.tensor):
            x = way(value, backend=backend)
            assert (x.shape, x.tolist()) == (np.shape(value), np.asarray(value).tolist())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i2", "i4", "i8", "u2", "u4", "u8", "c8", "c16"])
def test_the_other_byte_order(backend: str, dtype: str) -> None:
    right = np.arange(6).reshape(2, 3).astype(dtype)
    for order in "<>":
        value = right.astype(f"{order}{dtype}")
        for way in (tb.asarray, tb.tensor):
            for part, wanted in ((value, right), (value[0, 1], right[0, 1]), (value[::-1], right[::-1])):
                for _ in range(2):  # the second time by what was remembered
                    x = way(part, backend=backend)
                    assert (str(x.dtype), x.tolist()) == (right.dtype.name, wanted.tolist())
    swapped = right.astype(f">{dtype}")
    with pytest.raises(ArgumentError, match="expected an array whose memory holds its elements"):
        tb.asarray(swapped, copy=False, backend=backend)
    with pytest.raises(ExchangeError, match=r"use asarray\(\), which may copy"):
        tb.from_dlpack(swapped, backend=backend)
    rows = tb.asarray(BASE, backend=backend)
    assert rows[np.array([1, 0]).astype(">i8")].tolist() == BASE[[1, 0]].tolist()
    rows[0] = np.array([7.0, 8.0, 9.0]).astype(">f8")
    assert rows[0].tolist() == [7.0, 8.0, 9.0]
    assert tb.stack([rows[0], np.ones(3, ">f8")])[1].tolist() == [1.0, 1.0, 1.0]
    assert tb.jit(lambda x: x + 1)(np.arange(3).astype(">i4")).tolist() == [1, 2, 3]


REFUSED: dict[str, tuple[Callable[[], Any], type[TensorBackendError]]] = {
    "masked": (lambda: np.ma.masked_array([1.0, 2.0], [False, True]), OperandError),
    "masked nothing": (lambda: np.ma.masked_array([1.0, 2.0]), OperandError),
    "records": (lambda: np.rec.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f4")]), DTypeError),
    "structured": (lambda: np.zeros(2, [("a", "i4")]), DTypeError),
    "object": (lambda: np.array([1, None]), DTypeError),
    "texts": (lambda: np.array(["a"]), DTypeError),
    "bytes": (lambda: np.array([b"a"]), DTypeError),
    "any text": (lambda: np.array(["a"], np.dtypes.StringDType()), DTypeError),
    "dates": (lambda: np.array(["2020-01-01"], "M8[D]"), DTypeError),
    "times": (lambda: np.array([1], "m8[s]"), DTypeError),
    "void": (lambda: np.zeros(2, "V4"), DTypeError),
    "long double": (lambda: np.ones(2, np.longdouble), DTypeError),
    "float8 of another form": (lambda: np.ones(2, ml_dtypes.float8_e4m3b11fnuz), DTypeError),
    "float8 of another form, of jax": (lambda: jnp.ones(2, jnp.float8_e4m3b11fnuz), DTypeError),
    "key of jax": (lambda: jax.random.key(0), DTypeError),
    "keys of jax": (lambda: jax.random.split(jax.random.key(0)), DTypeError),
    "memoryview": (lambda: memoryview(b"ab"), OperandError),
    "array.array": (lambda: array.array("d", [1.0]), OperandError),
    "bytes object": (lambda: b"ab", OperandError),
    "bytearray": (lambda: bytearray(b"ab"), OperandError),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_no_tensor_can_hold(kind: str) -> None:
    make, error = REFUSED[kind]
    texts = set()
    for backend in BACKENDS:
        with pytest.raises(error) as raised:
            tb.asarray(make(), backend=backend)
        texts.add(str(raised.value).partition(" at 0x")[0])
        with pytest.raises(error):
            tb.tensor(make(), backend=backend)
        with pytest.raises((error, OperandError)):
            tb.from_dlpack(make(), backend=backend)
        with pytest.raises((error, OperandError)):
            tb.multiply(tb.ones(2, backend=backend), make())
    assert len(texts) == 1


def test_a_deleted_array_of_jax() -> None:
    deleted = jnp.ones(2)
    deleted.delete()
    for backend in ("binary", "numpy"):
        with pytest.raises(ExchangeError, match="deleted"):
            tb.asarray(deleted, backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_capsule_shares_a_negative_stride(backend: str) -> None:
    x = tb.asarray(BASE[::-1], backend=backend)
    for views in (x, x[::-1], tb.flip(x), tb.sort(x, descending=True)):
        taken: Any = np.from_dlpack(views)
        assert all(stride >= 0 for stride in taken.strides)
        assert taken.tolist() == views.tolist()
        if any(stride < 0 for stride in np.asarray(views).strides):
            with pytest.raises(BufferError, match="expected strides that every library takes"):
                views.__dlpack__(copy=False, max_version=(1, 0))
        for target in BACKENDS:
            assert views.backend_copy(target).tolist() == views.tolist()
            assert tb.asarray(views, backend=target).tolist() == views.tolist()
