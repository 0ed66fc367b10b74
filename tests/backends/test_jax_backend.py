"""Features of JAX alone: its transformations of functions of tensors with names, its devices and its 64-bit switch."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise, product
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import DataError, DeallocatedError, IndexRangeError

BACKEND = tb.get_backend("jax")


def on_jax(values: Any, *names: str | None, dtype: str = "f32") -> tb.Tensor:
    return tb.tensor(values, dtype=dtype, names=names or None, backend=BACKEND)


X = on_jax([[0.5, -1.0, 2.0], [1.5, 0.0, -0.25]], "batch", "feature")


# Transformations


def test_a_jitted_function_keeps_names() -> None:
    @jax.jit
    def function(x: tb.Tensor) -> dict[str, tb.Tensor]:
        return {"softmax": tb.softmax(x, axis="feature"), "total": tb.sum(x * 2, axis="batch")}

    results = function(X)
    assert (results["softmax"].names, results["total"].names) == (("batch", "feature"), ("feature",))
    assert results["total"].tolist() == [4.0, -2.0, 3.5]
    assert results["softmax"].backend is BACKEND


def test_names_are_static_data_and_shapes_are_checked_while_tracing() -> None:
    traced: list[tb.Template] = []

    @jax.jit
    def function(x: tb.Tensor) -> tb.Tensor:
        traced.append(x.template)
        return x + X

    assert function(X).names == ("batch", "feature")
    function(X * 2)
    assert len(traced) == 1
    with pytest.raises(tb.errors.NamesError, match="the same name or None for matching axes"):
        function(X.rename("feature", "batch"))


def test_a_traced_tensor_is_shown_without_data() -> None:
    shown: list[str] = []
    jax.jit(lambda x: shown.append(repr(x)) or x)(X)  # type: ignore[func-returns-value] # append gives None
    assert shown == ["f32[batch: 2][feature: 3] jax (traced)"]


def test_a_gradient_is_a_tensor_with_names() -> None:
    gradient = jax.grad(lambda x: tb.sum(tb.tanh(x) ** 2).data)(X)
    reference = jax.jit(jax.grad(lambda x: jnp.sum(jnp.tanh(x) ** 2)))(X.data)
    assert gradient.template is X.template
    np.testing.assert_allclose(np.asarray(gradient), reference, rtol=1e-6)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda x: tb.maximum(x, 0.0), lambda x: jnp.maximum(x, 0.0)),
        (lambda x: tb.max(x, axis="feature"), lambda x: jnp.max(x, axis=1)),
        (lambda x: tb.min(x, axis="batch"), lambda x: jnp.min(x, axis=0)),
        (lambda x: tb.softmax(x, axis="feature") * x, lambda x: jax.nn.softmax(x, axis=1) * x),
        (lambda x: tb.log(tb.abs(x) + 1.0) / (x + 3.0), lambda x: jnp.log(jnp.abs(x) + 1.0) / (x + 3.0)),
        (lambda x: tb.cosh(x) * tb.sinh(x), lambda x: jnp.cosh(x) * jnp.sinh(x)),
        (lambda x: tb.cumulative_sum(x, axis="feature") ** 2, lambda x: jnp.cumsum(x, axis=1) ** 2),
        (
            lambda x: tb.take(x, on_jax([1, 1, 0], dtype="s64"), axis="batch") ** 3,
            lambda x: x[jnp.array([1, 1, 0])] ** 3,
        ),
        (lambda x: tb.sort(x, axis="feature") * 2.0, lambda x: jnp.sort(x, axis=1) * 2.0),
        (lambda x: x @ tb.matrix_transpose(x).rename(None, None), lambda x: x @ x.T),
        (lambda x: tb.window_max(x, (1, 2)), lambda x: jnp.maximum(x[:, :-1], x[:, 1:])),
        (lambda x: tb.erf(x), lambda x: jax.scipy.special.erf(x)),
    ],
)
def test_gradients_are_jax_own(ours: Any, theirs: Any) -> None:
    gradient_of_ours, gradient_of_theirs = (
        jax.grad(lambda x: tb.sum(ours(x)).data),
        jax.grad(lambda x: jnp.sum(theirs(x))),
    )
    gradient, reference = jax.jit(lambda x: (gradient_of_ours(x), gradient_of_theirs(x.data)))(X)
    np.testing.assert_allclose(np.asarray(gradient), reference, rtol=2e-5, atol=1e-6)


def test_a_mapped_axis_goes_with_its_name_and_comes_without_one() -> None:
    seen: list[tuple[str | None, ...]] = []

    def function(x: tb.Tensor) -> tb.Tensor:
        seen.append(x.names)
        return tb.cumulative_sum(x)

    rows, columns = jax.vmap(function)(X), jax.vmap(function, in_axes=1)(X)
    assert seen == [("feature",), ("batch",)]
    assert (rows.names, columns.names) == ((None, "feature"), (None, "batch"))
    assert columns.tolist() == np.cumsum(np.asarray(X), axis=0).T.tolist()


def test_scan_over_tensors() -> None:
    start = on_jax([0.0, 0.0, 0.0], "feature")

    def step(total: tb.Tensor, row: tb.Tensor) -> tuple[tb.Tensor, tb.Tensor]:
        total = total + row
        return total, total * 2

    last, steps = jax.lax.scan(step, start, X)
    assert (last.names, steps.names) == (("feature",), (None, "feature"))
    assert last.tolist() == [2.0, -1.0, 1.75]


def test_tensors_of_other_backends_become_jax_tensors_in_a_transformation() -> None:
    for backend in ("numpy", "binary"):
        doubled = jax.jit(lambda x: x + x)(tb.tensor([1.0, 2.0], names=("n",), backend=backend))
        assert (doubled.tolist(), doubled.names, doubled.backend) == ([2.0, 4.0], ("n",), BACKEND)


def test_a_value_that_jax_traces_is_a_tensor_on_jax() -> None:
    array = jnp.ones((2, 3), jnp.float32)
    for default in ("numpy", "jax"):
        with tb.default_backend(default):
            assert jax.jit(lambda x: tb.sum(tb.exp(x), axis=0))(array).shape == (3,)
            assert jax.grad(lambda x: tb.sum(tb.asarray(x) * x).data)(array).tolist() == [[2.0] * 3] * 2


def test_trees() -> None:
    leaves, tree = jax.tree.flatten({"x": X})
    assert [leaf.shape for leaf in leaves] == [(2, 3)]
    assert jax.tree.unflatten(tree, leaves)["x"].template is X.template
    assert (
        jax.tree.map(lambda leaf: leaf.astype(jnp.float16), X).template == tb.template((2, 3), "f16", X.names).template
    )
    assert jax.tree.map(jnp.sum, X).names == ()
    assert jax.eval_shape(lambda x: tb.sum(x, axis="batch"), X).names == ("feature",)
    kept = jax.tree.map(lambda leaf: jnp.zeros((), jnp.int32), X)  # such as an optimiser's state of a parameter
    structure: Callable[[Any], object] = jax.tree.structure
    assert structure(kept) == structure(X) == structure(X.backend_copy("numpy"))
    assert jax.tree.map(jnp.multiply, X, kept).names == X.names
    assert structure(X) != structure(X.rename("batch", None))
    assert jax.jit(lambda x: x + x)(X.rename("batch", None)).names == ("batch", None)
    gone = on_jax([1.0])
    gone.backend_deallocate()
    with pytest.raises(DeallocatedError):
        jax.tree.leaves(gone)


class Layer(NamedTuple):
    weight: tb.Tensor
    bias: tb.Tensor


def layers(sizes: list[tuple[str, int]]) -> list[Layer]:
    key = tb.random.key(0)
    parameters = []
    for (before, rows), (after, columns) in pairwise(sizes):
        key, layer_key = tb.random.split(key)
        weight = tb.random.normal(layer_key, (rows, columns), names=(before, after)) / rows**0.5
        parameters.append(Layer(on_jax(np.asarray(weight), *weight.names), on_jax(np.zeros(columns), after)))
    return parameters


def network(parameters: list[Layer], x: tb.Tensor) -> tb.Tensor:
    for layer in parameters[:-1]:
        x = tb.maximum(x @ layer.weight + layer.bias, 0.0)
    return x @ parameters[-1].weight + parameters[-1].bias


def test_a_named_network_gives_the_numbers_of_one_in_jax_numpy() -> None:
    parameters = layers([("pixel", 16), ("hidden", 32), ("code", 24), ("digit", 10)])
    x = on_jax(np.asarray(tb.random.normal(tb.random.key(1), (8, 16))), "batch", "pixel")

    def loss(parameters: list[Layer], x: tb.Tensor) -> Any:
        return tb.mean(tb.logsumexp(network(parameters, x), axis="digit")).data

    def plain(parameters: list[Any], x: Any) -> Any:
        for weight, bias in parameters[:-1]:
            x = jnp.maximum(x @ weight + bias, 0.0)
        return jnp.mean(jax.scipy.special.logsumexp(x @ parameters[-1][0] + parameters[-1][1], axis=1))

    arrays = [(layer.weight.data, layer.bias.data) for layer in parameters]
    loss_value, gradient = jax.jit(jax.value_and_grad(loss))(parameters, x)
    expected_loss, expected_gradient = jax.jit(jax.value_and_grad(plain))(arrays, x.data)
    np.testing.assert_allclose(loss_value, expected_loss, rtol=1e-6)
    assert gradient[1].weight.names == ("hidden", "code")
    for ours, theirs in zip(jax.tree.leaves(gradient), jax.tree.leaves(expected_gradient), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7)
    logits = jax.jit(jax.vmap(lambda row: network(parameters, row)))(x)
    assert (logits.names, logits.shape) == ((None, "digit"), (8, 10))
    np.testing.assert_allclose(np.asarray(logits), np.asarray(network(parameters, x)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (2, 3, 4), (1000,)])
def test_random_numbers_are_those_of_jax(shape: tuple[int, ...]) -> None:
    for seed in range(20):
        ours, theirs = tb.random.key(seed), jax.random.PRNGKey(seed)
        assert np.array_equal(np.asarray(tb.random.bits(ours, shape)), jax.random.bits(theirs, shape, np.uint32))
        uniform = jax.random.uniform(theirs, shape, np.float32)
        assert np.array_equal(np.asarray(tb.random.uniform(ours, shape)), uniform)
        assert np.array_equal(np.asarray(tb.random.uniform(ours.backend_copy(BACKEND), shape)), uniform)
        assert np.array_equal(np.asarray(tb.random.split(ours)), jax.random.split(theirs))


# Errors that only data can show


def test_an_index_outside_is_an_error_on_data_and_moved_while_tracing() -> None:
    indices = on_jax([0, 7], dtype="s64")
    with pytest.raises(DataError, match="expected an index from -2 to 1, got index=7"):
        tb.take(X, indices, axis="batch")
    rows = jax.jit(lambda indices: tb.take(X, indices, axis="batch"))(indices)
    assert rows.tolist() == [X.tolist()[0], X.tolist()[1]]


def test_a_singular_matrix_is_an_error_on_data_and_no_number_while_tracing() -> None:
    singular = on_jax([[1.0, 2.0], [2.0, 4.0]])
    with pytest.raises(DataError, match="singular"):
        tb.linalg.solve(singular, on_jax([1.0, 1.0]))
    assert not np.isfinite(np.asarray(jax.jit(tb.linalg.solve)(singular, on_jax([1.0, 1.0])))).any()


def test_a_matrix_held_by_a_traced_function_is_solved_with() -> None:
    matrix = on_jax([[2.0, 1.0], [1.0, 3.0]], "row", "column")
    right = on_jax([1.0, 2.0], "row")

    def solved(right: tb.Tensor) -> list[tb.Tensor]:
        factor = tb.linalg.cholesky(matrix)
        solve = tb.linalg.triangular_solve
        return [tb.linalg.solve(matrix, right), tb.linalg.inv(matrix) @ right, solve(factor, right), factor @ right]

    for ours, reference in zip(jax.jit(solved)(right), solved(right), strict=True):
        np.testing.assert_allclose(ours, reference, rtol=1e-6)


def test_a_number_next_to_a_tensor_in_a_trace_is_not_a_tracer_later() -> None:
    with jax.checking_leaks():
        jax.jit(lambda x: x * 0.12345 + 1.5)(X)
    assert (on_jax([2.0]) * 0.12345).tolist() == pytest.approx([0.2469])


# Functions of scalars


@pytest.mark.parametrize("shape", [(), (2,)])
def test_numbers_that_are_equal_but_not_the_same_fill_different_tensors(shape: tuple[int, ...]) -> None:
    zeros = 0.0, -0.0, complex(0.0, -0.0), complex(-0.0, 0.0), 0j
    for value in zeros * 2:
        filled = tb.full(shape, value, dtype="c64", backend=BACKEND)
        assert repr(filled.tolist()) == repr(tb.full(shape, value, dtype="c64").tolist())


@pytest.mark.parametrize("dtype", ["int64", "uint8"])
def test_integer_powers_of_many_bits(dtype: str) -> None:
    bits, most = (64, 2**63 - 1) if dtype == "int64" else (8, 255)
    cases = [(base, exponent) for base in (2, 3, 7) for exponent in (0, 1, 63, 64, 65, 100, most - 1, most)]
    bases, exponents = (tb.tensor(column, dtype=dtype, backend=BACKEND) for column in zip(*cases, strict=True))
    powers = (bases**exponents).tolist()
    assert [value % 2**bits for value in powers] == [pow(*case, 2**bits) for case in cases]


@pytest.mark.parametrize(("dtype", "greatest"), [("c64", 3.4028234663852886e38), ("c128", 1.7976931348623157e308)])
@pytest.mark.parametrize("name", ["abs", "cosh", "sinh", "cos", "sin", "exp", "sqrt", "tanh", "log"])
def test_complex_numbers_with_an_extreme_part(name: str, dtype: str, greatest: float) -> None:
    parts = 0.0, -0.0, 1.0, greatest, -greatest, float("inf"), float("nan")
    values = [complex(a, b) for a in parts for b in parts]
    ours, reference = (
        getattr(tb, name)(tb.tensor(values, dtype=dtype, backend=backend)) for backend in (BACKEND, "binary")
    )
    np.testing.assert_allclose(ours, reference, rtol=1e-5, atol=1e-37, err_msg=name)


@pytest.mark.parametrize("shape", [(), (2, 2)])
@pytest.mark.parametrize("other", ["int64", "uint64", "float64"])
def test_bits_of_complex_numbers(other: str, shape: tuple[int, ...]) -> None:
    x = tb.broadcast_to(tb.tensor(complex(1.5, -0.0), dtype="c64"), shape)
    bits = tb.bitcast(x.backend_copy(BACKEND), other)
    assert bits.to_binary() == tb.bitcast(x, other).to_binary()
    assert tb.bitcast(bits, "c64").to_binary() == x.to_binary()


@pytest.mark.parametrize(("dtype", "small"), [("f32", 5e-39), ("f64", 5e-310)])
def test_angles_of_subnormal_numbers_are_those_of_zeros(dtype: str, small: float) -> None:
    signs = [(a, b) for a in (1.0, -1.0) for b in (1.0, -1.0)]
    angles, angles_of_zeros = (
        tb.atan2(
            *(
                tb.tensor([sign * size for sign in column], dtype=dtype, backend=BACKEND)
                for column in zip(*signs, strict=True)
            )
        )
        for size in (small, 0.0)
    )
    assert repr(angles.tolist()) == repr(angles_of_zeros.tolist())


@pytest.mark.parametrize(("dtype", "small"), [("bf16", 5e-39), ("f32", 5e-39), ("f64", 5e-310)])
def test_quotients_and_roots_of_subnormal_numbers_are_those_of_zeros(dtype: str, small: float) -> None:
    def quotients_and_roots(size: float) -> list[Any]:
        x, y, three = (tb.tensor(numbers, dtype=dtype, backend=BACKEND) for numbers in ([size, 2.0], [-size, 3.0], 3.0))
        return [tb.cbrt(x).tolist(), tb.floor_divide(y, x).tolist(), tb.remainder(x, three).tolist()]

    assert repr(quotients_and_roots(small)) == repr(quotients_and_roots(0.0))


def test_derivatives_at_zero() -> None:
    zero, three = (on_jax(number) for number in (0.0, 3.0))
    for function in (lambda x: tb.remainder(x, three), lambda x: tb.atan2(x, three) * 3):
        assert jax.jit(jax.grad(lambda x, function=function: function(x).data))(zero).item() == 1.0


@pytest.mark.parametrize("options", [{"padding": "same"}, {"padding": "same", "input_dilation": (2,)}])
def test_padding_of_a_convolution_is_multiplied(options: dict[str, Any]) -> None:
    def convolved(signals: list[tb.Tensor], kernels: list[tb.Tensor]) -> list[tb.Tensor]:
        return [tb.conv(*pair, **options) for pair in product(signals, kernels)]

    numbers = [[1.0], [1.0, 2.0], [1.0, 2.0, 3.0]], [[1.0, float("inf")], [2.0, 0.5, 1.0]]
    on_binary = [[tb.tensor([[row]], dtype="f32", backend="binary") for row in rows] for rows in numbers]
    results = tb.jit(convolved)(*tb.backend_copy(on_binary, BACKEND))
    for ours, reference in zip(results, convolved(*on_binary), strict=True):
        assert repr(ours.tolist()) == repr(reference.tolist())


@pytest.mark.parametrize("dtype", ["f32", "f64", "c128"])
@pytest.mark.parametrize("groups", ["feature_groups", "batch_groups"])
def test_groups_of_a_convolution_do_not_mix(groups: str, dtype: str) -> None:
    values = np.arange(12.0).reshape((2, 2, 3))
    values[0, 0, 1], values[1, 1, 2] = np.inf, np.nan
    channels = 1 if groups == "feature_groups" else 2
    weights = np.arange(1.0, 1 + 8 * channels).reshape((4, channels, 2))
    ours, reference = (
        tb.conv(
            *(tb.tensor(array.tolist(), dtype=dtype, backend=backend) for array in (values, weights)),
            padding="same",
            **{groups: 2},
        )
        for backend in (BACKEND, "binary")
    )
    assert repr(ours.tolist()) == repr(reference.tolist())


def test_a_convolution_of_padding_alone() -> None:
    x, kernel = on_jax(np.zeros((1, 2, 0))), on_jax(np.ones((3, 2, 1)))
    assert tb.conv(x, kernel, padding=((0, 1),)).tolist() == [[[0.0], [0.0], [0.0]]]


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


# Memory and devices


def test_an_array_of_jax_is_a_payload() -> None:
    array = jax.numpy.asarray([1.0, 2.0])
    x = tb.asarray(array, names=("n",), backend=BACKEND)
    assert x.data is array
    assert x.names == ("n",)
    assert tb.asarray(array, copy=True, backend=BACKEND).data is not array
    assert tb.asarray(array, backend="numpy").tolist() == [1.0, 2.0]


def test_an_index_outside_is_found_beside_values_that_are_differentiated() -> None:
    x, places = on_jax([1.0, 2.0, 3.0]), tb.asarray([0, 3], backend=BACKEND)

    def total(x: tb.Tensor) -> Any:
        return tb.sum(tb.take(x, places, axis=0)).data

    for function in (total, jax.grad(total)):
        with pytest.raises(IndexRangeError, match="got index=3"):
            function(x)
    assert jax.jit(lambda x, places: tb.take(x, places, axis=0))(x, places).tolist() == [1.0, 3.0]


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


def test_gradients_of_factors_are_those_of_symmetric_matrices() -> None:
    def loss(x: tb.Tensor) -> tb.Tensor:
        matrix = x @ x.mT + tb.asarray(2 * np.eye(3), backend=x.backend)
        values, vectors = tb.linalg.eigh(matrix)
        return tb.sum(tb.sin(tb.linalg.cholesky(matrix))) + tb.sum(tb.cos(values)) + tb.sum(tb.sin(vectors))

    x = tb.asarray([[0.3, -0.7, 0.2], [0.9, 0.4, -0.1], [0.5, 0.8, 1.1]], dtype="f64")
    theirs = jax.jit(jax.grad(lambda x: loss(x).data))(x.backend_copy(BACKEND))
    np.testing.assert_allclose(theirs, tb.grad(loss)(x), rtol=1e-9, atol=1e-9)


def test_the_gradient_of_a_complex_acosh_has_the_right_sign_everywhere() -> None:
    x = tb.asarray([0.5 + 1.2j, -0.5 + 1.2j, -0.5 - 1.2j, -2.0 + 0.1j], dtype="c128")
    theirs = jax.jit(jax.grad(lambda x: tb.sum(tb.real(tb.acosh(x))).data))(x.backend_copy(BACKEND))
    np.testing.assert_allclose(theirs, tb.grad(lambda x: tb.sum(tb.real(tb.acosh(x))))(x), rtol=1e-12)
    step = (tb.acosh(x + 1e-6) - tb.acosh(x - 1e-6)) / 2e-6
    np.testing.assert_allclose(theirs, step, rtol=1e-8)


@pytest.mark.parametrize("dtype", ["f32", "c64"])
@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 2, 2)])
def test_linear_algebra_of_matrices_without_elements(shape: tuple[int, ...], dtype: str) -> None:
    looking: list[Callable[..., Any]] = [tb.linalg.lu]
    functions: list[Callable[..., Any]] = [tb.linalg.lu, tb.linalg.qr, tb.linalg.svd, tb.linalg.svdvals, tb.linalg.pinv]
    if shape[-1] == shape[-2]:
        looking += [tb.linalg.cholesky, tb.linalg.inv]
        square = "det", "slogdet", "eigh", "eigvalsh", "eig", "cholesky", "inv", "expm"
        functions += [getattr(tb.linalg, name) for name in square]
    x = tb.tensor(np.zeros(shape), dtype=dtype, backend=BACKEND)
    # Run all functions as one program. Then run those that look for errors in their results once more, eagerly.
    results = tb.jit(lambda x: [function(x) for function in functions])(x)
    results += [function(x) for function in looking]
    for function, ours in zip(functions + looking, results, strict=True):
        references = jax.tree.leaves(function(x.backend_copy("binary")))
        for result, reference in zip(jax.tree.leaves(ours), references, strict=True):
            assert (result.shape, result.tolist()) == (reference.shape, reference.tolist()), function.__name__


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


def test_what_eval_shape_gives_shows_no_number() -> None:
    for shape in ((), (2, 3), (0,)):
        out = jax.eval_shape(lambda x: tb.asarray(x, backend="jax") * 2, np.ones(shape, np.float32))
        assert repr(out) == f"{tb.Template(shape, 'f32')!r} jax (without data)"
