"""xarray's objects in transformations. `make clients` runs this: xarray is no part of the tests' environment."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorbackend as tb
import tensorbackend.numpy as tnp
from tensorbackend.errors import ArgumentError, OperandError, TemplateDataError
from tensorbackend.xarray import from_tensor

from .xarray_methods import EXCEPTIONS, METHODS, example

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(params=["numpy", "jax"], autouse=True)
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    with tb.default_backend(request.param):
        yield request.param


def _total(method: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda da: (method(da).fillna(0.0) ** 2).sum()


def _differences(function: Callable[[Any], Any], da: Any) -> Any:
    """The gradient by differences, which xarray computes on NumPy."""
    out = np.zeros(da.shape)
    for place in np.ndindex(da.shape):
        ends = []
        for step in (1e-6, -1e-6):
            data = da.values.copy()
            data[place] += step
            ends.append(float(function(da.copy(data=data))))
        out[place] = (ends[0] - ends[1]) / 2e-6
    return out


# Gradients of xarray's methods


@pytest.mark.parametrize("name", [name for name in METHODS if name not in EXCEPTIONS])
def test_gradients_of_methods(name: str, backend: str) -> None:
    function, da = _total(METHODS[name]), example()
    wanted = _differences(function, da)
    ways = [tb.jit(tb.value_and_grad(function))] + ([tb.value_and_grad(function)] if backend == "numpy" else [])
    for transformed in ways:
        value, gradient = transformed(da)
        assert float(value) == pytest.approx(float(function(da)), rel=1e-9)
        assert gradient.data.tensor.backend.name == backend
        np.testing.assert_allclose(gradient.values, wanted, rtol=1e-5, atol=1e-6)
        xr.testing.assert_identical(gradient.as_numpy(), da.copy(data=gradient.values))


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_methods_without_a_gradient(name: str) -> None:
    """Each exception is needed: without it the method's gradient fails, or is not that of the differences."""
    kind, _ = EXCEPTIONS[name]
    function, da = _total(METHODS[name]), example()
    if kind is not None:
        with pytest.raises(kind):
            tb.grad(function)(da)
    else:
        assert np.isnan(tb.grad(function)(da).values).any()
        assert np.isfinite(_differences(function, da)).all()


def test_second_derivatives() -> None:
    da = example().isel(station=0)

    def energy(da: Any) -> Any:
        return (da.rolling(time=2).mean().fillna(0.0) ** 3).sum()

    along = tb.jit(tb.grad(lambda da: (tb.grad(energy)(da) * da).sum()))(da)
    steps = [(tb.grad(energy)(da * factor) * factor).values for factor in (1 + 1e-6, 1 - 1e-6)]
    slope = tb.grad(energy)(da).values
    np.testing.assert_allclose(along.values, slope + (steps[0] - steps[1]) / 2e-6 - slope, rtol=1e-5)


# Trees


def _dataset() -> Any:
    da = example().assign_coords(height=("station", [1.0, 2.0, 3.0]))
    names = xr.DataArray(["a", "b", "c"], dims="station")
    return xr.Dataset({"rain": da, "mean": da.mean("time"), "code": names}, attrs={"source": "gauge"})


@pytest.mark.parametrize("make", [example, _dataset, lambda: example().variable])
def test_there_and_back(make: Callable[[], Any]) -> None:
    whole = make()
    again = tb.tree_map(lambda x: x, whole)
    assert type(again) is type(whole)
    assert (again.to_numpy() == whole.values).all() if make is not _dataset else again.as_numpy().identical(whole)
    leaves, tree = tb.tree_flatten(whole)
    assert all(isinstance(leaf, tb.Tensor) for leaf in leaves)
    assert leaves[0].names == ("station", "time")
    assert tb.tree_flatten(tb.tree_unflatten(tree, leaves))[1] == tree
    odd = object()
    for part in (odd, "text", (odd, None), [1, odd]):  # as axes and other parameters by leaf are
        filled = tb.tree_unflatten(tree, [part] * len(leaves))
        assert tb.tree_leaves(filled) == tb.tree_leaves([part] * len(leaves))
    assert len(tb.tree_leaves(tb.tree_unflatten(tree, range(len(leaves))))) == len(leaves)


