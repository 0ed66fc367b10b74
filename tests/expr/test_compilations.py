"""Why a compiled function was traced again, and a warning where that does not end."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest

import tensorbackend as tb
from tensorbackend.errors import OperandError, RecompilationWarning, TensorBackendError


def test_each_compilation_says_what_differs_from_the_nearest_one() -> None:
    f = tb.jit(lambda x, n=1, g=None: x * n)
    x = tb.ones(2, names=("a",))
    calls: list[Callable[[], object]] = [
        lambda: f(x),
        lambda: f(x, 1),
        lambda: f(x, 2),
        lambda: f(x, 0.5),
        lambda: f(tb.ones(2, "f64", names=("a",)), 2),
        lambda: f(x.rename("b"), 2),
        lambda: f(tb.ones((2, 2)), 2),
        lambda: f(tb.ones(3, names=("a",)), 2),
        lambda: f(x, 2, lambda: 0),
        lambda: f(x, 2, lambda: 0),
        lambda: f(x, n=2),
        lambda: f(tb.ones(2, names=("a",), backend="binary"), 2),
    ]
    for call in calls:
        call()
    told = tb.explain_compilations(f)
    wanted = [
        "the first call",
        "n: absent, then 1",
        "n: 1, then 2; an option: pass a tensor, or tb.jit(trace_ints=True), unless it is a size or an axis",
        "n: 2, then 0.5; an option: pass a tensor, or tb.jit(trace_floats=True)",
        "x: f32[a: 2], then f64[a: 2]; another dtype: cast it with astype()",
        "x: f32[a: 2], then f32[b: 2]; other names: rename() it",
        "then f32[2][2]; another number of axes",
        "x: f32[a: 2], then f32[a: 3]; another shape: pad it to a few sizes, or use tb.ragged",
        "g: absent, then test_each_compilation_says_what_differs_from_the_nearest_one.<locals>.<lambda>",
        "another function object: make it once, outside the loop",
        "the arguments are passed in another way, by position or by keyword",
        "the backend: NumpyBackend(), then BinaryBackend()",
    ]
    assert len(told) == f.cache_info().misses == len(wanted)
    for compilation, text in zip(told, wanted, strict=True):
        assert any(text in change for change in compilation.changes), (compilation, text)
        assert compilation.line is not None
        assert compilation.line.file == __file__
    assert repr(told).startswith("jit(<lambda>): compiled 12 times\n1. the first call, test_compilations.py:")
    f.cache_clear()
    assert len(tb.explain_compilations(f)) == 0


def test_a_compilation_for_many_sizes_says_so() -> None:
    f = tb.jit(lambda x: x + 1)
    for size in range(1, 6):
        f(tb.ones(size))
    assert [each.many_sizes for each in tb.explain_compilations(f)] == [False, False, True]


def test_a_storm_warns_once_with_its_reason() -> None:
    f = tb.jit(lambda x, step: x * step)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for step in range(40):
            f(tb.ones(2), step)
    (warning,) = caught
    assert warning.category is RecompilationWarning
    assert warning.filename == __file__
    assert str(warning.message) == (
        "jit(<lambda>): compiled again 16 times, each for another value of step: step: 15, then 16; an option: pass a "
        "tensor, or tb.jit(trace_ints=True), unless it is a size or an axis"
    )


def test_a_function_of_the_package_does_not_warn() -> None:
    """Its users cannot change how it is called."""
    f = tb.jit(tb.top_k)
    for k in range(1, 20):
        assert f(tb.arange(40), k)[0].size == k


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_ints_are_traced_on_request(backend: str) -> None:
    x = tb.asarray([1.0, 2.0], backend=backend)
    f = tb.jit(lambda x, step, flag: x * step if flag else x + step, trace_ints=True)
    for step in range(3):
        assert f(x, step, True).tolist() == [step, 2.0 * step]
        assert f(x, step, True).dtype is tb.float32
    assert f(x, 3, False).tolist() == [4.0, 5.0]
    assert f.cache_info().misses == 2  # a bool is an option
    both = tb.jit(lambda x, step, rate: x * step * rate, trace_ints=True, trace_floats=True)
    assert [both(x, step, step / 2).tolist() for step in (1, 2)] == [[0.5, 1.0], [2.0, 4.0]]
    assert both.cache_info().misses == 1
    with pytest.raises(TensorBackendError):
        tb.jit(lambda x, n: x[: range(n)[-1]], trace_ints=True)(x, 2)


def test_other_functions_are_refused() -> None:
    with pytest.raises(OperandError, match="explain_compilations: expected a function that"):
        tb.explain_compilations(len)


def test_a_loop_over_compilations_sees_those_of_its_beginning() -> None:
    f = tb.jit(lambda x, n: x * n)
    for n in range(3):
        f(tb.ones(2), n)
    history = tb.explain_compilations(f)
    for number, _ in enumerate(history):
        f(tb.ones(2), 10 + number)  # as another thread may
    assert number == 2
    assert len(history) == 6
