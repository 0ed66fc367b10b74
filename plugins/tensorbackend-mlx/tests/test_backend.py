"""Devices, dtypes, transport and laziness."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import mlx.core as mx
import numpy
import pytest
import tensorbackend as tb
from tensorbackend.errors import ArgumentError, UnsupportedOp

from tensorbackend_mlx import MlxBackend
from tensorbackend_mlx.kernels import STARTED_BYTES, TURNS

CPU = MlxBackend(device="cpu")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What has been handed to MLX to be started."""
    calls: list[Any] = []
    monkeypatch.setattr(mx, "async_eval", calls.append)
    monkeypatch.setattr("tensorbackend_mlx.kernels.mx.async_eval", calls.append, raising=False)
    return calls


def test_instances_are_shared_and_devices_are_checked() -> None:
    assert MlxBackend() is tb.get_backend("mlx")
    assert CPU.on_device("cpu") is CPU
    with pytest.raises(ArgumentError, match="the devices are cpu"):
        MlxBackend(device="tpu")
    with pytest.raises(ArgumentError, match="no options"):
        MlxBackend(threads=2)


def test_the_device_of_an_instance_is_where_it_computes() -> None:
    place, is_default = CPU.place, CPU.is_default
    CPU.is_default = False  # as on a Mac, where the default is the GPU
    try:
        assert CPU.enter(lambda: mx.default_device())() == mx.Device(mx.cpu, 0)
    finally:
        CPU.is_default = is_default
    assert place == mx.cpu


@pytest.mark.parametrize("call", ["tb.zeros(2, dtype='c128')", "tb.astype(tb.ones(2), 'c128')", "tb.asarray(1j * X)"])
def test_complex128_is_refused_beforehand(call: str) -> None:
    with tb.default_backend(CPU), pytest.raises(UnsupportedOp, match="complex128"):
        eval(call, {"tb": tb, "X": numpy.ones(2)})


def test_an_array_of_mlx_is_taken_as_it_is_now() -> None:
    array = mx.array([1.0, 2.0])
    x = tb.asarray(array, backend="mlx")
    array[0] = 9.0
    assert x.backend is MlxBackend()
    assert x.tolist() == [1.0, 2.0]
    y = tb.asarray(x.data, backend="mlx")
    y[0] = 5.0
    assert x.tolist() == [1.0, 2.0]


def test_numpy_sees_the_memory_and_may_not_write_to_it() -> None:
    x = tb.asarray([1.0, 2.0], backend=CPU)
    first, second = numpy.asarray(x), numpy.asarray(x)
    assert numpy.shares_memory(first, second)
    assert not first.flags.writeable


def test_arrays_of_numpy_are_copied() -> None:
    for array in (numpy.arange(6.0), numpy.arange(6.0)[::-1], numpy.arange(12.0).reshape(3, 4).T, numpy.zeros((0, 3))):
        wanted = array.tolist()
        x = tb.asarray(array, backend=CPU)
        array += 1.0
        assert (x.dtype, x.tolist()) == (tb.float64, wanted)


def test_bfloat16_keeps_its_bits() -> None:
    bits = numpy.arange(1 << 16, dtype=numpy.uint16)
    x = tb.asarray(bits.view(ml_dtypes.bfloat16), backend=CPU)
    assert x.data.dtype == mx.bfloat16
    assert (numpy.asarray(x).view(numpy.uint16) == bits).all()


def test_nothing_is_computed_before_it_is_needed(started: list[Any]) -> None:
    x = tb.ones(4, backend=CPU)
    y = x
    for _ in range(3):
        y = tb.add(y, x)
    assert len(started) <= 1  # at most one call had its turn
    assert y.tolist() == [4.0] * 4


def test_a_long_program_is_started_now_and_then(started: list[Any]) -> None:
    x = tb.ones(4, backend=CPU)
    for count in (2, 3):  # whatever the period of a loop, each of its calls has its turn
        shapes: set[tuple[int, ...]] = set()
        del started[:]
        for turn in range(count * TURNS):
            y = tb.add(x, 1.0) if turn % count else tb.multiply(x[: turn % count + 1], 2.0)
            shapes.update(tuple(array.shape) for array in started)
        assert len(started) >= count
        assert shapes == {(1,), (4,)}
        assert y.size


def test_a_large_call_is_started_at_once(started: list[Any]) -> None:
    x = tb.ones((STARTED_BYTES // 4,), backend=CPU)
    for call in (tb.negative, tb.sum):
        before = len(started)
        call(x)
        assert len(started) > before


def test_block_until_ready_computes() -> None:
    x = tb.exp(tb.ones(4, backend=CPU))
    CPU.block_until_ready(x)
    assert "array([2.71828" in repr(x.data)
