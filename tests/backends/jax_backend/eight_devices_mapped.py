"""Functions mapped over a mesh of eight devices. `test_mesh.py` runs these tests in a process that has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, BackendError, GradientError, OperandError, ShapeError

from .mesh_of_eight import BOTH, NUMBERS, ON_MESH, RULES, PartitionSpec, divided


@pytest.fixture
def x() -> tb.Tensor:
    return tb.asarray(NUMBERS, names=("batch", "hidden"), backend=ON_MESH)


# shard_map


MESH = tb.Mesh({"data": 4, "model": 2})
mapped: Any = tb.shard_map(mesh=MESH, layout=RULES)


def test_each_device_sees_its_parts(x: tb.Tensor) -> None:
    seen = []

    @mapped  # type: ignore[untyped-decorator] # of any kind
    def function(part: tb.Tensor) -> Any:
        seen.append(part.template)
        return (
            part * 2,
            tb.psum(tb.sum(part), ("data", "model")),
            tb.axis_index("data") + tb.psum(part[:, 0] * 0, "model"),
        )

    doubled, total, index = function(x)
    assert [repr(template) for template in seen] == ["f32[batch: 4][hidden: 3]"]
    assert np.array_equal(np.asarray(doubled), 2 * NUMBERS)
    assert divided(doubled) == BOTH
    assert total.item() == NUMBERS.sum()
    assert index.tolist() == [0.0] * 4 + [1.0] * 4 + [2.0] * 4 + [3.0] * 4


COLLECTIVES: dict[str, tuple[Callable[..., tb.Tensor], Callable[..., Any]]] = {
    "psum": (lambda a: tb.psum(tb.sum(a, axis="batch"), "data"), lambda a: tb.sum(a, axis="batch")),
    "pmean": (lambda a: tb.pmean(tb.mean(a, axis="hidden"), "model"), lambda a: tb.mean(a, axis="hidden")),
    "all_gather": (
        lambda a: tb.all_gather(a, "data", axis="batch").rename(batch="all") * 2,
        lambda a: a.rename(batch="all") * 2,
    ),
}


@pytest.mark.parametrize("name", ["psum", "pmean", "all_gather"])
def test_collectives_give_what_whole_tensors_give_with_their_gradients(name: str, x: tb.Tensor) -> None:
    by_parts, by_wholes = COLLECTIVES[name]
    function = mapped(by_parts)
    expected, result = by_wholes(x), function(x)
    np.testing.assert_allclose(np.asarray(result), np.asarray(expected), rtol=1e-6)
    assert result.names == expected.names
    numbers = np.cos(np.arange(expected.size, dtype=np.float32)).reshape(expected.shape)
    weight = tb.asarray(numbers, names=expected.names, backend=ON_MESH)
    expected_gradient = tb.jit(tb.grad(lambda a: tb.sum(by_wholes(a * a) * weight)))(x)
    gradient = tb.jit(tb.grad(lambda a: tb.sum(function(a * a) * weight)))(x)
    np.testing.assert_allclose(np.asarray(gradient), np.asarray(expected_gradient), rtol=1e-5)
    assert divided(gradient) == BOTH


def test_what_is_scattered_and_exchanged(x: tb.Tensor) -> None:
    @mapped  # type: ignore[untyped-decorator] # of any kind
    def scattered(part: tb.Tensor) -> tb.Tensor:
        both = tb.all_gather(part, "model", axis="hidden")
        return tb.psum_scatter(both, "model", axis="hidden")

    @mapped  # type: ignore[untyped-decorator] # of any kind
    def exchanged(part: tb.Tensor) -> tb.Tensor:
        once = tb.all_to_all(part, "model", split_axis="batch", concat_axis="hidden")
        assert once.shape == (2, 6)
        return tb.all_to_all(once, "model", split_axis="hidden", concat_axis="batch")

    assert np.array_equal(np.asarray(scattered(x)), 2 * NUMBERS)
    assert np.array_equal(np.asarray(exchanged(x)), NUMBERS)
    for function, factor in ((scattered, 2), (exchanged, 1)):
        gradient = tb.jit(tb.grad(lambda a, f=function: tb.sum(f(a) * a)))(x)
        np.testing.assert_allclose(np.asarray(gradient), 2 * factor * NUMBERS, rtol=1e-6)
    batch = tb.stack([x, x + 1])
    of_batch = np.asarray(tb.vmap(scattered)(batch))
    np.testing.assert_allclose(of_batch, [2 * NUMBERS, 2 * NUMBERS + 2], rtol=1e-6)


def test_tensors_that_a_function_closes_over_are_whole_and_have_gradients(x: tb.Tensor) -> None:
    weight = tb.asarray([1.0, 2.0, 3.0], backend=ON_MESH)

    def loss(weight: tb.Tensor) -> tb.Tensor:
        return tb.sum(mapped(lambda part: part * weight)(x))

    by_columns = NUMBERS.reshape(16, 2, 3).sum(axis=(0, 1))
    np.testing.assert_allclose(np.asarray(tb.grad(loss)(weight)), by_columns, rtol=1e-6)


def test_the_greatest_and_the_least_of_devices(x: tb.Tensor) -> None:
    both = ("data", "model")
    greatest, least = mapped(lambda a: (tb.pmax(tb.max(a), both), tb.pmin(tb.min(a), both)))(x)
    assert (greatest.item(), least.item()) == (95.0, 0.0)
    with pytest.raises(GradientError, match="the max over devices has no gradient"):
        tb.grad(mapped(lambda a: tb.pmax(tb.max(a), both)))(x)


def test_what_shard_map_refuses(x: tb.Tensor) -> None:
    with pytest.raises(ArgumentError, match=r"psum: .* the axes of the mesh are data, model"):
        mapped(lambda a: tb.psum(a, "rows"))(x)
    with pytest.raises(ShapeError, match=r"shard_map: expected arguments that all rules divide.*4 does not divide 6"):
        mapped(lambda a: a)(x.rename("hidden", "batch"))
    with pytest.raises(
        ShapeError, match="psum_scatter: expected an axis whose size is a multiple of 2, the number of devices"
    ):
        mapped(lambda a: tb.psum_scatter(a, "model", axis="hidden"))(x)
    with pytest.raises(ArgumentError, match="over the mesh of its arguments"):
        tb.shard_map(lambda a: a, mesh=tb.Mesh({"data": 2}), layout={"batch": "data"})(x)
    with pytest.raises(BackendError, match="shard_map: expected tensors on a mesh"):
        mapped(lambda a: a)(x.backend_copy("numpy"))
    with pytest.raises(OperandError, match="shard_map: expected a tensor as result"):
        mapped(lambda a: 3)(x)


# What varies over devices

DATA: Any = tb.JaxBackend(mesh=MESH, layout={"n": "data"})
by_data: Any = tb.shard_map(mesh=MESH, layout={"n": "data"})
EIGHT = np.arange(8, dtype=np.float32) / 4


LAX: Any = jax.lax


class Theirs:
    """JAX's functions under the names of ours."""

    sum, sin, grad, jvp, vmap, checkpoint = jnp.sum, jnp.sin, jax.grad, jax.jvp, jax.vmap, jax.checkpoint
    psum, pmean, scan, cond = LAX.psum, LAX.pmean, LAX.scan, LAX.cond
    stop, pmax, pmin = LAX.stop_gradient, LAX.pmax, LAX.pmin

    gather = staticmethod(lambda x: LAX.all_gather(x, "data", tiled=True))
    scatter = staticmethod(lambda x: LAX.psum_scatter(jnp.tile(x, 4), "data", tiled=True))
    exchange = staticmethod(lambda x: LAX.all_to_all(jnp.tile(x, 4), "data", 0, 0, tiled=True))
    index = staticmethod(lambda: LAX.axis_index("data").astype("float32"))
    number = staticmethod(jnp.float32)


