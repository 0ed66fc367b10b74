"""Calls of the NumPy namespace that come again: they run as one kernel, and do what the first call did."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.caching.memos import POLICY
from tensorbackend.numpy import stepping
from tensorbackend.numpy.bodies import computes, planned_kernel

TIMES = POLICY.calls_before_body + 3
"""Calls enough for the kernel to run."""

CALLS = [
    "np.cumsum(x, 1)", "np.cumsum(x)", "np.cumprod(x.T, 0)", "np.sort(x, 1)", "np.argsort(-x)", "np.roll(x, 3)",
    "np.roll(x, 1, axis=0)", "np.repeat(x, 2, axis=1)", "np.tile(x, (2, 1))", "np.concatenate([x, x], 1)",
    "np.concatenate((x, x), None)", "np.concatenate([x, x.astype(int)], dtype='f4', casting='unsafe')",
    "np.stack([x, x], -1)", "np.outer(x, x)", "np.tril(x)", "np.einsum('ij,kj->ik', x, x)", "np.diff(x, 2, 0)",
    "np.diff(x > 3)", "np.linalg.norm(x)", "np.linalg.norm(x, axis=1, keepdims=True)", "np.take(x, [0, 1], 1)",
    "np.argwhere(x > 2)", "np.ptp(x, 1)",
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_comes_often_gives_what_the_first_one_gave(call: str) -> None:
    code = compile(call, call, "eval")
    for turn in range(TIMES):
        data = numpy.random.default_rng(turn).permutation(numpy.arange(12.0)).reshape(3, 4)
        expected = eval(code, {"np": numpy, "x": data})
        result = eval(code, {"np": np, "x": np.asarray(data)})
        assert numpy.asarray(result).dtype == expected.dtype
        numpy.testing.assert_allclose(numpy.asarray(result), expected, rtol=1e-12)


def test_an_error_of_data_is_the_same_after_a_kernel_was_planned() -> None:
    x = np.arange(4.0)
    for _ in range(TIMES):
        np.concatenate([x, x])
        with pytest.raises(ValueError, match="zero-dimensional"):
            np.concatenate([x, 1.0])


def test_planned_calls_run_in_every_transformation_and_on_every_backend() -> None:
    def program(x: Any) -> Any:
        return np.sum(np.cumsum(x) * np.reshape(np.flip(x), (-1,)))

    x = np.arange(4.0)
    for _ in range(TIMES):
        expected = float(program(x))
    assert numpy.asarray(tb.grad(program)(x)).tolist() == [12.0, 6.0, 2.0, 0.0]
    assert float(tb.jit(program)(x)) == expected
    assert np.asarray(tb.vmap(program)(np.stack([x, x]))).tolist() == [expected] * 2
    for name in ("jax", "binary"):
        with tb.default_backend(name):
            assert float(program(np.arange(4.0))) == expected


def test_a_profile_sees_planned_calls_and_readings_of_views() -> None:
    x = np.arange(6.0)
    for _ in range(TIMES):
        np.cumsum(x)
        np.add(x.reshape(2, 3), 1.0)
    with tb.profile() as profile:
        np.cumsum(x)
        np.add(x.reshape(2, 3), 1.0)
    assert "cumsum" in str(profile)
    assert "view" in str(profile)


def test_options_that_are_equal_but_not_the_same_have_steps_of_their_own() -> None:
    x = np.zeros((1, 4))
    for _ in range(TIMES):
        assert np.squeeze(x, 0).shape == (4,)
        with pytest.raises(TypeError):
            np.squeeze(x, 0.0)
        with pytest.raises(TypeError):
            np.swapaxes(x, (0,), (1,))  # type: ignore[arg-type] # what the error is about
        assert np.swapaxes(x, 0, 1).shape == (4, 1)


def test_steps_are_entered_once_and_counted() -> None:
    tb.clear_caches()
    x = np.zeros((2, 3))
    for _ in range(3):
        np.transpose(x)
        np.transpose(x, [1, 0])
    assert len(stepping._STEPS) == 2
    assert "steps of views: 2 of 4096" in map(str, tb.caches())


def test_what_only_records_is_not_planned() -> None:
    assert computes(tb.get_backend("numpy"))
    assert not computes(tb.get_backend("template"))
    x = tb.zeros(3)
    assert planned_kernel(x.backend, lambda x: x if float(tb.sum(x)) else -x, (x.template,), x) is None
