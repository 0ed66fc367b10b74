"""Functions of scalar tensors that backends call for each element."""

from __future__ import annotations

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.extending import fold_elements, map_elements, move_results

NUMPY, BINARY = tb.get_backend("numpy"), tb.get_backend("binary")


def test_a_fold_begins_with_the_initial_value_and_takes_elements_in_order() -> None:
    rows = [numpy.array([1.0, 2.0]), numpy.array([]), numpy.array([3.0])]
    folded = fold_elements(NUMPY, lambda total, x: total * 10 + x, tb.asarray(7.0), tb.float64, rows)
    assert [float(total) for total in folded] == [712.0, 7.0, 73.0]


def test_a_function_makes_tensors_on_the_backend_of_the_elements() -> None:
    names: list[str] = []

    def function(x: tb.Tensor) -> tb.Tensor:
        names.append(tb.ones(()).backend.name)
        return x

    with tb.default_backend("numpy"):
        map_elements(BINARY, function, tb.uint8, [b"\x03", b"\x04"])
        assert tb.ones(()).backend is NUMPY
    assert names == ["binary", "binary"]


@pytest.mark.parametrize("backend", [NUMPY, BINARY])
def test_results_are_moved_to_the_backend(backend: tb.Backend) -> None:
    captured = tb.asarray(5.0, backend="binary" if backend is NUMPY else "numpy")
    assert move_results(backend, lambda: captured)().backend is backend
