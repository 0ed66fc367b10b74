"""Functions that run a backend's own kernel: which calls do, and that all others run the function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dispatch.direct import direct
from tensorbackend.dispatch.kernels import Shaped
from tensorbackend.dispatch.ready_calls import ReadyCall
from tensorbackend.errors import ContractError, IndexRangeError
from tensorbackend.testing import profile

RUNS: list[str] = []


def _plan(result: tb.Tensor, x: tb.Tensor, /, *, times: int = 2, other: tb.Tensor | None = None) -> ReadyCall | None:
    def kernel(values: Any, count: int) -> Any:
        RUNS.append("kernel")
        if count < 0:
            raise ValueError
        if count == 99:
            raise ContractError("a fault of the backend")
        return np.repeat(values, count)

    return ReadyCall(Shaped(result.template), kernel) if x.backend.name == "numpy" else None


@direct(_plan, number="times")
def repeated(x: tb.Tensor, /, *, times: int = 2, other: tb.Tensor | None = None) -> tb.Tensor:
    """The elements of x, each several times."""
    RUNS.append("function")
    if times < 0:
        raise IndexRangeError("a negative number")
    longer = tb.repeat(x, times)
    return longer if other is None else longer + other


def runs(*arguments: Any, **options: Any) -> tuple[list[str], list[float]]:
    RUNS.clear()
    result = repeated(*arguments, **options).tolist()
    return list(RUNS), result


def test_the_second_call_of_a_kind_runs_the_kernel_whatever_the_number_is() -> None:
    x = tb.asarray([1.0, 2.0])
    assert runs(x) == (["function"], [1, 1, 2, 2])
    assert runs(x, times=3) == (["kernel"], [1, 1, 1, 2, 2, 2])
    assert runs(x, times=0) == (["kernel"], [])
    assert runs(tb.asarray([1.0])) == (["function"], [1, 1])  # another template
    with tb.precision(64):
        assert runs(x)[0] == ["kernel"]


def test_what_a_kernel_does_not_serve_runs_the_function() -> None:
    x = tb.asarray([3.0, 4.0, 5.0])
    runs(x)
    assert runs(x, other=tb.asarray(1.0)) == (["function"], [4, 4, 5, 5, 6, 6])
    for _ in range(2):
        assert runs(x.backend_copy("binary"))[0] == ["function"]
        with pytest.raises(IndexRangeError, match="a negative number"):
            runs(x, times=-1)
        assert RUNS == ["kernel", "function"]


def test_a_fault_of_a_backend_is_not_hidden() -> None:
    x = tb.asarray([3.0, 4.0, 5.0, 6.0])
    runs(x)
    with pytest.raises(ContractError, match="a fault"):
        runs(x, times=99)


def test_the_function_keeps_its_name_and_documentation() -> None:
    assert repeated.__name__ == "repeated"
    assert repeated.__doc__ is not None
    assert repeated.__doc__.startswith("The elements of x")


@profile(30)
@given(st.lists(st.integers(0, 5), max_size=6), st.lists(st.integers(-7, 7), min_size=2, max_size=4))
def test_reads_of_every_size_by_one_plan_are_those_of_numpy(shape: list[int], bounds: list[int]) -> None:
    array = np.arange(np.prod(shape[:3], dtype=int)).reshape(shape[:3])
    x = tb.asarray(array)
    keys: list[Any] = [slice(*sorted(bounds[:2])), ..., None, (..., slice(None, None, -1)), *bounds]
    for key in keys:
        try:
            wanted = array[key]
        except IndexError:
            with pytest.raises(IndexRangeError):
                x[key]
            continue
        np.testing.assert_array_equal(np.asarray(x[key]), wanted)
        assert x[key].shape == wanted.shape