class Ours:
    """Our functions; named axes lose their names where they are no longer divided."""

    sum, sin, grad, jvp, vmap, checkpoint = tb.sum, tb.sin, tb.grad, tb.jvp, tb.vmap, tb.checkpoint
    psum, pmean, scan, cond = tb.psum, tb.pmean, tb.scan, tb.cond
    stop, pmax, pmin = tb.stop_gradient, tb.pmax, tb.pmin

    gather = staticmethod(lambda x: tb.all_gather(x, "data").rename(None))
    scatter = staticmethod(lambda x: tb.psum_scatter(tb.tile(x.rename(None), (4,)), "data"))
    exchange = staticmethod(lambda x: tb.all_to_all(tb.tile(x.rename(None), (4,)), "data", split_axis=0, concat_axis=0))
    index = staticmethod(lambda: tb.astype(tb.axis_index("data"), "f32"))
    number = staticmethod(lambda value: tb.asarray(value, dtype="f32"))


def total(o: Any, w: Any, x: Any) -> Any:
    return o.psum(o.sum(o.sin(w * x)), "data")


BY_HAND: dict[str, Callable[[Any, Any, Any], Any]] = {
    "psum": lambda o, w, x: o.grad(lambda w: o.psum(o.sum((w * x) ** 2), "data"))(w),
    "pmean": lambda o, w, x: o.grad(lambda w: o.pmean(o.sum((w * x) ** 2), "data"))(w),
    "of a device alone": lambda o, w, x: o.grad(lambda w: o.sum((w * x) ** 2))(w),
    "psum of what is the same": lambda o, w, x: o.grad(lambda w: o.psum(w * w, "data"))(w),
    "by a part": lambda o, w, x: o.psum(o.sum(o.grad(lambda x: total(o, w, x))(x) * x), "data"),
    "second derivative": lambda o, w, x: o.grad(o.grad(lambda w: o.sin(total(o, w, x) * w)))(w),
    "all_gather": lambda o, w, x: o.psum(o.sum(o.grad(lambda x: o.sum(o.sin(w * o.gather(x))))(x) * x), "data"),
    "all_gather of products": lambda o, w, x: o.grad(lambda w: o.psum(o.sum(o.sin(o.gather(w * x) * w)), "data"))(w),
    "psum_scatter": lambda o, w, x: o.grad(lambda w: o.psum(o.sum(o.sin(o.scatter(w * x))), "data"))(w),
    "all_to_all": lambda o, w, x: o.grad(lambda w: o.psum(o.sum(o.sin(o.exchange(w * x)) * o.index()), "data"))(w),
    "axis_index": lambda o, w, x: o.grad(lambda w: o.sin(w * o.index()))(w),
    "pmax and pmin": lambda o, w, x: total(
        o, w / (o.pmax(o.stop(o.sum(x)), "data") - o.pmin(o.stop(o.sum(x)), "data")), x
    ),
    "scan": lambda o, w, x: o.grad(lambda w: o.scan(lambda c, e: (o.psum(o.sin(c * w + e), "data"), c), w, x)[0])(w),
    "gradient in a scan": lambda o, w, x: o.scan(lambda c, e: (c - 0.1 * o.grad(lambda c: o.sin(c * e))(c), c), w, x)[
        0
    ],
    "cond": lambda o, w, x: o.grad(
        lambda w: o.cond(w > 1, lambda w, x: total(o, w, x), lambda w, x: total(o, w * w, x), w, x)
    )(w),
    "jvp": lambda o, w, x: o.jvp(o.grad(lambda w: total(o, w, x)), (w,), (o.number(1.0),))[1],
    "checkpoint": lambda o, w, x: o.grad(o.checkpoint(lambda w: total(o, w, x)))(w),
    "vmap": lambda o, w, x: o.grad(lambda w: o.psum(o.sum(o.vmap(lambda e: o.sin(e * w))(x)), "data"))(w),
}


