"""Functions for the arrays of any library."""

from __future__ import annotations

import importlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.errors import BackendError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@dataclass
class State:
    x: Any
    label: str = "kept"


@tb.for_arrays
def everything(x: Any, /, *, scale: Any = 2.0, state: Any = None) -> Any:
    y = tb.sin(x) * scale
    assert isinstance(y, tb.Tensor)
    return {"y": y, "sum": (tb.sum(y), 3, "text", None), "state": state}


@pytest.mark.parametrize("library", [numpy, jnp])
def test_arrays_come_back_as_they_came(library: Any) -> None:
    x = library.asarray(numpy.linspace(0, 1, 6, dtype="float32").reshape(2, 3))
    found = everything(x, scale=library.asarray(numpy.float32(3.0))[None], state=[State(x), {"a": x}])
    assert found["y"].dtype == "float32"
    numpy.testing.assert_allclose(found["y"], 3 * numpy.sin(x), rtol=1e-6)
    assert found["sum"][1:] == (3, "text", None)
    assert found["state"][0].label == "kept"
    for array in (found["y"], found["state"][0].x, found["state"][1]["a"]):
        assert isinstance(array, type(x))
    numpy.testing.assert_array_equal(found["state"][0].x, x)


def test_results_of_numpy_are_the_callers_own() -> None:
    x, kept = numpy.ones(3), tb.zeros(3)
    same, constant, number = tb.for_arrays(lambda x: (x, kept, x[0]))(x)
    same[0] = constant[1] = 5.0
    assert x.tolist() == [1.0, 1.0, 1.0]
    assert kept.tolist() == [0.0, 0.0, 0.0]
    assert type(number) is numpy.float64


def test_arguments_are_not_copied_or_moved() -> None:
    seen = []
    x, y = numpy.ones((2, 3)), jnp.ones(3)
    tb.for_arrays(lambda x: seen.append(x))(x)
    tb.for_arrays(lambda x: seen.append(x))(y)
    assert numpy.shares_memory(numpy.asarray(seen[0]), x)
    assert seen[1].data is y
    assert seen[1].backend is tb.get_backend("jax")


def test_tensors_and_numbers_give_tensors() -> None:
    x = tb.ones((2, 3), names=("row", None))
    assert everything(x)["y"].names == ("row", None)
    assert type(tb.for_arrays(lambda x: x.T + 1)(np.ones(3))).__module__.startswith("tensorbackend")
    assert everything(1.0)["y"].dtype is tb.float32
    assert type(everything(numpy.float64(1.0))["y"]) is numpy.float64
    for given in (tb.ones(3), jnp.ones(3)):
        assert type(everything(given, scale=numpy.float64(2.0))["y"]) is type(given)
    assert isinstance(tb.jit(everything)(x)["sum"][0], tb.Tensor)
    assert isinstance(tb.for_arrays(lambda: tb.ones(2))(), tb.Tensor)


def test_an_array_of_the_namespace_comes_back_as_an_array() -> None:
    found: Any = tb.for_arrays(lambda x: np.asarray(x).T)(numpy.ones((2, 3)))
    assert type(found) is numpy.ndarray
    assert found.shape == (3, 2)


def test_what_a_trace_of_this_library_records_stays_a_tensor() -> None:
    inner = tb.for_arrays(lambda array, x: tb.sum(array * x()))
    slope = tb.grad(lambda x: inner(numpy.arange(3.0), lambda: x))(tb.ones(3, dtype="f64"))
    assert slope.tolist() == [0.0, 1.0, 2.0]


def test_new_tensors_belong_where_the_arrays_are_in_their_precision() -> None:
    made = tb.for_arrays(lambda x: (x * 0 + tb.log(2.0), tb.ones(2), tb.asarray([0.1]) * x[0]))
    for library in (numpy, jnp):
        for dtype in ("float64", "float32"):
            scaled, ones, third = made(library.ones(3, dtype=dtype))
            assert scaled.dtype == ones.dtype == third.dtype == dtype
            assert abs(scaled[0] - numpy.log(2.0)) < (1e-15 if dtype == "float64" else 1e-6)
            assert isinstance(ones, type(library.ones(1)))
    assert tb.ones(2).dtype is tb.float32
    with tb.precision(16):
        assert made(numpy.ones(3, "float32"))[1].dtype == "float16"


def test_texts_dates_and_objects_are_passed_as_they_are() -> None:
    labels = numpy.array(["a", "b"])
    found = tb.for_arrays(lambda x, labels, *more: (x, labels, more))(numpy.ones(2), labels, object)
    assert found[1] is labels
    assert found[2] == (object,)


def refuse(x: Any, y: Any, **named: Any) -> Any:
    raise AssertionError("ran")


