"""Static arguments of compiled functions, by position and by name."""

from __future__ import annotations

from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError


def test_static_arguments() -> None:
    def total(x: tb.Tensor, weights: Any, *more: Any, times: int = 1, **rest: Any) -> tb.Tensor:
        weighted_sum: tb.Tensor = tb.sum(x) * sum(weights) * times + len(more) + rest.get("shift", 0)
        return weighted_sum

    x = tb.ones(2)
    for chosen in ({"static_argnums": 1}, {"static_argnames": "weights"}, {"static_argnames": ["weights", "shift"]}):
        compiled = tb.jit(total, **chosen)
        assert compiled(x, (1, 2), times=2, shift=1).item() == 13.0
        assert compiled(x, weights=(1, 2)).item() == 6.0
        assert compiled(x, (1, 2), 5).item() == 7.0
        assert compiled.cache_info().misses == 3
    with pytest.raises(ArgumentError, match="hashable options of a compiled function"):
        tb.jit(total, static_argnums=1)(x, [1, 2])
    two = lambda x, y: x  # noqa: E731
    assert tb.jit(two, static_argnums=-1)(x, "y").tolist() == [1.0, 1.0]
    with pytest.raises(ArgumentError, match="expected static_argnums from -2 to 1, got static_argnums=2"):
        tb.jit(two, static_argnums=2)
    with pytest.raises(
        ArgumentError, match=r"expected static_argnames that are parameters, got static_argnames=\['z'\]"
    ):
        tb.jit(two, static_argnames=("x", "z"))
    with pytest.raises(ArgumentError, match="expected static_argnums of at least 0"):
        tb.jit(total, static_argnums=-1)


@pytest.mark.parametrize("static", [(), 1])
def test_an_iterator_is_no_option(static: Any) -> None:
    compiled = tb.jit(lambda x, steps: x + sum(steps), static_argnums=static)
    for make in (
        lambda: (step for step in (1, 2)),
        lambda: iter([1, 2]),
        lambda: map(abs, (1, 2)),
        lambda: zip((1, 2)),
    ):
        steps = make()
        with pytest.raises(ArgumentError, match=r"with the same values at each call.*pass a list or a tuple"):
            compiled(tb.ones(1), steps)
        assert len(list(steps)) == 2, "the iterator was used up"
    assert compiled(tb.ones(1), (1, 2)).tolist() == [4.0]
