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
