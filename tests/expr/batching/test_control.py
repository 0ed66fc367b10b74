"""Control flow under `vmap`, with each subset of the operands mapped, against a loop over the examples."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.testing import profile

COUNT = 3


def branched(p: tb.Tensor, x: tb.Tensor, w: tb.Tensor) -> Any:
    """One branch returns an operand as it is, so that it may be the same for all examples."""
    return tb.cond(p > 0, lambda x, w: (x * w, w), lambda x, w: (w, tb.sum(x) - w), x, w)


def switched(p: tb.Tensor, x: tb.Tensor, w: tb.Tensor) -> Any:
    functions = [lambda x, w: (x, w), lambda x, w: (w * 2, x - w), lambda x, w: (x + 1, tb.sin(w))]
    return tb.switch(tb.astype(p, "int32"), functions, x, w)


def scanned(p: tb.Tensor, x: tb.Tensor, w: tb.Tensor) -> Any:
    return tb.scan(lambda carry, entry: (carry * p + entry, (carry - entry, p * 2)), tb.sum(w), x)


def backward(p: tb.Tensor, x: tb.Tensor, w: tb.Tensor) -> Any:
    return tb.scan(lambda carry, entry: ((carry[1], carry[0] + entry), carry[1]), (p, tb.sum(w)), x, reverse=True)


def looped(p: tb.Tensor, x: tb.Tensor, w: tb.Tensor) -> Any:
    """The number of iterations depends on `p` alone, what changes on all of them."""
    return tb.while_loop(
        lambda state: state[0] < p, lambda state: (state[0] + 1, state[2] * 0.5 + p, state[1] + w), (p * 0, x, w)
    )


def ended_by_all(p: tb.Tensor, x: tb.Tensor, w: tb.Tensor) -> Any:
    return tb.while_loop(lambda x: tb.sum(x) < 20, lambda x: x + tb.abs(w) + 0.5 + p, x)


def checkpointed(p: tb.Tensor, x: tb.Tensor, w: tb.Tensor) -> Any:
    return tb.checkpoint(lambda x, w: (tb.sin(x) * p, w))(x, w)


@tb.custom_gradient
def _tripled(x: Any, w: Any) -> Any:
    """Its cotangents are three times as large as they should be, so that it shows who computed them."""
    return (x * w, tb.sum(x)), lambda cotangents: (3 * (cotangents[0] * w + cotangents[1]), 3 * cotangents[0] * x)


def with_gradient(p: tb.Tensor, x: tb.Tensor, w: tb.Tensor) -> Any:
    return tb.value_and_grad(lambda x, w: tb.sum(_tripled(x, w)[0] * p + _tripled(x, w)[1]), argnums=(0, 1))(x, w)


FUNCTIONS = [branched, switched, scanned, backward, looped, ended_by_all, checkpointed, with_gradient]
DIFFERENTIABLE = [
    branched,
    switched,
    scanned,
    backward,
    checkpointed,
    lambda p, x, w: (_tripled(x, w), _tripled(p, w)[0]),
]
SUBSETS = [flags for flags in itertools.product([True, False], repeat=3) if any(flags)]
IDS = ["".join("pxw"[place] * flags[place] for place in range(3)) for flags in SUBSETS]


def operands(data: st.DataObject) -> list[tb.Tensor]:
    """For each example a number from 0 to 2, and two vectors."""
    p = data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=COUNT, max_size=COUNT))
    random = numpy.random.default_rng(data.draw(st.integers(0, 99)))
    vectors = [tb.asarray(random.integers(-8, 8, (COUNT, 2)) / 4, names=(None, "place")) for _ in range(2)]
    return [tb.asarray(p, "f64"), *vectors]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("subset", SUBSETS, ids=IDS)
def test_each_subset_of_operands_may_have_examples(function: Callable[..., Any], subset: tuple[bool, ...]) -> None:
    @profile(4)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        given = operands(data)
        at = [data.draw(st.integers(0, v.ndim - 1)) if flag else None for v, flag in zip(given, subset, strict=True)]
        alone = [function(*(v[row if on else 0] for v, on in zip(given, subset, strict=True))) for row in range(COUNT)]
        expected = [tb.tree_leaves(result) for result in alone]
        wide = [v[0] if axis is None else tb.moveaxis(v, 0, axis) for v, axis in zip(given, at, strict=True)]
        mapped = tb.vmap(function, in_axes=tuple(at))
        for found in (mapped(*wide), tb.jit(mapped)(*wide)):
            for result, *ones in zip(tb.tree_leaves(found), *expected, strict=True):
                assert result.names == (None, *ones[0].names)
                numpy.testing.assert_allclose(result, numpy.stack([numpy.asarray(one) for one in ones]), rtol=1e-12)

    agrees()


@pytest.mark.parametrize("function", DIFFERENTIABLE)
@pytest.mark.parametrize("subset", SUBSETS, ids=IDS)
def test_what_examples_share_has_the_sum_of_their_gradients(
    function: Callable[..., Any], subset: tuple[bool, ...]
) -> None:
    def weighted(results: Any) -> Any:
        return builtins.sum(tb.sum(tb.sin(x)) * (place + 1) for place, x in enumerate(tb.tree_leaves(results)))

    def by_loop(*given: tb.Tensor) -> Any:
        rows = ([v[row] if on else v for v, on in zip(given, subset, strict=True)] for row in range(COUNT))
        return builtins.sum(weighted(function(*row)) for row in rows)

    mapped = tb.vmap(function, in_axes=tuple(0 if on else None for on in subset))

    @profile(3)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        given = [v if on else v[0] for v, on in zip(operands(data), subset, strict=True)]
        expected = tb.grad(by_loop, argnums=(0, 1, 2))(*given)
        for found, one in zip(
            tb.grad(lambda *v: weighted(mapped(*v)), argnums=(0, 1, 2))(*given), expected, strict=True
        ):
            assert found.names == one.names
            numpy.testing.assert_allclose(found, one, rtol=1e-9, atol=1e-12)

    agrees()