@pytest.mark.parametrize("name", [*BY_HAND])
def test_gradients_by_hand_are_those_of_jax(name: str) -> None:
    by_parts = BY_HAND[name]
    specs = PartitionSpec(), PartitionSpec("data")
    theirs = jax.shard_map(
        lambda w, x: by_parts(Theirs, w, x), mesh=DATA.mesh, in_specs=specs, out_specs=PartitionSpec()
    )
    ours = by_data(lambda w, x: by_parts(Ours, w, x))
    number = np.float32(3)
    expected = jax.jit(jax.value_and_grad(theirs, (0, 1)))(number, EIGHT)
    w, x = tb.asarray(number, backend=DATA), tb.asarray(EIGHT, names=("n",), backend=DATA)
    value, gradients = tb.jit(tb.value_and_grad(ours, (0, 1)))(w, x)
    for result, reference in zip((value, *gradients), (expected[0], *expected[1]), strict=True):
        np.testing.assert_allclose(np.asarray(result), np.asarray(reference), rtol=1e-4, atol=1e-4)


def test_devices_that_take_different_branches_do_not_wait_for_each_other() -> None:
    def loss(w: tb.Tensor, x: tb.Tensor) -> tb.Tensor:
        chosen = tb.cond(tb.sum(x) > 1.5, lambda w, x: tb.sum(tb.sin(w * x)), lambda w, x: tb.sum(w * x), w, x)
        return tb.psum(chosen, "data")

    inside = by_data(tb.grad(loss))
    w, x = tb.asarray(3.0, backend=DATA), tb.asarray(EIGHT, names=("n",), backend=DATA)
    expected = EIGHT[:4].sum() + (EIGHT[4:] * np.cos(3 * EIGHT[4:])).sum()
    np.testing.assert_allclose(inside(w, x).item(), expected, rtol=1e-5)
    np.testing.assert_allclose(tb.grad(inside)(w, x).item(), -(EIGHT[4:] ** 2 * np.sin(3 * EIGHT[4:])).sum(), rtol=1e-5)


