"""Control flow under `vmap`, with each subset of the operands mapped, against a loop over the examples."""

from __future__ import annotations

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
SUBSETS = [flags for flags in itertools.product([True, False], repeat=3) if any(flags)]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("subset", SUBSETS, ids=lambda flags: "".join("pxw"[place] * flags[place] for place in range(3)))
def test_each_subset_of_operands_may_have_examples(function: Callable[..., Any], subset: tuple[bool, ...]) -> None:
    @profile(4)
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        p = tb.asarray(data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=COUNT, max_size=COUNT)), "f64")
        random = numpy.random.default_rng(data.draw(st.integers(0, 99)))
        x, w = (tb.asarray(random.integers(-8, 8, (COUNT, 2)) / 4, names=(None, "place")) for _ in range(2))
        at = [data.draw(st.integers(0, v.ndim - 1)) if flag else None for v, flag in zip((p, x, w), subset, strict=True)]
        alone = [
            function(*(v[number if flag else 0] for v, flag in zip((p, x, w), subset, strict=True)))
            for number in range(COUNT)
        ]
        wide = [
            v[0] if axis is None else tb.moveaxis(v, 0, axis) for v, axis in zip((p, x, w), at, strict=True)
        ]
        for mapped in (tb.vmap(function, in_axes=tuple(at)), tb.jit(tb.vmap(function, in_axes=tuple(at)))):
            results = tb.tree_leaves(mapped(*wide))
            expected = [tb.tree_leaves(result) for result in alone]
            for result, *ones in zip(results, *expected, strict=True):
                assert result.names == (None, *ones[0].names)
                numpy.testing.assert_allclose(result, numpy.stack([numpy.asarray(one) for one in ones]), rtol=1e-12)

    agrees()
