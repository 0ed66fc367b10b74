"""JAX as a backend: its kernels, its memory, its devices and its 64-bit switch."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tensorbackend as tb

BACKEND = tb.get_backend("jax")


def on_jax(values: Any, *names: str | None, dtype: str = "f32") -> tb.Tensor:
    return tb.tensor(values, dtype=dtype, names=names or None, backend=BACKEND)


# Kernels


def test_one_kernel_reads_and_writes_all_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BACKEND, "kernels", {})
    x = tb.zeros((5, 2), backend=BACKEND)
    counts = set()
    for place in range(5):
        x[place] = float(place)
        assert x[place].tolist() == [place, place]
        counts.add(len(BACKEND.kernels))
    assert len(counts) == 1
    assert counts != {0}


def test_functions_of_scalars_are_traced_once() -> None:
    x = on_jax([3.0, -1.0, 2.0])
    on_data: list[bool] = []

    def larger(left: tb.Tensor, right: tb.Tensor) -> tb.Tensor:
        on_data.append(left.backend is BACKEND)
        return tb.maximum(left, right)

    assert tb.reduce(x, 0.0, function=larger).item() == 3.0
    assert sum(on_data) == 1
    assert tb.map(x, function=lambda element: tb.where(element > 0, element, -element)).tolist() == [3.0, 1.0, 2.0]


def test_constants_of_a_loop_outlive_the_function_that_jax_first_compiled() -> None:
    def total(x: tb.Tensor) -> tb.Tensor:
        def step(carry: tb.Tensor, entry: tb.Tensor) -> tuple[tb.Tensor, tb.Tensor]:
            edge = tb.full((2, 1), -1.0, dtype=carry.dtype, like=carry)
            after = tb.concatenate([edge, carry[:, :2]], axis=1) + entry + tb.iota(3, dtype=carry.dtype, like=carry)
            return after, after

        return tb.sum(tb.scan(step, x, tb.ones((4,), dtype=x.dtype, backend="jax"))[1])

    x = tb.ones((2, 3), backend="jax", dtype="f64")
    tb.jit(tb.grad(total))(x)
    assert total(x).item() == total(x * 1).item() == tb.jit(total)(x).item()


# Memory and devices


def test_an_array_of_jax_is_a_payload() -> None:
    array = jax.numpy.asarray([1.0, 2.0])
    x = tb.asarray(array, names=("n",), backend=BACKEND)
    assert x.data is array
    assert x.names == ("n",)
    assert tb.asarray(array, copy=True, backend=BACKEND).data is not array
    assert tb.asarray(array, backend="numpy").tolist() == [1.0, 2.0]


def test_a_step_of_copied_weights_and_new_zeros_is_compiled_once() -> None:
    """JAX compiles for arrays that are committed to a device, and again for others; results are committed as inputs."""
    traced = []

    @jax.jit
    def step(weights: Any, velocity: Any) -> Any:
        traced.append(weights)
        return weights - velocity, velocity + weights

    weights = tb.ones((3, 4)).backend_copy("jax")
    payloads = weights.data, tb.zeros_like(weights).data
    assert not any(array.committed for array in payloads)
    for _ in range(2):
        payloads = step(*payloads)
    assert step._cache_size() == len(traced) == 1  # type: ignore[attr-defined]
    for taken in (np.ones(1000), weights.backend_copy("numpy")):
        assert not tb.from_dlpack(taken, backend="jax").data.committed


def test_a_tensor_may_be_copied_to_jax_while_jax_traces() -> None:
    x = tb.tensor([1.0, 2.0], backend="numpy")
    added: Any = jax.jit(lambda array: array + x.backend_copy("jax").data + tb.from_dlpack(x, backend="jax").data)
    assert added(jnp.zeros(2)).tolist() == [2.0, 4.0]


def test_a_copy_never_shares_memory_and_numpy_reads_without_one() -> None:
    x = on_jax(np.arange(1024.0))
    view = np.asarray(x)
    assert view.ctypes.data == x.data.unsafe_buffer_pointer()
    assert not view.flags.writeable
    aligned = np.zeros(1 << 12, np.float32)[: 1 << 11]
    copied = tb.tensor(aligned, backend="numpy").backend_copy(BACKEND)
    assert copied.data.unsafe_buffer_pointer() != aligned.ctypes.data
    assert x.backend_copy("jax").data.unsafe_buffer_pointer() != x.data.unsafe_buffer_pointer()


def run(code: str, **environment: str) -> str:
    """Run a program in a separate process with some environment variables; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return done.stdout.strip()


def test_two_devices() -> None:
    code = """
import tensorbackend as tb
from tensorbackend.errors import BackendError, ArgumentError
from tensorbackend.backends.jax_backend import JaxBackend
second = JaxBackend(device="cpu:1")
assert second is tb.get_backend("jax", device="cpu:1") is not JaxBackend()
x = tb.ones((2,), names=("n",), backend=second)
y = tb.iota((2,), backend=second) + x
print(x.device, y.device, y.data.device.id, y.to_device("cpu:0").data.device.id, second.devices())
for wrong in (lambda: x + tb.ones((2,), backend="jax"), lambda: JaxBackend(device="cpu:7")):
    try:
        wrong()
    except (BackendError, ArgumentError) as error:
        print(error)
"""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2"
    printed = run(code, XLA_FLAGS=flags).splitlines()
    assert printed[0] == "cpu:1 cpu:1 1 0 ('cpu:0', 'cpu:1')"
    assert printed[1].startswith("add: expected tensors on one backend")
    assert printed[2] == "expected a device of the backend 'jax', got device='cpu:7'; the devices are cpu:0, cpu:1"


def test_without_64_bits_such_a_tensor_is_an_error_before_anything_runs() -> None:
    code = """
import tensorbackend as tb
x = tb.tensor([1.0, 2.0], backend="jax")
print(tb.sum(tb.exp(x) / 2).dtype, x.backend.supports("add", "f64"))
for wrong in (lambda: tb.zeros(2, dtype="f64", backend="jax"), lambda: tb.astype(x, "s64"), lambda: tb.argmax(x),
              lambda: tb.tensor([1, 2], backend="jax"), lambda: tb.count_nonzero(x), lambda: tb.searchsorted(x, x),
              lambda: tb.cumulative_sum(tb.tensor([1, 2], dtype="s32", backend="jax"))):
    try:
        print("no error", wrong())
    except tb.errors.UnsupportedOp as error:
        print(error)
"""
    printed = run(code, JAX_ENABLE_X64="0").splitlines()
    assert printed[0] == "float32 False"
    assert len(printed) == 8
    assert all("float64" in line or "int64" in line for line in printed[1:])
    assert not any(line.startswith("no error") for line in printed)
