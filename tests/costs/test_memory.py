"""When values are alive: after a last use they are freed, views take no memory, and ops may write over operands."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.costs.estimate import Estimator
from tensorbackend.costs.memory import Timeline, timeline
from tensorbackend.testing import profile


def memory(function: Any, *templates: Any, reuse: bool = False) -> Timeline:
    graph = tb.trace(function)(*templates)
    return timeline(graph, Estimator().works(graph), reuse=reuse)


def test_values_are_freed_after_their_last_use() -> None:
    chain = memory(lambda x: tb.exp(tb.exp(tb.exp(x))), "f32[250]")
    assert list(chain.memory) == [1000, 2000, 3000, 3000]
    kept = memory(lambda x: tb.exp(tb.exp(y := tb.exp(x))) + y, "f32[250]")
    assert list(kept.memory) == [1000, 2000, 3000, 4000, 4000]


def test_elementwise_ops_may_write_over_what_ends_with_them() -> None:
    assert list(memory(lambda x: tb.exp(tb.exp(tb.exp(x))), "f32[250]", reuse=True).memory) == [1000, 2000, 2000, 2000]
    # An operand in another memory order, a smaller operand and a parameter cannot be written over.
    square = memory(lambda x: (y := tb.exp(x)) + y.T, "f32[10, 10]", reuse=True)
    assert square.memory[-1] == 1200
    assert memory(lambda x, y: tb.sum(x, axis=0) + y, "f32[5, 10]", "f32[5, 10]", reuse=True).memory[-1] == 640


def test_views_take_no_memory_and_hold_on_to_what_they_show() -> None:
    view = memory(lambda x: tb.reshape(tb.exp(x), (250, 1)).T, "f32[250]")
    assert list(view.memory) == [1000, 2000, 2000, 2000]
    assert view.results == 1000
    copied = memory(lambda x: tb.reshape(tb.exp(x).T, (250,)), "f32[10, 25]")
    assert list(copied.memory) == [1000, 2000, 2000, 3000]
    argument_view = memory(lambda x: tb.reshape(x, (250, 1)), "f32[250]")
    assert (argument_view.results, argument_view.shares) == (0, (0,))


@pytest.mark.parametrize(
    ("function", "shares"),
    [
        (lambda x: tb.reshape(x, (3, 2)), True),
        (lambda x: tb.reshape(x.T, (6,)), False),
        (lambda x: tb.reshape(x[:, 1:], (1, 2, 2, 1)), True),
        (lambda x: tb.reshape(x.T, (3, 1, 2)), True),
        (lambda x: tb.reshape(x[:, 1:], (4,)), False),
        (lambda x: x.T, True),
        (lambda x: x[1:, ::2], True),
        (lambda x: tb.flip(x), True),
        (lambda x: tb.broadcast_to(x, (4, 2, 3)), True),
        (lambda x: tb.squeeze(x[:1], axis=0), True),
        (lambda x: tb.bitcast(x, "s32"), True),
        (lambda x: tb.astype(x, "f32"), True),
        (lambda x: tb.concatenate([x, x]), False),
        (lambda x: tb.split(x, 3, axis=1)[1], True),
        (lambda x: tb.pad(x, ((1, 1), (0, 0))), False),
    ],
)
def test_what_shares_memory_is_what_shares_it_on_numpy(function: Any, shares: bool) -> None:
    x = tb.reshape(tb.arange(6, dtype="f32", backend="numpy"), (2, 3))
    assert numpy.shares_memory(function(x).data, x.data) == shares
    assert (memory(function, x).shares[0] == 0) == shares


@profile(100)
@given(st.data())
def test_no_reshape_that_copies_is_taken_for_a_view(data: st.DataObject) -> None:
    """What NumPy copies has memory of its own; dividing the axes of any view copies nothing."""
    sizes = data.draw(st.lists(st.sampled_from([1, 2, 3, 4, 6]), max_size=3))
    sizes.append(data.draw(st.sampled_from([2, 4, 6])))
    order = data.draw(st.permutations(range(len(sizes))))
    part = data.draw(st.sampled_from([slice(None), slice(1, None), slice(None, None, 2)]))
    x = tb.zeros(sizes, backend="numpy")
    viewed = tb.permute_dims(x[..., part], order).shape
    divided = [factor for size in viewed for factor in data.draw(st.sampled_from(factors(size)))]
    shape = data.draw(st.sampled_from([divided, [-1], [*viewed[:1], -1], viewed[::-1]]))

    def function(x: tb.Tensor) -> tb.Tensor:
        return tb.reshape(tb.permute_dims(x[..., part], order), shape)

    is_view = memory(function, x).shares[0] == 0
    if shape is divided:
        assert is_view
    if not numpy.shares_memory(function(x).data, x.data):
        assert not is_view


def factors(size: int) -> list[tuple[int, ...]]:
    """Ways to divide an axis."""
    return [(size,), (1, size), *[(size // part, part) for part in (2, 3) if size % part == 0]]


def test_parts_of_a_composite_need_memory_too() -> None:
    softmax = memory(tb.softmax, "f32[250]")
    # Next to the result, the workspace holds the differences, or the powers and their sum.
    assert softmax.works[-1].workspace == softmax.memory[-1] - 2000
    assert softmax.works[-1].workspace >= 1000


def test_a_result_of_a_checkpoint_holds_what_it_is_a_view_of() -> None:
    def parts(x: tb.Tensor, w: tb.Tensor) -> tuple[tb.Tensor, ...]:
        product = x @ w
        return product[:, :8], product[:, 8:16], x[:8]

    def used(function: Any, x: tb.Tensor, w: tb.Tensor) -> tb.Tensor:
        first, second, some = function(x, w)
        value: tb.Tensor = tb.exp(first) * second + tb.sum(some)
        return value

    templates = "f32[64, 8]", "f32[8, 256]"
    plain = memory(lambda x, w: used(parts, x, w), *templates)
    held = memory(lambda x, w: used(tb.checkpoint(parts), x, w), *templates)
    assert held.peak == plain.peak
    (product,) = [block for block in held.blocks if block.value.node.op == "checkpoint"]
    assert product.nbytes == 64 * 256 * 4
