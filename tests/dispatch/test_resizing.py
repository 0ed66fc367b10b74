"""Kernels for other sizes: each way in which a kernel may keep a size."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import local
from typing import Any, NamedTuple

import pytest

import tensorbackend as tb
from tensorbackend.dispatch.resizing import Leaves
from tensorbackend.expr.source import function_of
from tensorbackend.protocol.planned import QuickKernel
from tensorbackend.sizes import SizeTrace
from tensorbackend.template import Template, intern_template


def in_a_closure(shape: Any) -> Callable[..., Any]:
    return lambda x: (x, shape)


def in_a_closure_of_a_closure(shape: Any) -> Callable[..., Any]:
    def inner() -> Any:
        return shape

    return lambda x: (x, inner())


def in_a_default(shape: Any) -> Callable[..., Any]:
    def kernel(x: Any, shape: Any = shape) -> Any:
        return x, shape

    return kernel


def in_a_partial(shape: Any) -> Callable[..., Any]:
    return partial(lambda shape, x: (x, shape), shape)


def in_a_container(shape: Any) -> Callable[..., Any]:
    kept = {"shapes": [(shape, "f32")]}
    return lambda x: (x, kept["shapes"][0][0])


class Kept(NamedTuple):
    """A value with names that a kernel keeps, as `Windows` is."""

    shape: Any
    dtype: str


def in_a_value_with_names(shape: Any) -> Callable[..., Any]:
    kept = Kept(shape, "f32")
    return lambda x: (x, kept.shape)


def in_a_generated_function(shape: Any) -> Callable[..., Any]:
    return function_of("def run(x):\n    return k0(x)", "<test>", "run", {"k0": in_a_closure(shape)})


def in_a_quick_kernel(shape: Any) -> Callable[..., Any]:
    return QuickKernel(in_a_closure(shape), in_a_closure(shape))


WAYS = [
    in_a_closure,
    in_a_closure_of_a_closure,
    in_a_default,
    in_a_partial,
    in_a_container,
    in_a_value_with_names,
    in_a_generated_function,
    in_a_quick_kernel,
]


@pytest.mark.parametrize("way", WAYS)
def test_a_kernel_gets_the_numbers_of_other_shapes(way: Callable[[Any], Callable[..., Any]]) -> None:
    trace, leaves = SizeTrace(), Leaves()
    n, m = trace.shape((2, 3))
    example = way((n, 1, m + 1))
    build = leaves.builder(example)
    assert build is not None
    numbers = trace.function(tuple(leaves.values))
    assert build(numbers((5, 6)))("x") == ("x", (5, 1, 7))
    assert build(numbers((0, 9)))("x") == ("x", (0, 1, 10))  # the example is unchanged


def test_a_kernel_gets_templates_of_other_shapes() -> None:
    trace, leaves = SizeTrace(), Leaves()
    out = intern_template(trace.shape((2,)), tb.float32, ("n",))
    build = leaves.builder(lambda: out)
    assert build is not None
    numbers = trace.function(tuple(leaves.values))
    assert build(numbers((4,)))() is Template((4,), "f32", ("n",))


@pytest.mark.parametrize("make", [dict, list, set, local])
def test_what_a_kernel_fills_is_of_one_shape(make: Callable[[], Any]) -> None:
    trace, leaves = SizeTrace(), Leaves()
    (n,) = trace.shape((2,))

    def planned(size: Any) -> Callable[[], Any]:
        filled = make()
        return lambda: (size, filled)

    build = leaves.builder(planned(n))
    assert build is not None
    numbers = trace.function(tuple(leaves.values))
    first, second = build(numbers((4,))), build(numbers((5,)))
    assert first()[0] == 4
    assert second()[0] == 5
    assert type(first()[1]) is type(make())
    assert first()[1] is first()[1]
    assert first()[1] is not second()[1]


def test_what_a_planner_has_filled_is_data() -> None:
    kept = {"a": [1, 2]}
    assert Leaves().builder(lambda: kept) is None


def test_a_kernel_without_sizes_is_left_alone() -> None:
    kept = [1, (2, "n"), {"a": None}]

    def recursive() -> Any:
        return recursive, kept

    for kernel in (recursive, len, partial(max, 3), lambda x: (x, kept)):
        assert Leaves().builder(kernel) is None