def test_datasets_and_their_gradients() -> None:
    ds = _dataset()
    value, gradient = tb.jit(tb.value_and_grad(lambda ds: (ds.rain * ds["mean"] * ds.height).sum()))(ds)
    assert float(value) == pytest.approx(float((ds.rain * ds["mean"] * ds.height).sum()))
    assert list(gradient.data_vars) == list(ds.data_vars)
    assert gradient.code.values.tolist() == ["a", "b", "c"]
    assert gradient.attrs == ds.attrs
    np.testing.assert_allclose(gradient.rain.values, (ds["mean"] * ds.height * xr.ones_like(ds.rain)).values)
    step = tb.tree_map(lambda x, slope: x - 0.1 * slope, ds, gradient)
    np.testing.assert_allclose(step["mean"].values, (ds["mean"] - 0.1 * (ds.rain * ds.height).sum("time")).values)


def test_a_fit_by_an_optimiser() -> None:
    """The unknowns are a dataset."""
    target = example()
    start = xr.Dataset({"level": ((), 0.0), "slope": ("station", np.zeros(3))})

    def misfit(unknowns: Any) -> Any:
        return ((unknowns.level + unknowns.slope * target.time / 36 - target) ** 2).mean()

    found = tb.optimize.minimize(misfit, start)
    assert found.converged
    slopes = tb.grad(misfit)(found.x)
    assert abs(slopes.level.values) < 1e-3
    assert found.x.slope.dims == ("station",)


def test_programs_are_for_coordinates_and_attributes() -> None:
    traces = []

    @tb.jit
    def weighted(da: Any) -> Any:
        traces.append(da.attrs["units"])
        return (da * da.height).sum("station")

    da = example().assign_coords(height=("station", [1.0, 2.0, 3.0]))
    for _ in range(2):
        xr.testing.assert_allclose(weighted(da).as_numpy(), (da * da.height).sum("station"))
    assert len(traces) == 1
    other = da.assign_coords(height=("station", [1.0, 2.0, 4.0]))
    xr.testing.assert_allclose(weighted(other).as_numpy(), (other * other.height).sum("station"))
    da.height.values[0] = 7.0  # in place: the program that was compiled is for other heights
    xr.testing.assert_allclose(weighted(da).as_numpy(), (da * da.height).sum("station"))
    da.attrs["units"] = "m"
    assert weighted(da).attrs["units"] == "m"
    assert traces == ["mm", "mm", "mm", "m"]
    result = tb.jit(lambda da: da * 2)(da)
    result.height.values[0] = -1.0  # a result is the caller's own
    assert tb.jit(lambda da: da * 2)(da).height.values[0] == da.height.values[0] == 7.0


def test_batches_over_a_dim() -> None:
    da = example().assign_coords(height=("station", [1.0, 2.0, 3.0]))
    found = tb.vmap(lambda series: series.diff("time") - series.mean("time"), in_axes="station")(da)
    assert found.dims == ("station", "time")
    assert "height" not in found.coords
    np.testing.assert_allclose(found.values, (da.diff("time") - da.mean("time")).values)
    assert found.time.values.tolist() == da.time.values[1:].tolist()
    last = tb.vmap(lambda place: (place / place.sum()).rename("share"), in_axes="time", out_axes=-1)(da)
    assert (last.dims, last.name) == (("station", "time"), "share")
    np.testing.assert_allclose(last.values, (da / da.sum("station")).values)
    ds = _dataset()[["rain"]]
    assert dict(tb.vmap(lambda ds: ds.mean(), in_axes="time")(ds).sizes) == {"time": 6}


def test_loops_over_a_dim() -> None:
    da = example().transpose("time", "station")
    state = da.isel(time=0, drop=True)
    final, states = tb.scan(lambda state, now: (0.5 * state + now, state), state, da)
    expected = state.values
    for now in da.values:
        expected = 0.5 * expected + now
    np.testing.assert_allclose(final.values, expected)
    assert final.dims == ("station",)
    assert states.shape == (6, 3)


