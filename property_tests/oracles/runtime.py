"""Oracles of backends, files, profiles, dry runs, batches of entries and what is shown."""

from __future__ import annotations

import os
import re
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy
import safetensors.numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.costs.candidates import set_aside
from tensorbackend.dtypes import ALL_DTYPES
from tensorbackend.errors import DeallocatedError
from tensorbackend.expr.recomputation import Selection, select_calls
from tensorbackend.protocol import Backend
from tensorbackend.testing.strategies import Draw, shapes, tensors

from .table import Recorder, law, wide

ANY = st.sampled_from(ALL_DTYPES)
OTHERS = ["binary", "numpy"]


def any_tensor(draw: Draw, backend: Backend) -> tb.Tensor:
    return tb.backend_copy(draw(tensors(draw(ANY))), backend)


def bits(x: tb.Tensor) -> bytes:
    return numpy.asarray(x).tobytes()


@law("backend_copy", "backend_transfer", by="definition")
def backend_copy(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, other = any_tensor(draw, backend), draw(st.sampled_from(OTHERS))
    before, template = bits(x), x.template
    out = run({"x": [x]}, other)["x"][0] if draw(st.booleans()) else run(x, other)
    assert (bits(out), out.template, out.backend.name) == (before, template, other)
    if run.name == "backend_copy":
        assert bits(x) == before
    elif out.backend is not backend:
        try:
            x.tolist()
        except DeallocatedError:
            return
        raise AssertionError("a tensor that was moved still has its data")


@law("backend_deallocate", by="definition")
def backend_deallocate(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, y = any_tensor(draw, backend), any_tensor(draw, backend)
    run([x])
    run(x)
    try:
        x.tolist()
    except DeallocatedError:
        y.tolist()
        return
    raise AssertionError("a tensor that was deallocated still has its data")


@law("backend_of", by="definition")
def backend_of(draw: Draw, run: Recorder, backend: Backend) -> None:
    x = any_tensor(draw, backend)
    assert run(x) is backend
    assert run(x, 1.0) is backend
    assert run(numpy.ones(2)).name == "numpy"


@law("is_concrete", by="definition")
def is_concrete(draw: Draw, run: Recorder, backend: Backend) -> None:
    x = any_tensor(draw, backend)
    assert run(x)
    assert not run(x, tb.template((2,), "f32"))
    answers: list[bool] = []

    def ask(x: tb.Tensor) -> tb.Tensor:
        answers.append(run(x))
        return x

    tb.jit(ask)(x)
    assert answers == [False]


@law("get_backend", by="definition", fixed={"device": "one device here"})
def get_backend(draw: Draw, run: Recorder, backend: Backend) -> None:
    name = draw(st.sampled_from(OTHERS))
    assert run(name).name == name
    assert run(run(name)) is run(name)
    assert run() is tb.zeros(1).backend
    with tb.default_backend(name):
        assert run().name == name


@law("default_backend", "scoped_backend", "set_default_backend", by="definition")
def default_backend(draw: Draw, run: Recorder, backend: Backend) -> None:
    name, kind = draw(st.sampled_from(OTHERS)), run.name
    scoped = run if kind == "scoped_backend" else tb.scoped_backend
    with (run if kind == "default_backend" else tb.default_backend)(name):
        assert tb.zeros(2).backend.name == name
        assert scoped() is tb.get_backend(name)
    assert scoped() is backend  # the block in which each oracle runs
    if kind == "set_default_backend":
        import contextvars

        try:
            run(name)
            assert contextvars.Context().run(lambda: tb.zeros(2).backend.name) == name
        finally:
            run("numpy")


@law("backends", by="definition")
def backends(draw: Draw, run: Recorder, backend: Backend) -> None:
    assert {"binary", "numpy", "jax", "cupy", "template", "expr"} <= {*run()}
    assert list(run()) == sorted(run())


@law("register_backend", by="definition")
def register_backend(draw: Draw, run: Recorder, backend: Backend) -> None:
    class Mine(NumpyBackend):
        name = "registered_by_an_oracle"

    if Mine.name not in tb.backends():
        assert run(Mine) is Mine
    assert tb.zeros(2, backend=Mine.name).backend.name == Mine.name


@law("devices", by="definition")
def devices(draw: Draw, run: Recorder, backend: Backend) -> None:
    known = run(backend)
    assert any_tensor(draw, backend).device in known
    kind = draw(st.sampled_from([None, "cpu"]))
    assert {*run(backend, kind=kind)} <= {*known}


@law("caches", "clear_caches", by="definition")
def caches(draw: Draw, run: Recorder, backend: Backend) -> None:
    names = {cache.name for cache in tb.caches()}
    function = tb.jit(lambda x: tb.exp(x) * 2.0)
    x = tb.iota(draw(st.integers(1, 5)), dtype="f32", backend=backend)
    before = function(x).tolist()
    run() if run.name == "clear_caches" else tb.clear_caches()
    assert function.cache_info()[:2] == (0, 0)
    assert function(x).tolist() == before
    shown = {cache.name: cache for cache in (run() if run.name == "caches" else tb.caches())}
    assert names <= set(shown)
    assert shown["compilations of jit"].entries >= function.cache_info().currsize == 1
    assert all(cache.limit is None or 0 <= cache.entries <= cache.limit for cache in shown.values())


@law("threads", "set_threads", by="definition")
def threads(draw: Draw, run: Recorder, backend: Backend) -> None:
    count = draw(st.integers(1, 3))
    setting = run.name == "set_threads"
    try:
        (run if setting else tb.set_threads)(count)
        assert (tb.threads if setting else run)() == count
    finally:
        tb.set_threads(None)


# Files


@law("save", "load", by="NumPy")
def save(draw: Draw, run: Recorder, backend: Backend) -> None:
    kind = draw(st.sampled_from(["npy", "npz", "safetensors"]))
    plain = [dtype for dtype in ALL_DTYPES if dtype.name != "bfloat16" or kind == "safetensors"]
    plain = [dtype for dtype in plain if kind != "safetensors" or not dtype.is_complex]
    drawn = [draw(tensors(draw(st.sampled_from(plain)))) for _ in range(2)]
    named = {name: tb.backend_copy(x.rename(*[None] * x.ndim), backend) for name, x in zip("xy", drawn, strict=True)}
    saving = run.name == "save"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file.{kind}"
        arrays = {name: numpy.array(numpy.asarray(x)) for name, x in named.items()}
        if saving:
            run(os.fspath(path) if draw(st.booleans()) else path, named["x"] if kind == "npy" else named)
        elif kind == "npy":
            numpy.save(path, arrays["x"])
        elif kind == "npz":
            numpy.savez(path, **arrays)  # type: ignore[arg-type] # names of arrays
        else:
            safetensors.numpy.save_file(arrays, path)
        if not saving:
            read = run(path, backend=backend, max_bytes=draw(st.sampled_from([None, 1 << 20])))
        elif kind == "npy":
            read = numpy.load(path)
        else:
            read = dict(numpy.load(path)) if kind == "npz" else safetensors.numpy.load_file(path)
        for name, x in ({"x": read} if kind == "npy" else read).items():
            array = numpy.asarray(x)
            assert (array.dtype, array.shape) == (arrays[name].dtype, arrays[name].shape)
            assert array.tobytes() == arrays[name].tobytes()


@law("save_graph", "load_graph", by="NumPy")
def save_graph(draw: Draw, run: Recorder, backend: Backend) -> None:
    n, m = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    # Numbers whose sums and products are exact, so that NumPy must agree to the bit.
    left, right = (
        draw(tensors(tb.float64, shape, names=(None, None), values=st.integers(-9, 9).map(float)))
        for shape in ((n, m), (m, n))
    )
    weight = tb.backend_copy(right, backend)
    graph = tb.trace(lambda x: {"product": x @ weight, "sum": tb.sum(x, axis=0)})(left.template)
    with tempfile.TemporaryDirectory() as folder:
        path: Any = Path(folder) / "graph.safetensors"
        path = os.fspath(path) if draw(st.booleans()) else path
        if run.name == "save_graph":
            run(path, graph)
            program = tb.load_graph(path, backend=backend)
        else:
            tb.save_graph(path, graph)
            program = run(path, backend=backend, max_bytes=draw(st.sampled_from([None, 1 << 20])))
    found = program(tb.backend_copy(left, backend))
    x, y = numpy.asarray(left), numpy.asarray(right)
    assert numpy.array_equal(numpy.asarray(found["product"]), x @ y)
    assert numpy.array_equal(numpy.asarray(found["sum"]), numpy.sum(x, axis=0))


# Costs


@law("dry_run", by="definition")
def dry_run(draw: Draw, run: Recorder, backend: Backend) -> None:
    n, k, m = (draw(st.integers(1, 5)) for _ in range(3))
    gradient, machine = draw(st.booleans()), draw(st.sampled_from(["h100", "h200"]))
    function = (lambda x, y: tb.sum(x @ y)) if gradient else (lambda x, y: x @ y)
    fits = draw(st.sampled_from([None, "1GB", 10**9]))
    x, y, donate = tb.Template((n, k), "f32"), tb.Template((k, m), "f32"), draw(st.sampled_from([(), "x", ("x", "y")]))
    out = run(function, x, y, gradient=gradient, machine=machine, donate=donate, fits=fits)
    assert (out.recomputation is None) == (fits is None)
    assert fits is None or (out.recomputation.fits and not out.recomputation.chosen)
    least = 2 * n * k * m * (1 if not gradient else 2)  # the gradient multiplies the other operands once each
    assert out.flops >= least - 2 * n * m
    assert out.peak.memory >= 4 * (n * k + k * m)
    assert out.on_mesh is None
    # Each of several devices multiplies its rows, and sums of rows are summed over the devices.
    devices = draw(st.integers(2, 4))
    layout = draw(st.sampled_from([{"rows": "data"}, {"rows": ("data",), "inner": None}, {}, None]))
    x, y = tb.Template((n * devices, k), "f32", ("rows", "inner")), tb.Template((k, m), "f32", ("inner", None))
    parts = devices if layout else 1
    out = run(lambda x, y: tb.sum(x @ y, axis=0), x, y, mesh=tb.Mesh({"data": devices}), layout=layout, machine=machine)
    assert [placed.sharding.shard_shape for placed in out.on_mesh.parameters] == [(n * devices // parts, k), (k, m)]
    assert out.on_mesh.by_kind == ({"all-reduce": 4 * m} if layout else {})
    assert abs(out.on_mesh.sent - (2 * (devices - 1) / devices * 4 * m if layout else 0)) < 1
    assert out.on_mesh.flops >= 2 * (n * devices // parts) * k * m


@law("largest_size", by="brute force")
def largest_size(draw: Draw, run: Recorder, backend: Backend) -> None:
    """Of all sizes up to a few more than the one that is found, it is the largest that fits."""
    width, limit = draw(st.integers(1, 4)), draw(st.integers(60, 900))
    gradient, optimised = draw(st.booleans()), draw(st.booleans())
    fits = draw(st.sampled_from([limit, f"{limit}B"]))

    def loss(w: tb.Tensor, x: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.tanh(x @ w))

    out = run(loss, f"f32[{width}, 2]", f"f32[?, {width}]", fits=fits, gradient=gradient, optimised=optimised)
    sizes = [
        size
        for size in range(1, out + 5)
        if tb.dry_run(loss, f"f32[{width}, 2]", f"f32[{size}, {width}]", gradient=gradient).fits(
            limit, optimised=optimised
        )
    ]
    assert out == max(sizes, default=0)


@law("fit", by="brute force")
def fit(draw: Draw, run: Recorder, backend: Backend) -> None:
    """Of all choices of calls, or of parts, none that fits costs less by more than 15 % of what it adds."""

    def layer(x: tb.Tensor, w: tb.Tensor) -> tb.Tensor:
        return tb.tanh(tb.exp(x @ w)) @ w.mT

    layer = tb.checkpoint(layer) if draw(st.booleans()) else layer
    widths = draw(st.lists(st.sampled_from([8, 16, 64]), min_size=1, max_size=4))
    weights = [tb.full((8, width), 0.1, dtype="float32", backend=backend) for width in widths]
    x = tb.full((32, 8), 0.5, dtype="float32", backend=backend)

    def loss(weights: list[tb.Tensor], x: tb.Tensor) -> tb.Tensor:
        for w in weights:
            x = layer(x, w)
        return tb.sum(x * x)

    step, optimised = tb.value_and_grad(loss), draw(st.booleans())
    costs: dict[frozenset[int], tuple[int, int]] = {}
    aside = 0
    with select_calls(Selection(())) as none:
        tb.dry_run(step, weights, x)
    for flags in product([False, True], repeat=len(none.calls)):
        chosen = frozenset(number for number, flag in enumerate(flags) if flag)
        with select_calls(Selection(chosen)):
            program = tb.dry_run(step, weights, x).shown_program(optimised)
        costs[chosen] = program.peak.memory, program.flops + program.transcendentals
        aside = max(aside, set_aside(program))
    peaks = sorted({peak for peak, _ in costs.values()})
    limit = draw(st.sampled_from(peaks)) + aside
    fitted = run(step, draw(st.sampled_from([limit, f"{limit}B"])), optimised=optimised)
    value, gradients = fitted(weights, x)
    expected_value, expected_gradients = step(weights, x)
    numpy.testing.assert_allclose(value, expected_value, rtol=1e-6)
    for gradient, expected in zip(gradients, expected_gradients, strict=True):
        numpy.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
    if not optimised:
        found = tb.dry_run(step, weights, x, fits=limit).recomputation
        assert found is not None
        assert found.fits
        assert costs[found.chosen] == found.after
        plain = costs[frozenset()][1]
        best = min(flops for peak, flops in costs.values() if peak + found.aside <= limit)
        assert found.after.flops - plain <= 1.15 * (best - plain)


@law("search_layouts", by="brute force")
def search_layouts(draw: Draw, run: Recorder, backend: Backend) -> None:
    n, k, m = (4 * draw(st.integers(1, 3)) for _ in range(3))
    sizes = draw(st.sampled_from([{"data": 2}, {"data": 4, "model": 2}]))
    names = draw(st.sampled_from([["rows"], ["columns"], ["rows", "columns"], ["columns", "inner", "rows"]]))
    x, y = tb.Template((n, k), "f32", ("rows", "inner")), tb.Template((k, m), "f32", ("inner", "columns"))
    tried: list[Any] = []
    options: dict[str, Any] = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "gradient": st.booleans(),
                "fits": st.sampled_from([0, 300, "1kB", "1GB"]),
                "machine": st.sampled_from(["h100", "h200"]),
                "each_tried": st.just(tried.append),
            },
        )
    )
    mesh = tb.Mesh(sizes)
    search = run(lambda x, y: tb.sum(tb.square(x @ y)), x, y, mesh=mesh, names=names, **options)
    wanted = [dict(zip(names, places, strict=True)) for places in product([None, *sizes], repeat=len(names))]
    seen = [{name: axes[0] if axes else None for name, axes in cost.layout.rules} for cost in search.ranked]
    assert sorted(map(str, ([*rules.items()] for rules in seen))) == sorted(map(str, ([*r.items()] for r in wanted)))
    assert tried == [] or {*map(id, tried)} == {*map(id, search.ranked)}
    limit = {None: search.limit, "1kB": 1000, "1GB": 10**9}.get(options.get("fits"), options.get("fits"))
    assert search.limit == limit
    keys = [(cost.peak > limit, cost.time.total, cost.peak) for cost in search.ranked]
    assert keys == sorted(keys)
    assert search.fits == (not keys[0][0])
    for rules, cost in zip(seen, search.ranked, strict=True):
        # The first of two names in a tensor that want the same mesh axis gets it.
        for template, placed in zip((x, y), cost.parameters, strict=True):
            taken: set[str] = set()
            parts = dict.fromkeys(template.names, 1)
            for name in names:
                axis = rules[name]
                if name in parts and axis is not None and axis not in taken:
                    taken.add(axis)
                    parts[name] = sizes[axis]
            shape = tuple(size // count for size, count in zip(template.shape, parts.values(), strict=True))
            assert placed.sharding.shard_shape == shape


@law("machine_limits", by="definition")
def machine_limits(draw: Draw, run: Recorder, backend: Backend) -> None:
    limits = run(backend)
    assert limits.bandwidth > 0
    assert run(backend) is limits or run(backend) == limits


@law("profile", "current_profile", by="definition")
def profile(draw: Draw, run: Recorder, backend: Backend) -> None:
    kind, count = run.name, draw(st.integers(1, 4))
    block: Any = run if kind == "profile" else tb.profile
    limits = draw(st.sampled_from([None, tb.machine_limits(backend)]))
    x = tb.ones(3, backend=backend)
    with block(wait=draw(st.booleans()), limits=limits) as seen:
        current: Any = run if kind == "current_profile" else tb.current_profile
        assert current() is seen
        for _ in range(count):
            tb.exp(x)
    assert times(seen) == count
    assert tb.current_profile() is None


@law("profile_function", by="definition")
def profile_function(draw: Draw, run: Recorder, backend: Backend) -> None:
    warmup, repeat = draw(st.integers(0, 2)), draw(st.integers(1, 3))
    calls: list[int] = []
    limits = draw(st.sampled_from([None, tb.machine_limits(backend)]))
    x = tb.ones(3, backend=backend)

    def count(x: tb.Tensor) -> tb.Tensor:
        calls.append(0)
        return tb.exp(x)

    seen = run(count, x, warmup=warmup, repeat=repeat, wait=draw(st.booleans()), limits=limits)
    assert len(calls) == warmup + repeat
    assert times(seen) == repeat


def times(seen: tb.Profile) -> int:
    """How often `exp` ran."""
    return sum(row.calls for row in seen.rows() if row.name == "exp")


# Entries, texts


@law("to_batched", by="NumPy")
def to_batched(draw: Draw, run: Recorder, backend: Backend) -> None:
    x = tb.backend_copy(draw(tensors(tb.float32, shapes(least=1, largest=7))), backend)
    size, leftover = draw(st.integers(1, 4)), draw(st.sampled_from(["keep", "discard"]))
    parts = list(run(x, size, leftover=leftover))
    wanted = [wide(x)[at : at + size] for at in range(0, x.shape[0], size)]
    wanted = [part for part in wanted if leftover == "keep" or len(part) == size]
    assert len(parts) == len(wanted)
    for part, want in zip(parts, wanted, strict=True):
        numpy.testing.assert_array_equal(part, want)


@law("inspect", by="definition")
def inspect(draw: Draw, run: Recorder, backend: Backend) -> None:
    x = tb.arange(draw(st.integers(1, 40)), backend=backend)
    limit = draw(st.sampled_from([100, 4]))
    text = run(x, limit=limit)
    numbers = [int(word) for word in re.findall(r"\d+", text.partition(backend.name)[2])]
    assert {*numbers} <= {*range(x.size)}
    assert numbers[0] == 0
    assert numbers[-1] == x.size - 1
    assert len(numbers) == x.size if x.size <= limit else len(numbers) <= limit


@law("show", by="definition")
def show(draw: Draw, run: Recorder, backend: Backend) -> None:
    x = tb.reshape(tb.arange(6.0, backend=backend), (2, 3))
    size = draw(st.sampled_from([None, (4, 8)]))
    text = str(run(x, size=size))
    assert text.strip()
    assert len(text.splitlines()) >= 1
