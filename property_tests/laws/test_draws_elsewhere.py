"""Draws whose parameters are on another backend than the key, the generator or the default one.

A function of `tb.random` is an op: a tensor with axes must be where the key is, unless one of both yields, and a tensor
without axes is moved there. A method of `numpy.random` is a call of the NumPy namespace: it computes where its arrays
are, and its numbers are the same everywhere.
"""

from __future__ import annotations

import inspect
from typing import Any, Final

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.errors import BackendError
from tensorbackend.testing import profile

Elsewhere = type("Elsewhere", (NumpyBackend,), {"name": "elsewhere"})
"""NumPy under another name: like JAX, it does not mix with tensors of the default backend."""

TENSORS: Final[dict[str, dict[str, Any]]] = {
    "bernoulli": {"p": [0.25, 0.5]},
    "beta": {"a": [0.5, 2.0], "b": [1.0, 3.0]},
    "binomial": {"n": [3.0, 40.0], "p": [0.25, 0.5]},
    "categorical": {"logits": [0.5, 1.0, -1.0]},
    "choice": {"a": [1.0, 2.0, 3.0], "p": [0.25, 0.25, 0.5]},
    "dirichlet": {"alpha": [0.5, 2.0]},
    "gamma": {"a": [0.5, 2.0]},
    "multivariate_normal": {"mean": [0.5, 2.0], "cov": [[2.0, 0.5], [0.5, 1.0]]},
    "normal": {"mean": [0.5, 2.0], "deviation": [1.0, 3.0]},
    "permutation": {"x": [1.0, 2.0, 3.0]},
    "poisson": {"lam": [0.5, 30.0]},
    "randint": {"minval": [0, 5], "maxval": [9, 7]},
    "shuffle": {"x": [1.0, 2.0, 3.0]},
    "student_t": {"df": [0.5, 2.0]},
    "truncated_normal": {"lower": [-1.0, 0.0], "upper": [1.0, 3.0], "mean": [0.5, 2.0], "deviation": [1.0, 3.0]},
    "uniform": {"minval": [0.5, 2.0], "maxval": [3.0, 4.0]},
}  # fmt: skip
"""The parameters of functions that may be tensors, with values."""

WITH_AXES: Final = {"categorical", "choice", "dirichlet", "multivariate_normal", "permutation", "shuffle"}
"""The functions whose parameters have axes."""

SHAPED: Final = {"normal", "randint", "uniform"}
"""The functions that need a shape where parameters have axes."""


def test_each_function_with_tensors_has_a_row() -> None:
    declared = {}
    for name in dir(tb.random):
        function = getattr(tb.random, name)
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        given_as = inspect.signature(function).parameters.values()
        tensors = {each.name for each in given_as if str(each.annotation).startswith("TensorLike")} - {"key"}
        if tensors and name not in ("fold_in", "split", "threefry2x32"):  # of keys
            declared[name] = tensors
    assert declared == {name: {*row} for name, row in TENSORS.items()}


def drawn(name: str, key: tb.Tensor, values: dict[str, Any]) -> tb.Tensor:
    """A draw with some values, each by position or keyword as the function takes it."""
    function: Any = getattr(tb.random, name)
    given_as = inspect.signature(function).parameters
    options = {**values, "shape": (2,)} if name in SHAPED else values
    by_position = [each for each in options if given_as[each].kind is inspect.Parameter.POSITIONAL_ONLY]
    result: tb.Tensor = function(
        key,
        *(options[each] for each in by_position),
        **{each: value for each, value in options.items() if each not in by_position},
    )
    return result


@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_with_axes_must_be_where_the_key_is(name: str) -> None:
    home, other = tb.get_backend(), Elsewhere()
    for moved in TENSORS[name]:
        values = {each: tb.asarray(value) for each, value in TENSORS[name].items()}
        values[moved] = tb.asarray(TENSORS[name][moved], backend=other)
        with pytest.raises(BackendError, match=f"^{name}: expected tensors on one backend"):
            drawn(name, tb.random.key(7), values)
        for key_on in (home, other):
            yielding = {each: tb.asarray(value, backend="binary") for each, value in TENSORS[name].items()}
            key = tb.random.key(7, backend=key_on)
            alone = drawn(name, key, {each: tb.asarray(v, backend=key_on) for each, v in TENSORS[name].items()})
            result = drawn(name, key, yielding)
            assert result.backend is key_on
            assert result.tolist() == alone.tolist()


@pytest.mark.parametrize("name", [name for name in TENSORS if name not in WITH_AXES])
def test_a_tensor_without_axes_is_moved_to_the_key(name: str) -> None:
    for key_on, place in ((tb.get_backend(), Elsewhere()), (Elsewhere(), tb.get_backend())):
        key = tb.random.key(7, backend=key_on)
        firsts = {each: value[0] for each, value in TENSORS[name].items()}
        wanted = drawn(name, key, {each: tb.asarray(value, backend=key_on) for each, value in firsts.items()})
        for several in ([each] for each in firsts):
            values = {each: tb.asarray(value, backend=place if each in several else key_on)
                      for each, value in firsts.items()}  # fmt: skip
            result = drawn(name, key, values)
            assert result.backend is key_on
            assert result.tolist() == wanted.tolist()