def test_what_a_loop_changes_is_told() -> None:
    start = example().isel(time=0, drop=True).assign_coords(height=("station", [1.0, 2.0, 3.0]))
    with pytest.raises(
        ArgumentError, match=r"\(data: station\), name 'rain', coordinates 'height', attr.*got.* 'snow'"
    ):
        tb.scan(lambda state, now: (state.rename("snow"), now), start, tb.arange(3.0))
    with pytest.raises(ArgumentError, match=r"got returned=a DataArray of 1 with \(data: station\), name 'rain', attr"):
        tb.scan(lambda state, now: (state.drop_vars("height"), now), start, tb.arange(3.0))
    other = start.assign_coords(height=("station", [1.0, 2.0, 4.0]))
    with pytest.raises(ArgumentError, match="tree_map: expected"):
        tb.tree_map(lambda x, y: x + y, start, other)
    assert tb.tree_map(lambda x, y: x + y, start, start.copy(deep=True)).name == "rain"


def test_dry_runs_have_no_data() -> None:
    result = tb.dry_run(tb.grad(_total(METHODS["rolling mean"])), example())
    assert result.eager.flops > 0


def test_coordinates_that_are_computed_are_leaves() -> None:
    def shifted(da: Any) -> Any:
        return da.assign_coords(level=da.mean("time") * 2)

    found = tb.jit(shifted)(example())
    np.testing.assert_allclose(found.level.values, 2 * example().mean("time").values)
    slope = tb.grad(lambda da: (shifted(da).level ** 2).sum())(example())
    np.testing.assert_allclose(slope.values, (8 * example().mean("time") / 6 * xr.ones_like(example())).values)


def test_sizes_that_change_take_coordinates_away() -> None:
    halves = tb.tree_map(lambda x: x[:, :3] if x.ndim == 2 else x, _dataset())
    assert (dict(halves.sizes), sorted(halves.coords)) == ({"station": 3, "time": 3}, ["height"])
    assert tb.tree_map(lambda x: tb.sum(x), example()).dims == ()
    assert tb.tree_map(lambda x: tb.stack([x, x], name="run"), example()).dims == ("run", "station", "time")
    assert tb.tree_map(lambda x: tb.stack([x, x]), example()).dims == ("dim_0", "station", "time")


# Tensors, files, backends


def test_tensors_and_arrays() -> None:
    x = tb.asarray([[1.0, 2.0], [3.0, 4.0]], names=("station", "time"))
    da = from_tensor(x, coords={"time": [0, 6]}, name="rain", attrs={"units": "mm"})
    assert isinstance(da.data, tnp.ndarray)
    assert (da.dims, da.name, da.attrs) == (("station", "time"), "rain", {"units": "mm"})
    assert tb.asarray(da).template is x.template
    assert tb.asarray(da).backend is x.backend
    assert from_tensor(tb.ones((2, 3), names=("a", None))).dims == ("a", "dim_1")
    assert from_tensor(tb.ones(())).dims == ()
    traced = tb.jit(lambda da: tb.mean(tb.asarray(da), axis="time"))(da)
    assert (traced.tolist(), traced.names) == ([1.5, 3.5], ("station",))
    assert tb.asarray(xr.DataArray(np.arange(2.0), dims="n")).names == ("n",)
    assert tb.asarray(da[0, 0]).item() == 1.0
    with pytest.raises(OperandError, match=r"from_tensor: expected a tensor.*got x='ndarray'"):
        from_tensor(np.ones(2))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["tensor", "array"])
def test_data_of_every_kind(kind: str, backend: str) -> None:
    """Tensors, and arrays of the NumPy namespace, become such arrays; so do NumPy's and Dask's."""
    values = example().values
    data: Any = tb.asarray(values) if kind == "tensor" else tnp.asarray(values)
    gradient = tb.grad(_total(METHODS["std"]))(example().copy(data=data))
    assert isinstance(gradient.data, tnp.ndarray)
    np.testing.assert_allclose(gradient.values, tb.grad(_total(METHODS["std"]))(example()).values)


@pytest.mark.parametrize("name", ["mean", "std", "rolling mean", "weighted mean", "groupby mean", "resample"])
def test_gradients_of_methods_of_tensors(name: str, backend: str) -> None:
    """`xarray.DataArray(x)` goes into a transformation, and is made within one."""
    function, da = _total(METHODS[name]), example()
    x = tb.asarray(da.values, names=da.dims)
    wanted = _differences(function, da)
    for transform in (tb.grad, lambda function: tb.jit(tb.grad(function))):
        slope = transform(function)(xr.DataArray(x, da.coords, da.dims))
        np.testing.assert_allclose(slope.values, wanted, rtol=1e-5, atol=1e-6)
        assert slope.data.tensor.backend.name == backend
        within = transform(lambda x: function(xr.DataArray(x, da.coords, da.dims)))(x)
        np.testing.assert_allclose(np.asarray(within), wanted, rtol=1e-5, atol=1e-6)
        assert (within.names, within.backend.name) == (da.dims, backend)


