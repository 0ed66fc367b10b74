"""Functions of `jit_compile` that cannot be compiled run as they are, after a warning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import phiml.math as math
import pytest
import tensorbackend as tb
from phiml.math import spatial

import tensorbackend_phiml
from tensorbackend_phiml import TensorBackend
from tensorbackend_phiml.fallback import UNCOMPILED


def compiled(f: Callable[..., Any]) -> Any:
    """A function of PhiML's `jit_compile`."""
    return math.jit_compile(f)


def test_a_function_that_reads_its_arguments_runs_again_as_it_is(b: TensorBackend) -> None:
    begun = []

    @compiled
    def magnitude(x: Any) -> Any:
        begun.append(x)
        return x if float(x) > 0 else -x

    with b:
        warning = (
            rf"jit_compile: {b.name} runs function 'magnitude' again from its start, and always uncompiled, "
            "as it reads data of its arguments: .*expected no data to be read"
        )
        with pytest.warns(RuntimeWarning, match=warning) as caught:
            assert float(magnitude(math.tensor(-2.0))) == 2
        assert len(caught) == 1
        assert len(begun) == 2  # traced up to the read, then run
        assert float(magnitude(math.tensor(3.0))) == 3  # which another warning would fail
        assert len(begun) == 3


def test_its_results_may_have_another_structure_at_each_call(b: TensorBackend) -> None:
    @compiled
    def halves(x: Any) -> Any:
        return [x] if float(x) < 0 else [x / 2, x / 2]

    with b:
        with pytest.warns(RuntimeWarning, match="'halves' again"):
            assert len(halves(math.tensor(-1.0))) == 1
        assert list(map(float, halves(math.tensor(1.0)))) == [0.5, 0.5]


def test_a_function_falls_back_on_each_adapter_by_itself() -> None:
    @compiled
    def sign(x: Any) -> Any:
        return math.wrap(1 if float(x) > 0 else -1)

    for name in ("numpy", "binary"):
        with tensorbackend_phiml.backend(name), pytest.warns(RuntimeWarning, match="runs function 'sign'"):
            assert int(sign(math.tensor(-2.0))) == -1
    assert UNCOMPILED[sign] == {tensorbackend_phiml.backend(name).name for name in ("numpy", "binary")}


def test_a_gradient_that_reads_its_arguments(b: TensorBackend) -> None:
    gradient = compiled(math.gradient(lambda x: x * x if float(x) > 0 else -x, "x", get_output=False))
    with b:
        with pytest.warns(RuntimeWarning, match="always uncompiled"):
            assert float(gradient(math.tensor(-3.0))) == -1
        assert float(gradient(math.tensor(3.0))) == 6


def test_a_function_that_calls_one_that_reads(b: TensorBackend) -> None:
    @compiled
    def inner(x: Any) -> Any:
        return x if float(x) > 0 else -x

    @compiled
    def outer(x: Any) -> Any:
        return inner(x) + 1

    with b:
        with pytest.warns(RuntimeWarning) as caught:
            assert float(outer(math.tensor(-2.0))) == 3
        found = [str(warning.message).split("'")[1] for warning in caught]
        assert found == ["outer", "inner"]
        assert float(outer(math.tensor(2.0))) == 3


def test_a_read_in_another_trace_is_an_error() -> None:
    b = tensorbackend_phiml.backend("numpy")

    @compiled
    def magnitude(x: Any) -> Any:
        return x if float(x) > 0 else -x

    with b, pytest.raises(tb.errors.TemplateDataError):
        tb.jit(lambda native: magnitude(math.wrap(native)).native())(b.as_tensor(1.0))
    assert magnitude not in UNCOMPILED


@dataclass(frozen=True)
class Points:
    """Values at places, of which PhiML returns from compiled functions those that `variable_attrs` names."""

    values: Any
    places: Any
    variable_attrs: tuple[str, ...] = ("values",)


def moving() -> Any:
    """A compiled function that moves points."""
    return compiled(lambda points: Points(points.values * 2, points.places + points.values, points.variable_attrs))


def test_a_result_that_keeps_traced_values_is_computed_again(b: TensorBackend) -> None:
    with b:
        points = Points(math.tensor([1.0, 2.0], spatial("x")), math.zeros(spatial(x=2)))
        moved = moving()
        with pytest.warns(RuntimeWarning, match="again .* attributes that depend on its arguments but are not"):
            once = moved(points)
        assert moved(once).places.numpy("x").tolist() == [3, 6]
        assert moved(once).values.numpy("x").tolist() == [4, 8]


def test_a_result_whose_traced_values_are_variable_is_compiled(b: TensorBackend) -> None:
    with b:
        points = Points(math.tensor([1.0, 2.0], spatial("x")), math.zeros(spatial(x=2)), ("values", "places"))
        moved = moving()
        assert moved(moved(points)).places.numpy("x").tolist() == [3, 6]
    assert moved not in UNCOMPILED