ARRAYS: Final[dict[str, tuple[Any, ...]]] = {
    "beta": ([1.0, 2.0], [2.0, 0.5]), "binomial": ([5, 6], [0.5, 0.25]), "chisquare": ([1.0, 2.0],),
    "choice": ([1.0, 2.0, 3.0], 5), "dirichlet": ([1.0, 2.0],), "exponential": ([1.0, 2.0],),
    "f": ([1.0, 2.0], [3.0, 4.0]), "gamma": ([1.0, 2.0], [3.0, 4.0]), "geometric": ([0.5, 0.25],),
    "gumbel": ([1.0, 2.0], [3.0, 4.0]), "hypergeometric": ([5, 6], [4, 7], [3, 2]), "integers": ([1, 2], [9, 7]),
    "laplace": ([1.0, 2.0], [3.0, 4.0]), "logistic": ([1.0, 2.0], [3.0, 4.0]), "lognormal": ([1.0, 2.0], [3.0, 4.0]),
    "logseries": ([0.5, 0.25],), "multinomial": ([5, 6], [0.5, 0.5]),
    "multivariate_hypergeometric": ([5, 6], 4), "multivariate_normal": ([1.0, 2.0], [[1.0, 0.0], [0.0, 1.0]]),
    "negative_binomial": ([5, 6], [0.5, 0.25]), "noncentral_chisquare": ([1.0, 2.0], [1.0, 0.5]),
    "noncentral_f": ([1.0, 2.0], [3.0, 4.0], [1.0, 0.5]), "normal": ([1.0, 2.0], [3.0, 4.0]), "pareto": ([1.0, 2.0],),
    "permutation": ([1.0, 2.0, 3.0],), "permuted": ([1.0, 2.0, 3.0],), "poisson": ([1.0, 2.0],),
    "power": ([1.0, 2.0],), "randint": ([1, 2], [9, 7]), "random_integers": ([1, 2], [9, 7]),
    "rayleigh": ([1.0, 2.0],), "standard_gamma": ([1.0, 2.0],), "standard_t": ([1.0, 2.0],),
    "triangular": ([0.0, 1.0], [2.0, 3.0], [4.0, 5.0]), "uniform": ([1.0, 2.0], [3.0, 4.0]),
    "vonmises": ([1.0, 2.0], [1.0, 0.5]), "wald": ([1.0, 2.0], [1.0, 0.5]), "weibull": ([1.0, 2.0],),
    "zipf": ([2.0, 3.0],),
}  # fmt: skip
"""The methods of generators that take arrays, with values."""

NO_ARRAYS: Final = {
    "bytes", "get_state", "rand", "randn", "random", "random_sample", "seed", "set_state", "shuffle", "spawn",
    "standard_cauchy", "standard_exponential", "standard_normal", "tomaxint",
}  # fmt: skip
"""The other methods; `shuffle` is by its array alone."""

MAKERS: Final = {"default_rng": np.random.default_rng, "RandomState": np.random.RandomState}


def test_each_method_with_arrays_has_a_row() -> None:
    methods = {name for kind in (numpy.random.Generator, numpy.random.RandomState) for name in vars(kind)
               if not name.startswith("_") and callable(getattr(kind, name))}  # fmt: skip
    assert methods == {*ARRAYS} | NO_ARRAYS


@profile(300)
@given(st.sampled_from(sorted(ARRAYS)), st.sampled_from(sorted(MAKERS)), st.data())
def test_a_method_draws_where_its_arrays_are(name: str, maker: str, data: st.DataObject) -> None:
    values = ARRAYS[name]
    places = [place for place, value in enumerate(values) if isinstance(value, list)]
    moved = data.draw(st.lists(st.sampled_from(places), min_size=1, unique=True))
    named = data.draw(st.booleans()) and name == "normal"
    by_home, by_default = MAKERS[maker](3), MAKERS[maker](3)
    if not hasattr(by_default, name):
        return
    other = Elsewhere()
    with tb.default_backend(other):
        elsewhere = [np.array(value) if place in moved else value for place, value in enumerate(values)]
        wanted = getattr(by_home, name)(*elsewhere)
    keywords = dict(zip(("loc", "scale"), elsewhere, strict=False)) if named else {}
    found = getattr(by_default, name)(*(() if named else elsewhere), **keywords)
    for each in (found, wanted):
        assert not isinstance(each, np.ndarray) or each.tensor.backend is other
    assert numpy.asarray(found).tolist() == numpy.asarray(wanted).tolist()


@pytest.mark.parametrize("name", ["random", "standard_normal", "standard_exponential"])
@pytest.mark.parametrize("size", [3, 200])
def test_out_is_written_where_it_is(name: str, size: int) -> None:
    with tb.default_backend(Elsewhere()):
        out = np.zeros(size)
    getattr(np.random.default_rng(3), name)(out=out)
    assert out.tensor.backend.name == "elsewhere"
    assert out.tolist() == getattr(np.random.default_rng(3), name)(size).tolist()