@pytest.mark.parametrize(
    ("function", "label"),
    [
        (tb.sum, "result"),
        (lambda x: {"total": tb.psum(tb.sum(x), "data"), "part": x.rename("m")}, r"result\['part'\]"),
        (lambda x: tb.axis_index("data"), "result"),
        (lambda x: tb.psum(tb.sum(x), "model"), "result"),
        (lambda x: tb.while_loop(lambda c: c < tb.sum(x), lambda c: c + 1, 0.0), "result"),
        (lambda x: tb.cond(tb.sum(x) > 1, lambda: 1.0, lambda: 2.0), "result"),
        (lambda x: tb.scan(lambda c, e: (c + e, c), tb.asarray(0.0), x)[0], "result"),
    ],
)
def test_a_result_that_may_differ_between_devices_is_refused(function: Any, label: str) -> None:
    x = tb.asarray(EIGHT, names=("n",), backend=DATA)
    by_parts = by_data(function)
    expected = rf"shard_map: expected {label} to be the same on all devices along data, .* combine it with psum"
    with pytest.raises(ShapeError, match=expected):
        by_parts(x)
    with pytest.raises(ShapeError, match=expected):
        tb.trace(by_parts)("f32[n=8]")
    assert np.array_equal(by_data(lambda x: x * 2)(x), 2 * EIGHT)


# Padding between elements, which XLA divides wrongly


def eager(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def test_what_lies_between_elements_is_padding_on_any_number_of_devices() -> None:
    odd = tb.asarray([1.0, 2.0, 3.0, 4.0, 5.0], names=("n",), backend=DATA)
    assert tb.pad(odd, [(1, 0, 1)]).tolist() == [0.0, 1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0, 5.0]
    for count, start, transform in ((4, 2, tb.jit), (8, 0, tb.jit), (12, 2, tb.jit), (16, 2, tb.jit), (12, 0, eager)):
        numbers = np.arange(1.0, count + 1, dtype=np.float32)
        x = tb.asarray(numbers, names=("n",), backend=DATA)
        chosen = np.zeros(count, np.float32)
        chosen[start::2] = 2 * numbers[start::2]
        gradient = transform(tb.grad(lambda x, start=start: tb.sum(x[start::2] ** 2)))(x)
        assert np.array_equal(gradient, chosen)


def test_a_program_that_xla_cannot_divide_is_an_error_of_ours() -> None:
    def fails(text: str) -> Callable[..., Any]:
        def kernel(array: Any) -> Any:
            raise jax.errors.JaxRuntimeError(text)

        return kernel

    with pytest.raises(
        BackendError, match=r"expected a program that XLA can divide over the mesh, got error='INTERNAL"
    ):
        DATA.enter(fails("INTERNAL: during context [hlo verifier]: Expected f32[7]\nmore"))(np.ones(8))
    with pytest.raises(jax.errors.JaxRuntimeError, match="RESOURCE_EXHAUSTED"):
        DATA.enter(fails("RESOURCE_EXHAUSTED: Out of memory"))(np.ones(8))


def test_loops_make_their_ranges_in_place() -> None:
    def add(x: tb.Tensor) -> tb.Tensor:
        return x + tb.arange(8.0) + tb.linspace(0.0, 7.0, 8)

    functions: list[Callable[[tb.Tensor], Any]] = [
        lambda x: tb.fori_loop(0, 2, lambda i, x: add(x), x),
        lambda x: tb.while_loop(lambda x: tb.sum(x) < 100, add, x),
        lambda x: tb.scan(lambda x, e: (add(x), e), x, tb.ones(2))[0],
        lambda x: tb.cond(tb.sum(x) == 0, lambda x: add(add(x)), lambda x: x, x),
    ]
    with tb.default_backend(DATA):
        start = tb.zeros(8, names=("n",))
        for function in functions:
            assert function(start).tolist() == [4.0 * i for i in range(8)]
            assert tb.jit(function)(start).tolist() == [4.0 * i for i in range(8)]
        nearest = tb.optimize.minimize(lambda x: tb.sum((x - tb.arange(3.0)) ** 2), tb.zeros(3), history=1)
        np.testing.assert_allclose(nearest.x, [0, 1, 2], atol=1e-5)
