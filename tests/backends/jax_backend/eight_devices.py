"""Tests on a mesh of 4 x 2 devices. `test_mesh.py` runs them in a process that has eight devices."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding

import tensorbackend as tb
from tensorbackend.backends.jax_backend.virtual import compile_graph
from tensorbackend.errors import ArgumentError, BackendError

from .mesh_of_eight import BOTH, NUMBERS, ON_MESH, RULES, PartitionSpec, divided


@pytest.fixture
def x() -> tb.Tensor:
    return tb.asarray(NUMBERS, names=("batch", "hidden"), backend=ON_MESH)


# The backend


def test_an_instance_is_one_for_equal_meshes_and_rules() -> None:
    again = tb.JaxBackend(mesh=tb.Mesh({"data": 4, "model": 2}), layout=RULES)
    assert again is ON_MESH
    assert isinstance(again, tb.JaxBackend)
    assert again is not tb.get_backend("jax")
    assert pickle.loads(pickle.dumps(ON_MESH)) is ON_MESH
    assert repr(ON_MESH) == f"JaxBackend(mesh=Mesh({{'data': 4, 'model': 2}}), layout={RULES})"
    other = tb.JaxBackend(mesh=ON_MESH.options["mesh"], layout={"batch": ("data", "model")})
    assert other is not ON_MESH


def test_a_mesh_of_jax_with_explicit_axes_is_taken() -> None:
    explicit = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
    backend: Any = tb.JaxBackend(mesh=explicit, layout=RULES)
    assert set(backend.mesh.axis_types) == {AxisType.Auto}
    assert divided(tb.asarray(NUMBERS, names=("batch", "hidden"), backend=backend) + 1) == BOTH


def test_some_of_the_devices_in_an_order() -> None:
    backend: Any = tb.JaxBackend(mesh=tb.Mesh({"data": 2}, [5, 3]), layout={"batch": "data"})
    y = tb.asarray([1.0, 2.0], names=("batch",), backend=backend) * 2
    assert [(shard.device.id, float(shard.data[0])) for shard in y.data.addressable_shards] == [(5, 2.0), (3, 4.0)]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"mesh": tb.Mesh({"data": 16})}, "a mesh of at most 8 devices"),
        ({"mesh": tb.Mesh({"data": 2}, [0, 99])}, "device numbers that JAX has"),
        ({"mesh": tb.Mesh({"data": 2}), "layout": {"batch": "model"}}, "the axes of the mesh are data"),
        ({"mesh": tb.Mesh({"data": 2}), "device": "cpu:0"}, "no options other than mesh and layout"),
        ({"layout": RULES}, "a mesh together with a layout"),
        ({"mesh": None}, "a dict of sizes by name"),
    ],
)
def test_what_does_not_fit_is_told_before_anything_runs(options: Any, text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        tb.JaxBackend(**options)


def test_operands_on_a_mesh_and_on_one_device_do_not_mix(x: tb.Tensor) -> None:
    with pytest.raises(BackendError, match="tensors on one backend"):
        x + tb.ones(6, backend="jax")
    assert divided(x + np.ones(6, np.float32)) == BOTH


# To the mesh and back


@pytest.mark.parametrize("source", ["numpy", "binary", "jax"])
def test_a_transfer_lays_out_by_names(source: str) -> None:
    there = tb.asarray(NUMBERS, names=("batch", "hidden"), backend=source)
    moved = there.backend_transfer(ON_MESH)
    assert divided(moved) == BOTH
    assert there.deallocated
    assert np.array_equal(np.asarray(moved.backend_transfer(source)), NUMBERS)


def test_a_transfer_between_meshes(x: tb.Tensor) -> None:
    other = tb.JaxBackend(mesh=tb.Mesh({"rows": 2, "columns": 4}), layout={"batch": ("columns", "rows")})
    assert divided(x.backend_copy(other)) == (("columns", "rows"), ())
    assert np.array_equal(np.asarray(x.backend_copy(other).backend_transfer(ON_MESH)), NUMBERS)


def test_a_copy_shares_no_memory(x: tb.Tensor) -> None:
    copy = x.backend_copy(ON_MESH)
    places = [{part.data.unsafe_buffer_pointer() for part in tensor.data.addressable_shards} for tensor in (x, copy)]
    assert not places[0] & places[1]
    assert divided(copy) == BOTH


def test_sharded_arrays_of_jax_come_in() -> None:
    array = jax.device_put(NUMBERS, NamedSharding(ON_MESH.mesh, PartitionSpec("data")))
    assert np.array_equal(np.asarray(tb.asarray(array, backend="numpy")), NUMBERS)
    assert tb.asarray(array, backend="jax").device == "cpu:0"
    adopted = tb.asarray(array, backend=ON_MESH)
    assert adopted.data is array
    assert divided(adopted) == (("data",), ())
    assert divided(tb.asarray(array, names=("batch", "hidden"), backend=ON_MESH)) == BOTH
    assert divided(tb.asarray(array, names=("hidden", None), backend=ON_MESH))[0] == ("model",)
    whole = tb.from_dlpack(NUMBERS, backend=ON_MESH)
    assert divided(whole) == ((), ())
    assert divided(whole.rename("batch", "hidden")) == BOTH


def test_an_array_that_another_mesh_laid_out_is_understood() -> None:
    grid = np.array(jax.devices()).reshape(4, 2)
    array = jax.device_put(NUMBERS, NamedSharding(jax.sharding.Mesh(grid, ("a", "b")), PartitionSpec("b", None)))
    assert divided(tb.asarray(array, backend=ON_MESH)) == (("model",), ())


def test_the_host_gets_what_it_asks_for(x: tb.Tensor) -> None:
    assert x.tolist() == NUMBERS.tolist()
    assert x[3, 2].item() == NUMBERS[3, 2]
    for limit in (0, 1, 7, 30, 95, 96):
        assert x.to_binary(limit) == NUMBERS.tobytes()[: 4 * limit]
    assert [batch.tolist() for batch in (x[:8], x[8:])] == [NUMBERS[:8].tolist(), NUMBERS[8:].tolist()]
    assert pickle.loads(pickle.dumps(x)).sharding == x.sharding


def test_the_display_shows_the_layout(x: tb.Tensor) -> None:
    assert repr(x).splitlines()[:2] == [
        "f32[batch: 16 / data][hidden: 6 / model] jax",
        "[[ 0.0,  1.0,  2.0,  3.0,  4.0,  5.0],",
    ]
    assert repr(tb.zeros((2,), names=("batch",), backend=ON_MESH)).startswith("f32[batch: 2] jax")
    assert tb.zeros(2, backend="jax").sharding is None
    assert x.device == "cpu:data=4,model=2"
    assert x.to_device(x.device) is x
    assert x.to_device("cpu:1").device == "cpu:1"


# Results


BY_NAME = ("batch", "hidden")
CALLS: dict[str, tuple[Callable[..., Any], Any]] = {
    "add": (lambda a: a + a, BOTH),
    "numbers": (lambda a: 1 - a * 2, BOTH),
    "sum": (lambda a: tb.sum(a, axis="batch"), (("model",),)),
    "mean": (lambda a: tb.mean(a, axis="hidden"), (("data",),)),
    "softmax": (lambda a: tb.softmax(a, axis="hidden"), BOTH),
    "transpose": (lambda a: a.T, (("model",), ("data",))),
    "rename": (lambda a: a.rename("hidden", "batch"), None),
    "rename to none": (lambda a: a.rename("time", "feature"), ((), ())),
    "sort": (lambda a: tb.sort(a, axis="batch"), BOTH),
    "cumulative_sum": (lambda a: tb.cumulative_sum(a, axis="batch"), BOTH),
    "concat": (lambda a: tb.concat([a, a], axis="batch"), BOTH),
    "slice": (lambda a: a[4:12], BOTH),
    "slice that is not divided": (lambda a: a[3:9], ((), ("model",))),
    "pad": (lambda a: tb.pad(a, ((2, 2), (0, 0)), value=0), BOTH),
    "take": (lambda a: tb.take(a, tb.asarray([3, 1, 2, 0], backend=a.backend), axis="batch"), BOTH),
    "where": (lambda a: tb.where(a > 3, a, 0.0), BOTH),
    "dot": (lambda a: tb.dot(a, a.rename("batch", "feature"), contract=(["batch"], ["batch"])), (("model",), ())),
    "expand": (lambda a: tb.expand_dims(a, axis=0, name="time"), ((), *BOTH)),
    "cond": (lambda a: tb.cond(tb.sum(a) > 0, lambda v: v + 1, lambda v: v, a), BOTH),
    "scan": (lambda a: tb.scan(lambda c, v: (c + v, c), tb.sum(a, axis="batch"), a, axis="batch")[1], None),
    "fori_loop": (lambda a: tb.fori_loop(0, 3, lambda i, v: v * 2, a), BOTH),
    "while_loop": (lambda a: tb.while_loop(lambda v: tb.sum(v) < 1e5, lambda v: v * 2, a), BOTH),
    "vmap": (lambda a: tb.vmap(lambda row: row * 2)(a), BOTH),
    "grad": (lambda a: tb.grad(lambda v: tb.sum(v * v))(a), BOTH),
    "jvp": (lambda a: tb.jvp(lambda v: v * v, (a,), (a,))[1], BOTH),
    "qr": (lambda a: tb.linalg.qr(a)[1], None),
    "fft": (lambda a: tb.abs(tb.fft.fft(a, axis=0)), None),
    "window_sum": (lambda a: tb.window_sum(a, (2, 1), strides=(2, 1)), None),
    "conv": (lambda a: tb.conv(a.rename(None, None)[None, None], tb.ones((1, 1, 3, 3), dtype="f32", like=a)), None),
    "conv of the dilated": (
        lambda a: tb.conv(
            a.rename(None, None)[None, None], tb.ones((1, 1, 3, 3), dtype="f32", like=a), input_dilation=2
        ),
        None,
    ),
    "gamma": (lambda a: tb.gamma_inc_l(a + 1, a), BOTH),
    "host_call": (lambda a: tb.host_call(lambda v: v + 1, a.template, a), BOTH),
}


EAGER = {"add", "numbers", "sum", "softmax", "rename", "rename to none", "slice", "slice that is not divided", "take"}
"""The calls that the tests also run op by op. They run every call in a graph."""


@pytest.mark.parametrize(
    ("name", "jitted"), [(name, jitted) for name in CALLS for jitted in (False, True) if jitted or name in EAGER]
)
def test_a_call_gives_the_same_and_lies_by_its_names(name: str, jitted: bool) -> None:
    function, layout = CALLS[name]
    run = tb.jit(function) if jitted else function
    expected, result = (run(tb.asarray(NUMBERS / 7, names=BY_NAME, backend=backend)) for backend in ("numpy", ON_MESH))
    np.testing.assert_allclose(np.asarray(result), np.asarray(expected), rtol=5e-6, atol=1e-5)
    ruled = ON_MESH.layout.of(result.template).axes
    named = [place for place, axis_name in enumerate(result.names) if axis_name is not None]
    assert [divided(result)[place] for place in named] == [ruled[place] for place in named]
    assert layout is None or divided(result) == layout


@pytest.mark.parametrize("jitted", [False, True], ids=["eager", "jit"])
def test_what_is_made_of_nothing_is_made_in_place(jitted: bool) -> None:
    def fresh_tensors() -> tuple[tb.Tensor, ...]:
        zeros, full = tb.zeros((16, 6), names=BY_NAME), tb.full((16, 6), 2.5, names=BY_NAME)
        return zeros, full, tb.iota((16, 6), names=BY_NAME), tb.eye(6)

    with tb.default_backend(ON_MESH):
        *named, unnamed = tb.jit(fresh_tensors)() if jitted else fresh_tensors()
    assert [divided(tensor) for tensor in named] == [BOTH] * 3
    assert divided(unnamed) == ((), ())
    assert all(tensor.data.sharding.device_set == set(jax.devices()) for tensor in (*named, unnamed))


def test_random_values_are_the_same_on_any_mesh() -> None:
    other = tb.JaxBackend(mesh=tb.Mesh({"data": 2, "model": 4}), layout={"hidden": ("data", "model")})
    keys = [tb.random.key(3, backend=backend) for backend in ("jax", ON_MESH, other)]
    samples = [tb.random.normal(key, (16, 8), names=BY_NAME) for key in keys]
    first, *others = map(np.asarray, samples)
    assert all(np.array_equal(first, other) for other in others)
    assert divided(samples[1]) == BOTH
    assert divided(samples[2]) == ((), ("data", "model"))


def test_a_tape_and_checkpoints_keep_the_layout(x: tb.Tensor) -> None:
    with tb.tape() as tape:
        watched = tape.watch(x)
        value = tb.sum(tb.checkpoint(lambda v: tb.exp(v / 100))(watched))
    assert divided(tb.gradient(value, watched)) == BOTH


def test_checkpoints_take_the_predicted_memory() -> None:
    def layer(x: tb.Tensor, first: tb.Tensor, second: tb.Tensor) -> tb.Tensor:
        return x + tb.tanh(tb.exp(tb.sin(x @ first)) @ second)

    weights = [("f32[feature=64, hidden=256]", "f32[hidden=256, feature=64]")] * 4
    peaks = []
    for chosen in (layer, tb.checkpoint(layer)):

        def loss(weights: Any, x: tb.Tensor, chosen: Any = chosen) -> tb.Tensor:
            for first, second in weights:
                x = chosen(x, first, second)
            return tb.sum(x * x)

        gradient, rows = tb.value_and_grad(loss), "f32[batch=4096, feature=64]"
        report = tb.dry_run(gradient, weights, rows, mesh=ON_MESH.options["mesh"], layout=RULES)
        assert report.on_mesh is not None
        compiled = compile_graph(tb.trace(gradient)(weights, rows), ON_MESH.layout)
        assert report.on_mesh.program.peak.memory == pytest.approx(compiled.peak, rel=0.1)
        peaks.append(compiled.peak)
    assert peaks[1] < 0.6 * peaks[0]


def test_tensors_are_trees_of_jax(x: tb.Tensor) -> None:
    doubled = jax.jit(lambda a: a * 2)(x)
    assert doubled.backend is ON_MESH
    assert divided(doubled) == BOTH
    assert divided(jax.grad(lambda a: tb.sum(a * a).data)(x)) == BOTH
    assert jax.tree.map(lambda a: a + 1, tb.ones(3, backend="jax")).backend is tb.get_backend("jax")


# Checkpoints


def test_a_checkpoint_of_one_mesh_comes_back_on_another_and_on_one_device(x: tb.Tensor, tmp_path: Path) -> None:
    whole = tb.asarray(NUMBERS[:5], names=("batch", "hidden"), backend=ON_MESH)
    saved: Any = {"x": x, "y": [x.rename("time", None), whole], "host": tb.ones(2), "bits": x > 3}
    tb.checkpoints.save(tmp_path, saved)
    other = tb.JaxBackend(mesh=tb.Mesh({"data": 2, "model": 4}), layout={"hidden": "data", "batch": "model"})
    for backend in (ON_MESH, other, "jax", "numpy"):
        loaded = tb.checkpoints.load(tmp_path, like=saved, backend=backend)
        pairs = [(loaded["x"], x), (loaded["y"][1], whole), (loaded["bits"], saved["bits"])]
        assert all(one.to_binary() == two.to_binary() and one.template is two.template for one, two in pairs)
        if backend is other:
            assert divided(loaded["x"]) == (("model",), ("data",))