@pytest.mark.parametrize(
    ("arguments", "named", "came"),
    [
        ((numpy.ones(2), {"a": jnp.ones(2)}), {}, "x=numpy.ndarray, y['a']=jaxlib.ArrayImpl"),
        ((1.0, numpy.ones(2)), {"z": tb.ones(2)}, "y=numpy.ndarray, z=tensorbackend.Tensor"),
    ],
)
def test_two_libraries_are_an_error_before_anything_runs(arguments: Any, named: Any, came: str) -> None:
    with pytest.raises(BackendError) as error:
        tb.for_arrays(refuse)(*arguments, **named)
    text = f"expected arrays of one library, got {came}; convert one of them to the other's library first"
    assert str(error.value) == f"for_arrays: refuse: {text}"


def test_arrays_on_two_devices_are_an_error() -> None:
    program = (
        "import jax, jax.numpy as jnp, tensorbackend as tb\n"
        "x, y = (jax.device_put(jnp.ones(2), device) for device in jax.devices()[:2])\n"
        "try: tb.for_arrays(lambda x, y: x + y)(x, y)\n"
        "except tb.errors.BackendError as error: print(error)\n"
        "print(tb.for_arrays(lambda x: x * 2)(y).devices() == y.devices())\n"
    )
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PATH": "", **flags, **PATHS}
    )
    assert "expected arrays on one device" in done.stdout
    assert done.stdout.endswith("True\n")


PATHS = {"PYTHONPATH": str(EXAMPLES.parent)}


def test_a_library_without_its_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = type("Array", (), {"__module__": "dask.array", "dtype": "f8", "shape": (1,), "__array__": None})
    monkeypatch.setattr("tensorbackend.expr.libraries.owner", lambda array: None)
    with pytest.raises(BackendError, match=r"got array=dask.Array; .* pip install ./plugins/tensorbackend-dask"):
        tb.for_arrays(refuse)(kind(), 1.0)


# JAX's transforms


def test_the_transforms_of_jax_go_through() -> None:
    def ours(x: Any, y: Any) -> Any:
        return tb.sum(tb.sin(x @ y) ** 2) * tb.log(2.0)

    def theirs(x: Any, y: Any) -> Any:
        return jnp.sum(jnp.sin(x @ y) ** 2) * numpy.log(2.0)

    random = numpy.random.default_rng(0)
    x, y = jnp.asarray(random.normal(size=(2, 3))), jnp.asarray(random.normal(size=(3, 2)))
    xs = jnp.stack([x, 2 * x, x * x])
    function = tb.for_arrays(ours)
    for transform, arguments in {
        "jit": (x, y),
        "grad": (x, y),
        "value_and_grad": (x, y),
        "hessian": (x, y),
        "jacfwd": (x, y),
    }.items():
        found, wanted = (getattr(jax, transform)(each)(*arguments) for each in (function, theirs))
        assert all(isinstance(each, jax.Array) for each in jax.tree.leaves(found))
        jax.tree.map(
            lambda one, other: numpy.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12), found, wanted
        )
    found, wanted = (jax.jit(jax.vmap(jax.grad(each), (0, None)))(xs, y) for each in (function, theirs))
    numpy.testing.assert_allclose(found, wanted, rtol=1e-10)


# The example


def test_the_example_is_trained_by_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    library = importlib.import_module("for_any_library")

    place, points = numpy.linspace(-3, 3, 12), numpy.random.default_rng(0).normal(size=(20, 2))
    seen, logs, centres = numpy.sin(2 * place), numpy.array([0.1, -0.2, -1.0]), points[:3].copy()

    def misfit(logs: Any) -> Any:
        distance = (place[:, None] - place[None, :]) / jnp.exp(logs[1])
        seen_together = jnp.exp(logs[0]) ** 2 * jnp.exp(-(distance**2) / 2) + jnp.exp(logs[2]) ** 2 * jnp.eye(12)
        half = jnp.linalg.cholesky(seen_together)
        white = jax.scipy.linalg.solve_triangular(half, jnp.asarray(seen), lower=True)
        return jnp.sum(white**2) / 2 + jnp.sum(jnp.log(jnp.diag(half))) + 6 * numpy.log(2 * numpy.pi)

    def spread(centres: Any) -> Any:
        return jnp.mean(jnp.min(jnp.sum((points[:, None] - centres[None]) ** 2, axis=2), axis=1))

    here, there, many = map(jnp.asarray, (place, seen, points))
    found = jax.jit(jax.value_and_grad(library.misfit))(jnp.asarray(logs), here, there)
    for one, other in zip(found, jax.value_and_grad(misfit)(jnp.asarray(logs)), strict=True):
        numpy.testing.assert_allclose(one, other, rtol=1e-9)
    slope = jax.grad(library.spread)(jnp.asarray(centres), many)
    numpy.testing.assert_allclose(slope, jax.grad(spread)(jnp.asarray(centres)), rtol=1e-9, atol=1e-12)
    # NumPy's arrays lead to equal numbers.
    numpy.testing.assert_allclose(library.misfit(logs, place, seen), found[0], rtol=1e-9)
    by_numpy, by_jax = library.fitted(numpy.asarray), library.fitted(jnp.asarray)
    for one, other in zip(by_numpy, by_jax, strict=True):
        assert isinstance(other, jax.Array)
        assert not isinstance(one, jax.Array)
        numpy.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
