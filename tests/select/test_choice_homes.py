"""Arrays of other libraries stay on the backends of their libraries, whoever takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.expr.trees import flatten

HOST = numpy.ones(3)

TAKEN: dict[str, Callable[[Any], Any]] = {
    "asarray": tb.asarray,
    "tensor": tb.tensor,
    "from_dlpack": tb.from_dlpack,
    "list": lambda x: tb.asarray([x, [1.0, 2.0, 3.0]]),
    "list with NumPy's": lambda x: tb.asarray([HOST, x]),
    "an op": tb.exp,
    "an op with a number": lambda x: tb.add(1.0, x),
    "after NumPy's": lambda x: tb.add(HOST, x),
    "a sequence": lambda x: tb.stack([HOST, x]),
    "three operands": lambda x: tb.where(HOST > 0, HOST, x),
    "a composite": lambda x: tb.softmax(x, axis=0),
    "a function of tensors": lambda x: tb.nn.layer_norm(x, axis=0),
    "einsum": lambda x: tb.einsum("i,i->", x, HOST),
    "full": lambda x: tb.full((2,), x[0]),
    "linspace": lambda x: tb.linspace(x[0], 4, 3),
    "jit": tb.jit(lambda x: x * 2),
    "jit of a tree": lambda x: tb.jit(lambda tree: tree["a"] + tree["b"])({"a": HOST, "b": x}),
    "grad": tb.grad(lambda x: tb.sum(x * x)),
    "vmap": tb.vmap(lambda x: x * 2),
    "scan": lambda x: tb.scan(lambda carry, x: (carry + x, x), x[0], x),
    "cond": lambda x: tb.cond(True, lambda x: x, lambda x: x * 2, x),
    "solve": lambda x: tb.solvers.solve(tb.linalg.diag(x) if hasattr(tb.linalg, "diag") else jnp.diag(x), x).x,
    "minimize": lambda x: tb.optimize.minimize(lambda x: tb.sum(x**2), x).x,
    "sparse": lambda x: tb.sparse.from_dense(x[None]),
    "np.asarray": np.asarray,
    "np.array": np.array,
    "np.exp": np.exp,
    "back from an array": lambda x: tb.asarray(np.asarray(x)),
}


@pytest.mark.parametrize("way", TAKEN)
def test_an_array_of_jax_stays_on_its_device(way: str) -> None:
    """On each device that JAX shows here."""
    for number, place in enumerate(jax.devices("cpu")):
        x = jax.device_put(jnp.asarray([1.0, 2.0, 4.0], "float32"), place)
        for default in ("numpy", "binary", "jax"):
            with tb.default_backend(default):
                leaves = [getattr(leaf, "tensor", leaf) for leaf in flatten(TAKEN[way](x))[0]]
                tensors = [leaf for leaf in leaves if isinstance(leaf, tb.Tensor)]
                assert tensors
                assert {(leaf.backend.name, leaf.device) for leaf in tensors} == {("jax", f"cpu:{number}")}


def test_an_array_follows_the_tensors_next_to_it_and_whoever_names_a_backend() -> None:
    x, there = jnp.ones(3), tb.ones(3, backend="binary")
    for made in (there + x, x + there, tb.add(x, there), tb.stack([there, x]), tb.asarray([there, x])):
        assert made.backend is there.backend
    assert tb.asarray(x, like=there).backend is tb.asarray(x, backend="binary").backend is there.backend
    assert tb.jit(lambda y: y * tb.asarray(x))(there).backend is there.backend
    with tb.default_backend("template"):
        assert tb.asarray(x).backend.name == "template"


def test_an_array_of_the_numpy_namespace_stays_in_its_trace() -> None:
    array = np.asarray([1.0, 2.0])
    assert tb.jit(lambda x: tb.asarray(x) * 2)(array).tolist() == [2.0, 4.0]
    assert tb.grad(lambda x: tb.sum(tb.asarray([x[0], 3.0]) * 2))(array).tolist() == [2.0, 0.0]
