"""Donated arguments: values to the last bit, what is freed and when, and what a donated tensor says."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
import tensorbackend.numpy as npt
from tensorbackend.errors import ArgumentError, DeallocatedError

from ..peak_memory import peak_memory

RNG = np.random.default_rng(0)
GRADIENTS = {name: RNG.standard_normal((300, 200)).astype(np.float32) for name in ("a", "b", "c", "d")}

Tensors = dict[str, tb.Tensor]


def adam(params: Tensors, state: dict[str, Tensors], gradients: Tensors, rate: float) -> Any:
    first = {name: 0.9 * state["first"][name] + 0.1 * gradients[name] for name in params}
    second = {name: 0.99 * state["second"][name] + 0.01 * gradients[name] ** 2 for name in params}
    new = {name: x - rate * first[name] / (tb.sqrt(second[name]) + 1e-8) for name, x in params.items()}
    return new, {"first": first, "second": second}


def start(backend: str) -> tuple[Tensors, dict[str, Tensors], Tensors]:
    gradients = {name: tb.asarray(x, backend=backend) for name, x in GRADIENTS.items()}
    params = {name: tb.asarray(x * 2, copy=True, backend=backend) for name, x in GRADIENTS.items()}
    zeros = [{name: tb.zeros(x.shape, backend=backend) for name, x in params.items()} for _ in range(2)]
    return params, {"first": zeros[0], "second": zeros[1]}, gradients


@pytest.mark.parametrize("backend", ["numpy", "jax", "binary"])
def test_values_are_the_same_to_the_last_bit(backend: str) -> None:
    results = []
    for names in ((), ("params", "state")):
        step = tb.jit(adam, donate=names)
        params, state, gradients = start(backend)
        if backend == "binary":
            params, gradients = ({"a": x["a"][:2, :2]} for x in (params, gradients))
            state = {key: {"a": x["a"][:2, :2]} for key, x in state.items()}
        for _ in range(3):
            params, state = step(params, state, gradients, 0.1)
        results.append({name: np.asarray(x) for name, x in params.items()})
        assert not any(x.deallocated for x in gradients.values())
    for name, array in results[0].items():
        assert np.array_equal(array, results[1][name])


def test_a_donated_tensor_says_so_when_it_is_used() -> None:
    step = tb.jit(lambda x, y: x + y, donate="x")
    x, y = tb.ones(3), tb.ones(3)
    assert step(x, y).tolist() == [2.0] * 3
    assert (x.deallocated, y.deallocated) == (True, False)
    assert repr(x) == "f32[3] numpy, deallocated"
    with pytest.raises(DeallocatedError, match="of the call to which it was donated"):
        x + 1
    with pytest.raises(DeallocatedError):
        step(x, y)


def test_xla_takes_the_memory_of_donated_arrays() -> None:
    step = tb.jit(lambda x, y: (x + y, tb.sum(y)), donate=("x", "y"))
    x, y = tb.ones(3, backend="jax"), tb.ones(4, backend="jax")[:3]
    addresses = [z.data.unsafe_buffer_pointer() for z in (x, y)]
    total, _ = step(x, y)
    assert total.data.unsafe_buffer_pointer() in addresses
    assert (x.deallocated, y.deallocated) == (True, True)


def test_numpy_frees_each_donated_array_at_its_last_use() -> None:
    peaks = []
    for names in ((), ("params", "state")):
        step = tb.jit(adam, donate=names)
        step(*start("numpy"), 0.1)  # compiles
        peaks.append(peak_memory(step, lambda: (*start("numpy"), 0.1)))
    assert peaks[1] < 0.75 * peaks[0]


def test_arrays_of_others_keep_their_elements() -> None:
    array = np.ones(3, np.float32)
    step = tb.jit(lambda x: x * 2, donate="x")
    assert step(tb.asarray(array)).tolist() == [2.0] * 3
    assert array.tolist() == [1.0] * 3
    assert step(array).tolist() == [2.0] * 3
    x = tb.asarray([1.0, 2.0])
    kept = np.asarray(x)
    step(x)
    assert kept.tolist() == [1.0, 2.0]


WAYS: dict[str, Callable[[tb.Tensor], Any]] = {
    "tensor": tb.tensor,
    "asarray": tb.asarray,
    "asarray, copy": lambda x: tb.asarray(x, copy=True),
    "copy": copy.copy,
    "deepcopy": lambda x: copy.deepcopy({"w": [x]})["w"][0],
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),  # our own
    "np.array": npt.array,
    "np.asarray": npt.asarray,
    "NumPy": np.asarray,
    "backend_copy": lambda x: x.backend_copy(x.backend),
    "all": lambda x: x[:],
    "ellipsis": lambda x: x[...],
    "part": lambda x: x[1:],
    "reversed": lambda x: x[::-1],
    "row": lambda x: x[None],
    "reshape": lambda x: tb.reshape(x, x.shape),
    "column": lambda x: tb.reshape(x, (-1, 1)),
    "squeeze": lambda x: tb.squeeze(tb.expand_dims(x, axis=0), 0),
    "rename": lambda x: x.rename("n"),
    "permute_dims": lambda x: tb.permute_dims(x, (0,)),
    "broadcast_to": lambda x: tb.broadcast_to(x, x.shape),
    "astype": lambda x: tb.astype(x, x.dtype),
    "real": tb.real,
    "stop_gradient": tb.stop_gradient,
    "jit": lambda x: tb.jit(lambda x: x)(x),
    "jit of a view": lambda x: tb.jit(lambda x: x[:])(x),
    "vmap": lambda x: tb.vmap(lambda x: x)(x),
    "split": lambda x: tb.split(x, 1)[0],
    "concat": lambda x: tb.concat([x]),
    "the payload": lambda x: tb.Tensor(x.template, x.backend, x.data),
}
"""How another tensor gets the elements of x, in its own memory or in that of x."""


@pytest.mark.parametrize("backend", ["numpy", "jax", "binary"])
@pytest.mark.parametrize("way", WAYS)
def test_a_copy_or_a_view_outlives_a_donation(way: str, backend: str) -> None:
    double = tb.jit(lambda x: x * 2 + 1, donate="x")
    for _ in range(3):  # the first call compiles
        x = tb.asarray([1.0, 2.0, 3.0], backend=backend) + 1
        other = WAYS[way](x)
        expected = np.asarray(other).tolist()
        assert double(x).tolist() == [5.0, 7.0, 9.0]
        if other is not x:
            assert np.asarray(other).tolist() == expected
            assert x.deallocated


@pytest.mark.parametrize("backend", ["numpy", "jax", "binary"])
@pytest.mark.parametrize("way", ["tensor", "deepcopy", "all", "part", "reversed", "rename", "the payload"])
@pytest.mark.parametrize("names", ["x", ("x", "y")])
def test_arguments_may_share_the_memory_of_a_donated_one(way: str, names: Any, backend: str) -> None:
    step = tb.jit(lambda x, y: (x * 2, y + tb.sum(x)), donate=names)
    for _ in range(2):
        x = tb.asarray([1.0, 2.0, 3.0], backend=backend) + 1
        y = WAYS[way](x)
        expected = (np.asarray(y) + 9.0).tolist()
        doubled, added = step(x, y)
        assert (doubled.tolist(), added.tolist()) == ([4.0, 6.0, 8.0], expected)
        assert (x.deallocated, y.deallocated) == (True, names != "x")
        if names == "x":
            assert y.tolist() == [z - 9.0 for z in expected]


def test_under_a_trace_nothing_is_donated() -> None:
    step = tb.jit(lambda x: x * x, donate="x")
    x = tb.ones(3)
    assert tb.grad(lambda x: tb.sum(step(x)))(x).tolist() == [2.0] * 3
    assert not x.deallocated
    assert step(tb.template((3,), "f32")).template.shape == (3,)


def test_results_may_be_the_donated_tensors_themselves() -> None:
    step = tb.jit(lambda x, y: (x, y[::-1], x), donate=("x", "y"))
    for backend in ("numpy", "jax"):
        x, y = tb.asarray([1.0, 2.0], backend=backend), tb.asarray([3.0, 4.0], backend=backend)
        assert [out.tolist() for out in step(x, y)] == [[1.0, 2.0], [4.0, 3.0], [1.0, 2.0]]


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ArgumentError, match="the names of parameters to donate"):
        tb.jit(lambda x: x, donate="y")
    step = tb.jit(lambda x, y: x + y, donate="x")
    x = tb.ones(3)
    with pytest.raises(ArgumentError, match="a donated tensor that is an argument once"):
        step(x, x)
    assert not x.deallocated


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_numbers_that_a_backend_keeps_survive_a_donation(backend: str) -> None:
    # JaxBackend keeps the array of a number, so these may have one payload, as the counters of an optimiser do.
    counters = [tb.zeros((), dtype="s32", backend=backend) for _ in range(3)]
    step = tb.jit(lambda first, second: (first + 1, second + 2), donate=("first", "second"))
    assert [x.item() for x in step(*counters[:2])] == [1, 2]
    assert [x.deallocated for x in counters] == [True, True, False]
    assert counters[2].item() == tb.zeros((), dtype="s32", backend=backend).item() == 0
    with pytest.raises(ArgumentError, match="a donated tensor that is an argument once"):
        step(counters[2], counters[2])


def test_the_state_of_an_optimiser_with_a_schedule_is_donated() -> None:
    adam = tb.optimize.adam(tb.optimize.cosine_decay(0.1, 10))
    params = {"w": tb.ones(3, backend="jax")}

    def step(params: Tensors, state: Any) -> Any:
        updates, state = adam.update(params, state, params)
        return tb.optimize.apply_updates(params, updates), state

    found = []
    for run in (step, tb.jit(step, donate=("params", "state"))):
        ours = {name: x + 0 for name, x in params.items()}, adam.init(params)
        for _ in range(3):
            ours = run(*ours)
        found.append(ours[0]["w"].tolist())
    assert found[0] == pytest.approx(found[1], rel=1e-6)
