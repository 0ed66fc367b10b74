"""Libraries that compute with arrays of any kind."""

from __future__ import annotations

from typing import Any

import array_api_compat
import array_api_extra
import dask.array
import einops
import einops.array_api
import jaxtyping
import numpy as np
import opt_einsum
import pytest
import scipy.special
import xarray

import tensorbackend as tb
import tensorbackend.xarray


@pytest.mark.client("numpy")
def test_functions_of_numpy(x: Any, backend: str) -> None:
    """NumPy's functions and operators of tensors: ours where we have them, else on the host; tensors come back."""
    results: list[Any] = [np.exp(x), np.cumsum(x, axis=0)]
    assert all(result.template is x.template for result in results)
    assert np.ones((2, 3), "f4") + x == pytest.approx(np.asarray(x) + 1)
    assert np.percentile(x, 50, axis=1).backend.name == backend
    assert np.zeros(2, tb.float32).dtype == "float32"


@pytest.mark.client("scipy")
def test_special_functions(x: tb.Tensor, backend: str) -> None:
    """Functions of `scipy.special`; tensors come back, on their backend and with their names."""
    values = scipy.special.j0(x)
    assert (values.backend.name, values.names) == (backend, x.names)
    assert scipy.special.expit(x) == pytest.approx(1 / (1 + np.exp(-np.asarray(x))))


@pytest.mark.client("array-api-compat")
def test_the_namespace_of_a_tensor(x: Any) -> None:
    """`array_namespace`, `device`, `size`, `to_device`: tensors are arrays of the standard."""
    assert array_api_compat.array_namespace(x) is tb
    assert array_api_compat.is_array_api_obj(x)
    assert array_api_compat.size(x) == 6
    assert array_api_compat.to_device(x, array_api_compat.device(x)).tolist() == x.tolist()


@pytest.mark.client("array-api-extra")
def test_what_the_standard_lacks(x: Any) -> None:
    """`at`, `cov`, `kron`, `nunique`, `pad`, `atleast_nd`, `apply_where`, `isclose`."""
    assert array_api_extra.at(x)[0].set(7, copy=True).tolist() == [[7.0, 7.0, 7.0], [4.0, 5.0, 6.0]]
    assert array_api_extra.nunique(x).item() == 6
    x = x.rename(None, None)  # both functions repeat each axis, and names must be unique
    assert np.asarray(array_api_extra.cov(x)) == pytest.approx(np.cov(np.asarray(x)))
    assert np.asarray(array_api_extra.kron(x, x)) == pytest.approx(np.kron(x.tolist(), x.tolist()))
    assert array_api_extra.pad(x, 1).shape == (4, 5)
    assert array_api_extra.atleast_nd(x, ndim=3).shape == (1, 2, 3)
    assert array_api_extra.apply_where(x > 2, x, lambda x: -x, fill_value=0).tolist() == [[0, 0, -3], [-4, -5, -6]]
    assert tb.all(array_api_extra.isclose(x, x + 1e-9))


@pytest.mark.client("einops")
def test_patterns(x: Any) -> None:
    """`einops.array_api`: `rearrange`, `reduce`, `repeat`, `pack`, `unpack`; for `einsum` our own."""
    assert einops.array_api.rearrange(x, "a b -> b a").tolist() == x.T.tolist()
    assert einops.array_api.reduce(x, "a b -> a", "mean").tolist() == [2.0, 5.0]
    assert einops.array_api.repeat(x, "a b -> a b c", c=2).shape == (2, 3, 2)
    packed, shapes = einops.array_api.pack([x, x], "* b")
    assert [part.shape for part in einops.array_api.unpack(packed, shapes, "* b")] == [(2, 3), (2, 3)]
    assert einops.parse_shape(np.asarray(x), "a b") == {"a": 2, "b": 3}


@pytest.mark.client("opt_einsum")
def test_contractions(x: tb.Tensor, backend: str) -> None:
    """`contract` of tensors, in the order that it finds."""
    product = opt_einsum.contract("ij,kj,k->i", x, x, x[:, 0])
    assert (product.tolist(), product.names, product.backend.name) == ([142.0, 340.0], ("batch",), backend)


@pytest.mark.client("xarray")
def test_labelled_arrays(x: tb.Tensor, backend: str) -> None:
    """`DataArray` and `Dataset` of tensors: arithmetic, reductions, windows, `where`, `concat`, `groupby`, `stack`."""
    array = xarray.DataArray(x, dims=x.names, coords={"batch": [10, 20]})
    results = [
        array * 2 + 1,
        array.mean("feature"),
        array.std(),
        array.argmax("feature"),
        array.sel(batch=10),
        array.transpose("feature", "batch"),
        array.roll(feature=1),
        array.rolling(feature=2).mean(),
        array.stack(both=("batch", "feature")),
        array.groupby(xarray.DataArray([0, 1], dims="batch", name="kind")).sum(),
        xarray.where(array > 2, array, 0),
        xarray.concat([array, array], "batch"),
        xarray.dot(array, array, dim="feature"),
        xarray.Dataset({"a": array}).max()["a"],
    ]
    assert all(tb.asarray(result).backend.name == backend for result in results)
    assert tb.asarray(results[0]).names == x.names
    assert np.asarray(results[1]).tolist() == [2.0, 5.0]


@pytest.mark.client("dask")
def test_blocks(x: tb.Tensor, backend: str) -> None:
    """`from_array(x, asarray=False)`: blocks of tensors, `map_blocks`, reductions, universal functions."""
    blocks = dask.array.from_array(x, chunks=(1, 3), asarray=False)
    for lazy, expected in (
        (blocks + 1, np.asarray(x) + 1),
        (blocks.sum(axis=0), [5.0, 7.0, 9.0]),
        (dask.array.exp(blocks), np.exp(np.asarray(x))),
        (blocks.map_blocks(tb.square), np.asarray(x) ** 2),
    ):
        computed = lazy.compute()
        assert (type(computed), computed.backend.name) == (tb.Tensor, backend)
        assert np.allclose(np.asarray(computed), expected)


@pytest.mark.client("jaxtyping")
def test_shapes_in_annotations(x: tb.Tensor) -> None:
    """`Float[Tensor, "batch feature"]`: dtypes, and sizes by jaxtyping's letters; it never asks for axis names."""
    assert isinstance(x, jaxtyping.Float[tb.Tensor, "batch feature"])
    assert not isinstance(x, jaxtyping.Int[tb.Tensor, "batch feature"])
    assert not isinstance(x, jaxtyping.Float[tb.Tensor, "batch"])

    with jaxtyping.jaxtyped("context"):  # in one context, equal letters stand for equal sizes
        pair = jaxtyping.Float[tb.Tensor, "batch feature"]
        assert isinstance(x, pair)
        assert not isinstance(x.T, pair)