def test_tensors_as_data_of_variables() -> None:
    x, limit = tb.asarray([[1.0, 2.0], [3.0, 4.0]], names=("a", "b")), tb.asarray(2.5)
    da, plain = xr.DataArray(x, dims=("p", "q")), xr.DataArray(np.asarray(x), dims=("p", "q"))
    whole = xr.Dataset({"x": (("p", "q"), x)}, coords={"level": ("q", x[0])})
    for made in (da, whole.x, whole.level, plain.copy(data=x), da.shift(q=1).fillna(x), xr.Variable(("p", "q"), x)):
        assert type(made.data) is tnp.ndarray
    pairs: list[Callable[[Any], Any]] = [  # names of a tensor give way to dims
        lambda da: da + x,
        lambda da: x - da.T.transpose("p", "q"),
        lambda da: da.where(da > 2, limit),
        lambda da: xr.where(da > 2, limit, da),
        lambda da: da.clip(max=limit),
        lambda da: da.isin(x[0]),
        lambda da: xr.concat([da, xr.DataArray(x, dims=("p", "q"))], "p"),
        lambda da: da.pad(q=1, constant_values=limit),
        lambda da: da.isel(q=tb.asarray([1, 0])),
    ]
    for pair in pairs:
        assert tb.asarray(pair(da)).dtype == tb.asarray(pair(plain)).dtype
        assert pair(da).as_numpy().identical(pair(plain).as_numpy())
    da.data = x + 1.0
    da[0, 1] = limit
    da += x
    assert (type(da.data), da.values.tolist(), tb.asarray(da).names) == (tnp.ndarray, [[3, 4.5], [7, 9]], ("p", "q"))
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_files_on_any_backend(tmp_path: Path, backend: str) -> None:
    pytest.importorskip("scipy")
    _dataset().drop_vars("code").to_netcdf(tmp_path / "a.nc", engine="scipy")
    with xr.open_dataset(tmp_path / "a.nc", engine="scipy") as ds:
        for target in ("binary", "numpy", "jax"):
            moved = tb.backend_transfer(ds, target)
            assert moved.rain.data.tensor.backend.name == target
            assert moved.as_numpy().identical(ds.load())
        assert tb.grad(lambda ds: (ds.rain**2).sum())(ds).rain.data.tensor.backend.name == backend


def test_blocks_of_dask_are_computed() -> None:
    pytest.importorskip("dask.array")
    gradient = tb.grad(_total(METHODS["mean"]))(example().chunk(time=2))
    np.testing.assert_allclose(gradient.values, tb.grad(_total(METHODS["mean"]))(example()).values)


def test_dims_that_are_no_texts() -> None:
    da = xr.DataArray(np.ones((2, 3)), dims=(0, "time"))
    assert tb.grad(lambda da: (da**2).sum())(da).dims == (0, "time")
    assert tb.jit(lambda da: da.sum("time"))(da).dims == (0,)


def test_data_of_texts_alone() -> None:
    names = xr.DataArray(["a", "b"], dims="n")
    assert tb.tree_leaves(names) == []
    assert tb.jit(lambda names, x: (x * 2, names))(names, tb.ones(1))[1].identical(names)


def test_what_needs_data_says_so() -> None:
    with pytest.raises(TemplateDataError, match="no data to be read"):
        tb.jit(lambda da: da.ffill("time"))(example())


# Drawn datasets

COORDINATES: dict[str, Callable[[int], Any]] = {
    "numbers": lambda size: np.arange(size) * 1.5,
    "dates": lambda size: pd.date_range("2026-01-01", periods=size),
    "texts": lambda size: [f"s{place}" for place in range(size)],
    "pairs": lambda size: pd.MultiIndex.from_arrays([np.arange(size), np.arange(size) % 2], names=("first", "second")),
    "none": lambda size: None,
}


@st.composite
def datasets(draw: st.DrawFn) -> Any:
    """Variables of drawn dims, sizes and dtypes, next to coordinates of every kind."""
    sizes = {dim: draw(st.integers(0, 3)) for dim in draw(st.sets(st.sampled_from(["x", "y", "t"])))}
    dims = st.lists(st.sampled_from(sorted(sizes)), unique=True) if sizes else st.just([])
    random = np.random.default_rng(draw(st.integers(0, 99)))

    def variable(kinds: list[str]) -> Any:
        along = draw(dims)
        data = random.integers(0, 5, [sizes[dim] for dim in along]).astype(draw(st.sampled_from(kinds)))
        return xr.Variable(along, data, draw(st.sampled_from([{}, {"units": "K"}, {"range": np.arange(2)}])))

    kinds = ["f8", "f4", "i4", "bool", "c16", "M8[s]", "U3", "O"]
    ds = xr.Dataset({name: variable(kinds) for name in draw(st.sets(st.sampled_from(["a", "b", "c"])))})
    ds = ds.assign_coords({name: variable(kinds) for name in draw(st.sets(st.sampled_from(["p", "q"])))})
    for dim in sorted(ds.sizes):
        labels = COORDINATES[draw(st.sampled_from(sorted(COORDINATES)))](sizes[dim])
        if isinstance(labels, pd.MultiIndex):
            if not {"first", "second"} & {*ds.coords}:
                ds = ds.assign_coords(xr.Coordinates.from_pandas_multiindex(labels, dim))
        elif labels is not None:
            ds = ds.assign_coords({dim: labels})
    return ds.assign_attrs(draw(st.sampled_from([{}, {"source": "drawn"}])))


@settings(deadline=None, max_examples=int(os.environ.get("TENSORBACKEND_EXAMPLES", "40")))
@given(datasets())
def _check_drawn(ds: Any) -> None:
    for whole in (ds, *ds.data_vars.values(), *(array.variable for array in ds.data_vars.values())):
        leaves, tree = tb.tree_flatten(whole)
        again = tb.tree_unflatten(tree, leaves)
        assert type(again) is type(whole)
        assert again.sizes == whole.sizes
        assert tb.tree_flatten(again)[1] == tree
        assert hash(tb.tree_flatten(whole.copy(deep=True))[1]) == hash(tree)
        assert tb.tree_flatten(whole.copy(deep=True))[1] == tree
        if not isinstance(whole, xr.Variable):
            assert again.as_numpy().identical(whole)
            assert {**again.xindexes}.keys() == {**whole.xindexes}.keys()
            assert tb.jit(lambda part: part)(whole).as_numpy().identical(whole)
    floating = ds[[name for name, array in ds.data_vars.items() if array.dtype.kind == "f"]]
    if floating.data_vars:
        slope = tb.grad(lambda ds: sum(((array**2).sum() for array in ds.data_vars.values()), start=0.0))(floating)
        assert slope.as_numpy().identical(floating.map(lambda array: 2 * array, keep_attrs=True))


def test_drawn_datasets(backend: str) -> None:
    if backend == "numpy":  # one is enough for trees
        _check_drawn()


def test_a_variable_of_a_netcdf_file_has_its_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).resolve().parents[1] / "docs" / "data.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```py\n(import xarray\n.*?)^```", page, re.MULTILINE | re.DOTALL)
    array = xr.DataArray(np.arange(6.0).reshape(2, 3), dims=("time", "latitude"))
    array.to_dataset(name="t2m").to_netcdf(tmp_path / "era5.nc", engine="scipy")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"tb": tb}
    exec(code, names)
    assert names["temperature"].names == ("time", "latitude")
    assert names["temperature"].tolist() == array.values.tolist()


def test_an_xarray_without_its_private_function_takes_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    from xarray.core import duck_array_ops

    from tensorbackend import xarray as ours

    monkeypatch.setattr(xr.Variable, "__init__", xr.Variable.__init__)  # both are put back
    monkeypatch.setattr(xr.Variable, "data", xr.Variable.data)
    monkeypatch.delattr(duck_array_ops, "get_array_namespace")
    ours._take_tensors()
    assert type(xr.Variable("a", tb.ones(2)).data) is tnp.ndarray
